"""``microcoder audit``: reports on the terminal and in files, a gate, and comparison of two reports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from service.audit.report import Report
from service.cli import main

ROOT = Path(__file__).parents[3]
PROBLEM = {"mode": "stdio", "tests": [{"input": "2\n", "expected": "0.5\n"}]}
RIGHT = {"file": "right", "code": "print(1 / int(input()))", "truth": "accept"}
LONG = {"file": "long", "code": "print('0.50')", "truth": "accept"}
WRONG = {"file": "wrong", "code": "print(1)", "truth": "reject"}


def written(folder: Path, *submissions: dict[str, Any], name: str = "set.jsonl") -> Path:
    path = folder / name
    path.write_text(json.dumps({"id": "p", "problem": PROBLEM, "submissions": submissions}) + "\n")
    return path


def audit(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "service.cli", "audit", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=ROOT)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Give two reports of one set, under rules that differ by their profile."""
    folder = tmp_path_factory.mktemp("reports")
    source = written(folder, RIGHT, LONG, WRONG)
    run = audit(source, "--json", folder / "a.json", "--html", folder / "a.html", "--gate")
    assert run.returncode == 0, run.stderr
    report = Report.model_validate_json((folder / "a.json").read_bytes())
    worse = [
        one.model_copy(update={"verdicts": {**one.verdicts, "microcoder": one.verdicts["strict"]}})
        for one in report.outcomes
    ]
    (folder / "b.json").write_text(report.model_copy(update={"outcomes": worse}).model_dump_json())
    return folder / "a.json", folder / "b.json"


def test_the_terminal_shows_the_headline_and_every_profile(tmp_path: Path) -> None:
    run = audit(written(tmp_path, RIGHT, LONG, WRONG))
    assert run.returncode == 0
    assert run.stdout.startswith(
        "microcoder is right on 3 of 3 submissions (0 false accepts, 0 false rejects), livecodebench on 3"
    )
    assert all(name in run.stdout for name in ("strict", "published", "digit changed", "3 runs"))


def test_reports_go_to_files(reports: tuple[Path, Path]) -> None:
    page = reports[0].with_suffix(".html").read_text()
    assert page.startswith("<!doctype html>")
    assert "microcoder is right on 3 of 3" in page


def test_json_on_standard_output_stands_alone(tmp_path: Path) -> None:
    run = audit("run", written(tmp_path, RIGHT), "--json", "-", "--no-controls", "--profile", "strict")
    report = Report.model_validate_json(run.stdout)
    assert [one.name for one in report.profiles] == ["strict"]


def test_the_gate_fails_on_a_wrong_verdict_and_says_which(tmp_path: Path) -> None:
    run = audit(written(tmp_path, {**RIGHT, "truth": "reject"}, WRONG), "--gate")
    assert run.returncode == 1
    assert "gate: p/right: the truth is reject, microcoder says AC" in run.stderr
    assert audit(tmp_path / "set.jsonl").returncode == 0


def test_compare_finds_nothing_in_equal_reports(reports: tuple[Path, Path]) -> None:
    run = audit("compare", reports[0], reports[0])
    assert run.returncode == 0
    assert "3 items compared, 0 verdicts changed" in run.stdout


def test_compare_takes_answers_of_the_service(reports: tuple[Path, Path], tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    head = {"job_id": "a" * 32, "status": "finished", "total": 3, "finished": 3}
    answer.write_text(json.dumps({**head, "report": json.loads(reports[0].read_text())}))
    assert audit("compare", reports[0], answer).returncode == 0
    assert audit("compare", answer, reports[1]).returncode == 1


def test_compare_fails_where_something_got_worse_but_not_where_it_got_better(
    reports: tuple[Path, Path],
) -> None:
    worse = audit("compare", *reports)
    assert worse.returncode == 1
    assert "p/long" in worse.stdout
    assert "worse" in worse.stdout
    better = audit("compare", reports[1], reports[0], "--json")
    assert better.returncode == 0
    assert [one["direction"] for one in json.loads(better.stdout)["verdicts"]] == ["better"]
    assert audit("compare", *reports, "--profile", "strict").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["{set}", "--gate", "--profile", "strict"], "--gate looks at profile microcoder"),
        (["{set}", "--profile", "lenient"], "'lenient' is not one of"),
        (["{set}", "--accept-from", "nan"], "--accept-from must be a number"),
        (["{bad}"], "is in no known format"),
        (["{set}", "--json", "/no/such/folder/x.json"], "/no/such/folder: is no folder"),
        (["{set}", "--python", "/no/such/python"], "/no/such/python"),
        (["compare", "{set}", "{set}"], "is no report of this version"),
        (["compare", "{broken}", "{report}"], "is no JSON"),
        (["compare", "{report}", "{report}", "--profile", "x"], "has no profile 'x'"),
    ],
)
def test_bad_input_is_refused_by_name(
    tmp_path: Path, reports: tuple[Path, Path], arguments: list[str], complaint: str
) -> None:
    files = {
        "set": written(tmp_path, RIGHT),
        "bad": tmp_path / "bad.jsonl",
        "report": reports[0],
        "broken": tmp_path / "broken.json",
    }
    files["broken"].write_text('{"schema_version": 1,')
    files["bad"].write_text('{"text": 1}\n')
    run = audit(*(one.format(**files) for one in arguments))
    assert run.returncode == 2
    assert complaint in run.stderr.replace("\n", " ")


def test_help_names_the_sources() -> None:
    output = CliRunner().invoke(main, ["audit", "run", "--help"]).output
    assert "LiveCodeBench" in output
    assert "compare" in CliRunner().invoke(main, ["audit", "--help"]).output
