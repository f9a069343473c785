"""Curves of one run, or of several side by side, from their records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import cycle, pairwise
from typing import TYPE_CHECKING, Any

from trainer_client.train.errors import MissingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from trainer_client.train.record import Line

NAME = "curves.png"
# Okabe and Ito's colours, which people tell apart who do not see all colours.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


@dataclass(frozen=True, slots=True)
class Panel:
    """One figure over steps; ``share`` for one from 0 to 1."""

    figure: str
    title: str
    kind: str = "step"
    share: bool = True


PANELS = (
    Panel("reward", "training reward (share accepted)"),
    Panel("accuracy", "accuracy on held-out problems", kind="heldout"),
    Panel("length", "length of completions (tokens, mean)", share=False),
    Panel("diversity", "diversity within groups"),
    Panel("masked", "masked share of completions"),
    Panel("truncated", "truncated share of completions"),
)


def plot_runs(runs: Mapping[str, Sequence[Sequence[Line]]], path: Path) -> None:
    """Draw the curves of ``runs`` into a PNG file.

    Args:
        runs: by name the records of its seeds; several are drawn as their mean, with a band from least to most.
        path: the file.

    Raises:
        MissingError: matplotlib is not installed.

    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 -- only where curves are drawn
    except ImportError as error:
        raise MissingError("curves need matplotlib: pip install 'microcoder-evaluator[train]'") from error
    figure = Figure(figsize=(13, 7), layout="constrained")
    axes = figure.subplots(2, 3)
    for panel, axis in zip(PANELS, axes.flat, strict=True):
        drawn = False
        for (name, records), colour in zip(runs.items(), cycle(COLOURS), strict=False):
            drawn |= _draw(axis, panel, records, colour, f"{name} ({_seeds(len(records))})")
        _dress(axis, panel, drawn=drawn)
    _mark_stages(axes.flat, runs)
    if len(runs) > 1:
        # A run need not be in every panel.
        drawn_runs = {
            label: handle
            for axis in axes.flat
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
        }
        figure.legend(
            drawn_runs.values(),
            drawn_runs.keys(),
            loc="outside upper center",
            ncols=len(runs),
            frameon=False,
        )
    figure.savefig(path, dpi=110)


def smoothed(values: Sequence[float], window: int) -> list[float]:
    """Return the mean of each value and those before it, ``window`` at most; NaN takes no part."""
    result = []
    for end in range(1, len(values) + 1):
        known = [value for value in values[max(0, end - window) : end] if not math.isnan(value)]
        result.append(sum(known) / len(known) if known else math.nan)
    return result


def _draw(axis: Any, panel: Panel, records: Sequence[Sequence[Line]], colour: str, name: str) -> bool:
    series = [_series(record, panel) for record in records]
    steps = sorted({step for one in series for step in one})
    if not steps:
        return False
    rows = [[one[step] for one in series if step in one] for step in steps]
    mean = [sum(row) / len(row) for row in rows]
    if panel.kind == "heldout":
        axis.plot(steps, mean, color=colour, marker="o", markersize=3.5, linewidth=1.6, label=name)
    else:
        window = max(1, len(steps) // 40)
        axis.plot(steps, smoothed(mean, window), color=colour, linewidth=1.8, label=name)
        if len(series) == 1 and window > 1:
            axis.plot(steps, mean, color=colour, linewidth=0.6, alpha=0.35)
    if len(series) > 1:
        axis.fill_between(
            steps,
            [min(row) for row in rows],
            [max(row) for row in rows],
            color=colour,
            alpha=0.13,
            linewidth=0,
        )
    return True


def _seeds(count: int) -> str:
    return "1 seed" if count == 1 else f"mean and range of {count} seeds"


def _series(record: Sequence[Line], panel: Panel) -> dict[int, float]:
    return {
        line["step"]: line[panel.figure]
        for line in record
        if line["kind"] == panel.kind and line.get(panel.figure) is not None
    }


def _dress(axis: Any, panel: Panel, *, drawn: bool) -> None:
    axis.set_title(panel.title, fontsize=10, loc="left")
    axis.set_xlabel("step", fontsize=9)
    axis.tick_params(labelsize=8)
    axis.grid(alpha=0.25)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    if panel.share:
        _, high = axis.get_ylim() if drawn else (0.0, 1.0)
        axis.set_ylim(0, 1.02 if high > 0.3 else max(high, 0.01))  # noqa: PLR2004 -- small shares stay visible
    else:
        axis.set_ylim(bottom=0)
    if not drawn:
        axis.text(0.5, 0.5, "not measured", transform=axis.transAxes, ha="center", color="0.5")


def _mark_stages(axes: Any, runs: Mapping[str, Sequence[Sequence[Line]]]) -> None:
    """Draw a line where a run's temperature or maximum length jumps."""
    for (_, records), colour in zip(runs.items(), cycle(COLOURS), strict=False):
        lines = [line for line in records[0] if line["kind"] == "step"] if records else []
        for before, after in pairwise(lines):
            if (before["temperature"], before["max_completion_length"]) != (
                after["temperature"],
                after["max_completion_length"],
            ):
                for axis in axes:
                    axis.axvline(after["step"], color=colour, linestyle=":", linewidth=1, alpha=0.7)
