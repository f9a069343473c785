"""MicroCoderGRPOTrainer on TRL's own trainer: temperature, lengths, mask, baseline, held-out accuracy, resuming.

The reward functions here are Python functions, as TRL takes them; the service's are in test_train_command.py.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("trl", reason="make test-trainers installs TRL")

import torch
import trl
from datasets import Dataset
from transformers import AutoTokenizer

from trainer_client.grpo.advantages import group_advantages
from trainer_client.grpo.log_probs import scaled_log_probs
from trainer_client.grpo.repeats import tail_repeats
from trainer_client.grpo.schedule import Stage, StagedSchedule
from trainer_client.grpo.trl_trainer import MicroCoderGRPOTrainer
from trainer_client.grpo.truncation_mask import TruncationMask
from trainer_client.train.config import RandomModel
from trainer_client.train.policy import write_random_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"
)
GROUP, PROMPTS, LONGEST = 4, 2, 6
WORDS = ["a", "b", "c", "d", " "]
LOW, HIGH = 0.6, 1.8


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("model")
    write_random_model(RandomModel(vocabulary=WORDS, hidden_size=32, layers=1, heads=2), folder, seed=0)
    return folder


def verdict_of(completion: str) -> str:
    """Judge by the text alone, so that every verdict occurs: accepted with an `a`, lost with more `b` than `c`."""
    if "d" in completion and completion.count("b") > completion.count("c"):
        return "IE"
    return "AC" if "a" in completion else "WA"


def judged(completions: Sequence[str], *, log_extra: Callable[..., None], **_: Any) -> list[float | None]:
    verdicts = [verdict_of(one) for one in completions]
    log_extra("verdict", verdicts)
    return [{"AC": 1.0, "WA": 0.0, "IE": None}[one] for one in verdicts]


def trainer_of(
    model: Path,
    folder: Path,
    *,
    rewards: Any = judged,
    arguments: dict[str, Any] | None = None,
    **settings: Any,
) -> MicroCoderGRPOTrainer:
    fields: dict[str, Any] = {
        "output_dir": str(folder), "per_device_train_batch_size": GROUP * PROMPTS, "num_generations": GROUP,
        "max_completion_length": LONGEST, "max_steps": 4, "logging_steps": 1, "learning_rate": 0.01,
        "temperature": 1.0, "beta": 0.0, "epsilon": 0.2, "epsilon_high": 0.28, "loss_type": "dapo",
        "lr_scheduler_type": "constant", "report_to": [], "save_strategy": "no", "use_cpu": True, "bf16": False,
        "gradient_checkpointing": False, "seed": 3, "disable_tqdm": True,
    }  # fmt: skip
    prompts = [{"prompt": f"{x} {y} "} for x in "abc" for y in "bcd"][:7]
    return MicroCoderGRPOTrainer(
        model=str(model),
        reward_funcs=rewards,
        args=trl.GRPOConfig(**(fields | (arguments or {}))),
        train_dataset=Dataset.from_list(prompts),
        eval_dataset=Dataset.from_list(prompts[:3]),
        processing_class=AutoTokenizer.from_pretrained(model, padding_side="left"),
        **settings,
    )


def steps_of(trainer: Any) -> list[dict[str, Any]]:
    return [entry for entry in trainer.state.log_history if "reward" in entry]


def check_log_probs(trainer: MicroCoderGRPOTrainer, temperature: float) -> None:
    """Compare what the loss uses with log_softmax(logits / temperature), computed in float64."""
    ids = torch.randint(3, 3 + len(WORDS), (3, 9), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    with torch.no_grad():
        logits = trainer.model(input_ids=ids).logits[:, 2:-1].double()
        expected = (
            torch.log_softmax(logits / temperature, -1).gather(-1, ids[:, 3:].unsqueeze(-1)).squeeze(-1)
        )
        found = trainer._get_per_token_logps_and_entropies(trainer.model, ids, mask, 6)[0]
    torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(scaled_log_probs(logits, ids[:, 3:], temperature), expected)
    other = torch.log_softmax(logits / (2 * temperature), -1).gather(-1, ids[:, 3:].unsqueeze(-1)).squeeze(-1)
    assert not torch.allclose(found.double(), other, atol=1e-3)


def test_a_stage_changes_sampling_and_log_probabilities_alike(model: Path, tmp_path: Path) -> None:
    schedule = StagedSchedule([Stage(0, LOW, 3), Stage(2, HIGH, LONGEST)])
    trainer = trainer_of(model, tmp_path, schedule=schedule)
    check_log_probs(trainer, LOW)
    trainer.train()
    check_log_probs(trainer, HIGH)
    steps = steps_of(trainer)
    assert [step["temperature"] for step in steps] == [LOW, LOW, HIGH, HIGH]
    assert [step["max_completion_length"] for step in steps] == [3, 3, LONGEST, LONGEST]
    assert [step["completions/max_length"] for step in steps] == [3, 3, LONGEST, LONGEST]
    assert trainer.generation_config.temperature == trainer.generation_kwargs["temperature"] == HIGH
    assert steps[2]["entropy"] > steps[1]["entropy"]


@pytest.mark.parametrize("bf16", [False, True])
def test_the_ratio_of_an_unchanged_policy_is_one_after_a_change(
    model: Path, tmp_path: Path, *, bf16: bool
) -> None:
    """Off-policy passes compare with log-probabilities of the rollout: with two temperatures nothing would fit."""
    arguments = {"bf16": bf16, "steps_per_generation": 2, "learning_rate": 1e-12, "max_steps": 6}
    schedule = StagedSchedule([Stage(0, LOW), Stage(2, HIGH)])
    trainer = trainer_of(model, tmp_path, arguments=arguments, schedule=schedule)
    trainer.train()
    assert [step["temperature"] for step in steps_of(trainer)][-1] == HIGH
    history = [entry for entry in trainer.state.log_history if "clip_ratio/region_mean" in entry]
    assert len(history) == 6
    assert all(entry["clip_ratio/region_mean"] == 0 for entry in history)


def test_temperatures_can_go_back_and_forth(model: Path, tmp_path: Path) -> None:
    trainer = trainer_of(model, tmp_path)
    for temperature in (LOW, HIGH, LOW, 1.0):
        trainer.set_temperature(temperature)
        check_log_probs(trainer, temperature)
    with pytest.raises(ValueError, match="above 0"):
        trainer.set_temperature(0)
    check_log_probs(trainer, 1.0)


class Spy(MicroCoderGRPOTrainer):
    """Keeps what the trainer hands to its loss, and what it was made from."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.kept: list[tuple[Any, Sequence[Sequence[int]], Sequence[str | None]]] = []
        super().__init__(*args, **kwargs)

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        output = super()._generate_and_score_completions(inputs)
        if self.model.training:
            self.kept.append((output["advantages"].clone(), self._rollout.ids, self._rollout.verdicts))
        return output


