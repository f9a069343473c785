"""Step ``tokens``: the same tokens in the same order, however many blanks or line ends separate them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from comparators.pair import Pair, Printed

if TYPE_CHECKING:
    from comparators.comparison import Rules


def accepts(pair: Pair, rules: Rules, /) -> bool:  # noqa: ARG001  # one protocol for all steps
    """Accept equal lists of tokens; a token is never glued to another or split in two."""
    return isinstance(pair, Printed) and pair.expected_tokens == pair.actual_tokens
