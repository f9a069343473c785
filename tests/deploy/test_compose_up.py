"""`docker compose up`, for real: it serves, judges a mixed batch, holds hostile programs, scales, and loses nothing.

Runs where ``scripts/docker-ready`` finds an engine and the base images; elsewhere it is skipped with the reason.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import httpx
import pytest

from service.cli import main

ROOT = Path(__file__).parents[2]
IMAGE_BYTES = 350_000_000
PROJECT = f"microcoder-test-{os.getpid()}"
SERVES_WITHIN_S = 120.0  # a few seconds on a quiet machine; one that runs all tests is none
# Wall time is generous: the machine builds images and starts containers at the same time.
LIMITS = {"cpu_time_s": 1.0, "wall_time_s": 60.0, "memory_bytes": 256 << 20, "output_bytes": 1 << 20}
STDIO = {"mode": "stdio", "tests": [{"input": "1 2\n", "expected": "3\n"}], "limits": LIMITS}
CALL = {"mode": "call", "entry_point": "f", "tests": [{"args": [3], "expected": 9}], "limits": LIMITS}
ASSERT = {"mode": "assert", "tests": [{"code": "assert f(3) == 9"}], "limits": LIMITS}
SUBMISSIONS = [
    ("a, b = map(int, input().split())\nprint(a + b)", STDIO, "AC"),
    ("import numpy\nprint(numpy.array(input().split(), int).sum())", STDIO, "AC"),
    ("print(sum(map(int, open('/dev/stdin').read().split())))", STDIO, "AC"),
    ("print(4)", STDIO, "WA"),
    ("while True: pass", STDIO, "TLE"),
    ("x = bytearray(1 << 30)", STDIO, "MLE"),
    ("print('x' * (8 << 20))", STDIO, "OLE"),
    ("raise ValueError", STDIO, "RE"),
    ("def f(x): return x * x", CALL, "AC"),
    ("def f(x): return x * x", ASSERT, "AC"),
    ("def f(x) return x", CALL, "CE"),
]
HOSTILE = [
    "import socket\nsocket.create_connection(('redis', 6379), timeout=2)\nprint(3)",
    "print(open('/run/microcoder/microcoder_queue').read())\nprint(3)",
    "import os\nassert any('MICROCODER' in name for name in os.environ)\nprint(3)",
    "import os\nassert len([p for p in os.listdir('/proc') if p.isdigit()]) > 2\nprint(3)",
    "open('/proc/1/environ').read()\nprint(3)",
    "open('/proc/sys/kernel/hostname').read()\nprint(3)",
    "open('/tmp/../../../opt/microcoder/mark', 'w')\nprint(3)",
    "import os\nos.kill(-1, 9)\nos.kill(1, 9)",
    "import os\nwhile True: os.fork()",
]
# One installation for all; building its image takes minutes where nothing of it is there yet.
pytestmark = pytest.mark.timeout(900)
Compose = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
    return number


@pytest.fixture(scope="module")
def compose(port: int) -> Iterator[Compose]:
    if "worker" not in main.list_commands(click.Context(main)):
        pytest.skip("this version has no `microcoder worker`")
    found = subprocess.run([ROOT / "scripts" / "docker-ready"], capture_output=True, check=False, text=True)
    if found.returncode != 0:
        pytest.skip(found.stdout.strip())
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MICROCODER_")}
    environment |= {"MICROCODER_PORT": str(port), "MICROCODER_IMAGE": "microcoder-evaluator:test"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["docker", "compose", "--project-name", PROJECT, *arguments]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False, text=True)
        assert done.returncode == 0, f"{command}: {done.stderr[-3000:]}"
        return done

    run("build", "--quiet")
    yield run
    run("down", "--volumes", "--timeout", "5")


@pytest.fixture(scope="module")
def api(compose: Compose, port: int) -> Iterator[httpx.Client]:
    started = time.monotonic()
    compose("up", "--detach")
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120.0) as client:
        wait_for(client, workers=2, seconds=SERVES_WITHIN_S - (time.monotonic() - started))
        yield client


def wait_for(client: httpx.Client, workers: int, seconds: float = SERVES_WITHIN_S) -> dict[str, Any]:
    deadline = time.monotonic() + seconds
    seen: Any = "no answer"
    while time.monotonic() < deadline:
        try:
            answer = client.get("/readyz")
            seen = answer.json()
            if answer.status_code == 200 and seen["workers_alive"] == workers:
                return dict(seen)
        except httpx.TransportError as error:
            seen = error
        time.sleep(0.2)
    raise AssertionError(f"not ready in {seconds:.0f} s: {seen}")


def batch(client: httpx.Client, submissions: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    body = {"submissions": [{"code": code, "problem": problem} for code, problem in submissions]}
    answer = client.post("/evaluate/batch", json=body)
    assert answer.status_code == 200, answer.text
    judgements: list[dict[str, Any]] = answer.json()["judgements"]
    return judgements


def test_it_serves_with_jails_around_programs(api: httpx.Client) -> None:
    ready = api.get("/readyz").json()
    assert (ready["isolation"], ready["sandbox"]["kind"], ready["sandbox"]["proc"]) == (
        "nsjail",
        "nsjail",
        True,
    )


def test_the_image_is_small(api: httpx.Client) -> None:
    assert api.get("/healthz").status_code == 200
    inspected = ["docker", "image", "inspect", "--format", "{{.Size}}", "microcoder-evaluator:test"]
    size_bytes = int(subprocess.run(inspected, capture_output=True, check=True, text=True).stdout)
    assert size_bytes < IMAGE_BYTES, f"{size_bytes / 1e6:.0f} MB"


def test_a_mixed_batch_is_judged_by_every_worker(api: httpx.Client) -> None:
    rounds = [
        (f"# {n}\n{code}", problem, verdict) for n in range(4) for code, problem, verdict in SUBMISSIONS
    ]
    judged = batch(api, [(code, problem) for code, problem, _ in rounds])
    assert [one["verdict"] for one in judged] == [verdict for _, _, verdict in rounds]
    assert len({one["worker"] for one in judged}) == 2


def test_a_hostile_program_reaches_nothing_and_is_a_wrong_one(api: httpx.Client) -> None:
    judged = batch(api, [(code, STDIO) for code in HOSTILE])
    assert {one["reward"] for one in judged} == {0.0}, judged
    assert wait_for(api, workers=2)["status"] == "ready"


@pytest.mark.usefixtures("api")
def test_a_worker_holds_no_privilege(compose: Compose) -> None:
    status = compose("exec", "-T", "worker", "cat", "/proc/1/status", "/proc/self/status").stdout
    values = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert values["Uid"].split() == ["1000"] * 4
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(values[name], 16) == 0
    assert (values["NoNewPrivs"], values["Seccomp"]) == ("1", "2")


def test_without_the_profile_nothing_is_judged_and_the_cure_is_named(api: httpx.Client) -> None:
    assert api.get("/healthz").status_code == 200
    image = "microcoder-evaluator:test"
    command = [
        "docker",
        "run",
        "--rm",
        "--read-only",
        "--tmpfs",
        "/tmp:mode=1777",
        image,
        "microcoder",
        "serve",
    ]
    ended = subprocess.run(
        [*command, "--host", "127.0.0.1", "--workers", "1"], capture_output=True, check=False, text=True
    )
    assert ended.returncode == 1
    assert "seccomp profile" in ended.stderr
    assert "deploy/seccomp/worker.json" in ended.stderr


@pytest.mark.usefixtures("api")
def test_redis_is_out_of_reach_and_locked(compose: Compose) -> None:
    listed = json.loads(compose("ps", "--format", "json", "redis").stdout.splitlines()[0])
    assert not any(one.get("PublishedPort") for one in listed["Publishers"] or [])
    refused = compose("exec", "-T", "redis", "sh", "-c", "redis-cli ping; true").stdout
    assert "NOAUTH" in refused


def test_more_workers_take_their_share_and_a_killed_one_loses_nothing(
    api: httpx.Client, compose: Compose
) -> None:
    compose("up", "--detach", "--no-recreate", "--scale", "worker=3")
    wait_for(api, workers=3)
    slow = "import time\nt = time.process_time()\nwhile time.process_time() - t < 0.3: pass\nprint(3)"
    job = api.post(
        "/jobs", json={"submissions": [{"code": f"# {n}\n{slow}", "problem": STDIO} for n in range(24)]}
    ).json()
    compose("kill", "--signal", "KILL", "worker")
    compose("up", "--detach", "--no-recreate", "--scale", "worker=3")
    deadline = time.monotonic() + 180
    while (state := api.get(f"/jobs/{job['job_id']}").json())["status"] != "finished":
        assert time.monotonic() < deadline, state["status"]
        time.sleep(0.5)
    assert [one["verdict"] for one in state["judgements"]] == ["AC"] * 24


def test_memory_is_exact_with_groups(api: httpx.Client, compose: Compose) -> None:
    """Four processes of 60 MiB each are more than 128 MiB, though none of them alone is."""
    files = ("-f", "docker-compose.yml", "-f", "deploy/compose.memory-groups.yml")
    compose(*files, "up", "--detach", "--scale", "worker=1", "worker")
    ready = wait_for(api, workers=1)
    if not ready["sandbox"]["memory"].startswith("cgroup"):
        pytest.skip("this engine's control groups for memory cannot be handed on")
    code = (
        "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        x = bytearray(60 << 20)\n"
        "        for n in range(0, len(x), 4096): x[n] = 1\n        time.sleep(2)\n        os._exit(0)\n"
        "print(sum(os.wait()[1] for _ in range(4)))"
    )
    limits = {"memory_bytes": 128 << 20}
    problem = {"mode": "stdio", "tests": [{"input": "", "expected": "0\n"}], "limits": limits}
    (judged,) = batch(api, [(code, problem)])
    assert judged["verdict"] == "MLE", judged
