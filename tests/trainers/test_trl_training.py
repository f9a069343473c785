"""TRL's own GRPOTrainer, on a CPU, learns from the live service through the adapter.

The model's words are whole completions, so that a step of one token is a rollout with a program in it. One program
is judged by no service: its reward is None.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from benchmarks.fault_proxy import PASS, Fault, FaultProxy
from tests.trainer_client.live import PROBLEM, RIGHT, WRONG, serving
from trainer_client import problem_text
from trainer_client.adapters.trl import EvaluatorReward

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("trl", reason="make test-trainers installs TRL")

import trl
from datasets import Dataset
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM, set_seed

ROOT = Path(__file__).parents[2]
LOST = "```python\nlost = True\n```"
COMPLETIONS = [RIGHT, WRONG, LOST, "I cannot."]
STEPS = 10
GROUP = 8
# Libraries of the trainer announce their own changes.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"
)


@pytest.fixture(scope="module")
def addresses() -> Iterator[tuple[str, str]]:
    """Give the URL of a service, and that of a proxy which fails over one program."""

    def lossy(request: Any) -> Fault:
        return Fault(status=500) if b"lost = True" in request.text else PASS

    with ExitStack() as stack:
        _, url = stack.enter_context(serving())
        proxy = stack.enter_context(FaultProxy(urlsplit(url).port or 0, lossy))
        yield url, proxy.url


def trained(url: str, folder: Path) -> Any:
    """Train for ``STEPS`` steps and return the trainer."""
    set_seed(0)
    words = ["<pad>", "<eos>", "p", *COMPLETIONS]
    tokens = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="p"))
    tokens.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokens.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tokens, pad_token="<pad>", eos_token="<eos>", unk_token="p", padding_side="left"
    )
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=1,
            num_attention_heads=2, num_key_value_heads=1, head_dim=16, max_position_embeddings=32,
            pad_token_id=0, eos_token_id=1,
        )
    )  # fmt: skip
    trainer = trl.GRPOTrainer(
        model=model,
        reward_funcs=EvaluatorReward(url, first_backoff_s=0.01),
        args=trl.GRPOConfig(
            output_dir=str(folder), per_device_train_batch_size=2 * GROUP, num_generations=GROUP,
            max_completion_length=1, max_steps=STEPS, logging_steps=1, learning_rate=0.02, temperature=1.0,
            report_to=[], save_strategy="no", use_cpu=True, bf16=False, gradient_checkpointing=False, seed=0,
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_list([{"prompt": "p", "problem": problem_text(PROBLEM)}] * 64),
        processing_class=tokenizer,
    )  # fmt: skip
    trainer.train()
    return trainer


@pytest.fixture(scope="module")
def trainer(addresses: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Give a trainer that has trained for ``STEPS`` steps."""
    return trained(addresses[1], tmp_path_factory.mktemp("trl"))


def test_a_policy_learns_from_the_services_rewards(trainer: Any) -> None:
    steps = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert len(steps) == STEPS
    assert (
        sum(one["evaluator/AC"] for one in steps[-2:]) > sum(one["evaluator/AC"] for one in steps[:2]) + 0.5
    )


def test_every_step_logs_the_share_of_each_verdict(trainer: Any) -> None:
    steps = [entry for entry in trainer.state.log_history if "reward" in entry]
    for step in steps:
        shares = [
            step[f"evaluator/{verdict}"]
            for verdict in ["AC", "WA", "TLE", "MLE", "OLE", "RE", "CE", "NC", "IE"]
        ]
        assert sum(shares) == pytest.approx(1)
        assert step["evaluator/unscorable"] == step["evaluator/IE"]
    assert any(step["evaluator/IE"] for step in steps)


def test_lost_samples_leave_the_baseline(trainer: Any) -> None:
    rewards = list(trainer._logs["rewards"]["evaluator"])
    advantages = list(trainer._logs["advantages"])
    assert len(rewards) == len(advantages) >= GROUP
    for start in range(0, len(rewards), GROUP):
        group = list(zip(rewards[start : start + GROUP], advantages[start : start + GROUP], strict=True))
        assert all(advantage == 0 for reward, advantage in group if math.isnan(reward))
        judged = [advantage for reward, advantage in group if not math.isnan(reward)]
        assert sum(judged) == pytest.approx(0, abs=1e-3)


def test_the_readmes_example_runs_as_written(addresses: tuple[str, str], tmp_path: Path) -> None:
    source = (ROOT / "trainer_client" / "examples" / "trl_grpo.py").read_text(encoding="utf-8")
    assert "http://127.0.0.1:8000" in source
    program = tmp_path / "trl_grpo.py"
    program.write_text(source.replace("http://127.0.0.1:8000", addresses[0]), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert len(re.findall(r"evaluator/NC': 1\.0", result.stdout)) == 2
