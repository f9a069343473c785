"""All examples of a run, checked against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trainer_client.train.errors import ConfigError
from trainer_client.train.problems import read_examples
from trainer_client.train.reward import ID_COLUMN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainer_client.train.config import TrainConfig
    from trainer_client.train.problems import Example


@dataclass(frozen=True, slots=True)
class Examples:
    """Problems to train on, and problems that are held out."""

    train: Sequence[Example]
    heldout: Sequence[Example]


def examples_of(config: TrainConfig) -> Examples:
    """Read the files of ``config.data``.

    Raises:
        ConfigError: a file cannot be used, or a held-out problem is one to train on.

    """
    train = read_examples(config.data.train, config.data)
    heldout = read_examples(config.data.heldout, config.data) if config.data.heldout is not None else []
    ids, known = {one.id for one in train}, {(str(one.prompt), one.problem) for one in train}
    for one in heldout:
        if one.id in ids or (str(one.prompt), one.problem) in known:
            raise ConfigError(f"{config.data.heldout}: problem {one.id!r} is also in {config.data.train}")
    if len(train) < config.rollout.prompts:
        raise ConfigError(
            f"{config.data.train}: {len(train)} problems, fewer than the {config.rollout.prompts} of rollout.prompts"
        )
    return Examples(train, heldout)


def fitting(examples: Sequence[Example], length: Callable[[Any], int], longest: int) -> list[Example]:
    """Return the examples whose prompt has at most ``longest`` tokens."""
    return [one for one in examples if length(one.prompt) <= longest]


def rows_of(examples: Sequence[Example]) -> list[dict[str, Any]]:
    """Return the rows of the trainer's data set: prompt and id."""
    return [{"prompt": one.prompt, ID_COLUMN: one.id} for one in examples]
