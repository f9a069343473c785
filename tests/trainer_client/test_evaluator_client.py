"""The client against a real service: what it returns, what it refuses, and what it leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import pty
import subprocess
import sys
import termios
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from benchmarks.fault_proxy import Fault
from tests.trainer_client.live import PROBLEM, RIGHT, WRONG
from trainer_client import (
    AsyncEvaluatorClient,
    ClosedError,
    EvaluatorClient,
    EvaluatorError,
    Judgement,
    Limits,
    Options,
    ProblemError,
    RefusedError,
    Submission,
    Verdict,
    problem_text,
)
from trainer_client.limits import batch_deadline_s, suite_wall_time_s

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.fault_proxy import FaultProxy

ROOT = Path(__file__).parents[2]


def test_rewards_come_in_the_order_of_the_completions(url: str) -> None:
    with EvaluatorClient(url, chunk_submissions=2) as client:
        completions = [RIGHT, WRONG, "no code", WRONG, RIGHT]
        assert client.rewards(completions, [PROBLEM] * 5) == [1.0, 0.0, 0.0, 0.0, 1.0]


def test_problems_may_be_types_objects_or_json_text(url: str) -> None:
    forms: list[Any] = [PROBLEM, PROBLEM.model_dump(exclude_unset=True), problem_text(PROBLEM)]
    with EvaluatorClient(url) as client:
        assert client.rewards([RIGHT] * 3, forms) == [1.0, 1.0, 1.0]


def test_judgements_carry_the_callers_ids_and_positions(url: str) -> None:
    submissions = [Submission(id=f"rollout-{n}", code="print(3)", problem=PROBLEM) for n in range(5)]
    seen: list[Judgement] = []
    with EvaluatorClient(url, chunk_submissions=2) as client:
        judgements = client.evaluate_batch(submissions, on_judgement=seen.append)
    assert [(one.id, one.index) for one in judgements] == [(f"rollout-{n}", n) for n in range(5)]
    assert sorted(one.index for one in seen) == list(range(5))


def test_with_partial_credit_the_reward_is_the_share_of_tests_passed(url: str) -> None:
    with EvaluatorClient(url, partial_credit=True) as client:
        assert client.rewards(["```python\nprint(6)\n```", RIGHT], [PROBLEM] * 2) == [0.5, 1.0]


def test_any_text_of_a_model_is_judged(url: str) -> None:
    texts = ["\ud800 half a pair", "```python\nprint('\u2028 \x85 \x1c')\n```", "\x00", ""]
    with EvaluatorClient(url) as client:
        judgements = client.judge(texts, [PROBLEM] * 4, options=Options(detail="full"))
    assert [one.reward for one in judgements] == [0.0] * 4
    assert any("\u2028" in (case.stdout or "") for case in judgements[1].cases)


def test_limits_asked_for_are_the_limits_applied(url: str) -> None:
    sleepy = "```python\nimport time; time.sleep(1.5); print(sum(map(int, input().split())))\n```"
    short = PROBLEM.model_copy(update={"limits": Limits(wall_time_s=1)})
    with EvaluatorClient(url) as client:
        judgements = client.judge([sleepy, sleepy], [PROBLEM, short])
    assert [one.verdict for one in judgements] == [Verdict.AC, Verdict.TLE]


def test_a_refused_submission_is_named_by_its_position_in_the_batch(url: str) -> None:
    greedy = PROBLEM.model_copy(update={"limits": Limits(cpu_time_s=1e6)})
    with (
        EvaluatorClient(url, chunk_submissions=2) as client,
        pytest.raises(RefusedError, match=r"submissions\.3\.problem.*limits\.cpu_time_s") as caught,
    ):
        client.rewards([RIGHT] * 5, [PROBLEM] * 3 + [greedy] + [PROBLEM])
    assert caught.value.status == 422
    assert caught.value.errors[0].field.endswith("limits.cpu_time_s")


def test_a_wrong_key_is_refused_and_not_repeated(harm: Callable[..., FaultProxy]) -> None:
    proxy = harm(plan=lambda _: Fault(status=401))
    with EvaluatorClient(proxy.url, api_key="secret") as client, pytest.raises(RefusedError, match="401"):
        client.rewards([RIGHT], [PROBLEM])
    assert len(proxy.seen.requests) == 1
    assert proxy.seen.requests[0].headers["authorization"] == "Bearer secret"
    assert "secret" not in repr(client.config)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([RIGHT], [PROBLEM, PROBLEM]), "1 completions, but 2 problems"),
        (([None], [PROBLEM]), r"completions\.0: NoneType"),
    ],
)
def test_lists_that_do_not_fit_are_refused(url: str, arguments: Any, said: str) -> None:
    with EvaluatorClient(url) as client, pytest.raises(EvaluatorError, match=said):
        client.rewards(*arguments)


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ("{", r"problems\.1: problem: not JSON"),
        ({"mode": "stdio", "tests": []}, r"problems\.1: problem: stdio\.tests: .*at least 1"),
        ({"mode": "stdio", "tests": [{"input": "", "expected": "", "timeout": 1}]}, r"tests\.0\.timeout"),
        (7, r"problems\.1"),
    ],
)
def test_an_invalid_problem_is_named_by_position_and_field(url: str, problem: Any, said: str) -> None:
    with EvaluatorClient(url) as client, pytest.raises(ProblemError, match=said):
        client.rewards([RIGHT, RIGHT], [PROBLEM, problem])


def test_an_id_used_twice_is_refused(url: str) -> None:
    submission = Submission(id="a", code="pass", problem=PROBLEM)
    with EvaluatorClient(url) as client, pytest.raises(EvaluatorError, match=r"submissions\.1\.id: 'a'"):
        client.evaluate_batch([submission, submission])


def test_an_empty_batch_is_answered_without_a_service(nowhere: str) -> None:
    with EvaluatorClient(nowhere) as client:
        assert client.rewards([], []) == []


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"urls": "judge:8000"}, "urls.0"),
        ({"urls": []}, "urls"),
        ({"urls": "http://judge:8000", "concurency": 3}, "concurency"),
        ({"urls": "http://judge:8000", "stall_s": -1}, "stall_s"),
    ],
)
def test_an_invalid_setting_is_named(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        EvaluatorClient(**settings)
    assert ".".join(map(str, caught.value.errors()[0]["loc"])) == field


def test_pickled_clients_work_and_keep_their_settings(url: str) -> None:
    with EvaluatorClient(url, concurrency=3, api_key="secret") as client:
        client.rewards([RIGHT], [PROBLEM])
        with pickle.loads(pickle.dumps(client)) as copy:  # noqa: S301 -- bytes of our own
            assert copy.config == client.config
            assert copy.rewards([RIGHT], [PROBLEM]) == [1.0]
    both = AsyncEvaluatorClient([url, url], partial_credit=True)
    asynchronous = pickle.loads(pickle.dumps(both))  # noqa: S301 -- the same
    assert asynchronous.config.partial_credit


def test_it_may_be_used_from_many_threads_and_beside_a_running_loop(url: str) -> None:
    with EvaluatorClient(url) as client, ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda text: client.rewards([text], [PROBLEM]), [RIGHT, WRONG] * 4))
        assert results == [[1.0], [0.0]] * 4

        async def beside() -> list[float | None]:
            return client.rewards([RIGHT], [PROBLEM])

        assert asyncio.run(beside()) == [1.0]


def test_the_asynchronous_client_judges_calls_at_the_same_time(url: str) -> None:
    async def main() -> list[Verdict]:
        async with AsyncEvaluatorClient(url) as client:
            calls = (
                client.evaluate(Submission(completion=text, problem=PROBLEM)) for text in [RIGHT, WRONG] * 3
            )
            return [judgement.verdict for judgement in await asyncio.gather(*calls)]

    assert asyncio.run(main()) == [Verdict.AC, Verdict.WA] * 3


def test_a_closed_client_ends_calls_under_way_and_refuses_later_ones(harm: Callable[..., FaultProxy]) -> None:
    arrived = threading.Event()

    def hold(_: object) -> Fault:
        arrived.set()
        return Fault(hold_s=60)

    client = EvaluatorClient(harm(plan=hold).url)
    errors: list[BaseException] = []

    def call() -> None:
        try:
            client.rewards([RIGHT], [PROBLEM])
        except ClosedError as error:
            errors.append(error)

    before = threading.active_count()
    thread = threading.Thread(target=call)
    thread.start()
    assert arrived.wait(20)
    client.close()
    thread.join(20)
    assert len(errors) == 1
    assert threading.active_count() == before
    with pytest.raises(ClosedError):
        client.rewards([RIGHT], [PROBLEM])


def test_a_long_batch_on_request_shows_a_bar_and_a_summary(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with EvaluatorClient(url, progress=True) as client:
        client.rewards([RIGHT, WRONG, RIGHT], [PROBLEM] * 3)
    shown = capsys.readouterr()
    assert "3/3" in shown.err
    assert "3 judged in " in shown.err
    assert "AC 2 WA 1; p50 " in shown.err
    assert not shown.out


def test_on_a_terminal_a_long_batch_shows_them_by_default(url: str) -> None:
    code = (
        "import sys; from trainer_client import EvaluatorClient\n"
        "from tests.trainer_client.live import PROBLEM\n"
        "with EvaluatorClient(sys.argv[1]) as client: client.rewards(['no code'] * 64, [PROBLEM] * 64)"
    )
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 100))
    with subprocess.Popen([sys.executable, "-c", code, url], cwd=ROOT, stderr=slave) as process:
        os.close(slave)
        shown = b""
        # The terminal ends with its last writer, which Linux reports as an error.
        with contextlib.suppress(OSError):
            while part := os.read(master, 65536):
                shown += part
    os.close(master)
    assert process.returncode == 0
    assert b"64/64" in shown
    assert b"64 judged in " in shown


def test_by_default_nothing_is_shown_where_no_person_looks(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with EvaluatorClient(url) as client:
        client.rewards(["no code"] * 64, [PROBLEM] * 64)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("limits", "of_test", "suite_s"),
    [
        pytest.param(Limits(), None, 2 * 14, id="the contract's defaults"),
        pytest.param(Limits(cpu_time_s=5), None, 2 * 12, id="a wall time that follows the CPU time"),
        pytest.param(Limits(cpu_time_s=5, wall_time_s=7), None, 2 * 7, id="a wall time of its own"),
        pytest.param(Limits(wall_time_s=7), Limits(wall_time_s=20), 20 + 7, id="a test's own"),
    ],
)
def test_the_deadline_leaves_time_for_waiting_and_for_every_test(
    limits: Limits, of_test: Limits | None, suite_s: float
) -> None:
    tests = [PROBLEM.tests[0].model_copy(update={"limits": of_test}), PROBLEM.tests[1]]
    problem = PROBLEM.model_copy(update={"limits": limits, "tests": tests})
    assert suite_wall_time_s(problem) == suite_s
    deadline_s = batch_deadline_s([PROBLEM, problem], queue_wait_s=100, max_deadline_s=3600)
    assert deadline_s > 100 + suite_s
    assert batch_deadline_s([problem], queue_wait_s=100, max_deadline_s=50) == 50
    # What only the service knows may take as long as anything may.
    assert batch_deadline_s([problem, None], queue_wait_s=100, max_deadline_s=3600) == 3600


def script(code: str, *arguments: str) -> str:
    """Run ``code`` in a Python of its own and return what it printed."""
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


LOOPS = """
import asyncio, gc, os, sys
from trainer_client import AsyncEvaluatorClient
from tests.trainer_client.live import PROBLEM, RIGHT
client = AsyncEvaluatorClient(sys.argv[1])
counts = []
for _ in range(12):
    assert asyncio.run(client.rewards([RIGHT], [PROBLEM])) == [1.0]
    gc.collect()
    counts.append(len(os.listdir("/proc/self/fd")))
