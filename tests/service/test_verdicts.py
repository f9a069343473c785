"""From facts to verdicts, and from verdicts of tests to that of a submission."""

from typing import Any

import pytest

from sandbox import End, Limits, Outcome, RunResult
from service import verdicts
from service.wire import Verdict

LIMITS = Limits(cpu_time_s=1.0)
AC, WA, TLE, MLE, OLE, RE, CE, IE = (
    Verdict[name] for name in ("AC", "WA", "TLE", "MLE", "OLE", "RE", "CE", "IE")
)


def facts(**known: Any) -> RunResult:
    usual: dict[str, Any] = {
        "end": End.EXITED,
        "exit_code": 0,
        "signal": None,
        "cpu_time_s": 0.25,
        "cpu_limit_s": 1.0,
        "wall_time_s": 0.5,
        "memory_peak_bytes": 1,
    }
    return RunResult(**(usual | known))


@pytest.mark.parametrize("mode", ["stdio", "call", "assert"])
@pytest.mark.parametrize("outcome", [Outcome.NONE, Outcome.RETURNED, Outcome.PASSED, Outcome.BROKEN_TEST])
@pytest.mark.parametrize(
    ("end", "verdict", "limit"),
    [
        (End.CPU_LIMIT, TLE, "cpu"),
        (End.WALL_LIMIT, TLE, "wall"),
        (End.MEMORY_LIMIT, MLE, None),
        (End.OUTPUT_LIMIT, OLE, None),
    ],
)
def test_a_limit_decides_whatever_was_reported(
    mode: str, outcome: Outcome, end: End, verdict: Verdict, limit: str | None
) -> None:
    finding = verdicts.of_run(facts(end=end, outcome=outcome), mode, LIMITS)
    assert (finding.verdict, finding.limit) == (verdict, limit)
    assert finding.feedback


@pytest.mark.parametrize(
    ("known", "verdict", "words"),
    [
        ({}, None, ""),
        ({"exit_code": 1}, RE, "exit code 1"),
        ({"exit_code": 1, "stderr": b"Traceback\nValueError: no\n\n"}, RE, "ValueError: no"),
        ({"end": End.SIGNALED, "exit_code": None, "signal": 11}, RE, "SIGSEGV"),
        ({"end": End.SIGNALED, "exit_code": None, "signal": 40}, RE, "40"),
        ({"outcome": Outcome.PASSED}, None, ""),
        ({"exit_code": 2, "outcome": Outcome.PASSED}, RE, "exit code 2"),
    ],
    ids=[
        "clean",
        "exit code",
        "exception",
        "signal",
        "signal without a name",
        "forged",
        "forged with an exit code",
    ],
)
def test_a_script_is_compared_only_if_it_ended_well(
    known: dict[str, Any], verdict: Verdict | None, words: str
) -> None:
    finding = verdicts.of_run(facts(**known), "stdio", LIMITS)
    assert finding.verdict is verdict
    assert words in finding.feedback


@pytest.mark.parametrize(
    ("outcome", "call", "asserted"),
    [
        (Outcome.RETURNED, None, RE),
        (Outcome.NOT_PLAIN, WA, RE),
        (Outcome.NO_ENTRY_POINT, RE, RE),
        (Outcome.RAISED, RE, RE),
        (Outcome.NONE, RE, RE),
        (Outcome.PASSED, RE, AC),
        (Outcome.FAILED, RE, WA),
        (Outcome.BROKEN_TEST, RE, IE),
        (Outcome.NEEDS_SHARING, RE, RE),
    ],
)
def test_only_what_the_harness_reports_in_a_mode_counts_in_it(
    outcome: Outcome, call: Verdict | None, asserted: Verdict
) -> None:
    """No forged outcome of another mode is a pass, or our failure."""
    assert verdicts.of_run(facts(outcome=outcome, message="why"), "call", LIMITS).verdict is call
    assert verdicts.of_run(facts(outcome=outcome, message="why"), "assert", LIMITS).verdict is asserted


def test_an_early_end_is_named() -> None:
    assert "ended before" in verdicts.of_run(facts(), "call", LIMITS).feedback
    assert "ended before" in verdicts.of_run(facts(), "assert", LIMITS).feedback


@pytest.mark.parametrize(
    ("found", "stopped", "all_run"),
    [
        ([AC, AC], AC, AC),
        ([AC, WA], WA, WA),
        ([WA, RE], WA, RE),
        ([WA, OLE, RE], WA, OLE),
        ([RE, OLE, MLE], RE, MLE),
        ([RE, MLE, TLE], RE, TLE),
        ([WA, TLE, IE], WA, IE),
        ([IE, AC], IE, IE),
        ([AC, Verdict.SKIPPED], AC, AC),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_the_first_failure_or_the_gravest(found: list[Verdict], stopped: Verdict, all_run: Verdict) -> None:
    assert verdicts.of_submission(found, stopped_at_failure=True) is stopped
    assert verdicts.of_submission(found, stopped_at_failure=False) is all_run


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if verdict is not Verdict.SKIPPED])
def test_the_reward_is_null_only_for_our_own_failure(verdict: Verdict) -> None:
    assert verdicts.reward(verdict) == {AC: 1.0, IE: None}.get(verdict, 0.0)
