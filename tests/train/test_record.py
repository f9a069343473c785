"""The record of a run and its curves."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from trainer_client.train.errors import RunError
from trainer_client.train.plots import plot_runs, smoothed
from trainer_client.train.record import Record, read_record

FIGURES = {
    "length": 5.0,
    "diversity": 0.7,
    "masked": 0.1,
    "truncated": 0.2,
    "temperature": 0.6,
    "max_completion_length": 8,
}


def test_lines_come_back_as_they_were_written(tmp_path: Path) -> None:
    record = Record(tmp_path / "log.jsonl")
    record.write("step", 1, {"reward": 0.25, "kl": math.nan, "verdicts": {"AC": 1}})
    record.write("end", 2, {"text": "naïve"})
    assert read_record(record.path) == [
        {"kind": "step", "step": 1, "reward": 0.25, "kl": None, "verdicts": {"AC": 1}},
        {"kind": "end", "step": 2, "text": "naïve"},
    ]


def test_a_torn_last_line_is_left_out_and_any_other_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    whole = json.dumps({"kind": "step", "step": 1})
    path.write_text(f'{whole}\n{{"kind": "st', encoding="utf-8")
    assert [line["step"] for line in read_record(path)] == [1]
    path.write_text(f'{{"kind"\n{whole}\n', encoding="utf-8")
    with pytest.raises(RunError, match=r"log\.jsonl:1: no JSON"):
        read_record(path)
    path.write_text("[]\n", encoding="utf-8")
    with pytest.raises(RunError, match="no line of a log of training"):
        read_record(path)


def test_what_a_resumed_run_writes_anew_is_dropped(tmp_path: Path) -> None:
    record = Record(tmp_path / "log.jsonl")
    for step in (1, 2, 3):
        record.write("step", step, {"reward": step / 10})
    record.write("end", 3, {})
    record.cut_after(2)
    record.write("step", 3, {"reward": 0.9})
    assert [(line["step"], line.get("reward")) for line in read_record(record.path)] == [
        (1, 0.1),
        (2, 0.2),
        (3, 0.9),
    ]


def line(step: int, reward: float | None, **changes: Any) -> dict[str, Any]:
    return {"kind": "step", "step": step, "reward": reward} | FIGURES | changes


def test_curves_are_drawn_of_one_run_and_of_several(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    first = [line(step, step / 100, temperature=0.6 if step < 50 else 1.2) for step in range(100)]
    first += [
        {"kind": "heldout", "step": 50, "accuracy": 0.5},
        {"kind": "heldout", "step": 99, "accuracy": None},
    ]
    second = [line(step, None) for step in range(3)]
    sizes = []
    for name, runs in (
        ("one", {"a": [first]}),
        ("two", {"a": [first, first[:40]], "b": [second]}),
        ("none", {"a": [[]]}),
    ):
        path = tmp_path / f"{name}.png"
        plot_runs(runs, path)
        assert path.read_bytes().startswith(b"\x89PNG")
        sizes.append(path.stat().st_size)
    assert sizes[2] < min(sizes[:2])


def test_smoothing_is_a_mean_of_what_is_known() -> None:
    assert smoothed([1.0, 3.0, 5.0, 7.0], 2) == [1.0, 2.0, 4.0, 6.0]
    assert smoothed([1.0, math.nan, 5.0], 2) == [1.0, 1.0, 5.0]
    assert math.isnan(smoothed([math.nan], 3)[0])
