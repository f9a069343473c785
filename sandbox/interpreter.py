"""Finds out what an interpreter needs to run inside a jail."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxUnavailableError

HARNESS = Path(__file__).with_name("harness")
PROBE_TIMEOUT_S = 60
OLDEST = (3, 11)
# Where jails have files of their own.
HIDDEN = ("/tmp", "/var/tmp", "/box", "/dev", "/proc", "/etc")  # noqa: S108
PROBE = """
import compileall, importlib.util, json, os, sys
compileall.compile_dir(sys.argv[1], quiet=2, force=False)
print(json.dumps({
    "executable": sys.executable,
    "real": os.path.realpath(sys.executable),
    "prefix": sys.prefix,
    "base_prefixes": [sys.base_prefix, sys.base_exec_prefix],
    "version": sys.version.split()[0],
    "version_info": sys.version_info[:2],
    "implementation": sys.implementation.name,
    "numpy": importlib.util.find_spec("numpy") is not None,
}))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An interpreter as a jail needs it.

    ``folders`` are to be visible at their own paths (an interpreter finds its libraries by them), ``environment``
    is its virtual environment, which may be visible anywhere; None where it has none. ``binaries`` are the names
    under which the executable is reached in system folders, which jails do not show whole.
    """

    executable: str
    version: str
    implementation: str
    numpy: bool
    folders: tuple[Path, ...]
    environment: Path | None
    binaries: tuple[Path, ...]


def probe(python: str) -> Interpreter:
    """Ask an interpreter about itself. Raises SandboxUnavailableError where it cannot be run."""
    try:
        answer = subprocess.run(
            [python, "-I", "-c", PROBE, str(HARNESS)],
            capture_output=True,
            check=True,
            timeout=PROBE_TIMEOUT_S,
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailableError(
            f"The interpreter for programs, {python!r}, cannot be run: {_reason(error)}.",
            "Set MICROCODER_PYTHON (--python) to a CPython that starts.",
        ) from error
    try:
        facts = json.loads(answer)
        implementation = facts["implementation"]
    except (ValueError, TypeError, KeyError) as error:
        raise SandboxUnavailableError(
            f"The interpreter for programs, {python!r}, is no Python: it answers {answer[:80]!r}.",
            "Set MICROCODER_PYTHON (--python) to a CPython.",
        ) from error
    if tuple(facts["version_info"]) < OLDEST:
        raise SandboxUnavailableError(
            f"The interpreter for programs, {python!r}, is Python {facts['version']}.",
            f"Set MICROCODER_PYTHON (--python) to Python {OLDEST[0]}.{OLDEST[1]} or newer.",
        )
    paths = {Path(prefix) for prefix in facts["base_prefixes"]} | {Path(facts["real"]).parent.parent}
    hidden = [path for path in paths if any(path.is_relative_to(folder) for folder in HIDDEN)]
    if hidden:
        raise SandboxUnavailableError(
            f"The interpreter for programs lies in {hidden[0]}, where every jail has files of its own.",
            f"Install it elsewhere than below {', '.join(HIDDEN)}.",
        )
    prefix = Path(facts["prefix"])
    links = _chain(Path(facts["executable"]))
    return Interpreter(
        executable=facts["executable"],
        version=facts["version"],
        implementation=implementation,
        numpy=facts["numpy"],
        folders=outermost(path for path in paths if not path.is_relative_to("/usr")),
        environment=None if prefix in paths else prefix,
        binaries=tuple(path for path in links if path.is_relative_to("/usr")),
    )


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        said = (error.stderr or b"").decode(errors="replace").strip().rpartition("\n")[2][:200]
        return f"it ends with {error.returncode}" + (f" ({said})" if said else "")
    return "it does not answer" if isinstance(error, subprocess.TimeoutExpired) else str(error)


def _chain(path: Path) -> list[Path]:
    """Return a path and what it links to, link by link."""
    found = [path]
    while path.is_symlink():
        path = Path(os.path.normpath(path.parent / path.readlink()))
        found.append(path)
    return found


def outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return ``paths`` without those that lie inside another one, sorted."""
    kept: list[Path] = []
    for path in sorted(set(paths)):
        if not any(path.is_relative_to(outer) for outer in kept):
            kept.append(path)
    return tuple(kept)
