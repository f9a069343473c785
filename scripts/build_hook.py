"""Builds the sandbox's compiled helper into wheels (and, for editable installs, beside its source)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags


class HelperHook(BuildHookInterface[Any]):
    """Compiles ``sandbox/harness/helper.c``. A machine without a compiler gets a wheel that does without."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - the interface's
        """Build the helper and have it put into the wheel."""
        root = Path(self.root)
        done = subprocess.run([sys.executable, "-P", str(root / "sandbox" / "helper.py")], check=False)
        built = sorted((root / "sandbox" / "harness").glob("helper-*.so"))
        if done.returncode == 0 and built:
            build_data["artifacts"] += [f"sandbox/harness/{path.name}" for path in built]
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{_platform()}"


def _platform() -> str:
    return next(iter(platform_tags()))
