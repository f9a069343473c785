"""The reward of a run: each completion against the problem that its row names, with its prefix, by the real service."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.trainer_client.live import PROBLEM, RIGHT, WRONG, serving
from trainer_client import CallCase, CallProblem, problem_text
from trainer_client.train.config import EvaluatorSection
from trainer_client.train.errors import ConfigError
from trainer_client.train.problems import Example
from trainer_client.train.reward import reward_of

PREFIXED = CallProblem(mode="call", entry_point="f", tests=[CallCase(args=[2, 3], expected=5)])
EXAMPLES = [
    Example("sum", "Add.", problem_text(PROBLEM)),
    Example("f", "a plus b", problem_text(PREFIXED), prefix="def f(a, b):\n    return a"),
]


def test_completions_are_judged_with_their_prefix() -> None:
    completions = [RIGHT, WRONG, "+b", "-b", RIGHT]
    ids = ["sum", "sum", "f", "f", "f"]
    logged: dict[str, list[object]] = {}

    async def main(url: str) -> list[float | None]:
        reward = reward_of(EvaluatorSection(urls=(url,)), EXAMPLES)
        try:
            return await reward(completions, problem_id=ids, log_extra=logged.__setitem__)
        finally:
            await reward.client.aclose()

    with serving() as (_, url):
        assert asyncio.run(main(url)) == [1.0, 0.0, 1.0, 0.0, 0.0]
    assert logged["verdict"][:4] == ["AC", "WA", "AC", "WA"]


def test_the_key_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("sesame\n", encoding="utf-8")
    section = EvaluatorSection(urls=("http://judge:8000",), api_key_file=path, concurrency=3)
    config = reward_of(section, EXAMPLES).client.config
    assert config.api_key is not None
    assert (config.api_key.get_secret_value(), config.concurrency) == ("sesame", 3)
    path.write_text("two words\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"evaluator\.api_key_file: .* holds no API key"):
        reward_of(section, EXAMPLES)
