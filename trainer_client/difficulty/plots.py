"""The pictures of a report. Difficulty is an order, so labels are shades of one hue, darker being harder."""

from __future__ import annotations

import io
import math
from types import MappingProxyType
from typing import TYPE_CHECKING

import matplotlib as mpl
import matplotlib.ticker
from matplotlib.figure import Figure

from trainer_client.difficulty.labels import Label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from trainer_client.difficulty.calibration import Calibrated, Calibration
    from trainer_client.difficulty.labels import Boundaries, Counts
    from trainer_client.difficulty.selection import Selection

SHADES = MappingProxyType({Label.EASY: "#9ecae1", Label.MEDIUM: "#4292c6", Label.HARD: "#08306b"})
# Text upon a shade.
ON_SHADE = MappingProxyType({Label.EASY: "#111111", Label.MEDIUM: "#ffffff", Label.HARD: "#ffffff"})
LINE, MUTED, ALARM = "#444444", "#666666", "#b3261e"
MOST_BINS = 30
MARGIN = 0.3
# A share of less has no room for its number.
SMALL = 0.06


def calibration_figure(calibration: Calibration) -> Figure:
    """Draw predicted against measured: every problem, the shares, and the confusion."""
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    points, shares, confusion = figure.subplots(1, 3, width_ratios=(1.45, 1, 1))
    _points(points, calibration)
    _shares(shares, {"measured": calibration.measured, "predicted": calibration.predicted})
    shares.set_title("Shares")
    _confusion(confusion, calibration)
    return figure


