"""What a program can see and reach: itself, a read-only system, a private folder, and nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import End, Program, RunResult, Sandbox, Session, StdioInput
from tests.sandbox.inside import LIMITS, lines, outcomes

Script = Callable[..., RunResult]


def test_no_socket_can_be_made_but_pairs(session: Session) -> None:
    attempts = {
        f"{family} {kind}": f"socket.socket({family}, {kind})"
        for family in (1, 2, 10, 16, 17, 38, 40)
        for kind in (1, 2, 3)
    }
    found = outcomes(session, attempts, "import socket")
    assert set(found.values()) <= {"OSError", "PermissionError"}
    assert lines(session, "import socket\na, b = socket.socketpair()\na.send(b'x')\nprint(b.recv(1))") == [
        "b'x'"
    ]


def test_no_name_is_resolved_and_no_page_is_fetched(session: Session) -> None:
    attempts = {
        "connect": "socket.create_connection(('127.0.0.1', 80), timeout=1)",
        "resolve": "socket.getaddrinfo('localhost', 80)",
        "fetch": "urllib.request.urlopen('http://127.0.0.1/', timeout=1)",
        "interfaces": "socket.if_nameindex()",
    }
    found = outcomes(session, attempts, "import socket, urllib.request")
    assert not [name for name, outcome in found.items() if "Error" not in outcome and outcome != "gaierror"]


@pytest.mark.jail
def test_the_hosts_files_are_not_there(session: Session, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    secret.chmod(0o644)
    paths = [
        str(secret),
        str(Path(__file__).resolve()),
        str(Path.cwd()),
        *(
            "/etc/shadow",
            "/etc/hostname",
            "/etc/ssh",
            "/root/.ssh",
            "/root/.bashrc",
            "/var/log",
            "/var/lib",
            "/run",
            "/srv",
            "/mnt",
        ),
        *(
            "/sys",
            "/sys/fs/cgroup",
            "/boot",
            "/proc/sys",
            "/proc/kcore",
            "/proc/keys",
            "/proc/net/tcp",
            "/proc/cpuinfo",
        ),
        *(
            "/dev/sda",
            "/dev/mem",
            "/dev/kmsg",
            "/dev/fuse",
            "/dev/ptmx",
            "/dev/tty",
            "/dev/mqueue",
            "/dev/kvm",
        ),
        *("/proc/1/root", "/proc/1/environ", "/proc/1/mem", "/proc/1/cwd", "/proc/1/fd/0"),
    ]
    source = (
        f"import os\nfor path in {paths!r}:\n    try:\n        os.stat(path)\n        found = True\n"
        "    except OSError: found = False\n    if found: print(path)"
    )
    assert lines(session, source) == []


def test_nothing_can_be_written_outside_the_private_folder(session: Session) -> None:
    source = """
import os, sys
folders = {"/", "/usr", "/usr/lib", "/etc", "/dev", "/proc", "/lib", "/bin", "/harness", os.path.dirname(os.__file__)}
folders |= {path for path in sys.path if path.startswith("/")}
for folder in sorted(folders):
    for attempt in (lambda: open(folder + "/mark", "w"), lambda: os.mkdir(folder + "/mark"),
                    lambda: os.symlink("/", folder + "/mark"), lambda: os.chmod(folder, 0o777)):
        try:
            attempt()
            print("wrote", folder)
        except OSError:
            pass
for path in (os.__file__, sys.executable, "/etc/passwd", "/usr/bin/cat"):
    try:
        open(path, "r+b")
        print("opened", path)
    except OSError:
        pass
for folder in (".", "/tmp", "/var/tmp", "/dev/shm"):
    open(folder + "/mark", "w").close()
