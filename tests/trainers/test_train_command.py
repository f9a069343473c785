"""``microcoder train`` against the real service and its jails: what it learns, records, survives and resumes.

The problems are of one token: a model's first word is its whole answer, so that a few steps show learning.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import yaml
from click.testing import CliRunner

from benchmarks.fault_proxy import PASS, Fault, FaultProxy
from tests.trainer_client.live import serving
from trainer_client import CallCase, CallProblem, problem_text

pytest.importorskip("trl", reason="make test-trainers installs TRL")

import torch
from transformers import AutoModelForCausalLM

from trainer_client.train.cli import train
from trainer_client.train.record import read_record

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from trainer_client.train.record import Line

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"
)
WORDS = {"plus": "+b", "minus": "-b", "times": "*b"}
RESULTS = {"plus": (8, 9), "minus": (2, -5), "times": (15, 14)}
BATCHES = "/evaluate/batch"


@pytest.fixture(scope="module")
def service() -> Iterator[tuple[subprocess.Popen[str], str]]:
    torch.set_num_threads(1)
    with serving() as found:
        yield found


@pytest.fixture(scope="module")
def proxied(service: tuple[subprocess.Popen[str], str]) -> Iterator[Callable[..., str]]:
    """Give a function that puts a proxy in front of the service and returns its URL."""
    with ExitStack() as stack:

        def start(plan: Callable[[Any], Fault]) -> str:
            port = urlsplit(service[1]).port or 0
            return stack.enter_context(FaultProxy(port, plan, keep_requests=False)).url

        yield start


def configured(folder: Path, **sections: Any) -> Path:
    """Write a configuration and its problems; ``sections`` are merged into it."""
    rows = []
    for word, results in RESULTS.items():
        tests = [
            CallCase(args=list(args), expected=result)
            for args, result in zip([(5, 3), (2, 7)], results, strict=True)
        ]
        problem = problem_text(CallProblem(mode="call", entry_point="f", tests=tests))
        rows.append(
            {"id": word, "prompt": f"{word} ", "prefix": "def f(a, b):\n    return a", "problem": problem}
        )
    held = rows[0] | {"id": "held out", "prompt": "plus  "}
    for name, part in (("train.jsonl", rows), ("heldout.jsonl", [held])):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in part), encoding="utf-8")
    config: dict[str, Any] = {
        "model": {
            "random": {"vocabulary": [*WORDS, *WORDS.values(), " ", "#"], "hidden_size": 32, "heads": 2}
        },
        "data": {"train": "train.jsonl", "heldout": "heldout.jsonl"},
        "evaluator": {"urls": ["http://127.0.0.1:9"], "first_backoff_s": 0.01, "max_backoff_s": 0.2},
        "algorithm": {"truncation_mask": {"rho": 0.5, "repeat_tokens": 1}},
        "rollout": {
            "prompts": 3,
            "group_size": 8,
            "stages": [{"step": 0, "temperature": 1.0, "max_completion_length": 2}],
        },
        "update": {
            "completions_per_device": 24,
            "learning_rate": 0.01,
            "gradient_checkpointing": False,
            "bf16": False,
        },
        "evaluation": {"every": 3, "samples": 8, "completions_per_device": 8},
        "run": {"output": str(folder / "unused"), "steps": 6, "save_every": 3, "cpu": True},
    }
    for name, section in sections.items():
        config[name] |= section
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


def trained(config: Path, output: Path, url: str, *flags: str) -> list[Line]:
    result = CliRunner().invoke(train, [str(config), "--url", url, "--output", str(output), *flags])
    assert result.exit_code == 0, result.output
    return read_record(output / "log.jsonl")


def steps_of(lines: list[Line]) -> list[Line]:
    """Return the lines of steps and evaluations without what depends on the clock."""
    return [
        {name: value for name, value in line.items() if name != "seconds"}
        for line in lines
        if line["kind"] in {"step", "heldout", "warning"}
    ]


@pytest.fixture(scope="module")
def undisturbed(service: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Line]]:
    """Give the folder of a run and its record."""
    folder = tmp_path_factory.mktemp("run")
    return folder, trained(configured(folder), folder / "out", service[1])


def test_a_run_leaves_record_model_and_curves(undisturbed: tuple[Path, list[Line]]) -> None:
    folder, lines = undisturbed
    assert [line["step"] for line in lines if line["kind"] == "step"] == [1, 2, 3, 4, 5, 6]
    assert [line["step"] for line in lines if line["kind"] == "heldout"] == [0, 3, 6]
    assert (lines[0]["kind"], lines[-1]["kind"]) == ("run", "end")
    for line in lines:
        if line["kind"] == "step":
            assert line["verdicts"]["AC"] == pytest.approx(line["reward"])
            assert sum(line["verdicts"].values()) == pytest.approx(1)
            assert line["masked"] <= line["eligible"] <= line["truncated"]
            assert 0 < line["diversity"] <= 1
    model = AutoModelForCausalLM.from_pretrained(folder / "out" / "model")
    assert model.config.model_type == "qwen3"
    pytest.importorskip("matplotlib")
    assert (folder / "out" / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_seed_gives_the_same_numbers(
    undisturbed: tuple[Path, list[Line]], service: Any, tmp_path: Path
) -> None:
    folder, lines = undisturbed
    again = trained(folder / "config.yaml", tmp_path / "again", service[1])
    assert steps_of(again) == steps_of(lines)
    other = trained(folder / "config.yaml", tmp_path / "other", service[1], "--seed", "1")
    assert steps_of(other) != steps_of(lines)


def test_faults_of_the_service_change_nothing(
    undisturbed: tuple[Path, list[Line]], service: Any, proxied: Any, tmp_path: Path
) -> None:
    """Answers of 503, connections that break and workers that are killed: the run is the same to the last digit."""
    process, _ = service
    seen = 0
    killed = []

    def plan(request: Any) -> Fault:
        nonlocal seen
        if request.path != BATCHES:
            return PASS
        seen += 1
        if seen == 4:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
            for child in children.split():
                os.kill(int(child), signal.SIGKILL)
                killed.append(child)
        faults = {0: Fault("503", status=503, retry_after="0"), 1: Fault("reset", reset=True)}
        return faults.get(seen % 3, PASS)

    folder, lines = undisturbed
    faulted = trained(folder / "config.yaml", tmp_path / "out", proxied(plan))
    assert killed
    assert seen > 9
    assert steps_of(faulted) == steps_of(lines)


def test_what_nobody_could_judge_is_never_a_reward_of_zero(
    undisturbed: tuple[Path, list[Line]], proxied: Any, tmp_path: Path
) -> None:
    """Some programs cannot be judged at all: they leave the rewards, and training goes on."""

    def plan(request: Any) -> Fault:
        return Fault(status=500) if b"return a*b" in request.text else PASS

    folder, _ = undisturbed
    lines = [
        line
        for line in trained(folder / "config.yaml", tmp_path / "out", proxied(plan))
        if line["kind"] == "step"
    ]
    assert len(lines) == 6
    assert sum(line["unscorable"] for line in lines) > 0
    for line in lines:
        assert line["unscorable"] == pytest.approx(line["verdicts"]["IE"])
        assert line["reward"] == pytest.approx(line["verdicts"]["AC"] / (1 - line["verdicts"]["IE"]))


def test_a_resumed_run_is_the_uninterrupted_one(
    undisturbed: tuple[Path, list[Line]], service: Any, tmp_path: Path
) -> None:
    folder, lines = undisturbed
    output = tmp_path / "out"
    shutil.copytree(folder / "out", output)
    shutil.rmtree(output / "checkpoint-6")
    refused = CliRunner().invoke(
        train, [str(folder / "config.yaml"), "--url", service[1], "--output", str(output)]
    )
    assert refused.exit_code == 2
    assert "holds a run; go on with --resume" in refused.output
    resumed = trained(folder / "config.yaml", output, service[1], "--resume")
    assert steps_of(resumed) == steps_of(lines)
    first, second = (
        AutoModelForCausalLM.from_pretrained(path / "model").state_dict() for path in (folder / "out", output)
    )
    assert all(torch.equal(weight, second[name]) for name, weight in first.items())


def test_without_a_service_nothing_begins(undisturbed: tuple[Path, list[Line]], tmp_path: Path) -> None:
    folder, _ = undisturbed
    flags = ["--url", "http://127.0.0.1:9", "--output", str(tmp_path / "out")]
    result = CliRunner().invoke(train, [str(folder / "config.yaml"), *flags])
    assert result.exit_code == 2
    assert "no service is ready" in result.output
    assert not (tmp_path / "out").exists()


def test_a_run_that_loses_its_judge_ends_and_says_why(proxied: Any, tmp_path: Path) -> None:
    seen = 0

    def plan(request: Any) -> Fault:
        nonlocal seen
        seen += request.path == BATCHES
        return Fault(status=503, retry_after="0") if seen > 3 else PASS

    config = configured(tmp_path, evaluator={"max_deadline_s": 0.5, "unscorable_window": 24})
    url = proxied(plan)
    result = CliRunner().invoke(train, [str(config), "--url", url, "--output", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "could not be judged" in result.output
    assert "--resume" in result.output


def test_a_model_learns_from_the_service(service: Any, tmp_path: Path) -> None:
    config = configured(
        tmp_path,
        run={"steps": 50, "save_every": 30},
        rollout={"group_size": 32},
        update={"learning_rate": 0.005, "completions_per_device": 96},
        evaluation={"every": 20},
    )
    lines = trained(config, tmp_path / "out", service[1])
    rewards = [line["reward"] for line in lines if line["kind"] == "step"]
    assert sum(rewards[-5:]) / 5 > sum(rewards[:5]) / 5 + 0.4
    accuracy = [line["accuracy"] for line in lines if line["kind"] == "heldout"]
    assert len(accuracy) == len([0, 20, 40, 50])
    assert accuracy[-1] > accuracy[0]