def selection_figure(selection: Selection) -> Figure:
    """Draw the distribution of scores and the shares of labels, before and after."""
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    scores, shares = figure.subplots(1, 2, width_ratios=(1.7, 1))
    _histogram(scores, selection)
    _shares(shares, {"before": selection.before, "after": selection.after})
    for target, place, text in (
        (float(selection.targets.easy_below), "left", "easy below"),
        (1 - float(selection.targets.hard_above), "right", "hard above"),
    ):
        shares.axvline(target, color=ALARM, linewidth=1.2, linestyle=(0, (4, 2)))
        value = target if text == "easy below" else 1 - target
        shares.annotate(
            f"{text} {100 * value:g} %",
            (target, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(-3 if place == "left" else 3, 3),
            textcoords="offset points",
            ha="right" if place == "left" else "left",
            fontsize=8,
            color=ALARM,
        )
    shares.set_title("Shares", pad=18)
    return figure


def png(figure: Figure) -> bytes:
    """Return a figure as PNG."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    return out.getvalue()


def svg(figure: Figure) -> str:
    """Return a figure as an SVG element, the same for the same figure."""
    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "difficulty", "svg.fonttype": "none"}):
        figure.savefig(
            out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
    text = out.getvalue()
    return text[text.index("<svg") :]


def _points(axes: Axes, calibration: Calibration) -> None:
    groups: dict[Label, list[Calibrated]] = {label: [] for label in Label}
    for one in calibration.problems:
        groups[one.measured].append(one)
    for label, members in groups.items():
        axes.scatter(
            [one.score for one in members],
            [one.pass_at_k for one in members],
            s=26,
            color=SHADES[label],
            edgecolors=LINE,
            linewidths=0.5,
            alpha=0.85,
            label=f"measured {label} ({len(members)})",
        )
    _boundary_lines(axes, calibration.boundaries, [one.score for one in calibration.problems])
    for rate in (calibration.pass_rates.easy_from, calibration.pass_rates.hard_below):
        axes.axhline(float(rate), color=MUTED, linewidth=0.8, linestyle=":")
    axes.set_ylim(-0.05, 1.05)
    axes.set_xlabel("predicted score")
    axes.set_ylabel(f"measured pass@{calibration.k}")
    rho = calibration.correlation.spearman
    said = "" if rho is None else f", rank correlation with failing {rho:.2f}"
    axes.set_title(f"{len(calibration.problems)} problems{said}", fontsize=11, pad=18)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False, fontsize=8)
    _plain(axes)


def _shares(axes: Axes, sides: dict[str, Counts]) -> None:
    for row, counts in enumerate(sides.values()):
        left = 0.0
        for label in Label:
            share = counts.share(label)
            axes.barh(
                row, share, left=left, color=SHADES[label], height=0.6, label=str(label) if row == 0 else None
            )
            if share >= SMALL:
                axes.text(
                    left + share / 2,
                    row,
                    f"{100 * share:.1f} %\n{getattr(counts, label)}",
                    ha="center",
                    va="center",
                    fontsize=9,
                    color=ON_SHADE[label],
                )
            left += share
    axes.set_yticks(range(len(sides)), [f"{name}\n({counts.total})" for name, counts in sides.items()])
    axes.set_ylim(len(sides) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, frameon=False, fontsize=8)
    _plain(axes)


def _confusion(axes: Axes, calibration: Calibration) -> None:
    rows = [[getattr(row.predicted, label) for label in Label] for row in calibration.confusion]
    axes.imshow(rows, cmap="Greys", vmin=0, vmax=2 * max(1, *(max(row) for row in rows)))
    names = [str(label) for label in Label]
    for measured, row in enumerate(rows):
        for predicted, count in enumerate(row):
            right = measured == predicted
            axes.text(
                predicted,
                measured,
                str(count),
                ha="center",
                va="center",
                fontsize=13,
                fontweight="bold" if right else "normal",
                color=ALARM if abs(measured - predicted) > 1 and count else "#111111",
            )
    axes.set_xticks(range(3), names)
    axes.set_yticks(range(3), names, rotation=90, va="center")
    axes.set_xlabel("predicted")
    axes.set_ylabel("measured")
    axes.set_title(f"{100 * calibration.agreement:.0f} % have the same label")
    axes.tick_params(length=0)
    axes.spines[:].set_color("#cccccc")


def _histogram(axes: Axes, selection: Selection) -> None:
    scores = [one.score for one in selection.problems]
    edges = _edges(scores, selection.boundaries)
    kept = [[one.score for one in selection.problems if one.kept and one.label is label] for label in Label]
    axes.hist(
        kept,
        bins=edges,
        stacked=True,
        color=[SHADES[label] for label in Label],
        label=[f"kept, {label}" for label in Label],
    )
    axes.hist(scores, bins=edges, histtype="step", color=LINE, linewidth=1.3, label="before")
    _boundary_lines(axes, selection.boundaries, scores)
    axes.set_xlabel("predicted score")
    axes.set_ylabel("problems")
    axes.yaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
    share = selection.after.total / selection.before.total
    axes.set_title(
        f"{selection.after.total} of {selection.before.total} kept ({100 * share:.0f} %)", fontsize=11, pad=18
    )
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=4, frameon=False, fontsize=8)
    _plain(axes)


def _edges(scores: Sequence[float], boundaries: Boundaries) -> list[float]:
    """Return the edges of bins such that none has scores from both sides of a boundary."""
    low, high = min(scores), max(scores)
    width = (high - low) / min(MOST_BINS, math.ceil(2 * len(scores) ** 0.5)) or 0.1
    between = boundaries.hard_from - boundaries.medium_from
    if between > 0:
        width = between / max(1, round(between / width))
    first = boundaries.medium_from - width * math.ceil((boundaries.medium_from - low) / width + 1e-9)
    return [first + width * place for place in range(math.floor((high - first) / width) + 2)]


def _boundary_lines(axes: Axes, boundaries: Boundaries, scores: Sequence[float]) -> None:
    low, high = _range(scores)
    axes.set_xlim(low, high)
    for score, text, side in ((boundaries.medium_from, "medium", -1), (boundaries.hard_from, "hard", 1)):
        if low < score < high:
            axes.axvline(score, color=ALARM, linewidth=1.2, linestyle=(0, (4, 2)))
            axes.annotate(
                f"{text} from {score:.2f}",
                (score, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(3 * side, 3),
                textcoords="offset points",
                ha="right" if side < 0 else "left",
                fontsize=8,
                color=ALARM,
            )


def _range(scores: Iterable[float]) -> tuple[float, float]:
    listed = list(scores)
    return min(listed) - MARGIN, max(listed) + MARGIN


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#cccccc")
    axes.tick_params(length=0)
