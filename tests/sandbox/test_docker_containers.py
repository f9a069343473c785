"""Programs in containers: what is said of jails holds, and what differs is no door."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker
import pytest

from sandbox import (
    AssertInput,
    End,
    Limits,
    Outcome,
    Program,
    Sandbox,
    SandboxSettings,
    SandboxUnavailableError,
    Session,
    StdioInput,
    open_sandbox,
)
from sandbox.docker.container import LABEL, ContainerPlan, configure
from sandbox.docker.launch import connect
from sandbox.docker.profile import render
from sandbox.jail import POLICY
from sandbox.settings import DOCKER_IMAGE
from tests.sandbox.inside import LIMITS, lines, outcomes
from tests.sandbox.test_leftovers import LITTER, TIGHT

if TYPE_CHECKING:
    from collections.abc import Iterator

SLEEPER = "import time\nprint('on', flush=True)\ntime.sleep(1000)"


def quietly_connected() -> docker.APIClient:
    """Connect; Docker's client leaves a socket that it could not connect to the garbage collector."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            return connect()
        finally:
            gc.collect()


@pytest.fixture(scope="module")
def engine() -> Iterator[docker.APIClient]:
    try:
        client = quietly_connected()
    except SandboxUnavailableError as error:
        pytest.skip(error.cause)
    if not client.images(DOCKER_IMAGE):
        pytest.skip(f"no image {DOCKER_IMAGE}: docker build --target programs --tag {DOCKER_IMAGE} .")
    yield client
    client.close()


@pytest.fixture(scope="module")
def containers(engine: docker.APIClient) -> Iterator[Sandbox]:
    assert engine.ping()
    with open_sandbox(SandboxSettings(kind="docker")) as opened:
        yield opened


@pytest.fixture(scope="module")
def session(containers: Sandbox) -> Iterator[Session]:
    with containers.session(Program("exec(open(0).read())"), LIMITS) as opened:
        yield opened


def running(engine: docker.APIClient, pid: int) -> list[dict[str, Any]]:
    return [one for one in engine.containers() if one["Labels"].get(LABEL, "").endswith(f" {pid}")]


def wait_until(condition: Any, seconds: float = 45.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.05)


def test_no_engine_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")
    with pytest.raises(SandboxUnavailableError, match="No Docker engine answers") as found:
        quietly_connected()
    assert "DOCKER_HOST" in found.value.cure


def test_a_missing_image_is_said_to_be_missing(engine: docker.APIClient) -> None:
    assert engine.ping()
    with pytest.raises(SandboxUnavailableError, match="no image 'microcoder-none:1'") as found:
        open_sandbox(SandboxSettings(kind="docker", docker_image="microcoder-none:1"))
    assert "docker build --target programs" in found.value.cure


def test_the_request_for_a_container_grants_nothing() -> None:
    plan = ContainerPlan(image="i", uid=30000, disk_bytes=1 << 20, owner="here 1")
    body = configure(plan)
    host = body["HostConfig"]
    assert body["User"] == "30000:30000"
    assert (host["NetworkMode"], host["ReadonlyRootfs"], host["CapDrop"]) == ("none", True, ["ALL"])
    assert "no-new-privileges:true" in host["SecurityOpt"]
    assert host["MemorySwap"] == host["Memory"] > 0
    assert host["PidsLimit"] > 0
    assert not {"Privileged", "CapAdd", "Binds", "Mounts", "Devices", "PidMode", "UsernsMode"} & set(host)
    assert not any("unconfined" in option for option in host["SecurityOpt"])


def profile() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for rule in render(POLICY.read_text())["syscalls"]:
        for name in rule["names"]:
            found.setdefault(name, []).append(rule)
    return found


