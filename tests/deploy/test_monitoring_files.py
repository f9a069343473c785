"""Alerts and dashboard: every query parses, asks for a metric that exists, and every alert is explained."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "monitoring"
RULES: list[dict[str, Any]] = yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"][0]["rules"]
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "grafana" / "microcoder.json").read_text())
QUERIES = {
    **{rule["alert"]: rule["expr"] for rule in RULES},
    **{
        f"{panel['title']} {target['refId']}": target["expr"]
        for panel in DASHBOARD["panels"]
        for target in panel["targets"]
    },
}
METRICS = {
    "microcoder_submissions_total",
    "microcoder_judging_seconds_bucket",
    "microcoder_queue_seconds_bucket",
    "microcoder_queue_submissions",
    "microcoder_queue_oldest_age_seconds",
    "microcoder_workers_alive",
    "microcoder_sandbox_start_failures_total",
    "microcoder_cache_hits_total",
    "microcoder_request_bytes_total",
    "microcoder_response_bytes_total",
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_every_query_parses_and_asks_for_what_exists(query: str) -> None:
    filled = query.replace("$__rate_interval", "5m").replace("$language", ".*")
    promql_parser.parse(filled)
    assert set(re.findall(r"microcoder_\w+", filled)) <= METRICS


def test_every_metric_is_looked_at() -> None:
    asked = {name for query in QUERIES.values() for name in re.findall(r"microcoder_\w+", query)}
    assert asked == METRICS


def test_what_every_api_tells_alike_is_not_added_up() -> None:
    shared = (
        r"microcoder_(queue_submissions|queue_oldest_age_seconds|workers_alive|sandbox_start_failures_total)"
    )
    for name, query in QUERIES.items():
        assert not re.search(rf"sum\([^()]*(?:\w+\()?{shared}", query), name


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule["alert"]) for rule in RULES])
def test_every_alert_says_what_and_where_to_read_on(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert rule["annotations"]["summary"]
    file, _, anchor = rule["annotations"]["runbook"].partition("#")
    headings = re.findall(r"^#+ (.+)$", (ROOT / file).read_text(), re.MULTILINE)
    assert anchor in {heading.lower().replace(" ", "-") for heading in headings}


def test_the_dashboard_names_no_data_source_of_ours() -> None:
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    assert {panel["datasource"]["uid"] for panel in DASHBOARD["panels"]} == {"${datasource}"}


def test_the_scrape_configuration_reads_the_alerts() -> None:
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    assert all((FOLDER / name).is_file() for name in config["rule_files"])
    assert [job["job_name"] for job in config["scrape_configs"]] == ["microcoder"]
