"""Plots as SVG elements whose colours are the page's: light or dark, as the reader has it."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Literal

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes

    from service.audit.report import ProfileReport

RateName = Literal["false_reject_rate", "false_accept_rate"]
INCHES = 4.0
ROW_INCHES = 0.34
# Placeholders in what matplotlib draws, and the custom properties of the page's style that take their place.
INK, MUTED, GOOD, BAD, CELL, GRID = "#010101", "#020202", "#030303", "#040404", "#050505", "#060606"
_COLOURS = {INK: "ink", MUTED: "muted", GOOD: "good", BAD: "bad", CELL: "cell", GRID: "line"}
_PLACEHOLDER = re.compile("|".join(_COLOURS))


def _drawing() -> AbstractContextManager[None]:
    return mpl.rc_context(
        {
            "svg.fonttype": "none",
            "font.size": 10,
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.edgecolor": GRID,
            "xtick.color": MUTED,
            "ytick.color": INK,
        }
    )


def rates_plot(profiles: Sequence[ProfileReport], name: RateName) -> Markup:
    """Return the rates of all profiles with their 95 % intervals."""
    with _drawing():
        figure, axes = _figure(len(profiles) + 1)
        rates = [getattr(profile, name) for profile in profiles]
        for row, rate in enumerate(rates):
            if rate.rate is None:
                continue
            colour = GOOD if rate.count == 0 else BAD
            axes.plot([100 * rate.low, 100 * rate.high], [row, row], color=colour, linewidth=2)
            axes.plot([100 * rate.rate], [row], "o", color=colour, markersize=7, clip_on=False, zorder=3)
            axes.annotate(
                f"{100 * rate.rate:.1f} %",
                (100 * rate.high, row),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
            )
        axes.set_yticks(range(len(profiles)), [profile.name for profile in profiles])
        axes.set_ylim(len(profiles) - 0.5, -0.5)
        axes.set_xlim(0, 1.35 * max([5.0, *(100 * rate.high for rate in rates if rate.total)]))
        axes.set_xlabel("% of submissions, 95 % interval")
        axes.grid(axis="x", color=GRID, linewidth=0.5)
        label = ", ".join(f"{p.name} {r.count} of {r.total}" for p, r in zip(profiles, rates, strict=True))
        return _svg(figure, f"{name.replace('_', ' ')}: {label}")


def matrix_plot(profile: ProfileReport) -> Markup:
    """Return a profile's confusion matrix."""
    matrix = profile.matrix
    cells = (
        (0, 0, matrix.true_accepts, GOOD, "accepted"),
        (1, 0, matrix.false_rejects, BAD, "false reject"),
        (0, 1, matrix.false_accepts, BAD, "false accept"),
        (1, 1, matrix.true_rejects, GOOD, "rejected"),
    )
    with _drawing():
        figure, axes = _figure(6)
        for column, row, count, colour, word in cells:
            alarm = count and colour == BAD
            patch = mpl.patches.Rectangle(
                (column + 0.02, row + 0.02), 0.96, 0.96, facecolor=CELL, edgecolor=colour if alarm else GRID
            )
            patch.set_linewidth(2 if alarm else 1)
            axes.add_patch(patch)
            tone = colour if count else MUTED
            axes.text(column + 0.5, row + 0.42, str(count), ha="center", va="center", fontsize=16, color=tone)
            axes.text(column + 0.5, row + 0.76, word, ha="center", va="center", fontsize=9, color=MUTED)
        axes.set_xlim(0, 2)
        axes.set_ylim(2, 0)
        axes.set_xticks([0.5, 1.5], ["says accept", "says reject"])
        axes.set_yticks([0.5, 1.5], ["right", "wrong"])
        axes.xaxis.tick_top()
        return _svg(
            figure,
            f"confusion matrix of {profile.name}: {matrix.true_accepts} accepted and {matrix.false_rejects} refused "
            f"of the right ones, {matrix.false_accepts} accepted and {matrix.true_rejects} refused of the wrong ones",
        )


def steps_plot(profile: ProfileReport) -> Markup:
    """Return how many submissions each step decided, the wrong decisions apart."""
    steps = profile.steps
    with _drawing():
        figure, axes = _figure(len(steps) + 1)
        good = [step.submissions - step.wrong for step in steps]
        axes.barh(range(len(steps)), good, color=GOOD, height=0.7)
        axes.barh(range(len(steps)), [step.wrong for step in steps], left=good, color=BAD, height=0.7)
        widest = max([1, *(step.submissions for step in steps)])
        for row, step in enumerate(steps):
            text = f"{step.submissions}" + (f", {step.wrong} wrong" if step.wrong else "")
            axes.annotate(
                text,
                (step.submissions, row),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
        axes.set_yticks(range(len(steps)), ["no step" if s.name == "none" else s.name for s in steps])
        axes.set_ylim(len(steps) - 0.5, -0.5)
        axes.set_xlim(0, 1.5 * widest)
        axes.set_xlabel("submissions decided")
        label = ", ".join(f"{step.name} {step.submissions} ({step.wrong} wrong)" for step in steps)
        return _svg(figure, f"steps of {profile.name}: {label}")


def _figure(rows: int) -> tuple[Figure, Axes]:
    # Without pyplot, which keeps every figure of a process.
    figure = Figure(figsize=(INCHES, 0.5 + ROW_INCHES * rows), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=0)
    # A dot at 0 would stand on the first letters of a name.
    axes.tick_params(axis="y", pad=8)
    figure.patch.set_visible(False)
    axes.patch.set_visible(False)
    return figure, axes


def _svg(figure: Figure, label: str) -> Markup:
    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": label}):
        figure.savefig(
            out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
    text = out.getvalue()
    text = text[text.index("<svg") :]
    # Its style element would hold for the whole page.
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", text, count=1, flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, count=1, flags=re.DOTALL)
    text = re.sub(r"font: [^;\"]*?(\d+(?:\.\d+)?)px [^;\"]*", r"font-size: \1px", text)
    text = _PLACEHOLDER.sub(lambda found: f"var(--{_COLOURS[found[0]]})", text)
    head = Markup('<svg role="img" aria-label="{}" ').format(label)
    return head + Markup(text.removeprefix("<svg"))  # noqa: S704 -- drawn here, from numbers and names of steps
