"""An audit tells, per profile, who is right how often, where and why, from one run of every program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from service.audit.report import Matrix, ProfileReport, Report

if TYPE_CHECKING:
    from collections.abc import Callable

    Rows = list[dict[str, Any]]


def profile(report: Report, name: str) -> ProfileReport:
    return next(one for one in report.profiles if one.name == name)


def matrix(*counts: int) -> Matrix:
    names = ("true_accepts", "false_rejects", "false_accepts", "true_rejects")
    return Matrix(**dict(zip(names, counts, strict=True)))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("microcoder", matrix(7, 0, 0, 8)),
        ("strict", matrix(4, 3, 0, 8)),
        ("livecodebench", matrix(6, 1, 0, 8)),
        ("published", matrix(7, 0, 1, 7)),
    ],
)
def test_matrices_set_truth_against_opinion(report: Report, name: str, expected: Matrix) -> None:
    assert profile(report, name).matrix == expected


def test_rates_carry_their_intervals(report: Report) -> None:
    rejects = profile(report, "strict").false_reject_rate
    assert (rejects.count, rejects.total, rejects.rate) == (3, 7, 3 / 7)
    assert rejects.low == pytest.approx(0.1582, abs=1e-4)
    assert rejects.high == pytest.approx(0.7495, abs=1e-4)


def test_profiles_are_tested_against_the_baseline(report: Report) -> None:
    assert report.baseline == "livecodebench"
    assert profile(report, "livecodebench").mcnemar is None
    ours = profile(report, "microcoder").mcnemar
    assert ours is not None
    assert (ours.only_this_right, ours.only_baseline_right, ours.p_value) == (1, 0, 1.0)


def test_mean_rewards_stand_beside_the_truth(report: Report) -> None:
    assert report.truth_mean_reward == profile(report, "microcoder").mean_reward == pytest.approx(7 / 15)
    assert profile(report, "published").mean_reward == pytest.approx(8 / 15)


def test_steps_tell_what_decided_and_how_often_wrongly(report: Report) -> None:
    steps = {one.name: (one.submissions, one.wrong) for one in profile(report, "microcoder").steps}
    assert steps == {
        "exact": (2, 0), "whitespace": (0, 0), "tokens": (0, 0), "numeric": (2, 0), "structure": (1, 0), "text": (0, 0),
        "unordered": (0, 0), "checker": (1, 0), "assert": (1, 0), "none": (8, 0),
    }  # fmt: skip
    wrong = {one.name: one.wrong for one in profile(report, "published").steps if one.wrong}
    assert wrong == {"unordered": 1}


def test_groups_add_up_to_the_whole(report: Report) -> None:
    for one in report.profiles:
        for by, names in (
            ("source", {"printed", "returned", "asserted", "checked"}),
            ("mode", {"stdio", "call", "assert"}),
            ("truth", {"accept", "reject", "WA", "RE", "TLE", "CE"}),
        ):
            groups = [group for group in one.groups if group.by == by]
            assert {group.name for group in groups} == names
            assert sum(group.matrix.false_rejects for group in groups) == one.matrix.false_rejects
            assert sum(group.matrix.true_rejects for group in groups) == one.matrix.true_rejects


def test_disagreements_show_both_sides_and_the_step(report: Report) -> None:
    found = {one.id: one for one in report.disagreements}
    assert set(found) == {"double/spread", "third/rounded", "pair/tuple", "pair/turned"}
    turned = found["pair/turned"]
    assert (turned.expected, turned.actual, turned.truth) == ("[2, 4]", "[4, 2]", "reject")
    assert turned.views["published"].step == "unordered"
    assert not turned.views["published"].right
    rounded = found["third/rounded"]
    assert rounded.views["livecodebench"].verdict == "WA"
    assert "0.3333333" in rounded.views["livecodebench"].feedback
    assert (rounded.expected, rounded.actual) == ("0.333333333\n", "0.3333333\n")


def test_verdicts_are_those_of_the_first_failing_test_of_each_profile(report: Report) -> None:
    """A run goes on behind one profile's failure for the sake of the others, which changes no verdict."""
    outcomes = {one.id: one.verdicts for one in report.outcomes}
    assert set(outcomes["double/raises"].values()) == {"RE"}
    assert set(outcomes["double/last_wrong"].values()) == {"WA"}
    assert set(outcomes["double/endless"].values()) == {"TLE"}
    assert outcomes["double/spread"]["microcoder"] == "AC"
    assert profile(report, "microcoder").verdict_agreement.count == 15