print("done")
"""
    assert lines(session, source) == ["done"]


@pytest.mark.jail
def test_only_devices_without_harm_exist(session: Session) -> None:
    (found,) = lines(session, "import os\nprint(' '.join(sorted(os.listdir('/dev'))))")
    assert set(found.split()) == {
        *("null", "zero", "full", "random", "urandom", "shm", "fd", "stdin", "stdout", "stderr")
    }


def test_the_environment_is_a_fixed_list(
    session: Session, monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox
) -> None:
    monkeypatch.setenv("API_KEY_OF_A_SERVICE", "secret")
    with sandbox.session(Program("import os\nfor name in sorted(os.environ): print(name)"), LIMITS) as fresh:
        names = fresh.run(StdioInput(), LIMITS).stdout.decode().split()
    assert set(names) == {
        *("PATH", "HOME", "TMPDIR", "LANG", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE"),
        *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"),
    }
    assert "secret" not in "".join(
        lines(session, "import os\nprint(os.environ, open('/proc/self/environ').read())")
    )


def test_the_kernel_holds_the_program(session: Session) -> None:
    status = dict(
        line.split(":\t", 1)
        for line in lines(session, "print(open('/proc/self/status').read())")
        if ":\t" in line
    )
    for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[capabilities], 16) == 0, capabilities
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    (user,) = {*status["Uid"].split(), *status["Gid"].split()}
    assert int(user) >= 1000
    assert status["Groups"].strip() in {"", "65534", user}


@pytest.mark.jail
def test_outside_the_program_is_no_privileged_user(sandbox: Sandbox) -> None:
    """A program that looks like uid 1000 inside must not be root outside."""
    source = "print(open('/proc/self/uid_map').read(), open('/proc/self/gid_map').read())"
    with sandbox.session(Program(source), LIMITS) as opened:
        numbers = [int(word) for word in opened.run(StdioInput(), LIMITS).stdout.split()]
    # Inside the namespace itself the outer id shows as seen from there; each is one id wide. A zygote has its own.
    identities = [tuple(numbers[at : at + 3]) for at in range(0, len(numbers), 3)]
    assert {inner for inner, _, _ in identities} in ({1000}, {999, 1000})
    assert all(width == 1 and outer != 0 for _, outer, width in identities)


def test_the_first_process_cannot_be_signalled(session: Session) -> None:
    source = (
        "import os\nfor number in (1, 2, 9, 15, 18, 19, 20):\n    try: os.kill(1, number)\n    except OSError: pass\n"
        "print(os.path.exists('/proc/self'), os.getpid() > 1)"
    )
    assert lines(session, source) == ["True True"]
    assert lines(session, "print('alive')") == ["alive"]


def test_there_is_no_shell_and_only_harmless_programs(session: Session) -> None:
    source = """
import os
for folder in ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"):
    try:
        for name in sorted(os.listdir(folder)):
            if not name.startswith("python"):
                print(name)
    except OSError:
        pass
print(os.system("echo shell") != 0)
"""
    assert set(lines(session, source)) == {"cat", "echo", "false", "sleep", "true", "True"}


@pytest.mark.jail
def test_only_its_own_processes_are_visible(session: Session) -> None:
    source = (
        "import os\n"
        "print([int(n) for n in os.listdir('/proc') if n.isdigit() and n not in ('1', str(os.getpid()))])"
    )
    assert lines(session, source) == ["[]"]


def test_memory_and_descriptors_of_the_harness_are_out_of_reach(session: Session) -> None:
    attempts = {
        name: f"open('/proc/1/{name}', 'rb').read(1)" for name in ("mem", "maps", "environ", "auxv", "stack")
    }
    attempts |= {
        "fd": "os.listdir('/proc/1/fd')",
        "root": "os.listdir('/proc/1/root')",
        "exe": "os.readlink('/proc/1/exe')",
    }
    found = outcomes(session, attempts, "import os")
    assert set(found.values()) <= {"PermissionError", "FileNotFoundError"}


def test_a_script_holds_no_descriptor_but_its_own(session: Session) -> None:
    """Standard streams, and the descriptor to which the harness reports an uncaught exception."""
    source = "import os\nprint([fd for fd in range(64) if fd > 3 and os.path.exists(f'/proc/self/fd/{fd}')])"
    assert lines(session, source) == ["[]"]


@pytest.mark.jail
def test_sessions_do_not_see_each_other(sandbox: Sandbox) -> None:
    look = (
        "import os\n"
        "print(os.path.exists('/tmp/mark'), [n for n in os.listdir('/proc') if n.isdigit() and int(n) > 1] == "
        "[str(os.getpid())])\nopen('/tmp/mark', 'w').close()"
    )
    with sandbox.session(Program(look), LIMITS) as one, sandbox.session(Program(look), LIMITS) as other:
        for opened in (one, other, one, other):
            assert opened.run(StdioInput(), LIMITS).stdout == b"False True\n"


def test_a_forged_report_of_a_script_changes_nothing_but_itself(session: Session) -> None:
    source = """
import os
for fd in range(3, 64):
    for outcome in (b"returned", b"passed", b"needs-sharing"):
        try: os.write(fd, b'{"outcome":"' + outcome + b'","value":[1]}\\n')
        except OSError: pass
print("answer")
"""
    result = session.run(StdioInput(source.encode()), LIMITS)
    assert (result.end, result.exit_code, result.stdout, result.shared) == (End.EXITED, 0, b"answer\n", False)
