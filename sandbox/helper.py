"""Builds and finds the compiled helper of the zygotes: ``python sandbox/helper.py`` builds it beside its source.

Its name carries a digest of its source, so that a stale one is never loaded. Without one, zygotes do the same in
Python, slower.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("harness") / "helper.c"
FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")


def native_helper() -> str:
    """Return the file name of the helper that was built from the source as it is now, empty where there is none."""
    path = _path()
    return path.name if path.is_file() else ""


def build() -> str | None:
    """Build the helper; return what is wrong where that is not possible."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return "there is no C compiler"
    path = _path()
    for old in SOURCE.parent.glob("helper-*.so"):
        old.unlink()
    building = path.with_suffix(".tmp")
    done = subprocess.run(
        [compiler, *FLAGS, "-o", str(building), str(SOURCE)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        return done.stderr.strip() or f"the compiler ends with {done.returncode}"
    building.replace(path)
    return None


def _path() -> Path:
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]
    return SOURCE.with_name(f"helper-{digest}.so")


if __name__ == "__main__":
    problem = build()
    if problem:
        sys.exit(f"the compiled helper was not built, zygotes will be slower: {problem}")
