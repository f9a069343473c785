"""``microcoder difficulty predict``."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any, get_args

import click
from tqdm import tqdm

from trainer_client.difficulty.commands.shared import (
    FILE,
    INCOMPLETE,
    PREDICTION,
    RATINGS,
    RUN,
    complaining,
    fields_options,
    key_of,
    show_left_out,
)
from trainer_client.difficulty.documents import write_document
from trainer_client.difficulty.errors import SettingsError
from trainer_client.difficulty.journal import Journal
from trainer_client.difficulty.judge_settings import Connection, JudgeSettings, Omittable, Structured
from trainer_client.difficulty.prediction import prediction
from trainer_client.difficulty.rater import Rater
from trainer_client.difficulty.rating_run import rate_all, work_of
from trainer_client.difficulty.ratings import Rating, Ratings, header
from trainer_client.difficulty.rows import read_statements
from trainer_client.difficulty.rubric import Rubric, load_rubric
from trainer_client.difficulty.usage import Prices
from trainer_client.difficulty.validation import validated

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from trainer_client.difficulty.prediction import Prediction
    from trainer_client.difficulty.rows import Statement

_DEFAULT = {
    name: field.default for name, field in (JudgeSettings.model_fields | Connection.model_fields).items()
}


@click.command(
    epilog="Exit status: 0 every problem has a score, 1 some have none or the server failed, 2 bad input or settings, "
    "130 interrupted."
)
@click.argument("run", type=RUN)
@click.argument("problems", type=FILE)
@click.option("--url", required=True, help="OpenAI-compatible API, as http://127.0.0.1:8001/v1.")
@click.option("--model", required=True, help="The model that judges, as the server names it.")
@click.option("--api-key-file", type=FILE, help="File with the server's key.")
@click.option(
    "--rubric",
    "rubric_file",
    type=FILE,
    help="Dimensions and weights; `difficulty rubric` shows the default.",
)
@click.option(
    "--ratings", type=int, default=_DEFAULT["ratings"], show_default=True, help="Ratings of a problem."
)
@click.option(
    "--temperature", type=float, default=_DEFAULT["temperature"], show_default=True, help="Of the sampling."
)
@click.option(
    "--max-tokens",
    type=int,
    default=_DEFAULT["max_tokens"],
    show_default=True,
    help="Most tokens of an answer.",
)
@click.option(
    "--seed", type=int, default=_DEFAULT["seed"], show_default=True, help="First seed of the requests."
)
@click.option(
    "--structured",
    type=click.Choice(get_args(Structured)),
    default=_DEFAULT["structured"],
    show_default=True,
    help="Form of answers asked for; auto: the strictest that the server takes.",
)
@click.option(
    "--omit",
    multiple=True,
    type=click.Choice(get_args(Omittable)),
    help="Leave out a field that the server refuses.",
)
@click.option("--extra-body", metavar="JSON", help="Further fields of each request, a JSON object.")
@click.option(
    "--concurrency", type=int, default=_DEFAULT["concurrency"], show_default=True, help="Requests at a time."
)
@click.option(
    "--timeout-s", type=float, default=_DEFAULT["timeout_s"], show_default=True, help="Seconds for a request."
)
@click.option(
    "--retries",
    type=int,
    default=_DEFAULT["retries"],
    show_default=True,
    help="Repetitions after 429, 5xx, no answer.",
)
@click.option(
    "--attempts",
    type=int,
    default=_DEFAULT["attempts"],
    show_default=True,
    help="Answers asked for until one is right.",
)
@click.option("--prompt-price", type=click.FloatRange(0), help="Price of a million tokens sent.")
@click.option("--completion-price", type=click.FloatRange(0), help="Price of a million tokens received.")
@fields_options
@complaining
def predict(  # noqa: PLR0913 -- one parameter per flag
    run: Path,
    problems: Path,
    *,
    url: str,
    api_key_file: Path | None,
    rubric_file: Path | None,
    extra_body: str | None,
    concurrency: int,
    timeout_s: float,
    retries: int,
    attempts: int,
    prompt_price: float | None,
    completion_price: float | None,
    id_field: str | None,
    statement_field: str | None,
    **judge: Any,
) -> None:
    """Let a model rate the PROBLEMS of a JSONL file, and write scores into the folder RUN.

    Each rating is written down as it comes; the same command again goes on from there.
    """
    rubric = load_rubric(rubric_file)
    settings = validated(
        JudgeSettings, {"rubric": rubric.digest, "extra_body": _object(extra_body), **judge}, flags=True
    )
    reached = {
        "url": url,
        "api_key": key_of(api_key_file),
        "concurrency": concurrency,
        "timeout_s": timeout_s,
        "retries": retries,
        "attempts": attempts,
    }
    connection = validated(Connection, reached, flags=True)
    statements = read_statements(problems, id_field, statement_field)
    with Journal(run / RATINGS, header(settings)) as journal:
        ratings = Ratings(journal.entries, journal.path)
        asyncio.run(_rate(statements, ratings, (settings, connection, rubric), journal))
    found = prediction(
        statements, ratings, settings, rubric, Prices(prompt=prompt_price, completion=completion_price)
    )
    write_document(run / PREDICTION, found)
    _report(found, run)
    if found.unscored:
        raise click.exceptions.Exit(INCOMPLETE)


async def _rate(
    statements: Sequence[Statement],
    ratings: Ratings,
    judge: tuple[JudgeSettings, Connection, Rubric],
    journal: Journal,
) -> None:
    settings, connection, _ = judge
    work = work_of(statements, ratings, settings.ratings)
    total = len(statements) * settings.ratings
    failed = 0
    done = total - len(work)
    with tqdm(total=total, initial=done, desc="rating", unit="rating", file=sys.stderr, disable=None) as bar:

        def on_rating(rating: Rating) -> None:
            nonlocal failed
            ratings.add(rating)
            failed += rating.scores is None
            if failed:
                bar.set_postfix(failed=failed, refresh=False)
            bar.update()

        async with Rater(*judge) as rater:
            await rate_all(work, rater, connection.concurrency, journal, on_rating)


def _object(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        raise SettingsError(f"--extra-body: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise SettingsError("--extra-body: not a JSON object")
    return value


def _report(found: Prediction, run: Path) -> None:
    usage = found.usage
    spread = "" if found.mean_spread is None else f", mean spread {found.mean_spread:.2f}"
    click.echo(f"{len(found.problems)} problems have a score{spread}")
    show_left_out(found.unscored, "problems have none", run / PREDICTION)
    cost = "" if found.cost is None else f", cost {found.cost:.4g}"
    uncounted = f" ({usage.uncounted} answers did not say)" if usage.uncounted else ""
    click.echo(
        f"{usage.requests} answers, {usage.prompt_tokens} tokens sent, {usage.completion_tokens} received"
        f"{uncounted}{cost}"
    )
    click.echo(f"written: {run / PREDICTION}")
