"""What all profiles say about one submission: its tests are run once, each output is compared under every profile.

A run goes on as long as some profile still accepts, since the tests behind its first failure matter to that one.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from comparators import PROFILES, Comparison, Rules, compare
from service.wire import Case, CaseResult, Judgement, Problem, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

EXCERPT_CHARS = 2000
# How much of what both sides have in common is shown before the first difference.
LEAD_CHARS = 300
CHECKER = "checker"
# A test that was run twice may have been compared once, and have come to another end.
COMPARED = (Verdict.AC, Verdict.WA)


class View(BaseModel):
    """One profile's opinion: ``step`` is the last of its chain that an accepted submission needed."""

    verdict: Verdict
    step: str | None = None
    test: int | None = None
    feedback: str = ""


class Observation(Judgement):
    """A judgement, and what each profile makes of the same runs.

    ``tests_by_step`` counts per profile the tests that each step accepted. ``expected`` and ``actual`` are excerpts of
    the test on which profiles differ, or else of the first that no profile accepts.
    """

    views: dict[str, View] = Field(default_factory=dict)
    tests_by_step: dict[str, dict[str, int]] = Field(default_factory=dict)
    shown_test: int | None = None
    expected: str | None = None
    actual: str | None = None
    comparisons: int = 0


@dataclass(frozen=True, slots=True)
class _Note:
    by_profile: dict[str, Comparison]
    expected: str
    actual: str

    @property
    def telling(self) -> int:
        """How much it is worth showing: profiles differ, no profile accepts, all accept."""
        accepting = sum(one.accepted for one in self.by_profile.values())
        return 2 if 0 < accepting < len(self.by_profile) else int(accepting == 0)


class Observer:
    """Compares for :func:`service.evaluate.evaluate`, and remembers what each profile said."""

    def __init__(self) -> None:
        self._notes: dict[int, _Note] = {}

    def comparing(self, test: Case, expected: Any, actual: Any, rules: Rules) -> Comparison:
        """Compare under every profile; accept where any of them does, so that the run goes on."""
        found = {name: compare(expected, actual, replace(rules, profile=name)) for name in PROFILES}
        accepting = [one for one in found.values() if one.accepted]
        alike = len(accepting) == len(found)
        # A test that is run again, to confirm a failure, is known by its last run.
        self._notes[id(test)] = _Note(found, *(("", "") if alike else excerpts(expected, actual)))
        return accepting[0] if accepting else next(iter(found.values()))

    def observation(self, judgement: Judgement, problem: Problem) -> Observation:
        """Return the judgement with every profile's view; its cases are left out."""
        tests: Sequence[Case] = problem.tests
        cases = [
            (case, self._notes.get(id(tests[case.index])) if case.verdict in COMPARED else None)
            for case in judgement.cases
            if case.verdict is not Verdict.SKIPPED
        ]
        shown = max(
            ((note.telling, -case.index, note) for case, note in cases if note is not None),
            key=lambda one: one[:2],
            default=None,
        )
        fields = judgement.model_dump() | {"cases": []}
        if shown is not None and shown[0]:
            fields |= {"shown_test": -shown[1], "expected": shown[2].expected, "actual": shown[2].actual}
        return Observation(
            **fields,
            views={name: _view(name, judgement, cases) for name in PROFILES},
            tests_by_step={name: _tests_by_step(name, cases) for name in PROFILES},
            comparisons=len(self._notes) * len(PROFILES),
        )


def _view(profile: str, judgement: Judgement, cases: Sequence[tuple[CaseResult, _Note | None]]) -> View:
    if judgement.verdict is Verdict.IE or not cases:
        return View(verdict=judgement.verdict, feedback=judgement.message)
    chain = [*PROFILES[profile].steps]
    needed = -1
    checked = False
    for case, note in cases:
        if note is not None:
            comparison = note.by_profile[profile]
            if not comparison.accepted:
                return View(verdict=Verdict.WA, test=case.index, feedback=comparison.feedback)
            needed = max(needed, chain.index(comparison.step or chain[0]))
        elif case.verdict is not Verdict.AC:
            return View(verdict=case.verdict, test=case.index, feedback=case.feedback or "")
        checked = checked or case.accepted_by == CHECKER
    step = chain[needed] if needed >= 0 else CHECKER if checked else None
    return View(verdict=Verdict.AC, step=step)


def _tests_by_step(profile: str, cases: Sequence[tuple[CaseResult, _Note | None]]) -> dict[str, int]:
    steps = (note.by_profile[profile].step if note else case.accepted_by for case, note in cases)
    return dict(Counter(step for step in steps if step is not None))


def excerpts(expected: Any, actual: Any) -> tuple[str, str]:
    """Return both sides as texts around their first difference."""
    wanted, got = _text(expected), _text(actual)
    common = _common_prefix(wanted, got)
    start = 0 if common <= LEAD_CHARS else wanted.rfind("\n", 0, common - LEAD_CHARS) + 1
    if common - start > EXCERPT_CHARS // 2:
        start = common - LEAD_CHARS
    return _cut(wanted, start), _cut(got, start)


def _text(value: Any) -> str:
    if isinstance(value, str):
        text = value
    elif isinstance(value, bytes):
        text = value.decode("utf-8", "replace")
    else:
        return _shown_value(value)
    return text.encode("utf-8", "replace").decode()


def _shown_value(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return text.encode("utf-8", "replace").decode()


def _common_prefix(first: str, second: str) -> int:
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _cut(text: str, start: int) -> str:
    part = text[start : start + EXCERPT_CHARS]
    missing = len(text) - start - len(part)
    head = f"[... {start} characters before]\n" if start else ""
    tail = f"\n[... {missing} more characters]" if missing > 0 else ""
    return f"{head}{part}{tail}"
