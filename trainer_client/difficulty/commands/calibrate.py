"""``microcoder difficulty calibrate``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
from tqdm import tqdm

from trainer_client.client import EvaluatorClient
from trainer_client.difficulty.calibration import Calibration
from trainer_client.difficulty.calibration import calibrate as calibrated
from trainer_client.difficulty.commands.shared import (
    CALIBRATION,
    FILE,
    PREDICTION,
    RUN,
    VERDICTS,
    complaining,
    fields_options,
    key_of,
    show_left_out,
)
from trainer_client.difficulty.completions import read_completions
from trainer_client.difficulty.documents import read_document, write_document, write_whole
from trainer_client.difficulty.errors import SettingsError
from trainer_client.difficulty.formats import AUTO, FORMS
from trainer_client.difficulty.journal import Journal
from trainer_client.difficulty.labels import PassRates, pass_rates
from trainer_client.difficulty.measuring import header, measure
from trainer_client.difficulty.page import calibration_page
from trainer_client.difficulty.plots import calibration_figure, png
from trainer_client.difficulty.prediction import Prediction
from trainer_client.difficulty.references import Fields, references

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from trainer_client.difficulty.measuring import Measured
    from trainer_client.difficulty.references import Reference

_RATES = PassRates()


@click.command(
    epilog="Exit status: 0 calibrated, 1 the service failed, 2 bad input or settings, or nothing to calibrate on, "
    "130 interrupted."
)
@click.argument("run", type=RUN)
@click.argument("problems", type=FILE)
@click.argument("completions", type=FILE)
@click.option(
    "--service", "urls", multiple=True, required=True, help="URL of a judging service; may be repeated."
)
@click.option("--service-key-file", type=FILE, help="File with the service's key.")
@click.option("--k", type=click.IntRange(1), default=1, show_default=True, help="The k of pass@k.")
@click.option(
    "--min-completions",
    type=click.IntRange(1),
    default=1,
    help="Least completions of a problem; k where that is more.",
)
@click.option(
    "--easy-from", default=_RATES.easy_from, show_default=True, help="pass@k from which on a problem is easy."
)
@click.option(
    "--hard-below", default=_RATES.hard_below, show_default=True, help="pass@k below which it is hard."
)
@click.option(
    "--format",
    "form",
    type=click.Choice([AUTO, *FORMS]),
    default=AUTO,
    show_default=True,
    help="Form of the tests.",
)
@click.option(
    "--wait-s",
    type=click.FloatRange(0, min_open=True),
    default=900.0,
    show_default=True,
    help="Seconds that programs may wait for their turn, also while a service is away.",
)
@fields_options
@complaining
def calibrate(  # noqa: PLR0913 -- one parameter per flag
    run: Path,
    problems: Path,
    completions: Path,
    *,
    urls: tuple[str, ...],
    service_key_file: Path | None,
    k: int,
    min_completions: int,
    easy_from: str,
    hard_below: str,
    form: str,
    wait_s: float,
    id_field: str | None,
    statement_field: str | None,
) -> None:
    """Find the scores that part easy, medium and hard, from a reference model's COMPLETIONS of the PROBLEMS.

    RUN is a folder with the scores of these problems. Completions are judged by a service; each verdict is written down
    as it comes, and the same command again goes on from there.
    """
    rates = pass_rates(easy_from, hard_below)
    least = max(k, min_completions)
    prediction = read_document(run / PREDICTION, Prediction, "predict")
    fields = Fields(id_field, statement_field)
    wanted, left_out = references(
        problems, fields, form, prediction, read_completions(completions, id_field), least
    )
    try:
        client = EvaluatorClient(urls, api_key=key_of(service_key_file), queue_wait_s=wait_s, progress=False)
    except ValueError as error:
        raise SettingsError(f"--service: {error}") from error
    with Journal(run / VERDICTS, header()) as journal, client:
        measured = _measured(wanted, client, journal)
    found = calibrated(prediction, measured, rates, k, least=least, left_out=left_out)
    figure = calibration_figure(found)
    write_document(run / CALIBRATION, found)
    write_whole((run / CALIBRATION).with_suffix(".png"), [png(figure)])
    write_whole((run / CALIBRATION).with_suffix(".html"), [calibration_page(found, figure).encode()])
    _report(found, run)


def _measured(wanted: Sequence[Reference], client: EvaluatorClient, journal: Journal) -> dict[str, Measured]:
    total = sum(len(one.completions) for one in wanted)
    with tqdm(total=total, desc="judging", unit="program", file=sys.stderr, disable=None) as bar:

        def on_judged() -> None:
            bar.update()

        return measure(wanted, client, journal, on_judged)


def _report(found: Calibration, run: Path) -> None:
    bounds, rho = found.boundaries, found.correlation.spearman
    click.echo(f"medium from {bounds.medium_from:.3f}, hard from {bounds.hard_from:.3f}")
    for name, counts in (("measured", found.measured), ("predicted", found.predicted)):
        click.echo(f"  {name:9} {counts}")
    click.echo(
        f"{len(found.problems)} problems; {100 * found.agreement:.0f} % have the measured label; rank correlation of "
        f"score and failing {'none' if rho is None else f'{rho:.2f}'}"
    )
    if found.unscorable:
        click.echo(f"{found.unscorable} completions nobody could judge; the same command asks for them again")
    for warning in found.warnings:
        click.echo(f"warning: {warning}")
    show_left_out(found.left_out, "problems left out", run / CALIBRATION)
    click.echo(f"written: {run / CALIBRATION}, with .html and .png")
