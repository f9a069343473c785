"""What a person at a terminal sees of a long batch: a bar, then a line with its figures."""

from __future__ import annotations

import sys
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trainer_client.outcome import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from service.wire import Judgement

    type OnJudgement = Callable[[Judgement], None]

# Shorter batches are over before anybody looks.
LONG_BATCH = 64


@contextmanager
def shown(
    total: int, on_judgement: OnJudgement | None, *, wanted: bool | None
) -> Iterator[OnJudgement | None]:
    """Give the function to call with each judgement; None where nobody wants to know.

    ``wanted`` None: a bar for batches of ``LONG_BATCH`` and more, on a terminal.
    """
    if not (wanted or (wanted is None and total >= LONG_BATCH and sys.stderr.isatty())):
        yield on_judgement
        return
    # Imported by whoever sees a bar only: it would be a tenth of the client's start.
    from tqdm import tqdm  # noqa: PLC0415

    started_s = time.monotonic()
    judged: list[Judgement] = []
    counts: Counter[str] = Counter()
    with tqdm(total=total, desc="judging", unit="program", file=sys.stderr, dynamic_ncols=True) as bar:

        def advance(judgement: Judgement) -> None:
            judged.append(judgement)
            counts[judgement.verdict] += 1
            bar.set_postfix(counts, refresh=False)
            bar.update()
            if on_judgement is not None:
                on_judgement(judgement)

        yield advance
    print(Summary.of(judged, time.monotonic() - started_s), file=sys.stderr)  # noqa: T201 -- asked for
