"""Each adapter in the shape that its trainer calls, against a real service, and with a sample nobody could judge."""

from __future__ import annotations

import asyncio
import inspect
import pickle
import threading
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from benchmarks.fault_proxy import PASS, Fault, FaultProxy
from tests.trainer_client.live import PROBLEM, RIGHT, WRONG
from trainer_client import EvaluatorError, ProblemError, UnscorableError, problem_text
from trainer_client.adapters import openrlhf_server
from trainer_client.adapters.ms_swift import MsSwiftReward
from trainer_client.adapters.nemo_gym import NemoGymReward
from trainer_client.adapters.openrlhf import OpenRLHFReward
from trainer_client.adapters.slime import SlimeReward, post_process_rewards
from trainer_client.adapters.texts import completion_text
from trainer_client.adapters.trl import EvaluatorReward
from trainer_client.adapters.verifiers import VerifiersReward
from trainer_client.adapters.verl import VerlReward
from trainer_client.micro_batching import MicroBatcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    type Harm = Callable[..., FaultProxy]

TEXT = problem_text(PROBLEM)
# The proxies of these tests let no service judge it.
LOST = "```python\nlost = True\n```"
OUTCOME = {"verdict", "share_passed", "passed", "total", "has_code", "unscorable", "duration_s", "message"}


@pytest.fixture
def lossy(harm: Harm) -> FaultProxy:
    """Give a service that fails over one program."""
    return harm(plan=lambda request: Fault(status=500) if b"lost = True" in request.text else PASS)


QUICK: dict[str, Any] = {"first_backoff_s": 0.01}


# TRL


def trl(
    url: str, completions: list[Any], **columns: Any
) -> tuple[list[float | None], dict[str, Any], dict[str, Any]]:
    metrics: dict[str, Any] = {}
    extras: dict[str, Any] = {}

    async def main() -> list[float | None]:
        reward = EvaluatorReward(url, **QUICK)
        async with reward.client:
            return await reward(
                prompts=["p"] * len(completions),
                completions=completions,
                completion_ids=[[1]] * len(completions),
                trainer_state=None,
                log_extra=extras.__setitem__,
                log_metric=metrics.__setitem__,
                **columns,
            )

    return asyncio.run(main()), metrics, extras


def test_trl_gets_none_for_what_nobody_could_judge_and_shares_of_all_verdicts(lossy: FaultProxy) -> None:
    rewards, metrics, extras = trl(lossy.url, [RIGHT, LOST, WRONG, "no code"], problem=[TEXT] * 4)
    assert rewards == [1.0, None, 0.0, 0.0]
    assert extras == {"verdict": ["AC", "IE", "WA", "NC"], "passed": [2, 0, 1, 0], "total": [2, 2, 2, 2]}
    shares = {name: value for name, value in metrics.items() if value}
    assert shares == {
        "evaluator/AC": 0.25,
        "evaluator/WA": 0.25,
        "evaluator/NC": 0.25,
        "evaluator/IE": 0.25,
        "evaluator/unscorable": 0.25,
        "evaluator/share_passed": 0.375,
    }
    assert {"evaluator/TLE", "evaluator/RE", "evaluator/CE"} <= set(metrics)


def test_trl_conversations_are_judged_by_their_last_message(url: str) -> None:
    chat = [[{"role": "assistant", "content": RIGHT}], [{"role": "assistant", "content": WRONG}]]
    assert trl(url, chat, problem=[TEXT] * 2)[0] == [1.0, 0.0]


def test_trl_sees_a_coroutine_function_with_a_name_that_pickles(url: str) -> None:
    reward = pickle.loads(pickle.dumps(EvaluatorReward(url, column="tests")))  # noqa: S301 -- bytes of our own
    assert inspect.iscoroutinefunction(type(reward).__call__)
    assert reward.__name__ == "evaluator"
    assert reward.column == "tests"


def test_trl_without_the_column_is_told_what_there_is(url: str) -> None:
    with pytest.raises(EvaluatorError, match=r"no column 'problem'; what came: .*ground_truth"):
        trl(url, [RIGHT], ground_truth=[TEXT])


# verl


def test_verl_gets_a_score_with_always_the_same_keys_or_an_exception(lossy: FaultProxy) -> None:
    async def main() -> list[Any]:
        reward = VerlReward(lossy.url, **QUICK)
        assert inspect.iscoroutinefunction(reward.compute_score)
        calls = [
            reward.compute_score(
                data_source="sums", solution_str=text, ground_truth=TEXT, extra_info={"num_turns": 1}
            )
            for text in (RIGHT, WRONG, LOST, "no code")
        ]
        results = await asyncio.gather(*calls, return_exceptions=True)
        await reward.aclose()
        return results

    right, wrong, lost, no_code = asyncio.run(main())
    assert [one["score"] for one in (right, wrong, no_code)] == [1.0, 0.0, 0.0]
    assert set(right) == set(wrong) == set(no_code) == {"score", "acc", *OUTCOME}
    assert isinstance(lost, UnscorableError)
    assert "500" in str(lost)


