"""MicroCoder-GRPO in slime's shapes, on rewards that slime's adapter got from a live service."""

from __future__ import annotations

import asyncio
import copy
import enum
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("torch", reason="the mask is a tensor")

from benchmarks.fault_proxy import PASS, Fault, FaultProxy
from tests.trainer_client.live import PROBLEM, RIGHT, WRONG, serving
from trainer_client import problem_text
from trainer_client.adapters.slime import METADATA_KEY, SlimeReward
from trainer_client.grpo.slime_hook import MicroCoderPostProcess
from trainer_client.grpo.truncation_mask import NonIncorrect

if TYPE_CHECKING:
    from collections.abc import Iterator

LOST = "```python\nlost = True\n```"
UNANSWERED = "First I think about it"
PROMPT = [7, 8, 9]
FRESH, LOOPING = list(range(100, 112)), [*range(100, 106), *[1, 2, 3] * 2]


class Status(enum.Enum):
    """Those of slime that matter."""

    COMPLETED = "completed"
    TRUNCATED = "truncated"


@dataclass
class Sample:
    """slime's Sample, as far as it is used."""

    response: str
    index: int | None
    group_index: int | None
    ids: list[int]
    status: Status
    label: str = problem_text(PROBLEM)
    metadata: dict[str, Any] = field(default_factory=dict)
    remove_sample: bool = False
    reward: float | None = None

    @property
    def tokens(self) -> list[int]:
        return PROMPT + self.ids

    @property
    def response_length(self) -> int:
        return len(self.ids)

    def get_reward_value(self, args: Any) -> float | None:
        assert not args.reward_key
        return self.reward


@dataclass
class Arguments:
    """slime's, of which the hook reads some."""

    advantage_estimator: str = "grpo"
    rewards_normalization: bool = True
    grpo_std_normalization: bool = True
    reward_key: str | None = None


ARGS = Arguments()


@pytest.fixture(scope="module")
def lossy() -> Iterator[str]:
    """Give the URL of a service that fails over one program."""

    def plan(request: Any) -> Fault:
        return Fault(status=500) if b"lost = True" in request.text else PASS

    with serving() as (_, url), FaultProxy(urlsplit(url).port or 0, plan) as proxy:
        yield proxy.url


@pytest.fixture(scope="module")
def scored(lossy: str) -> list[list[Sample]]:
    """Give two groups with their rewards, as slime's rollout leaves them."""
    cut, whole = Status.TRUNCATED, Status.COMPLETED
    texts = [
        (RIGHT, FRESH, cut), (RIGHT, FRESH, whole), (RIGHT, LOOPING, cut), (WRONG, FRESH, cut),
        (RIGHT, FRESH, cut), (LOST, FRESH, cut), (UNANSWERED, FRESH, cut), (WRONG, FRESH, whole),
    ]  # fmt: skip
    samples = [
        Sample(text, 40 + place, place // 4, ids, status) for place, (text, ids, status) in enumerate(texts)
    ]

    async def score(sample: Any) -> float:
        return await reward.sample(ARGS, sample)

    async def main() -> list[float]:
        rewards = await asyncio.gather(*map(score, samples))
        await reward.aclose()
        return list(rewards)

    reward = SlimeReward(lossy, first_backoff_s=0.01)
    for sample, value in zip(samples, asyncio.run(main()), strict=True):
        sample.reward = value
    return [samples[:4], samples[4:]]


@pytest.fixture
def groups(scored: list[list[Sample]]) -> list[list[Sample]]:
    return copy.deepcopy(scored)


def test_groups_are_normalised_without_what_nobody_could_judge_and_masked(groups: list[list[Sample]]) -> None:
    raw, advantages = MicroCoderPostProcess(rho=1.0, repeat_tokens=3)(ARGS, groups)
    first = 0.25 / (statistics.stdev([1, 1, 1, 0]) + 1e-4)
    second = (1 / 3) / (statistics.stdev([1, 0, 0]) + 1e-4)
    assert raw == pytest.approx([1, 1, 1, 0, 1, 1 / 3, 0, 0])
    # Masked: right and cut off. Not: complete, looping, wrong; nobody could judge; no answer; wrong.
    assert advantages == pytest.approx([0, first, first, -3 * first, 0, 0, -second, -second])
    noted = [sample.metadata[METADATA_KEY]["masked"] for group in groups for sample in group]
    assert noted == [True, False, False, False, True, False, False, False]
    assert [sample.remove_sample for sample in groups[1]] == [False, True, False, False]


def test_what_has_no_answer_yet_may_count_as_not_wrong(groups: list[list[Sample]]) -> None:
    hook = MicroCoderPostProcess(1.0, 3, NonIncorrect.CORRECT_OR_UNANSWERED)
    assert hook(ARGS, groups)[1][4:7] == [0, 0, 0]
    assert [sample.metadata[METADATA_KEY]["masked"] for sample in groups[1]] == [True, False, True, False]


def test_flat_samples_are_the_same_as_groups(groups: list[list[Sample]]) -> None:
    flat = [sample for group in groups for sample in group]
    assert MicroCoderPostProcess(seed=1)(ARGS, groups) == MicroCoderPostProcess(seed=1)(ARGS, flat)


def test_without_division_by_the_deviation(groups: list[list[Sample]]) -> None:
    args = Arguments(grpo_std_normalization=False)
    assert MicroCoderPostProcess(rho=0.0)(args, groups)[1][:4] == [0.25, 0.25, 0.25, -0.75]


def masked(groups: list[list[Sample]], start: int, seed: int = 0) -> list[bool]:
    """Return the draws of 60 eligible samples, counted from ``start``."""
    many = [copy.deepcopy(groups[0][0]) for _ in range(60)]
    for place, sample in enumerate(many):
        sample.index, sample.group_index = start + place, place // 2
    MicroCoderPostProcess(0.5, 3, seed=seed)(ARGS, many)
    return [sample.metadata[METADATA_KEY]["masked"] for sample in many]


def test_the_draw_of_a_rollout_is_that_of_a_resumed_run(groups: list[list[Sample]]) -> None:
    first = masked(groups, 120)
    assert 10 < sum(first) < 50
    assert masked(groups, 120) == first
    assert masked(groups, 180) != first
    assert masked(groups, 120, seed=1) != first


@pytest.mark.parametrize(
    "args", [Arguments(advantage_estimator="ppo"), Arguments(rewards_normalization=False)]
)
def test_other_estimators_are_refused(args: Arguments, groups: list[list[Sample]]) -> None:
    with pytest.raises(ValueError, match="--advantage-estimator grpo"):
        MicroCoderPostProcess()(args, groups)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metadata": {}}, "metadata has no 'evaluator'"),
        ({"index": None}, "no index"),
        ({"group_index": None}, "no group_index"),
    ],
)
def test_samples_of_another_make_are_refused(
    groups: list[list[Sample]], changes: dict[str, Any], message: str
) -> None:
    for name, value in changes.items():
        setattr(groups[1][2], name, value)
    with pytest.raises(ValueError, match=message):
        MicroCoderPostProcess()(ARGS, groups)


def test_settings_out_of_range_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="rho must be in"):
        MicroCoderPostProcess(rho=3)
