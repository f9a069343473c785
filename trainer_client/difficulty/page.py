"""Reports as pages that need nothing besides themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from trainer_client.difficulty.labels import Label
from trainer_client.difficulty.plots import svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from trainer_client.difficulty.calibration import Calibration, Correlation
    from trainer_client.difficulty.documents import LeftOut
    from trainer_client.difficulty.selection import Selection

MAX_ROWS = 200


@dataclass(frozen=True, slots=True)
class _Table:
    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    left_out: int = 0


def calibration_page(calibration: Calibration, figure: Figure) -> str:
    """Return the page of a calibration."""
    bounds = calibration.boundaries
    rates = calibration.pass_rates
    order = list(Label)
    surprises = sorted(
        (one for one in calibration.problems if one.predicted is not one.measured),
        key=lambda one: (-abs(order.index(one.predicted) - order.index(one.measured)), one.problem),
    )
    rows = [
        (
            one.problem,
            f"{one.score:.2f}",
            str(one.predicted),
            f"{one.correct} of {one.completions}",
            f"{one.pass_at_k:.2f}",
            str(one.measured),
        )
        for one in surprises[:MAX_ROWS]
    ]
    heads = ("Problem", "Score", "Predicted", "Right", f"pass@{calibration.k}", "Measured")
    return _rendered(
        title=f"Medium from {bounds.medium_from:.2f}, hard from {bounds.hard_from:.2f}",
        subtitle=(
            f"Difficulty as {calibration.judge.model} predicts it, on {len(calibration.problems)} problems. The shares "
            "agree because the boundaries were chosen for that; how far score and measurement agree is in the "
            "correlation and in the labels of single problems."
        ),
        notices=calibration.warnings,
        figure=figure,
        label=f"measured {calibration.measured}; predicted {calibration.predicted}",
        figures=[
            ("Measured easy", f"pass@{calibration.k} from {rates.easy_from} on"),
            ("Measured hard", f"pass@{calibration.k} below {rates.hard_below}"),
            ("Measured", str(calibration.measured)),
            ("Predicted", str(calibration.predicted)),
            ("Same label", f"{100 * calibration.agreement:.1f} %"),
            ("Rank correlation with failing", _correlation(calibration.correlation)),
            ("Completions nobody could judge", str(calibration.unscorable)),
        ],
        tables=[
            _Table("Other label than measured", heads, rows, max(0, len(surprises) - MAX_ROWS)),
            _left_out("Left out", calibration.left_out),
        ],
    )


def selection_page(selection: Selection, figure: Figure) -> str:
    """Return the page of a selection."""
    before, after, targets = selection.before, selection.after, selection.targets
    return _rendered(
        title=f"{after.total} of {before.total} problems kept",
        subtitle="The most that meet both targets: all hard ones, then medium ones, then easy ones.",
        notices=[f"Limited: {text}" for text in selection.limited_by],
        figure=figure,
        label=f"before {before}; after {after}",
        figures=[
            ("Before", str(before)),
            ("After", str(after)),
            ("Targets", f"easy below {targets.easy_below}, hard above {targets.hard_above} of what is kept"),
            (
                "Boundaries",
                f"medium from {selection.boundaries.medium_from:.2f}, hard from {selection.boundaries.hard_from:.2f}",
            ),
            ("Within a label", f"{selection.within}, seed {selection.seed}"),
        ],
        tables=[_left_out("Without a score, not kept", selection.unscored)],
    )


def _left_out(title: str, problems: Sequence[LeftOut]) -> _Table:
    rows = [(one.problem, one.reason) for one in problems[:MAX_ROWS]]
    return _Table(title, ("Problem", "Reason"), rows, max(0, len(problems) - MAX_ROWS))


def _correlation(found: Correlation) -> str:
    def one(name: str, value: float | None, chance: float | None) -> str:
        if value is None:
            return f"{name} none"
        return f"{name} {value:.3f}" + ("" if chance is None else f" (p = {chance:.2g})")

    return f"{one('Spearman', found.spearman, found.spearman_p)}, {one('Kendall', found.kendall, found.kendall_p)}"


def _rendered(
    *,
    title: str,
    subtitle: str,
    notices: Sequence[str],
    figure: Figure,
    label: str,
    figures: Sequence[tuple[str, str]],
    tables: Sequence[_Table],
) -> str:
    environment = Environment(
        loader=PackageLoader("trainer_client.difficulty", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        title=title,
        subtitle=subtitle,
        notices=notices,
        picture=Markup(svg(figure)),  # noqa: S704 -- drawn here, from numbers and labels
        picture_label=label,
        figures=figures,
        tables=tables,
    )
