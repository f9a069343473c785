"""Step ``structure``: the same content in another container or another spelling.

Returned values: lists for tuples, sets for frozen sets, dictionary keys for their JSON text. Printed text:
Python's spelling against JSON's, and a single list against the plain tokens or lines that it holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from comparators.encoding import decoded
from comparators.leaves import near_values
from comparators.literals import near_tokens, structures
from comparators.numbers import Tolerance
from comparators.pair import AlikeTokens, Pair, Printed
from comparators.scan import has_structure, scan
from comparators.values import CONTAINERS, Likeness, first_difference

if TYPE_CHECKING:
    from comparators.comparison import Rules


def accepts(pair: Pair, rules: Rules, /) -> bool:
    """Accept structures that hold the same, leaves being compared as in step ``numeric``."""
    tolerance = Tolerance(rules.abs_tol, rules.rel_tol)
    if not isinstance(pair, Printed):
        return first_difference(pair.expected, pair.actual, near_values(tolerance, mixed=True)) is None
    alike = near_tokens(tolerance)
    return structures_alike(pair, alike, structures(rules, alike))


def structures_alike(pair: Printed, alike: AlikeTokens, likeness: Likeness) -> bool:
    """Whether two printed texts hold the same: as a whole, or else line by line."""
    if not (has_structure(pair.expected) or has_structure(pair.actual)):
        return pair.tokens_alike(alike)
    expected, actual = pair.expected_items, pair.actual_items
    if expected is not None and actual is not None:
        if _items_alike(expected, actual, likeness):
            return True
        if _spread(expected, actual, pair.expected_rows, pair.actual_rows, alike):
            return True
    # A single line was compared as a whole.
    return len(pair.expected_rows) > 1 and _lines_alike(pair, alike, likeness)


def _items_alike(expected: list[Any], actual: list[Any], likeness: Likeness) -> bool:
    return len(expected) == len(actual) and all(
        _item_alike(wanted, got, likeness) for wanted, got in zip(expected, actual, strict=True)
    )


def _item_alike(expected: Any, actual: Any, likeness: Likeness) -> bool:
    if type(expected) not in CONTAINERS:
        # Outside brackets, quotes are content here; step `text` removes those around a whole answer.
        return type(expected) is type(actual) and likeness.leaves(expected, actual)
    if not _has_leaf(expected):
        # Brackets alone may be the answer itself, to a problem about brackets: their kind counts.
        likeness = Likeness(likeness.leaves, likeness.sets, mixed=False)
    return first_difference(expected, actual, likeness) is None


def _has_leaf(container: Any) -> bool:
    pending = [container]
    while pending:
        node = pending.pop()
        if type(node) not in CONTAINERS:
            return True
        pending.extend(node)  # of a dictionary its keys, which are leaves
    return False


def _lines_alike(pair: Printed, alike: AlikeTokens, likeness: Likeness) -> bool:
    """Compare line by line, for text in which some lines are structures and others are not."""
    if len(pair.expected_rows) != len(pair.actual_rows) or pair.floods_brackets:
        return False
    for wanted, got in zip(pair.expected_rows, pair.actual_rows, strict=True):
        if wanted == got:
            continue
        expected, actual = scan(b" ".join(wanted)), scan(b" ".join(got))
        if expected is None or actual is None:
            return False
        if not (
            _items_alike(expected, actual, likeness) or _spread(expected, actual, [wanted], [got], alike)
        ):
            return False
    return True


def _spread(
    expected: list[Any],
    actual: list[Any],
    expected_rows: list[list[bytes]],
    actual_rows: list[list[bytes]],
    alike: AlikeTokens,
) -> bool:
    """Whether one side is a single list or tuple and the other the plain tokens, or lines, in it."""
    if _is_plain(actual) and (container := _only_sequence(expected)) is not None:
        return _holds(container, actual_rows, lambda leaf, word: _plain_alike(leaf, word, alike))
    if _is_plain(expected) and (container := _only_sequence(actual)) is not None:
        return _holds(container, expected_rows, lambda leaf, word: _plain_alike(word, leaf, alike))
    return False


def _is_plain(items: list[Any]) -> bool:
    return bool(items) and all(type(item) is bytes for item in items)


def _only_sequence(items: list[Any]) -> list[Any] | tuple[Any, ...] | None:
    """Return the only item where it is a list or tuple; a set has no order to compare plain text with."""
    return items[0] if len(items) == 1 and type(items[0]) in (list, tuple) else None


def _holds(container: Any, rows: list[list[bytes]], leaf_alike: Any) -> bool:
    if all(type(child) in (str, bytes) for child in container):
        words = [word for row in rows for word in row]
        return _all_alike(container, words, leaf_alike)
    return len(container) == len(rows) and all(
        type(child) in (list, tuple)
        and all(type(leaf) in (str, bytes) for leaf in child)
        and _all_alike(child, row, leaf_alike)
        for child, row in zip(container, rows, strict=True)
    )


def _all_alike(leaves: Any, words: list[bytes], leaf_alike: Any) -> bool:
    return len(leaves) == len(words) and all(map(leaf_alike, leaves, words))


def _plain_alike(expected: str | bytes, actual: str | bytes, alike: AlikeTokens) -> bool:
    """Compare a leaf with a plain word, which has no type: a quoted leaf is equal by its text."""
    if isinstance(expected, bytes) and isinstance(actual, bytes):
        return alike(expected, actual)
    left, right = (decoded(side) if isinstance(side, bytes) else side for side in (expected, actual))
    return left == right
