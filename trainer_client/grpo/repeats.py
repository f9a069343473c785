"""Repetition at the end of a completion: one of the four conditions of the truncation mask."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

REPEAT_TOKENS = 128
"""m of the paper."""


def tail_repeats(ids: Sequence[int], m: int = REPEAT_TOKENS) -> bool:
    """Tell whether the final ``m`` tokens of ``ids`` equal the ``m`` tokens before them: repeat(o, m) of the paper.

    Any loop whose period divides ``m`` is found as soon as it has filled the last 2m tokens. A completion of fewer
    than 2m tokens does not repeat. Time is linear in ``m``.

    Raises:
        ValueError: ``m`` is not positive.

    """
    if m < 1:
        raise ValueError(f"m must be at least 1, not {m}")
    return len(ids) >= 2 * m and list(ids[-m:]) == list(ids[-2 * m : -m])