def test_masked_samples_alone_lose_their_advantage(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mask zeroes what meets all four conditions, None leaves the baseline, the rest is GRPO's formula."""
    monkeypatch.setattr(f"{__name__}.MicroCoderGRPOTrainer", Spy)
    rho, repeat, seed = 0.5, 2, 11
    trainer = trainer_of(
        model,
        tmp_path,
        arguments={"max_steps": 30, "learning_rate": 1e-9},
        mask=TruncationMask(max_length=1, rho=rho, repeat_tokens=repeat, seed=seed),
    )
    trainer.train()
    assert isinstance(trainer, Spy)
    draws = torch.Generator().manual_seed(seed)
    counts = {"masked": 0, "eligible": 0, "lost": 0, "repeating": 0}
    ends = {trainer._tokenizer.eos_token_id, trainer._tokenizer.pad_token_id}
    for advantages, ids, verdicts in trainer.kept:
        values = {"AC": 1.0, "WA": 0.0, "IE": math.nan}
        expected = group_advantages(torch.tensor([values[str(one)] for one in verdicts]), GROUP)
        numbers = torch.rand(len(ids), generator=draws, dtype=torch.float64)
        for index, (one, verdict) in enumerate(zip(ids, verdicts, strict=True)):
            repeating = tail_repeats(one, repeat)
            cut_off = len(one) == LONGEST and one[-1] not in ends
            eligible = cut_off and verdict == "AC" and not repeating
            counts["eligible"] += eligible
            counts["repeating"] += cut_off and repeating
            counts["lost"] += verdict == "IE"
            if eligible and numbers[index] < rho:
                counts["masked"] += 1
                expected[index] = 0
        torch.testing.assert_close(advantages, expected, atol=1e-5, rtol=1e-5)
    assert min(counts.values()) > 0
    assert 0.3 < counts["masked"] / counts["eligible"] < 0.7
    shares = [step["mask/masked"] for step in steps_of(trainer)]
    assert sum(shares) * GROUP * PROMPTS == pytest.approx(counts["masked"])


def test_held_out_accuracy_leaves_out_what_nobody_could_judge(model: Path, tmp_path: Path) -> None:
    answers = ["AC", "WA", "IE", "AC", "IE", "WA"]

    def scripted(completions: Sequence[str], *, log_extra: Any, **_: Any) -> list[float | None]:
        verdicts = answers[: len(completions)]
        log_extra("verdict", verdicts)
        return [{"AC": 1.0, "WA": 0.0, "IE": None}[one] for one in verdicts]

    trainer = trainer_of(
        model,
        tmp_path,
        rewards=scripted,
        arguments={"per_device_eval_batch_size": 6, "num_generations_eval": 2, "eval_strategy": "steps"},
        evaluation_temperature=HIGH,
    )
    metrics = trainer.evaluate()
    (logged,) = [entry for entry in trainer.state.log_history if "eval_heldout/accuracy" in entry]
    assert logged["eval_heldout/accuracy"] == pytest.approx(2 / 4)
    assert logged["eval_heldout/unscorable"] == pytest.approx(2 / 6)
    assert "eval_loss" in metrics
    assert trainer.temperature == 1.0
    check_log_probs(trainer, 1.0)


def test_a_reward_that_tells_no_verdicts_is_refused(model: Path, tmp_path: Path) -> None:
    def silent(completions: Sequence[str], **_: Any) -> list[float]:
        return [0.0 for _ in completions]

    with pytest.raises(ValueError, match="'verdict'"):
        trainer_of(model, tmp_path, rewards=silent).train()


@pytest.mark.parametrize(
    ("arguments", "mask", "told"),
    [
        ({"generation_kwargs": {"temperature": 0.3}}, None, "generation_kwargs: temperature"),
        ({"mask_truncated_completions": True}, TruncationMask(max_length=1), "mask_truncated_completions"),
    ],
)
def test_settings_that_undo_each_other_are_refused(
    model: Path, tmp_path: Path, arguments: dict[str, Any], mask: Any, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        trainer_of(model, tmp_path, arguments=arguments, mask=mask)


# Seven prompts, two a step: a fourth step begins the second epoch.
RESUMED = {"max_steps": 10, "save_steps": 6, "save_strategy": "steps", "weight_decay": 0.01}


def resumable(model: Path, folder: Path, **settings: Any) -> MicroCoderGRPOTrainer:
    schedule = StagedSchedule([Stage(0, LOW, 4), Stage(8, HIGH, LONGEST)])
    mask = TruncationMask(max_length=1, rho=0.5, repeat_tokens=2, seed=5)
    return trainer_of(model, folder, arguments=RESUMED | settings, schedule=schedule, mask=mask)


def figures_of(trainer: Any) -> list[dict[str, Any]]:
    unstable = {"step_time", "epoch", "train_runtime", "train_samples_per_second", "train_steps_per_second"}
    return [
        {name: value for name, value in step.items() if name not in unstable} for step in steps_of(trainer)
    ]


@pytest.mark.parametrize("updates", [1, 2])
def test_a_resumed_run_is_the_uninterrupted_one(model: Path, tmp_path: Path, updates: int) -> None:
    """Across an epoch and a stage: the same samples, masks, figures and weights."""
    settings = {"steps_per_generation": updates}
    whole = resumable(model, tmp_path / "whole", **settings)
    whole.train()
    resumed = resumable(model, tmp_path / "resumed", **settings)
    resumed.train(resume_from_checkpoint=str(tmp_path / "whole" / "checkpoint-6"))
    assert figures_of(resumed)[-4:] == figures_of(whole)[-4:]
    assert resumed.mask is not None
    assert whole.mask is not None
    assert torch.equal(resumed.mask.state_dict()["generator"], whole.mask.state_dict()["generator"])
    assert resumed.monitor.state_dict() == whole.monitor.state_dict()
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(weight, resumed.model.state_dict()[name]), name
    assert any(step.get("mask/masked") for step in figures_of(whole)[-4:])


def test_a_checkpoint_within_a_rollout_is_refused(model: Path, tmp_path: Path) -> None:
    settings = {"steps_per_generation": 2, "save_steps": 3, "max_steps": 4}
    resumable(model, tmp_path / "whole", **settings).train()
    with pytest.raises(ValueError, match="within a rollout"):
        resumable(model, tmp_path / "resumed", **settings).train(
            resume_from_checkpoint=str(tmp_path / "whole" / "checkpoint-3")
        )


def test_a_checkpoint_of_another_trainer_is_refused(model: Path, tmp_path: Path) -> None:
    resumable(model, tmp_path / "whole").train()
    checkpoint = tmp_path / "whole" / "checkpoint-6"
    (checkpoint / "microcoder_state.pt").unlink()
    with pytest.raises(ValueError, match="incomplete, or not of"):
        resumable(model, tmp_path / "resumed").train(resume_from_checkpoint=str(checkpoint))
