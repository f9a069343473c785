"""Resolves the dependencies of pyproject.toml into requirements/*.txt, with hashes; needs the package index."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Extras of pyproject.toml, or a file that says what is wanted.
TARGETS: dict[str, tuple[str, ...] | str] = {
    "service": ("service", "audit"),
    "dev": ("service", "audit", "parquet", "difficulty", "dev"),
    "trainers": ("service", "dev", "train"),
    "programs": "requirements/programs.in",
    "build": "requirements/build.in",
}


def main() -> None:
    """Write every lock file anew."""
    for name, wanted in TARGETS.items():
        sources = [wanted] if isinstance(wanted, str) else ["pyproject.toml"]
        extras = [] if isinstance(wanted, str) else [f"--extra={extra}" for extra in wanted]
        command = [
            sys.executable,
            "-m",
            "uv",
            "pip",
            "compile",
            "--quiet",
            "--universal",
            "--python-version",
            "3.12",
        ]
        options = [
            "--generate-hashes",
            "--no-header",
            "--no-annotate",
            "--upgrade",
            "-o",
            f"requirements/{name}.txt",
        ]
        subprocess.run([*command, *options, *extras, *sources], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
