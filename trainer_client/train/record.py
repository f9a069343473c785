"""What happens in a run, as JSON lines: ``{"kind": "step", "step": 12, "reward": 0.4, ...}``.

Kinds: ``run`` (what the run is), ``step`` (figures of a step), ``heldout`` (accuracy on the held-out problems),
``warning`` (training leaves the healthy region), ``end``. A figure that was not measured is null.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from trainer_client.train.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

type Line = dict[str, Any]
NAME = "log.jsonl"


class Record:
    """Writes the lines of a run; every line is in the file when the call returns."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, kind: str, step: int, figures: Mapping[str, Any]) -> None:
        """Append a line."""
        line = {"kind": kind, "step": step, **{name: _plain(value) for name, value in figures.items()}}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def cut_after(self, step: int) -> None:
        """Drop what was written after ``step``: a run that is resumed there writes it anew.

        Raises:
            RunError: the log cannot be read.

        """
        kept = [line for line in read_record(self.path) if line["step"] <= step and line["kind"] != "end"]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in kept)
        new = self.path.with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        new.replace(self.path)


def read_record(path: Path) -> list[Line]:
    """Return the lines of a log; one that was torn by a crash at its end is left out.

    Raises:
        RunError: there is no log, or it is none of ours.

    """
    try:
        texts = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {error}") from error
    lines: list[Line] = []
    for number, text in enumerate(texts, start=1):
        try:
            line = json.loads(text)
        except ValueError as error:
            if number == len(texts):
                break
            raise RunError(f"{path}:{number}: no JSON: {error}") from error
        if not isinstance(line, dict) or not {"kind", "step"} <= line.keys():
            raise RunError(f"{path}:{number}: no line of a log of training")
        lines.append(line)
    return lines


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
