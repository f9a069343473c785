"""Configurations of training: what is taken, and how each fault is told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from trainer_client.train.config import TrainConfig
from trainer_client.train.errors import ConfigError
from trainer_client.train.source import load_config

EXAMPLES = Path(__file__).parents[2] / "trainer_client" / "examples" / "train"
TEXT = """\
model: {name: Qwen/Qwen3-4B}
data:
  train: problems.jsonl
evaluator:
  urls: ["http://judge:8000"]
rollout:
  prompts: 64
  stages:
    - {step: 0, temperature: 0.6, max_completion_length: 4096}
run:
  output: out
  steps: 100
"""


def written(folder: Path, text: str) -> Path:
    (folder / "problems.jsonl").write_text("{}\n", encoding="utf-8")
    path = folder / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def fault(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as raised:
        load_config(written(folder, text))
    return str(raised.value)


def test_a_short_configuration_is_that_of_the_paper(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, TEXT))
    assert config.data.train == tmp_path / "problems.jsonl"
    algorithm = config.algorithm
    assert (algorithm.name, algorithm.clip_low, algorithm.clip_high, algorithm.kl) == (
        "microcoder",
        0.2,
        0.28,
        0,
    )
    assert algorithm.truncation_mask is not None
    assert (algorithm.truncation_mask.rho, algorithm.truncation_mask.repeat_tokens) == (0.3, 128)
    assert (config.prompts_per_update, config.updates_per_step) == (64, 1)
    assert config.health.diversity_level == 0.6


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("grpo", (0.2, 0.2, 0.04, "grpo", False, False)),
        ("dapo", (0.2, 0.28, 0.0, "dapo", True, False)),
        ("microcoder", (0.2, 0.28, 0.0, "dapo", False, True)),
    ],
)
def test_an_algorithm_is_a_set_of_settings(tmp_path: Path, name: str, expected: tuple[Any, ...]) -> None:
    one = load_config(written(tmp_path, TEXT + f"algorithm: {{name: {name}}}\n")).algorithm
    masked = one.truncation_mask is not None
    assert (one.clip_low, one.clip_high, one.kl, one.loss, one.leave_out_truncated, masked) == expected


def test_single_settings_of_an_algorithm_can_differ(tmp_path: Path) -> None:
    changed = "algorithm: {name: microcoder, kl: 0.001, truncation_mask: {rho: 0.5}}\n"
    algorithm = load_config(written(tmp_path, TEXT + changed)).algorithm
    assert (algorithm.kl, algorithm.clip_high) == (0.001, 0.28)
    assert algorithm.truncation_mask is not None
    assert algorithm.truncation_mask.rho == 0.5
    without = load_config(written(tmp_path, TEXT + "algorithm: {truncation_mask: null}\n")).algorithm
    assert without.truncation_mask is None


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        pytest.param("steps: 100", "steps: 0", ":12: run.steps: ", id="out of range"),
        pytest.param("steps: 100", "stepz: 100", ":12: run.stepz: there is no such field", id="misspelt"),
        pytest.param("  steps: 100\n", "", ":10: run.steps: Field required", id="missing"),
        pytest.param("prompts: 64", "prompts: many", ":7: rollout.prompts: ", id="no number"),
        pytest.param("problems.jsonl", "none.jsonl", ":3: data.train: there is no file", id="no data"),
        pytest.param("http://judge:8000", "judge:8000", ":5: evaluator.urls.0: ", id="no URL"),
        pytest.param(
            "    - {step: 0",
            "    - {step: 5",
            ":6: rollout: stages: the first stage must begin at step 0",
            id="stages",
        ),
        pytest.param("name: Qwen/Qwen3-4B", "", "give exactly one of `name` and `random`", id="no model"),
        pytest.param(
            "run:\n", "algorithm: {name: ppo}\nrun:\n", ":10: algorithm.name: ", id="no such algorithm"
        ),
        pytest.param(
            "run:\n",
            "algorithm: {name: dapo, truncation_mask: {}}\nrun:\n",
            "exclude each other",
            id="two masks",
        ),
        pytest.param(
            "run:\n", "update: {prompts: 48}\nrun:\n", "update.prompts: 48 does not divide", id="batches"
        ),
        pytest.param("run:\n", "evaluation: {every: 5}\nrun:\n", "needs data.heldout", id="nothing held out"),
        pytest.param(
            "run:\n", "run:\n  cpu: true\n", "run.cpu: needs update.bf16: false", id="bf16 on a CPU"
        ),
        pytest.param("run:\n", "run:\n  steps: 7\n", ":13: steps: stands twice", id="twice"),
        pytest.param(
            "prompts: 64", "prompts: 64\n  diversity: entropy", "'entropy' is none of", id="no metric"
        ),
        pytest.param(
            "run:\n", "health: {diversity: 1}\nrun:\n", ":10: health.diversity: ", id="no threshold"
        ),
        pytest.param("rollout:", "rollout: [", "no YAML", id="no YAML"),
    ],
)
def test_a_fault_is_told_with_its_line_and_field(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert TEXT.count(old) == 1
    message = fault(tmp_path, TEXT.replace(old, new))
    assert f"{tmp_path}/config.yaml" in message
    assert told in message


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    message = fault(tmp_path, TEXT.replace("steps: 100", "steps: 0").replace("prompts: 64", "prompts: 0"))
    assert len(message.splitlines()) == 2


def test_a_ramp_of_the_temperature_is_refused_with_the_reason(tmp_path: Path) -> None:
    ramp = "".join(
        f"    - {{step: {step}, temperature: {0.6 + step / 100}, max_completion_length: 4096}}\n"
        for step in (10, 20, 30)
    )
    message = fault(tmp_path, TEXT.replace("run:\n", ramp + "run:\n"))
    assert "ramp" in message
    jump = "    - {step: 140, temperature: 1.2, max_completion_length: 4096}\n"
    schedule = load_config(written(tmp_path, TEXT.replace("run:\n", jump + "run:\n"))).rollout.schedule()
    assert [schedule.at(step).temperature for step in (0, 139, 140)] == [0.6, 0.6, 1.2]


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.yaml")))
def test_the_examples_are_valid(tmp_path: Path, name: str) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    for data in ("problems.jsonl", "heldout.jsonl"):
        (tmp_path / data).write_text("{}\n", encoding="utf-8")
    config = load_config(tmp_path / name)
    assert config.rollout.group_size >= 8
    assert config.algorithm.name == "microcoder"
    assert config.evaluation is not None


def test_the_api_key_is_not_written_out(tmp_path: Path) -> None:
    secret = TEXT.replace("evaluator:", "evaluator:\n  api_key: sesame")
    config = load_config(written(tmp_path, secret))
    assert "sesame" not in json.dumps(config.model_dump(mode="json"))


def test_the_schema_has_no_section_without_a_description() -> None:
    schema = TrainConfig.model_json_schema()
    assert all("description" in one for one in schema["$defs"].values() if one["type"] == "object")
    assert yaml.safe_load(TEXT).keys() <= schema["properties"].keys()


def test_the_examples_for_gpus_have_the_published_settings(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    for data in ("problems.jsonl", "heldout.jsonl"):
        (tmp_path / data).write_text("{}\n", encoding="utf-8")
    found = {
        name: (
            config.rollout.prompts,
            [(one.step, one.temperature, one.max_completion_length) for one in config.rollout.stages],
            config.algorithm.clip_low,
            config.algorithm.clip_high,
            config.algorithm.truncation_mask and config.algorithm.truncation_mask.model_dump(),
        )
        for name in ("qwen3-1.7b", "qwen3-4b", "qwen3-4b-staged")
        for config in [load_config(tmp_path / f"{name}.yaml")]
    }
    mask = {"rho": 0.3, "repeat_tokens": 128, "non_incorrect": "correct"}
    assert found == {
        "qwen3-1.7b": (64, [(0, 1.2, 4096)], 0.2, 0.28, mask),
        "qwen3-4b": (64, [(0, 1.2, 8192)], 0.2, 0.28, mask),
        "qwen3-4b-staged": (64, [(0, 0.6, 8192), (140, 1.2, 8192)], 0.2, 0.28, mask),
    }
