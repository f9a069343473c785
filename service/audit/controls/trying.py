"""Makes controls from the expected outputs of problems, and asks every profile about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from comparators import Rules, compare
from service.audit.controls import texts, values
from service.audit.observing import excerpts
from service.runs import rules_of
from service.wire import AssertCase, CallCase, Case, Problem, StdioCase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

# Kind -> (how to make it from a text, how to make it from a value); None where there is no such thing.
WRONG: dict[str, tuple[Callable[..., Any] | None, Callable[..., Any] | None]] = {
    "digit changed": (texts.digit_changed, values.digit_changed),
    "text changed": (texts.text_changed, values.text_changed),
    "truth value turned": (None, values.truth_value_turned),
    "token dropped": (texts.token_dropped, values.element_dropped),
    "rows swapped": (texts.rows_swapped, values.rows_swapped),
    "duplicates removed": (texts.duplicates_removed, values.duplicates_removed),
    "precision reduced": (texts.precision_reduced, values.precision_reduced),
    "line added": (texts.line_added, None),
    "no answer": (texts.nothing_printed, values.nothing_returned),
}
RIGHT: dict[str, tuple[Callable[..., Any] | None, Callable[..., Any] | None]] = {
    "blanks at line ends": (texts.blanks_at_line_ends, None),
    "blanks between tokens": (texts.blanks_between, None),
    "line ends": (texts.line_ends, None),
    "list syntax": (texts.list_syntax, values.tuples),
    "number formats": (texts.number_formats, values.number_formats),
    "truth values as integers": (None, values.truth_values),
    "numbers as keys": (None, values.number_keys),
    "within the tolerance": (texts.within_tolerance, values.within_tolerance),
    "case of yes and no": (texts.case_of_answers, None),
    "order where it is free": (texts.order_changed, values.order_changed),
}
TESTS_PER_PROBLEM = 5
MAX_CHARACTERS = 1 << 16
MAX_EXAMPLES = 3


@dataclass(slots=True)
class ControlCounts:
    """What became of one kind: ``accepted`` and ``examples`` of wrong answers are per profile."""

    kind: str
    right: bool
    tries: int = 0
    accepted: Counter[str] = field(default_factory=Counter)
    examples: list[tuple[str, str, str, str]] = field(default_factory=list)


def try_controls(
    problems: Iterable[tuple[str, Problem]], profiles: Sequence[str]
) -> tuple[list[ControlCounts], Counter[str]]:
    """Return the counts of every kind, and how many tests were left out, by reason.

    ``problems`` pairs names and problems. ``examples`` hold profile, problem, expected and actual.
    """
    counts = {
        (kind, right): ControlCounts(kind, right)
        for right, kinds in ((False, WRONG), (True, RIGHT))
        for kind in kinds
    }
    left: Counter[str] = Counter()
    for name, problem in problems:
        for test in _usable(problem, left):
            rules = rules_of(test, problem.comparison)
            for kind, right, expected, actual in _made(test, rules):
                _ask(counts[kind, right], name, (expected, actual), rules, profiles)
    return list(counts.values()), left


def _usable(problem: Problem, left: Counter[str]) -> Iterator[StdioCase | CallCase]:
    tests: Sequence[Case] = problem.tests
    if problem.comparison.checker is not None:
        left["a checker decides, which may accept other answers"] += len(tests)
        return
    for test in tests[:TESTS_PER_PROBLEM]:
        if isinstance(test, AssertCase):
            left["assert tests hold no expected output"] += 1
        elif isinstance(test, StdioCase | CallCase):
            if isinstance(test.expected, str) and len(test.expected) > MAX_CHARACTERS:
                left[f"the expected output has more than {MAX_CHARACTERS} characters"] += 1
            else:
                yield test
    beyond = len(tests) - TESTS_PER_PROBLEM
    if beyond > 0:
        left[f"beyond the first {TESTS_PER_PROBLEM} tests of a problem"] += beyond


def _made(test: StdioCase | CallCase, rules: Rules) -> Iterator[tuple[str, bool, Any, Any]]:
    for right, kinds in ((False, WRONG), (True, RIGHT)):
        for kind, (of_text, of_value) in kinds.items():
            if isinstance(test, StdioCase):
                text = of_text(test.expected, rules) if of_text else None
                if text is not None:
                    yield kind, right, test.expected, text.encode("utf-8", "replace")
            elif of_value is not None:
                value = of_value(test.expected, rules)
                if value is not values.MISSING:
                    yield kind, right, test.expected, value


def _ask(
    counts: ControlCounts, name: str, outputs: tuple[Any, Any], rules: Rules, profiles: Sequence[str]
) -> None:
    expected, actual = outputs
    counts.tries += 1
    shown = Counter(profile for profile, *_ in counts.examples)
    for profile in profiles:
        accepted = compare(expected, actual, replace(rules, profile=profile)).accepted
        counts.accepted[profile] += accepted
        if accepted is not counts.right and shown[profile] < MAX_EXAMPLES:
            counts.examples.append((profile, name, *excerpts(expected, actual)))
