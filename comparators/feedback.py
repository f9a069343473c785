"""Says in one line why nothing accepted: the first place where expected and actual differ."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from comparators.encoding import decoded
from comparators.leaves import identical, near_values
from comparators.literals import folded_tokens
from comparators.numbers import Tolerance
from comparators.pair import Pair, Printed
from comparators.values import CONTAINERS, Difference, Path, first_difference
from comparators.whitespace import tidy_lines

if TYPE_CHECKING:
    from comparators.comparison import Rules

_SHOWN_CHARACTERS = 40
_SHOWN_BITS = 130


def explain(pair: Pair, rules: Rules) -> str:
    """Return one printable line for a refused pair."""
    if not isinstance(pair, Printed):
        return _explain_returned(pair.expected, pair.actual, rules)
    if not pair.actual_tokens and pair.expected_tokens:
        return f"nothing was printed; expected {show(pair.expected_tokens[0])}"
    if rules.order != "strict" and rules.profile == "microcoder":
        return _explain_unordered(pair, rules)
    return _explain_tokens(pair, rules) or _explain_lines(pair)


def _explain_tokens(pair: Printed, rules: Rules) -> str | None:
    expected, actual = pair.expected_tokens, pair.actual_tokens
    folded = folded_tokens(rules)
    lenient = rules.profile == "microcoder"
    for index in range(pair.first_unlike if lenient else 0, min(len(expected), len(actual))):
        wanted, got = expected[index], actual[index]
        if wanted != got and not (lenient and folded(wanted, got)):
            return f"{_place(pair.expected, index)}: expected {show(wanted)}, got {show(got)}"
    if len(actual) < len(expected):
        missing = expected[len(actual)]
        place = _place(pair.expected, len(actual))
        return f"{place}: expected {show(missing)}, but only {len(actual)} of {len(expected)} tokens came"
    if len(actual) > len(expected):
        extra = actual[len(expected)]
        return f"{len(actual) - len(expected)} tokens more than expected, the first is {show(extra)}"
    return None


def _place(text: bytes, index: int) -> str:
    """Name the line of ``text`` and the token within it at which token ``index`` stands."""
    for number, line in enumerate(text.split(b"\n"), start=1):
        count = len(line.split())
        if index < count:
            return f"line {number}, token {index + 1}"
        index -= count
    return "after the last line"


def _explain_lines(pair: Printed) -> str:
    expected, actual = tidy_lines(pair.expected), tidy_lines(pair.actual)
    for number, (wanted, got) in enumerate(zip(expected, actual, strict=False), start=1):
        if wanted != got:
            return f"line {number}: expected {show(wanted)}, got {show(got)} (white space counts)"
    return f"expected {len(expected)} lines, got {len(actual)}"


def _explain_unordered(pair: Printed, rules: Rules) -> str:
    if rules.order == "lines":
        noun = "line"
        expected, actual = (
            [b" ".join(row) for row in rows] for rows in (pair.expected_rows, pair.actual_rows)
        )
    else:
        noun, expected, actual = "token", pair.expected_tokens, pair.actual_tokens
    if len(expected) != len(actual):
        return f"expected {len(expected)} {noun}s in any order, got {len(actual)}"
    missing = Counter(expected) - Counter(actual)
    extra = Counter(actual) - Counter(expected)
    if not missing:
        return f"the {noun}s differ in any order"
    return (
        f"no {noun} left for {show(next(iter(missing)))} in any order; got {show(next(iter(extra)))} instead"
    )


def _explain_returned(expected: Any, actual: Any, rules: Rules) -> str:
    likeness = (
        near_values(Tolerance(rules.abs_tol, rules.rel_tol), mixed=True, fold=rules.ignore_case)
        if rules.profile == "microcoder"
        else identical()
    )
    difference = first_difference(expected, actual, likeness)
    if difference is None:
        return "the values differ under this profile"
    order = " in any order" if rules.order != "strict" and difference.path else ""
    where = f"at {_path_text(difference.path)}: " if difference.path else ""
    return f"{where}{_reason(difference)}{order and ' (no order of the elements fits)'}"


def _reason(difference: Difference) -> str:
    if difference.reason is not None:
        return difference.reason
    return f"expected {show(difference.expected)}, got {show(difference.actual)}"


def _path_text(path: Path) -> str:
    steps: list[str] = []
    while path is not None:
        path, step = path
        steps.append(step)
    steps.reverse()
    text = "".join(steps[:_SHOWN_CHARACTERS])
    return text if len(steps) <= _SHOWN_CHARACTERS else f"{text}... ({len(steps)} levels)"


def show(value: object) -> str:
    """Show a value in about 40 printable characters, without printing all of a large one first."""
    if type(value) in CONTAINERS:
        size = len(value)  # type: ignore[arg-type]  # every container has a length
        return f"an empty {_name(value)}" if size == 0 else f"a {_name(value)} of {size}"
    if isinstance(value, bytes):
        return _cut(decoded(value[: 4 * _SHOWN_CHARACTERS]), len(value))
    if type(value) is str:
        return _cut(value[: _SHOWN_CHARACTERS + 1], len(value))
    if type(value) is int and value.bit_length() > _SHOWN_BITS:
        return f"an integer of {value.bit_length()} bits"
    if type(value) in (int, float, complex, bool, type(None)):
        return repr(value)
    return f"an object of type {type(value).__name__!r}"


def _cut(text: str, size: int) -> str:
    if len(text) <= _SHOWN_CHARACTERS:
        return repr(text)
    return f"{text[:_SHOWN_CHARACTERS]!r}... ({size} in all)"


def _name(container: object) -> str:
    return {"sequence": "list", "set": "set", "mapping": "dict"}[CONTAINERS[type(container)]]