print(counts[-1] - counts[1])
"""


def test_a_new_event_loop_each_step_leaks_no_connections(url: str) -> None:
    assert int(script(LOOPS, url)) <= 1


FORK = """
import os, sys
from trainer_client import EvaluatorClient
from tests.trainer_client.live import PROBLEM, RIGHT
client = EvaluatorClient(sys.argv[1])
assert client.rewards([RIGHT], [PROBLEM]) == [1.0]
child = os.fork()
assert client.rewards([RIGHT], [PROBLEM]) == [1.0]
if child == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_it_works_on_both_sides_of_a_fork(url: str) -> None:
    assert int(script(FORK, url)) == 0


EXIT = """
import sys, threading
from trainer_client import EvaluatorClient
from tests.trainer_client.live import PROBLEM, RIGHT
client = EvaluatorClient(sys.argv[1])
assert client.rewards([RIGHT], [PROBLEM]) == [1.0]
held = EvaluatorClient(sys.argv[2])
threading.Thread(target=held.rewards, args=([RIGHT], [PROBLEM]), daemon=True).start()
print("done")
"""


def test_a_program_ends_without_waiting_for_a_client_that_nobody_closed(
    url: str, harm: Callable[..., FaultProxy]
) -> None:
    assert script(EXIT, url, harm(plan=lambda _: Fault(hold_s=300)).url) == "done\n"


SOAK = """
import gc, os, sys, threading
from trainer_client import EvaluatorClient
from tests.trainer_client.live import PROBLEM
with EvaluatorClient(sys.argv[1]) as client:
    client.rewards(["no code"] * 8, [PROBLEM] * 8)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        client.rewards(["no code"] * 8, [PROBLEM] * 8)
    print(len(os.listdir("/proc/self/fd")) - before, threading.active_count())
"""


def test_many_batches_leave_nothing_open(url: str) -> None:
    grown, threads = map(int, script(SOAK, url).split())
    assert grown <= 1
    assert threads == 2
