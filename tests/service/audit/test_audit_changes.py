"""Two reports compared: what changed, in which direction, and what cannot be compared."""

from __future__ import annotations

from typing import Any

import pytest

from service.audit.changes import changes
from service.audit.gate import faults
from service.audit.report import Outcome, Report

MICROCODER = "microcoder"


def changed(report: Report, index: int, **fields: Any) -> Report:
    outcomes = list(report.outcomes)
    outcomes[index] = outcomes[index].model_copy(update=fields)
    return report.model_copy(update={"outcomes": outcomes})


def first(report: Report, truth: str) -> int:
    return next(index for index, one in enumerate(report.outcomes) if one.truth == truth)


def test_a_report_does_not_differ_from_itself(report: Report) -> None:
    found = changes(report, report)
    assert (found.verdicts, found.controls, found.lost, found.gained) == ([], [], [], [])
    assert found.compared == len(report.outcomes)
    assert not found.worse(MICROCODER)


@pytest.mark.parametrize(
    ("truth", "verdict", "direction"),
    [("accept", "WA", "worse"), ("accept", "IE", "worse"), ("WA", "AC", "worse"), ("WA", "RE", "neutral")],
)
def test_directions_are_as_the_truth_sees_them(
    report: Report, truth: str, verdict: str, direction: str
) -> None:
    index = first(report, truth)
    verdicts = {**report.outcomes[index].verdicts, MICROCODER: verdict}
    other = changed(report, index, verdicts=verdicts)
    (change,) = changes(report, other).verdicts
    assert (change.profile, change.after, change.direction) == (MICROCODER, verdict, direction)
    assert changes(report, other).worse(MICROCODER) is (direction == "worse")
    assert not changes(report, other).worse("strict")
    (back,) = changes(other, report).verdicts
    assert back.direction == {"worse": "better"}.get(direction, direction)
    assert not changes(other, report).worse(MICROCODER)


def test_another_program_of_the_same_name_says_nothing_about_the_evaluator(report: Report) -> None:
    verdicts = {**report.outcomes[0].verdicts, MICROCODER: "WA"}
    other = changed(report, 0, verdicts=verdicts, fingerprint="another")
    found = changes(report, other)
    assert (found.verdicts, found.other_items) == ([], [report.outcomes[0].id])


def test_items_that_are_gone_are_worse_and_new_ones_are_told(report: Report) -> None:
    other = report.model_copy(
        update={
            "outcomes": [*report.outcomes[1:], Outcome(id="new", fingerprint="", truth="WA", verdicts={})]
        }
    )
    found = changes(report, other)
    assert (found.lost, found.gained) == ([report.outcomes[0].id], ["new"])
    assert found.worse(MICROCODER)


def test_a_control_that_is_newly_wrong_is_worse(report: Report) -> None:
    controls = list(report.controls)
    index = next(index for index, one in enumerate(controls) if not one.right)
    rate = controls[index].accepted[MICROCODER].model_copy(update={"count": 1, "rate": 0.5})
    accepted = {**controls[index].accepted, MICROCODER: rate}
    controls[index] = controls[index].model_copy(update={"accepted": accepted})
    found = changes(report, report.model_copy(update={"controls": controls}))
    (change,) = found.controls
    assert (change.kind, change.direction) == (controls[index].kind, "worse")
    assert found.worse(MICROCODER)


def test_controls_that_are_no_longer_made_are_worse(report: Report) -> None:
    """A release gate must not open because nobody looked."""
    found = changes(report, report.model_copy(update={"controls": []}))
    assert found.lost_controls == [one.kind for one in report.controls]
    assert found.worse(MICROCODER)
    assert not changes(report.model_copy(update={"controls": []}), report).worse(MICROCODER)


def test_reports_of_nothing_in_common_are_no_success(report: Report) -> None:
    others = [one.model_copy(update={"fingerprint": "another"}) for one in report.outcomes]
    found = changes(report, report.model_copy(update={"outcomes": others}))
    assert (found.compared, found.verdicts, found.lost) == (0, [], [])
    assert found.worse(MICROCODER)


def test_the_gate_opens_for_what_is_right_and_names_what_is_not(report: Report) -> None:
    assert list(faults(report, MICROCODER)) == []
    found = list(faults(report, "strict"))
    assert any(fault.startswith("third/rounded: the truth is accept, strict says WA") for fault in found)
    assert any("control 'number formats': strict refuses some" in fault for fault in found)
    published = list(faults(report, "published"))
    assert any(
        fault.startswith("pair/turned: the truth is reject, published says AC (unordered)")
        for fault in published
    )
