"""What `docker compose` is told: no container may do more than it was measured to need."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
OVERRIDE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.memory-groups.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
# What hands a container the host or its neighbours.
POWERS = {
    "privileged",
    "cap_add",
    "devices",
    "pid",
    "ipc",
    "network_mode",
    "userns_mode",
    "cgroup",
    "cgroup_parent",
}


@pytest.mark.parametrize("name", SERVICES)
def test_no_service_has_a_power_that_it_does_not_need(name: str) -> None:
    service = SERVICES[name]
    assert not POWERS & set(service)
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["read_only"] is True
    assert int(service["user"].partition(":")[0]) > 0
    assert service["mem_limit"]
    assert service["pids_limit"]
    assert service["restart"] == "unless-stopped"
    assert not any("docker.sock" in str(volume) for volume in service["volumes"])


@pytest.mark.parametrize("name", SERVICES)
def test_logs_do_not_grow_without_bound(name: str) -> None:
    assert set(SERVICES[name]["logging"]["options"]) == {"max-size", "max-file"}


def test_only_a_worker_departs_from_the_engines_profiles() -> None:
    loosened = {
        name: [option for option in service["security_opt"] if not option.startswith("no-new-privileges")]
        for name, service in SERVICES.items()
    }
    assert loosened == {
        "api": [],
        "redis": [],
        "worker": [
            "seccomp=deploy/seccomp/worker.json",
            "apparmor=${MICROCODER_APPARMOR:-unconfined}",
            "systempaths=unconfined",
        ],
    }
    assert (ROOT / "deploy" / "seccomp" / "worker.json").is_file()


def test_only_the_api_is_reachable_and_from_this_machine_only() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published == {"api": ["127.0.0.1:${MICROCODER_PORT:-8000}:8000"]}
    assert COMPOSE["networks"]["backend"]["internal"] is True
    assert SERVICES["worker"]["networks"] == SERVICES["redis"]["networks"] == ["backend"]


def test_whoever_opens_it_to_others_has_to_name_a_key() -> None:
    text = (ROOT / "deploy" / "compose.public.yml").read_text()
    assert "MICROCODER_API_KEYS: ${MICROCODER_API_KEYS:?" in text
    assert 'MICROCODER_OPEN_ACCESS: "false"' in text


def test_programs_of_the_api_and_the_workers_are_one_image() -> None:
    assert SERVICES["api"]["image"] == SERVICES["worker"]["image"]
    assert SERVICES["api"]["command"][:2] == ["microcoder", "serve"]
    assert SERVICES["worker"]["command"][:2] == ["microcoder", "worker"]
    assert SERVICES["worker"]["deploy"]["replicas"] > 1
    assert "container_name" not in SERVICES["worker"]  # which would forbid a second one


def test_both_know_the_same_limit_of_memory() -> None:
    known = {SERVICES[name]["environment"]["MICROCODER_MAX_MEMORY_BYTES"] for name in ("api", "worker")}
    assert len(known) == 1


def test_no_password_is_written_down() -> None:
    """It is made anew at the start and kept in memory, or comes from whoever operates it."""
    text = (ROOT / "docker-compose.yml").read_text() + (ROOT / "deploy" / "redis" / "start.sh").read_text()
    assert not re.search(r"(?i)password[=:]\s*[a-z0-9]{4,}", text)
    assert COMPOSE["volumes"]["queue"]["driver_opts"]["type"] == "tmpfs"
    (command,) = [line for line in text.splitlines() if line.startswith("exec redis-server")]
    assert "$password" not in command  # command lines are visible to every user of a machine


def test_redis_keeps_what_it_has_accepted() -> None:
    text = (ROOT / "deploy" / "redis" / "start.sh").read_text()
    assert "appendonly yes" in text
    assert "maxmemory-policy noeviction" in text
    assert "data:/data" in SERVICES["redis"]["volumes"]


def test_memory_groups_cost_four_capabilities_and_no_more() -> None:
    worker = OVERRIDE["services"]["worker"]
    assert set(OVERRIDE["services"]) == {"worker"}
    assert set(worker) == {"user", "cap_add", "entrypoint"}
    assert set(worker["cap_add"]) == {"CHOWN", "SETFCAP", "SETGID", "SETUID"}
