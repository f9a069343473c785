"""Rewards of a run: the service's judgements of completions, each against the problem that its row names.

The rows of the trainer's data set carry a problem's id only. Its tests stay here: a problem may have megabytes of
them, and TRL writes a row's columns into the log when a sample could not be judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from trainer_client.adapters.texts import completion_text
from trainer_client.adapters.trl import EvaluatorReward
from trainer_client.train.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trainer_client.train.config import EvaluatorSection
    from trainer_client.train.problems import Example

COLUMN = "problem"
ID_COLUMN = "problem_id"


class ExampleReward(EvaluatorReward):
    """The reward of a completion of an example: None where nobody could judge."""

    def __init__(self, urls: str | Sequence[str], examples: Iterable[Example], **settings: Any) -> None:
        """Take the service's ``urls``, all examples, and settings of :class:`trainer_client.ClientConfig`."""
        super().__init__(urls, column=COLUMN, **settings)
        self._examples = {one.id: one for one in examples}

    async def __call__(
        self,
        completions: Sequence[Any],
        *,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Return a reward per completion; logs verdicts and their shares as :class:`EvaluatorReward` does."""
        examples = [self._examples[identity] for identity in columns[ID_COLUMN]]
        programs = [
            one.prefix + completion_text(completion)
            for one, completion in zip(examples, completions, strict=True)
        ]
        problems = {COLUMN: [one.problem for one in examples]}
        return await super().__call__(programs, log_extra=log_extra, log_metric=log_metric, **problems)


def reward_of(section: EvaluatorSection, examples: Iterable[Example]) -> ExampleReward:
    """Return the reward that a configuration asks for.

    Raises:
        ConfigError: the file of the API key holds none.

    """
    settings = {
        name: value
        for name, value in section
        if name not in {"urls", "api_key_file"} and name in section.model_fields_set
    }
    if section.api_key_file is not None:
        settings["api_key"] = section.api_key_file.read_text(encoding="utf-8").strip()
    try:
        return ExampleReward(section.urls, examples, **settings)
    except ValidationError as error:
        # Of a configuration that was checked, only the key in its file can be wrong.
        raise ConfigError(f"evaluator.api_key_file: {section.api_key_file}: holds no API key") from error
