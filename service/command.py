"""What ``microcoder`` starts: the command line, or a hint where only the client's part is installed."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from service.cli import main as command_line  # noqa: PLC0415 -- may not be importable, which is the point
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "service":
            raise
        sys.exit(
            f"microcoder: {error.name} is not installed. This is an installation for trainers; the commands need "
            "`pip install 'microcoder-evaluator[service]'`, or `pip install '.[service]'` in a clone."
        )
    command_line()
