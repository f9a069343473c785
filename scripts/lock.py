"""Resolves the dependencies of pyproject.toml into requirements/*.txt, with hashes; needs the package index."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGETS = {
    "service": ["--extra", "service", "--extra", "audit", "pyproject.toml"],
    "dev": [
        "--extra",
        "service",
        "--extra",
        "audit",
        "--extra",
        "parquet",
        "--extra",
        "dev",
        "pyproject.toml",
    ],
    "trainers": ["--extra", "service", "--extra", "dev", "--extra", "trl", "pyproject.toml"],
    "programs": ["requirements/programs.in"],
    "build": ["requirements/build.in"],
}


def main() -> None:
    """Write every lock file anew."""
    for name, sources in TARGETS.items():
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
        subprocess.run([*command, *options, *sources], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
