"""Finds compilers and runtimes on this machine, and says what a jail must show of them."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sandbox.interpreter import HIDDEN
from sandbox.jail import Extras
from sandbox.toolchains.languages import LanguageData, Step

PROBE_TIMEOUT_S = 60
# Where a toolchain that has a folder of its own outside /usr is found in the jail.
HOME = Path("/toolchain")
SYSTEM = Path("/usr")
VISIBLE = (Path("/usr/lib"), Path("/usr/lib64"), Path("/usr/local/lib"))
# Compilers that lie among the libraries, which jails show.
COMPILERS = (
    "/usr/lib/gcc",
    "/usr/lib/gcc-cross",
    "/usr/lib/jvm",
    "/usr/lib/rustlib",
    "/usr/lib/go-*",
    "/usr/lib/llvm-*",
    "/usr/lib/node_modules",
    "/usr/local/lib/node_modules",
)


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A toolchain that was found; ``commands`` maps names to paths in the jail, ``home`` is a path in the jail."""

    version: str
    commands: dict[str, Path]
    home: Path | None
    shown: tuple[tuple[Path, Path], ...]

    def extras(self, step: Step, *, with_toolchain: bool) -> Extras:
        """Return what the jail of a step shows of this toolchain and what it hides of others."""
        shown = self.shown if with_toolchain else ()
        folders = [Path(path) for pattern in COMPILERS for path in sorted(glob.glob(pattern))]  # noqa: PTH207 - absolute
        hidden = [
            path
            for path in folders
            if path.is_dir() and not path.is_symlink() and not (with_toolchain and self._needs(path))
        ]
        return Extras(shown=shown, hidden=tuple(hidden), handles_sigchld=step.handles_sigchld)

    def _needs(self, folder: Path) -> bool:
        # GCC's own parts are found from its driver's place, so they belong to every toolchain that links.
        if folder.name == "gcc":
            return "ld" in self.commands
        return self.home is not None and self.home.is_relative_to(folder)


def find(data: LanguageData) -> Toolchain | None:
    """Return the toolchain of a language, or None where this machine has none that will do."""
    wanted = data.toolchain
    if not all(shutil.which(name) for name in wanted.commands):
        return None
    version = _version(wanted.version)
    if version is None or _as_numbers(version) < _as_numbers(wanted.oldest):
        return None
    home = _home(wanted.home)
    if wanted.home and home is None:
        return None
    inner_home = home if home is None or home.is_relative_to(SYSTEM) else HOME
    # By their places in the jail.
    shown = {inner_home: home} if home and inner_home and home != SYSTEM and not _is_visible(home) else {}
    commands = {}
    for name in wanted.commands:
        commands[name], sources = _command(name, home, inner_home)
        shown |= sources
    for pattern in wanted.folders:
        shown |= {Path(path): Path(path) for path in sorted(glob.glob(pattern)) if Path(path).is_dir()}  # noqa: PTH207
    if any(target.is_relative_to(folder) for target in shown for folder in HIDDEN if folder != "/etc"):
        return None
    return Toolchain(
        version, commands, inner_home, tuple((source, target) for target, source in shown.items())
    )


def _command(name: str, home: Path | None, inner_home: Path | None) -> tuple[Path, dict[Path, Path]]:
    """Return where a command is found in the jail, and what is to be shown for that (sources by their places)."""
    if home is not None and inner_home is not None and home != SYSTEM and (home / "bin" / name).is_file():
        return inner_home / "bin" / name, {}
    real = Path(str(shutil.which(name))).resolve()
    # By its name as well, under which other commands look for it.
    return real, {target: real for target in (real, SYSTEM / "bin" / name) if not _is_visible(target)}


def _is_visible(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in VISIBLE)


def _home(command: tuple[str, ...]) -> Path | None:
    if not command:
        return None
    if len(command) == 1:
        return Path(str(shutil.which(command[0]))).resolve().parent.parent
    said = _ask(command)
    return Path(said).resolve() if said and Path(said).is_dir() else None


def _version(command: tuple[str, ...]) -> str | None:
    said = _ask(command)
    found = re.search(r"\d+(?:\.\d+)*", said) if said else None
    return found[0] if found else None


def _as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _ask(command: tuple[str, ...]) -> str | None:
    """Return the first line that a command prints, or None where it does not run."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=PROBE_TIMEOUT_S,
            cwd=os.sep,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines()
    return lines[0].strip() if lines else None
