"""``microcoder serve`` as a process: how it starts, refuses to start, drains and takes its workers along."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from sandbox import SandboxSettings, SandboxUnavailableError, open_sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = (sys.executable, "-m", "service.cli", "serve", "--port", "0", "--workers", "1")
UNSAFE = ("--sandbox", "unsafe-process", "--python", sys.executable)
PROBLEM: dict[str, Any] = {"mode": "stdio", "tests": [{"input": "1 2\n", "expected": "3\n"}]}
SUM = "print(sum(map(int, input().split())))"


@contextmanager
def serving(*flags: str) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    process = subprocess.Popen(
        [*COMMAND, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    with process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
            assert found, process.stderr and process.stderr.read()
            with httpx.Client(base_url=found[0], timeout=60) as client:
                yield process, client
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(20)
            assert process.stderr is not None
            process.stderr.read()


def judged(client: httpx.Client, code: str) -> httpx.Response:
    return client.post("/evaluate", json={"code": code, "problem": PROBLEM})


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def descendants(pid: int) -> list[int]:
    return [one for child in children(pid) for one in (child, *descendants(child))]


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def until(condition: Any, within_s: float = 10.0) -> None:
    deadline_s = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def refused(*flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *flags],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env={**os.environ, **environment},
    )


def test_it_judges_programs_and_stops_with_status_0() -> None:
    with serving(*UNSAFE) as (process, client):
        assert judged(client, SUM).json()["verdict"] == "AC"
        assert judged(client, "print(4)").json()["verdict"] == "WA"
        assert judged(client, "print('\\ud800')").json()["verdict"] in {"RE", "WA"}
        assert client.get("/readyz").json()["isolation"] == "none"
        workers = children(process.pid)
        process.terminate()
        assert process.wait(20) == 0
        assert not any(map(running, workers))


def test_after_sigterm_it_finishes_what_it_has_and_takes_nothing_new() -> None:
    with serving(*UNSAFE) as (process, client):
        answers: list[httpx.Response] = []
        slow = f"import time; time.sleep(1.5); {SUM}"
        thread = threading.Thread(target=lambda: answers.append(judged(client, slow)))
        thread.start()
        until(lambda: client.get("/readyz").json()["waiting"] == 1)
        process.send_signal(signal.SIGTERM)
        until(lambda: client.get("/readyz").status_code == 503)
        for answer in (client.get("/readyz"), judged(client, SUM)):
            assert (answer.status_code, answer.json()["detail"]) == (503, "the service is stopping")
            assert "retry-after" in answer.headers
        assert client.get("/healthz").status_code == 200
        thread.join()
        assert answers[0].json()["verdict"] == "AC"
        assert process.wait(20) == 0


def test_what_is_not_finished_within_the_drain_time_is_a_503() -> None:
    with serving(*UNSAFE, "--drain-s", "0.3") as (process, client):
        answers: list[httpx.Response] = []
        thread = threading.Thread(target=lambda: answers.append(judged(client, "while True: pass")))
        thread.start()
        until(lambda: client.get("/readyz").json()["waiting"] == 1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        thread.join()
        assert answers[0].status_code == 503


def test_a_stream_that_is_not_finished_within_the_drain_time_ends_with_our_failure() -> None:
    with serving(*UNSAFE, "--drain-s", "0.3") as (process, client):
        codes = [SUM, "while True: pass", f"{SUM} #"]
        batch = {"submissions": [{"code": code, "problem": PROBLEM} for code in codes]}
        accept = {"Accept": "application/x-ndjson"}
        with client.stream("POST", "/evaluate/batch", json=batch, headers=accept) as answer:
            lines: list[dict[str, Any]] = []
            for line in answer.iter_lines():
                if not lines:
                    process.send_signal(signal.SIGTERM)
                lines.append(json.loads(line))
        assert [(one["index"], one["verdict"]) for one in lines] == [(0, "AC"), (1, "IE"), (2, "IE")]
        assert [one["reward"] for one in lines] == [1.0, None, None]
        assert process.wait(20) == 0


def test_killed_it_takes_its_workers_and_their_programs_along() -> None:
    try:
        with open_sandbox(SandboxSettings()):
            pass
    except SandboxUnavailableError as error:
        pytest.skip(f"programs end with their worker only in a jail: {error.cause}")
    with serving("--python", sys.executable) as (process, client):

        def judge() -> None:
            with pytest.raises(httpx.RemoteProtocolError):
                judged(client, "while True: pass")

        thread = threading.Thread(target=judge)
        thread.start()
        until(lambda: client.get("/readyz").json()["waiting"] == 1)
        time.sleep(0.5)
        everything = descendants(process.pid)
        assert len(everything) >= 2
        process.kill()
        thread.join()
        until(lambda: not any(map(running, everything)))


def test_without_isolation_a_warning_is_logged() -> None:
    process = subprocess.Popen([*COMMAND, *UNSAFE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.terminate()
        assert '"level": "warning"' in next(line for line in process.stderr if "without isolation" in line)
        process.stderr.read()


def test_a_port_in_use_is_a_clear_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = refused(*UNSAFE, "--port", str(port))
    assert result.returncode == 1
    assert f"port {port} on 127.0.0.1 is in use" in result.stderr
    assert "Traceback" not in result.stderr


def test_without_a_sandbox_it_refuses_to_start_and_says_what_to_do() -> None:
    result = refused("--sandbox", "unsafe-process", "--python", "/nowhere/python")
    assert result.returncode == 1
    assert "/nowhere/python" in result.stderr
    assert "Cure: " in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("flags", "environment", "named"),
    [
        (("--workers", "none"), {}, "--workers / MICROCODER_WORKERS"),
        ((), {"MICROCODER_DRAIN_S": "-1"}, "--drain-s / MICROCODER_DRAIN_S"),
        (("--sandbox", "podman"), {}, "--sandbox / MICROCODER_SANDBOX"),
        (("--default-cpu-time-s", "61"), {}, "max_cpu_time_s"),
    ],
)
def test_a_bad_setting_is_named_and_the_status_is_2(
    flags: tuple[str, ...], environment: dict[str, str], named: str
) -> None:
    result = refused(*flags, **environment)
    assert result.returncode == 2
    assert named in result.stderr
    assert "Traceback" not in result.stderr


def test_without_keys_it_listens_to_this_machine_only_and_says_so() -> None:
    with serving(*UNSAFE, "--host", "0.0.0.0") as (process, client):  # noqa: S104 -- it must not listen there
        assert judged(client, SUM).json()["verdict"] == "AC"
        assert listening_addresses(process.pid) == {"127.0.0.1"}
        process.terminate()
        assert process.stderr is not None
        assert "No API key is configured" in process.stderr.read()


@pytest.mark.parametrize(
    ("flags", "environment"),
    [(("--open-access", "true"), {}), ((), {"MICROCODER_API_KEYS": "key"})],
    ids=["asked for", "with keys"],
)
def test_it_listens_beyond_this_machine_with_keys_or_when_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], environment: dict[str, str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    everywhere = "0.0.0.0"  # noqa: S104 -- what is tested
    process = subprocess.Popen(
        [*COMMAND, *UNSAFE, "--host", everywhere, *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        process.stdout.readline()
        assert listening_addresses(process.pid) == {everywhere}
        process.terminate()
        process.communicate(timeout=20)


def listening_addresses(pid: int) -> set[str]:
    """Return the IPv4 addresses that a process listens on, as the kernel tells."""
    sockets = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    rows = [row.split() for row in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    hexadecimal = [
        row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets
    ]
    return {socket.inet_ntoa(bytes.fromhex(one)[::-1]) for one in hexadecimal}