def test_the_profile_says_what_the_jails_policy_says() -> None:
    rules = profile()
    assert render(POLICY.read_text())["defaultAction"] == "SCMP_ACT_ERRNO"
    for name in ("read", "execve", "stat", "uname", "sendfile"):
        assert [rule["action"] for rule in rules[name]] == ["SCMP_ACT_ALLOW"], name
    for name in ("ptrace", "bpf", "keyctl", "unshare", "setns", "userfaultfd"):
        assert [rule["action"] for rule in rules[name]] == ["SCMP_ACT_KILL_PROCESS"], name
    for name in ("clone", "ioctl", "prlimit64", "rt_sigaction", "socket", "socketpair"):
        assert all(rule["args"] for rule in rules[name]), name
    (masked,) = rules["clone"][0]["args"]
    assert (masked["op"], masked["value"], masked["valueTwo"]) == ("SCMP_CMP_MASKED_EQ", 0x7E028000, 0)
    assert not {"mount", "inotify_init1", "setuid"} & set(rules)


@pytest.mark.parametrize(
    "policy",
    [
        "POLICY single {} POLICY programs { ALLOW { read(fd) { fd > 1 } } }",
        "POLICY single {} POLICY programs { ALLOW { read(fd) { (fd & 1) != 0 } } }",
        "ALLOW { a b }",
    ],
)
def test_a_policy_that_is_not_understood_is_refused(policy: str) -> None:
    with pytest.raises(ValueError, match=r"policy|Docker cannot say"):
        render(policy)


def test_a_sandbox_of_containers_describes_itself(containers: Sandbox) -> None:
    facts = containers.describe()
    assert (facts["kind"], facts["isolation"], facts["memory"]) == ("docker", "docker", "container")


def test_what_docker_shows_of_the_host_is_empty(session: Session) -> None:
    source = """
import os
paths = ["/etc/hostname", "/etc/hosts", "/etc/resolv.conf"]
names = "cmdline cpuinfo kallsyms keys meminfo stat uptime version"
paths += [f"/proc/{name}" for name in names.split()]
for path in paths:
    print(path, len(open(path, "rb").read()))
for path in ("/proc/sys", "/proc/fs", "/sys/class", "/sys/devices", "/sys/kernel", "/dev/pts", "/dev/mqueue"):
    print(path, len(os.listdir(path)))
for path in ("/proc/kcore", "/dev/tty"):
    print(path, os.path.exists(path) and len(open(path, "rb").read(1)))
"""
    assert {line.rpartition(" ")[2] for line in lines(session, source)} <= {"0", "False"}


def test_the_hosts_own_files_are_not_there(session: Session, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    paths = [
        str(secret),
        str(Path(__file__).resolve()),
        "/root",
        "/home",
        "/run",
        "/var/log",
        "/var/run/docker.sock",
    ]
    assert lines(session, f"import os\nprint([path for path in {paths!r} if os.path.exists(path)])") == ["[]"]


def test_the_other_processes_are_out_of_reach(session: Session) -> None:
    """Of the bridge a program sees that it is there, as it sees the first process."""
    source = """
import os
me = str(os.getpid())
for pid in [name for name in os.listdir("/proc") if name.isdigit() and name != me]:
    for attempt in (lambda: os.kill(int(pid), 9), lambda: open(f"/proc/{pid}/mem", "rb").read(1),
                    lambda: open(f"/proc/{pid}/environ", "rb").read(1), lambda: os.listdir(f"/proc/{pid}/fd"),
                    lambda: os.readlink(f"/proc/{pid}/root")):
        try:
            attempt()
            if pid != "1": print("reached", pid)
        except OSError:
            pass
print("done", os.getuid() >= 1000)
"""
    assert lines(session, source) == ["done True"]
    assert lines(session, "print('alive')") == ["alive"]


def test_the_way_to_the_bridge_is_closed(session: Session) -> None:
    attempts = {
        "connect": "socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect('\\0microcoder')",
        "memory file": "os.memfd_create('x')",
        "bind": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].bind('\\0x')",
        "reconnect": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].connect('\\0microcoder')",
    }
    assert set(outcomes(session, attempts, "import os, socket").values()) <= {"OSError", "PermissionError"}


