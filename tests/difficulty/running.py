"""The commands as a user gives them, and the files that they read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner, Result

from trainer_client.difficulty.cli import difficulty

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


def command(*arguments: object) -> Result:
    """Run ``microcoder difficulty`` with ``arguments`` in this process; what is no clean end is raised."""
    result = CliRunner().invoke(difficulty, [str(one) for one in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as JSON Lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def levels(path: Path, *difficulties: float) -> Path:
    """Write problems ``p0``, ``p1``, ... whose statements say how hard they are."""
    rows = (
        {"id": f"p{index}", "statement": f"Problem {index}, level {level}."}
        for index, level in enumerate(difficulties)
    )
    return write_rows(path, rows)


def read_json(path: Path) -> Any:
    """Read a JSON document."""
    return json.loads(path.read_text(encoding="utf-8"))
