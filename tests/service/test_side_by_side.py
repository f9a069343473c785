"""Slow tests of one submission run side by side on idle cores, and the answer is that of one after the other."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter

from service import wire
from service.cores import Cores
from service.evaluate import evaluate
from service.wire import Verdict

if TYPE_CHECKING:
    from sandbox import Sandbox

PROBLEM: TypeAdapter[wire.Problem] = TypeAdapter(wire.Problem)
DEFAULTS = wire.Limits(cpu_time_s=4.0, wall_time_s=30.0, memory_bytes=512 << 20, output_bytes=1 << 20)
SLEEPER = "import time\nn = float(input())\ntime.sleep(n)\nprint('late' if n > 1 else 'soon')\n"


def _judged(
    sandbox: Sandbox, code: str, inputs: list[str], cores: Cores | None, **options: Any
) -> wire.Judgement:
    tests = [{"input": f"{given}\n", "expected": "soon\n"} for given in inputs]
    problem = PROBLEM.validate_python({"mode": "stdio", "tests": tests})
    submission = wire.Submission.model_validate(
        {"code": code, "problem": problem, "options": {"detail": "full", **options}}
    )
    return evaluate(submission, problem, sandbox, defaults=DEFAULTS, cores=cores)


@pytest.fixture
def cores() -> Cores:
    """Give four cores that nobody else knows of."""
    return Cores(uuid.uuid4().hex, 4)


@pytest.mark.parametrize("isolation", ["reuse", "strict"])
def test_tests_that_wait_do_so_together(sandbox: Sandbox, cores: Cores, isolation: str) -> None:
    inputs = ["0.5"] * 9
    started = time.monotonic()
    together = _judged(sandbox, SLEEPER, inputs, cores, isolation=isolation)
    took_s = time.monotonic() - started
    assert together.verdict is Verdict.AC
    assert [case.index for case in together.cases] == list(range(9))
    # The first alone, the others at least two at a time; one after the other they would sleep for 4.5 s.
    assert took_s < sum(case.wall_time_s or 0.0 for case in together.cases)


def test_without_idle_cores_they_run_one_after_the_other(sandbox: Sandbox, cores: Cores) -> None:
    with cores.taken(4) as held:
        assert held == 4
        judgement = _judged(sandbox, SLEEPER, ["0.1"] * 4, cores)
    assert judgement.verdict is Verdict.AC
    assert sum(case.wall_time_s or 0.0 for case in judgement.cases) <= judgement.duration_s


@pytest.mark.parametrize("stop", [True, False])
def test_the_answer_is_the_same(sandbox: Sandbox, cores: Cores, *, stop: bool) -> None:
    """The first failure in the problem's order counts, also where a later test fails sooner."""
    inputs = ["0.1", "0.1", "1.2", "0.2", "nonsense", "0.1"]
    alone = _judged(sandbox, SLEEPER, inputs, None, stop_on_failure=stop)
    together = _judged(sandbox, SLEEPER, inputs, cores, stop_on_failure=stop)
    assert (alone.verdict, alone.first_failed) == ((Verdict.WA if stop else Verdict.RE), 2)
    assert together.verdict is alone.verdict
    assert together.first_failed == alone.first_failed
    assert [case.verdict for case in together.cases] == [case.verdict for case in alone.cases]
    assert together.score == alone.score


def test_stopping_ends_what_runs(sandbox: Sandbox, cores: Cores) -> None:
    started = time.monotonic()
    judgement = _judged(sandbox, SLEEPER, ["0.1", "nonsense", *["25"] * 6], cores)
    assert (judgement.verdict, judgement.first_failed) == (Verdict.RE, 1)
    assert [case.verdict for case in judgement.cases[2:]] == [Verdict.SKIPPED] * 6
    assert time.monotonic() - started < 20


def test_a_core_is_free_again_when_its_holder_is_done(cores: Cores) -> None:
    with cores.taken(3) as held, cores.taken(3) as left:
        assert (held, left) == (3, 1)
    with cores.taken(9) as held:
        assert held == 4