@pytest.mark.parametrize("source", LITTER.values(), ids=LITTER.keys())
def test_the_next_run_finds_nothing(containers: Sandbox, source: str) -> None:
    """Neither files nor processes; only the two processes that were there before it."""
    look = (
        "import os\nprint([(d, n) for d in ('.', '/tmp', '/dev/shm') for n in os.listdir(d)])\n"
        "print(sorted(os.listdir('/box')))\nprint(sum(n.isdigit() for n in os.listdir('/proc')))"
    )
    with containers.session(Program("exec(open(0).read())"), LIMITS) as session:
        before = session.run(StdioInput(look.encode()), LIMITS)
        session.run(StdioInput(source.encode()), TIGHT)
        after = session.run(StdioInput(look.encode()), LIMITS)
    assert (after.end, after.exit_code) == (End.EXITED, 0), after.stderr
    assert after.stdout == before.stdout == b"[]\n['source', 'tmp', 'work']\n3\n"


def test_a_container_that_falls_to_the_limit_whole_is_replaced(containers: Sandbox) -> None:
    """Files count as memory: with the program gone they are still there, and the harness falls too."""
    limits = Limits(cpu_time_s=4.0, wall_time_s=20.0, memory_bytes=32 << 20)
    fill = "exec(open(0).read())"
    source = b"for n in range(60): open(str(n), 'wb').write(b'x' * (1 << 20))\na = bytearray(64 << 20)\nprint(len(a))"
    with containers.session(Program(fill), limits) as session:
        assert session.run(StdioInput(source), limits).end is End.MEMORY_LIMIT
        assert session.run(StdioInput(b"print('again')"), limits).stdout == b"again\n"


def test_much_input_does_not_count_as_the_programs_memory(containers: Sandbox) -> None:
    limits = Limits(memory_bytes=48 << 20)
    source = "import sys\nn = 0\nwhile part := sys.stdin.buffer.read(1 << 16): n += len(part)\nprint(n)"
    with containers.session(Program(source), limits) as session:
        assert session.run(StdioInput(b"x" * (96 << 20)), limits).stdout == b"%d\n" % (96 << 20)


def test_a_test_that_fails_is_seen(containers: Sandbox) -> None:
    with containers.session(Program("def f(): return 1", mode="assert"), LIMITS) as session:
        found = [session.run(AssertInput(f"assert f() == {n}"), LIMITS).outcome for n in (1, 2)]
    assert found == [Outcome.PASSED, Outcome.FAILED]


def test_nothing_is_left_when_it_is_closed(engine: docker.APIClient) -> None:
    """Another sandbox of this process may go on replacing its own container meanwhile: how many there are counts."""
    before = len(running(engine, os.getpid()))
    with open_sandbox(SandboxSettings(kind="docker")) as opened:
        session = opened.session(Program("print(1)"), LIMITS)
        assert session.run(StdioInput(), LIMITS).stdout == b"1\n"
        wait_until(lambda: len(running(engine, os.getpid())) > before)
        session.close()
        session.close()
    wait_until(lambda: len(running(engine, os.getpid())) <= before)


KILLED = f"""
import json, sys
from sandbox import Limits, Program, SandboxSettings, StdioInput, open_sandbox
with open_sandbox(SandboxSettings(kind="docker")) as opened:
    with opened.session(Program({SLEEPER!r}), Limits()) as session:
        print(json.dumps("ready"), flush=True)
        session.run(StdioInput(), Limits(wall_time_s=600.0))
"""


def test_containers_end_with_a_worker_that_is_killed(engine: docker.APIClient) -> None:
    """And what is left of them is removed by the next sandbox of this machine."""
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as worker:
        assert worker.stdout is not None
        assert json.loads(worker.stdout.readline()) == "ready"
        ours = {one["Id"] for one in running(engine, worker.pid)}
        assert ours
        worker.send_signal(signal.SIGKILL)
    wait_until(lambda: not running(engine, worker.pid))
    with open_sandbox(SandboxSettings(kind="docker")):
        left = {one["Id"] for one in engine.containers(all=True)}
    assert not ours & left
