"""Rates what a journal lacks, many at a time, and writes each rating down as it comes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from trainer_client.difficulty.errors import JudgeError
from trainer_client.difficulty.ratings import Rating

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainer_client.difficulty.journal import Journal
    from trainer_client.difficulty.rater import Rater
    from trainer_client.difficulty.ratings import Ratings
    from trainer_client.difficulty.rows import Statement

# With a server that is gone, or a model that cannot do it, each problem costs minutes or tokens for nothing.
GIVE_UP_AFTER = 20

type Work = tuple[Statement, int]


def work_of(statements: Sequence[Statement], ratings: Ratings, wanted: int) -> list[Work]:
    """Return which ratings are to be made: statements with the numbers of the ratings.

    Raises:
        InputError: a statement is not the one that was rated under its name.

    """
    return [(statement, index) for statement in statements for index in ratings.missing(statement, wanted)]


async def rate_all(
    work: Sequence[Work],
    rater: Rater,
    concurrency: int,
    journal: Journal,
    on_rating: Callable[[Rating], None],
) -> None:
    """Make the ratings of ``work``, ``concurrency`` at a time.

    Raises:
        JudgeError: the server refuses everything, or ``GIVE_UP_AFTER`` ratings in a row failed.

    """
    coming = iter(work)
    failed_in_a_row = 0

    async def worker(coming: Iterator[Work]) -> None:
        nonlocal failed_in_a_row
        for statement, index in coming:
            rated = await rater.rate(statement.text, index)
            rating = Rating(
                problem=statement.problem,
                statement=statement.digest,
                index=index,
                scores=rated.scores,
                reason=rated.reason,
                usage=rated.usage,
            )
            journal.append(rating.model_dump(mode="json"))
            on_rating(rating)
            failed_in_a_row = failed_in_a_row + 1 if rated.scores is None else 0
            if failed_in_a_row >= GIVE_UP_AFTER:
                raise JudgeError(f"{failed_in_a_row} ratings in a row failed; the last: {rated.reason}")

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(work))):
                group.create_task(worker(coming))
    except* JudgeError as errors:
        # All of them say the same.
        raise JudgeError(str(errors.exceptions[0])) from errors
