"""``microcoder difficulty select``."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from trainer_client.difficulty.calibration import Calibration
from trainer_client.difficulty.commands.shared import (
    CALIBRATION,
    FILE,
    PREDICTION,
    RUN,
    SELECTED,
    SELECTION,
    complaining,
    fields_options,
    show_left_out,
)
from trainer_client.difficulty.documents import LeftOut, read_document, write_document, write_whole
from trainer_client.difficulty.errors import SettingsError
from trainer_client.difficulty.page import selection_page
from trainer_client.difficulty.plots import png, selection_figure
from trainer_client.difficulty.prediction import Prediction
from trainer_client.difficulty.references import Fields, scored_rows
from trainer_client.difficulty.rows import read_rows
from trainer_client.difficulty.selection import Selection, Targets, Within, enough, targets_of
from trainer_client.difficulty.selection import select as selected

if TYPE_CHECKING:
    from pathlib import Path

    from trainer_client.difficulty.prediction import Predicted

_TARGETS = Targets()


@click.command(epilog="Exit status: 0 selected, 2 bad input or settings, or targets that cannot be met.")
@click.argument("run", type=RUN)
@click.argument("problems", type=FILE)
@click.option("--calibration", "calibration_file", type=FILE, help="Where it is not RUN/calibration.json.")
@click.option(
    "--easy-below",
    default=_TARGETS.easy_below,
    show_default=True,
    help="Share that easy problems stay below.",
)
@click.option(
    "--hard-above", default=_TARGETS.hard_above, show_default=True, help="Share that hard problems are above."
)
@click.option(
    "--at-least", type=click.IntRange(0), default=1, show_default=True, help="Fail where fewer can be kept."
)
@click.option(
    "--within",
    type=click.Choice(get_args(Within)),
    default="random",
    show_default=True,
    help="Which of a label's problems are kept.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random order.")
@fields_options
@complaining
def select(  # noqa: PLR0913 -- one parameter per flag
    run: Path,
    problems: Path,
    *,
    calibration_file: Path | None,
    easy_below: str,
    hard_above: str,
    at_least: int,
    within: Within,
    seed: int,
    id_field: str | None,
    statement_field: str | None,
) -> None:
    """Keep as many of the PROBLEMS as target shares of easy and hard ones allow.

    RUN is a folder with their scores. The rows that are kept are written to RUN/selected.jsonl as they are.
    """
    targets = targets_of(easy_below, hard_above)
    prediction = read_document(run / PREDICTION, Prediction, "predict")
    calibration = read_document(calibration_file or run / CALIBRATION, Calibration, "calibrate")
    _same_judge(prediction, calibration)
    places: dict[str, int] = {}
    scores: list[Predicted] = []
    unscored: list[LeftOut] = []
    for name, row, score in scored_rows(problems, Fields(id_field, statement_field), prediction):
        if isinstance(score, LeftOut):
            unscored.append(score)
        else:
            places[name] = row.index
            scores.append(score)
    found = selected(scores, calibration.boundaries, targets, seed=seed, within=within, unscored=unscored)
    enough(found, at_least)
    figure = selection_figure(found)
    kept = {places[one.problem] for one in found.problems if one.kept}
    # Read once more: rows with their tests may be more than memory holds.
    lines = (row.line for row in read_rows(problems) if row.index in kept)
    write_whole(run / SELECTED, (f"{line.rstrip('\n')}\n".encode() for line in lines))
    write_document(run / SELECTION, found)
    write_whole((run / SELECTION).with_suffix(".png"), [png(figure)])
    write_whole((run / SELECTION).with_suffix(".html"), [selection_page(found, figure).encode()])
    _report(found, run)


def _same_judge(prediction: Prediction, calibration: Calibration) -> None:
    ours, theirs = prediction.judge.model_dump(mode="json"), calibration.judge.model_dump(mode="json")
    changed = [
        f"{name} {theirs[name]!r} there, {ours[name]!r} here" for name in ours if ours[name] != theirs[name]
    ]
    if changed:
        raise SettingsError(
            f"the boundaries were found on scores of another kind: {'; '.join(changed)}. Scores are comparable only "
            "where the same model was asked in the same way"
        )


def _report(found: Selection, run: Path) -> None:
    click.echo(f"{found.after.total} of {found.before.total} problems kept")
    for name, counts in (("before", found.before), ("after", found.after)):
        click.echo(f"  {name:6} {counts}")
    for text in found.limited_by:
        click.echo(f"limited: {text}")
    show_left_out(found.unscored, "problems without a score, not kept", run / SELECTION)
    click.echo(f"written: {run / SELECTED}, {run / SELECTION}, with .html and .png")