def test_every_program_is_run_once_whatever_the_number_of_profiles(report: Report) -> None:
    assert report.runs == len(report.outcomes) == 15
    assert report.completeness.complete


def test_what_the_program_randomly_prints_is_one_output_for_all_profiles(
    audited: Callable[..., Report],
) -> None:
    """Run once per profile, a coin would not fall alike for four profiles on twenty programs."""
    problem = {"mode": "stdio", "tests": [{"input": "", "expected": "0\n"}]}
    programs = [
        {"file": f"{n}", "code": "import os\nprint(os.urandom(1)[0] % 2)", "truth": "accept"}
        for n in range(20)
    ]
    outcomes = audited([{"id": "coin", "problem": problem, "submissions": programs}]).outcomes
    assert all(len(set(one.verdicts.values())) == 1 for one in outcomes)


def test_repeats_list_every_verdict_that_changed(audited: Callable[..., Report]) -> None:
    problem = {"mode": "stdio", "tests": [{"input": "", "expected": "0\n"}]}
    programs = [
        {"file": "coin", "code": "import os\nprint(os.urandom(1)[0] % 2)", "truth": "accept"},
        {"file": "steady", "code": "print(0)", "truth": "accept"},
    ]
    # That a coin falls alike so often happens once in a hundred billion times.
    rows = [{"id": "flaky", "problem": problem, "submissions": programs}]
    repeatability = audited(rows, repeats=40, profiles=("microcoder",)).repeatability
    (change,) = repeatability.changed
    assert (change.id, change.profile, change.cause) == ("flaky/coin", "microcoder", "the program")
    assert set(change.verdicts) == {"AC", "WA"}
    assert len(change.verdicts) == repeatability.repeats == 40


def test_incomplete_data_never_looks_complete(audited: Callable[..., Report], bad_set: Rows) -> None:
    report = audited(bad_set)
    assert report.headline.startswith("Incomplete, 1 of 2 not measured: microcoder is right on 0 of 1")
    assert [one.name for one in report.completeness.unscored] == ["broken/any"]
    assert "checker is broken" in report.completeness.unscored[0].reason
    assert {one.id: one.verdicts["strict"] for one in report.outcomes}["broken/any"] == "IE"
    # Nothing that is labelled right passes: the label or the tests are in doubt.
    assert [one.problem for one in report.suspects] == ["doubtful/mislabelled"]


def test_languages_that_cannot_be_judged_here_are_left_out_by_name(audited: Callable[..., Report]) -> None:
    problem = {"mode": "call", "entry_point": "f", "tests": [{"args": [1], "expected": 1}]}
    programs = [
        {"file": "py", "code": "def f(n): return n", "truth": "accept"},
        {"file": "cpp", "code": "int f(int n) { return n; }", "language": "cpp", "truth": "accept"},
    ]
    report = audited([{"id": "p", "problem": problem, "submissions": programs}], controls=False)
    assert [one.id for one in report.outcomes] == ["p/py"]
    assert [(one.name, one.reason.partition(":")[0]) for one in report.completeness.skipped] == [
        ("p/cpp", "language cpp")
    ]
    assert report.headline.startswith("Incomplete, 1 of 2")


def test_profiles_and_controls_can_be_chosen(audited: Callable[..., Report], labelled_set: Rows) -> None:
    report = audited(labelled_set[1:2], profiles=("strict", "published"), controls=False)
    assert [one.name for one in report.profiles] == ["strict", "published"]
    assert (report.baseline, report.controls) == ("strict", [])
    assert profile(report, "published").mcnemar is not None


def test_a_report_survives_being_written_and_read(report: Report) -> None:
    assert Report.model_validate_json(report.model_dump_json()) == report
    assert report.schema_version == 1
    assert report.environment.isolation == "nsjail"