# OpenRLHF


def test_openrlhf_gets_numbers_for_one_sample_and_lists_for_several(url: str) -> None:
    reward_func = OpenRLHFReward(url)
    one = reward_func([f"Add.{RIGHT}"], ["Add."], [TEXT])
    assert (one["rewards"], one["scores"]) == (1.0, 1.0)
    assert all(isinstance(value, float) for value in one["extra_logs"].values())
    many = reward_func([f"Add.{RIGHT}", f"Add.{WRONG}"], ["Add."] * 2, [TEXT] * 2)
    assert many["rewards"] == [1.0, 0.0]
    assert set(many["extra_logs"]) == set(one["extra_logs"])


def test_openrlhf_does_not_judge_the_prompts_own_program(url: str) -> None:
    prompt = f"Improve this:\n{RIGHT}\n"
    assert OpenRLHFReward(url)([prompt + "I cannot."], [prompt], [TEXT])["rewards"] == 0.0


def test_openrlhf_raises_over_a_lost_sample_unless_told_otherwise(lossy: FaultProxy) -> None:
    with pytest.raises(UnscorableError):
        OpenRLHFReward(lossy.url, **QUICK)([LOST], [""], [TEXT])
    assert OpenRLHFReward(lossy.url, unscorable_reward=0.5, **QUICK)([LOST], [""], [TEXT])["rewards"] == 0.5


