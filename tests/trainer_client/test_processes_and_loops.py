"""One client in several processes, threads and event loops, and in batches of any size."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.fault_proxy import PASS, Fault
from tests.trainer_client import spawned
from tests.trainer_client.live import PROBLEM, RIGHT, WRONG
from trainer_client import EvaluatorClient, Submission, Verdict, problem_text
from trainer_client.adapters.ms_swift import MsSwiftReward
from trainer_client.adapters.nemo_gym import NemoGymReward
from trainer_client.adapters.openrlhf import OpenRLHFReward
from trainer_client.adapters.slime import SlimeReward
from trainer_client.adapters.trl import EvaluatorReward
from trainer_client.adapters.verl import VerlReward

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.fault_proxy import FaultProxy

ROOT = Path(__file__).parents[2]
TEXT = problem_text(PROBLEM)


@pytest.fixture(scope="module")
def spawning() -> Iterator[ProcessPoolExecutor]:
    """Give processes that share nothing with this one: what they get has been pickled."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield pool


def test_a_spawned_process_uses_the_client_that_it_is_sent(url: str, spawning: ProcessPoolExecutor) -> None:
    client = EvaluatorClient(url)
    # Used before it is sent: connections and the thread stay here.
    assert client.rewards([RIGHT], [PROBLEM]) == [1.0]
    assert spawning.submit(spawned.rewards_of, client, TEXT).result(60) == [1.0, 0.0]
    assert client.rewards([WRONG], [PROBLEM]) == [0.0]
    client.close()


def test_a_spawned_process_uses_the_rewards_that_it_is_sent(url: str, spawning: ProcessPoolExecutor) -> None:
    found = spawning.submit(spawned.trl_outcome, EvaluatorReward(url), TEXT).result(60)
    assert found == [1.0, 0.0]
    assert spawning.submit(spawned.ms_swift_outcome, MsSwiftReward(url), TEXT).result(60) == [1.0, 0.0]
    verl = VerlReward(url).compute_score
    assert spawning.submit(spawned.outcome_of, verl, ("s", RIGHT, TEXT)).result(60)["score"] == 1.0
    openrlhf = OpenRLHFReward(url)
    assert spawning.submit(spawned.outcome_of, openrlhf, ([WRONG], [""], [TEXT])).result(60)["rewards"] == 0.0
    gym = NemoGymReward(url).verification
    assert spawning.submit(spawned.outcome_of, gym, (RIGHT, TEXT)).result(60)["reward"] == 1.0
    copy = spawning.submit(spawned.outcome_of, type, (SlimeReward(url),)).result(60)
    assert copy is SlimeReward


def script(code: str, *arguments: str) -> str:
    """Run ``code`` in a Python of its own and return what it printed."""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


LOOPS_AT_ONCE = """
import asyncio, sys
from concurrent.futures import ThreadPoolExecutor
from trainer_client import AsyncEvaluatorClient
from tests.trainer_client.live import PROBLEM, RIGHT, WRONG
client = AsyncEvaluatorClient(sys.argv[1])
def step(text):
    async def main():
        calls = (client.rewards([text], [PROBLEM]) for _ in range(3))
        return [reward for rewards in await asyncio.gather(*calls) for reward in rewards]
    return asyncio.run(main())
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(step, [RIGHT, WRONG] * 6)))
"""


def test_one_asynchronous_client_serves_event_loops_of_several_threads_at_once(url: str) -> None:
    assert script(LOOPS_AT_ONCE, url) == f"{[[1.0] * 3, [0.0] * 3] * 6}\n"


FORKED_WHILE_USED = """
import asyncio, os, sys, threading
from trainer_client import AsyncEvaluatorClient, EvaluatorClient
from tests.trainer_client.live import PROBLEM, RIGHT
client, plain = EvaluatorClient(sys.argv[1]), AsyncEvaluatorClient(sys.argv[1])
stop = threading.Event()
def use():
    while not stop.is_set():
        assert client.rewards([RIGHT], [PROBLEM]) == [1.0]
threads = [threading.Thread(target=use) for _ in range(4)]
for thread in threads: thread.start()
asyncio.run(plain.rewards([RIGHT], [PROBLEM]))
statuses = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        right = client.rewards([RIGHT], [PROBLEM]) == asyncio.run(plain.rewards([RIGHT], [PROBLEM])) == [1.0]
        os._exit(0 if right else 1)
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
for thread in threads: thread.join()
print(statuses)
"""


def test_a_child_forked_while_other_threads_use_the_client_can_use_it_too(url: str) -> None:
    assert script(FORKED_WHILE_USED, url) == f"{[0] * 8}\n"


def test_equal_submissions_of_a_batch_are_answered_each(harm: Callable[..., FaultProxy]) -> None:
    proxy = harm()
    twins = [Submission(completion=RIGHT, problem=PROBLEM)] * 40
    with EvaluatorClient(proxy.url) as client:
        judgements = client.evaluate_batch(twins)
    assert [(one.index, one.verdict) for one in judgements] == [(n, Verdict.AC) for n in range(40)]
    assert len({one.id for one in judgements}) == 40
    # One run each would be 40; within a request, and from the first to the second, they are known to be equal.
    assert sum(one.cached for one in judgements) >= 38
    assert sum(one.method == "PUT" for one in proxy.seen.requests) == 1


def test_problems_that_are_equal_but_not_the_same_object_are_uploaded_once(
    harm: Callable[..., FaultProxy],
) -> None:
    proxy = harm()
    problems: list[Any] = [PROBLEM.model_copy(), PROBLEM.model_dump(exclude_unset=True), TEXT, PROBLEM]
    with EvaluatorClient(proxy.url, chunk_submissions=1) as client:
        assert client.rewards([RIGHT] * 4, problems) == [1.0] * 4
    assert sum(one.method == "PUT" for one in proxy.seen.requests) == 1


def test_a_batch_larger_than_the_service_takes_is_judged_whole(harm: Callable[..., FaultProxy]) -> None:
    def narrow(request: Any) -> Any:
        return Fault(status=413) if len(request.text) > 20_000 else PASS

    proxy = harm(plan=narrow)
    texts = [f"{RIGHT}\n{'.' * 3_000}{n}" if n % 2 else WRONG for n in range(64)]
    with EvaluatorClient(proxy.url) as client:
        assert client.rewards(texts, [PROBLEM] * 64, deadline_s=120) == [0.0, 1.0] * 32


LARGE = """
import resource, sys
from benchmarks.client_overhead import PROBLEM, answering
from trainer_client import EvaluatorClient
peak_kib = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with answering() as url, EvaluatorClient(url) as client:
    client.rewards(["x"], [PROBLEM])
    texts = [f"print({n})" for n in range(10_000)]
    before_kib = peak_kib()
    assert client.rewards(texts, [PROBLEM] * len(texts)) == [1.0] * len(texts)
    print((peak_kib() - before_kib) / len(texts))
"""


def test_a_large_batch_takes_some_kib_a_submission() -> None:
    assert float(script(LARGE)) < 16
