"""The configuration in TRL's terms: batches over devices, steps over updates, and what may be set twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainer_client.train.arguments import Batches, grpo_arguments
from trainer_client.train.config import TrainConfig
from trainer_client.train.errors import ConfigError


def config_of(folder: Path, **sections: Any) -> TrainConfig:
    for name in ("train.jsonl", "heldout.jsonl"):
        (folder / name).write_text("{}\n", encoding="utf-8")
    config: dict[str, Any] = {
        "model": {"name": "m"},
        "data": {
            "train": folder / "train.jsonl",
            "heldout": folder / "heldout.jsonl",
            "max_prompt_length": 1000,
        },
        "evaluator": {"urls": ["http://judge:8000"]},
        "rollout": {
            "prompts": 64,
            "group_size": 8,
            "stages": [
                {"step": 0, "temperature": 0.6, "max_completion_length": 4096},
                {"step": 140, "temperature": 1.2, "max_completion_length": 8192},
            ],
        },
        "update": {"prompts": 16, "completions_per_device": 4, "warmup_steps": 5},
        "run": {"output": "out", "steps": 300, "save_every": 20},
    }
    for name, section in sections.items():
        config[name] = config.get(name, {}) | section
    return TrainConfig.model_validate(config)


def test_a_step_is_divided_over_processes_passes_and_updates(tmp_path: Path) -> None:
    batches = Batches.of(config_of(tmp_path), processes=8)
    assert (batches.per_device, batches.passes_per_update, batches.passes_per_step) == (4, 4, 16)
    assert 8 * batches.per_device * batches.passes_per_step == 64 * 8


@pytest.mark.parametrize(
    ("processes", "sections", "told"),
    [
        (8, {"update": {"completions_per_device": 6}}, "update.completions_per_device: 6 on 8 processes"),
        (3, {}, "update.completions_per_device: 4 on 3 processes"),
        (
            2,
            {"evaluation": {"every": 5, "samples": 3, "completions_per_device": 4}},
            "evaluation.completions_per_device: 4 on 2 processes",
        ),
    ],
)
def test_what_does_not_divide_is_told_with_its_field(
    tmp_path: Path, processes: int, sections: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        Batches.of(config_of(tmp_path, **sections), processes)
    assert told in str(raised.value)


def test_steps_become_updates(tmp_path: Path) -> None:
    config = config_of(tmp_path, evaluation={"every": 20, "samples": 4, "completions_per_device": 8})
    fields = grpo_arguments(config, Batches.of(config, 8))
    names = ("max_steps", "logging_steps", "save_steps", "eval_steps", "warmup_steps")
    assert [fields[name] for name in names] == [1200, 4, 80, 80, 20]
    assert fields["eval_on_start"]
    assert not grpo_arguments(config, Batches.of(config, 8), resumed=True)["eval_on_start"]


def test_algorithms_become_fields_of_trl(tmp_path: Path) -> None:
    names = ("beta", "epsilon", "epsilon_high", "loss_type", "mask_truncated_completions")
    found = {}
    for algorithm in ("grpo", "dapo", "microcoder"):
        config = config_of(tmp_path, algorithm={"name": algorithm})
        fields = grpo_arguments(config, Batches.of(config, 1))
        found[algorithm] = tuple(fields[name] for name in names)
    assert found == {
        "grpo": (0.04, 0.2, 0.2, "grpo", False),
        "dapo": (0.0, 0.2, 0.28, "dapo", True),
        "microcoder": (0.0, 0.2, 0.28, "dapo", False),
    }


def test_vllm_is_started_for_the_longest_stage(tmp_path: Path) -> None:
    config = config_of(tmp_path, rollout={"vllm": {"tensor_parallel_size": 2}})
    fields = grpo_arguments(config, Batches.of(config, 8))
    assert (fields["use_vllm"], fields["vllm_mode"], fields["vllm_max_model_length"]) == (
        True,
        "colocate",
        9192,
    )
    server = config_of(tmp_path, rollout={"vllm": {"mode": "server", "server_url": "http://vllm:8000"}})
    assert grpo_arguments(server, Batches.of(server, 8))["vllm_server_base_url"] == "http://vllm:8000"
    with pytest.raises(ValueError, match="server_url"):
        config_of(tmp_path, rollout={"vllm": {"mode": "server"}})


def test_further_fields_of_trl_pass_and_ours_cannot_be_set_there(tmp_path: Path) -> None:
    config = config_of(tmp_path, run={"trl": {"report_to": ["wandb"], "top_k": 50}})
    fields = grpo_arguments(config, Batches.of(config, 1))
    assert (fields["report_to"], fields["top_k"]) == (["wandb"], 50)
    config = config_of(tmp_path, run={"trl": {"temperature": 0.7}})
    with pytest.raises(ConfigError, match=r"run\.trl\.temperature: is set by another section"):
        grpo_arguments(config, Batches.of(config, 1))