@contextmanager
def openrlhf_served(url: str) -> Iterator[str]:
    with openrlhf_server.serve(OpenRLHFReward(url, **QUICK), "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/get_reward"
        finally:
            server.shutdown()
            thread.join()


def test_openrlhf_over_http_gets_lists_and_503_for_a_lost_sample(lossy: FaultProxy) -> None:
    with openrlhf_served(lossy.url) as address:
        body = {"query": ["q" + RIGHT], "prompts": ["q"], "labels": [TEXT]}
        answer = httpx.post(address, json=body, timeout=60).json()
        assert (answer["rewards"], answer["scores"]) == ([1.0], [1.0])
        assert all(isinstance(values, list) for values in answer["extra_logs"].values())
        assert httpx.post(address, json={**body, "query": [LOST]}, timeout=60).status_code == 503
        assert httpx.post(address, json={"query": ["q"]}).status_code == 400
        assert httpx.post(address, json={**body, "labels": ["{"]}).status_code == 422
        assert httpx.post(address, json={**body, "prompts": []}).status_code == 422


# slime


def sample(text: str, group: int = 0) -> Any:
    return SimpleNamespace(
        response=text,
        label=TEXT,
        metadata={"rm_type": "x"},
        remove_sample=False,
        group_index=group,
        reward=None,
    )


def test_slime_removes_a_lost_sample_and_its_group_keeps_its_mean(lossy: FaultProxy) -> None:
    samples = [sample(RIGHT), sample(LOST), sample(WRONG)]

    async def main() -> list[float]:
        reward = SlimeReward(lossy.url, **QUICK)
        rewards = await reward.group(None, samples)
        await reward.aclose()
        return rewards

    assert asyncio.run(main()) == [1.0, 0.5, 0.0]
    assert [one.remove_sample for one in samples] == [False, True, False]
    assert set(samples[1].metadata) == {"rm_type", "evaluator"}
    assert set(samples[1].metadata["evaluator"]) == OUTCOME


def test_slime_per_sample_rewards_are_normalised_without_the_lost_one(lossy: FaultProxy) -> None:
    samples = [sample(text, group) for group in (0, 1) for text in (RIGHT, LOST, WRONG, WRONG)]

    async def main() -> list[float]:
        reward = SlimeReward(lossy.url, **QUICK)
        rewards = await asyncio.gather(*(reward.sample(None, one) for one in samples))
        await reward.aclose()
        return list(rewards)

    for one, value in zip(samples, asyncio.run(main()), strict=True):
        one.reward = value
        one.get_reward_value = lambda _, value=value: value
    args = SimpleNamespace(
        rewards_normalization=True, grpo_std_normalization=True, advantage_estimator="grpo", reward_key=None
    )
    raw, normalised = post_process_rewards(args, [samples[:4], samples[4:]])
    assert raw == pytest.approx([1, 1 / 3, 0, 0] * 2)
    # mean 1/3, deviation of 1, 0, 0: 1/sqrt(3)
    assert normalised == pytest.approx([1.1547, 0, -0.57735, -0.57735] * 2, abs=1e-4)
    args.grpo_std_normalization = False
    assert post_process_rewards(args, samples)[1] == pytest.approx([2 / 3, 0, -1 / 3, -1 / 3] * 2)
    args.rewards_normalization = False
    assert post_process_rewards(args, samples)[1] == raw


# ms-swift


def test_ms_swift_gives_a_lost_sample_its_groups_mean(lossy: FaultProxy) -> None:
    other = problem_text(PROBLEM.model_copy(update={"tests": PROBLEM.tests[:1]}))
    reward = MsSwiftReward(lossy.url, **QUICK)
    completions = [RIGHT, WRONG, LOST, LOST, RIGHT, RIGHT]
    problems = [TEXT, TEXT, TEXT, other, other, other]
    assert reward(completions, problem=problems, trainer_state=None) == [1.0, 0.0, 0.5, 1.0, 1.0, 1.0]
    grouped = reward([RIGHT, LOST, WRONG], problem=[TEXT] * 3, prompt_id=["a", "b", "b"])
    assert grouped == [1.0, 0.0, 0.0]
    with pytest.raises(EvaluatorError, match="no column 'problem'"):
        reward([RIGHT], solution=[TEXT])


# verifiers, NeMo Gym


def test_verifiers_records_metrics_and_raises_over_a_lost_trace(lossy: FaultProxy) -> None:
    recorded: dict[str, float] = {}

    async def main() -> None:
        reward = VerifiersReward(lossy.url, **QUICK)
        task = SimpleNamespace(problem=TEXT)
        trace = SimpleNamespace(last_reply=WRONG, record_metrics=recorded.update)
        assert await reward.reward(task, trace) == 0.0
        trace.last_reply = LOST
        with pytest.raises(UnscorableError):
            await reward.reward(task, trace)
        await reward.aclose()

    asyncio.run(main())
    assert recorded["share_passed"] == 0.5
    assert recorded["has_code"] == 1.0


def test_nemo_gym_masks_a_lost_rollout(lossy: FaultProxy) -> None:
    async def main() -> list[dict[str, Any]]:
        reward = NemoGymReward(lossy.url, **QUICK)
        results = await asyncio.gather(*(reward.verification(text, TEXT) for text in (RIGHT, WRONG, LOST)))
        await reward.aclose()
        return list(results)

    results = asyncio.run(main())
    assert [one["reward"] for one in results] == [1.0, 0.0, 0.0]
    assert [one["mask_sample"] for one in results] == [False, False, True]
    assert [one["instance_config"]["mask_sample"] for one in results] == [False, False, True]
    assert all(set(one["evaluator"]) == OUTCOME for one in results)


# What they share


def test_samples_that_come_together_share_a_request(harm: Harm) -> None:
    proxy = harm()

    async def main() -> list[Any]:
        reward = VerlReward(proxy.url, window_s=0.2)
        results = await asyncio.gather(*(reward.score(text, TEXT) for text in [RIGHT, WRONG] * 8))
        await reward.aclose()
        return list(results)

    assert [one["score"] for one in asyncio.run(main())] == [1.0, 0.0] * 8
    assert sum(one.path == "/evaluate/batch" for one in proxy.seen.requests) == 1


def test_a_refused_sample_costs_no_other_of_its_micro_batch(url: str) -> None:
    vast_number: Any = {"mode": "call", "entry_point": "f", "tests": [{"args": [10**5000], "expected": 1}]}
    greedy = problem_text(PROBLEM).replace('"tests"', '"limits":{"cpu_time_s":1e6},"tests"')

    async def main() -> list[Any]:
        reward = VerlReward(url, window_s=0.2)
        calls = (reward.score(RIGHT, problem) for problem in (TEXT, greedy, "{", vast_number, TEXT))
        results = await asyncio.gather(*calls, return_exceptions=True)
        await reward.aclose()
        return list(results)

    first, refused, invalid, vast, last = asyncio.run(main())
    assert first["score"] == last["score"] == 1.0
    assert isinstance(vast, ProblemError)
    assert "limits.cpu_time_s" in str(refused)
    assert isinstance(invalid, ProblemError)


def test_the_window_is_bounded(url: str) -> None:
    with pytest.raises(ValueError, match="window_s"):
        MicroBatcher(EvaluatorReward(url).client, window_s=5)


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("a", "a"),
        ([{"role": "assistant", "content": "a"}], "a"),
        (
            [{"content": "q"}, {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}],
            "ab",
        ),
        ({"content": None}, ""),
    ],
)
def test_a_completions_text_is_found(completion: Any, text: str) -> None:
    assert completion_text(completion) == text


@pytest.mark.parametrize("completion", [None, 3, [], ["a"], {"content": 3}])
def test_another_shape_is_refused(completion: Any) -> None:
    with pytest.raises(EvaluatorError, match="completion"):
        completion_text(completion)
