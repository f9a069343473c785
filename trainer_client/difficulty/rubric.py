"""What is judged: weighted dimensions, each with a question and what its ends look like.

The default is the file ``rubric.toml`` of this package, where the ground of every dimension is named.
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from trainer_client.difficulty.errors import SettingsError
from trainer_client.difficulty.validation import validated

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# Weighted sums of the same scores must be the same number whatever the order of addition.
SCORE_DIGITS = 6
_Text = Annotated[str, Field(min_length=1)]


class Dimension(BaseModel):
    """One aspect of difficulty; ``low`` and ``high`` describe the ends of the scale."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    weight: Annotated[FiniteFloat, Field(gt=0, le=1)]
    question: _Text
    low: _Text
    high: _Text
    ground: _Text


class Rubric(BaseModel):
    """The dimensions and the scale, integers from ``minimum`` to ``maximum``; weights add up to 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    minimum: int = Field(1, ge=0)
    maximum: int = Field(10, le=1000)
    dimensions: Annotated[tuple[Dimension, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.minimum >= self.maximum:
            raise ValueError(f"minimum: {self.minimum} is not below the maximum, {self.maximum}")
        names = [one.name for one in self.dimensions]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"dimensions: {name!r} is named twice")
        total = math.fsum(one.weight for one in self.dimensions)
        if not math.isclose(total, 1.0, abs_tol=1e-9):
            raise ValueError(f"dimensions: the weights add up to {total:g} instead of 1")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The dimensions' names, in order."""
        return tuple(one.name for one in self.dimensions)

    @property
    def digest(self) -> str:
        """What tells this rubric from any other."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    def weighted_sum(self, scores: Mapping[str, int]) -> float:
        """Return the difficulty of one judgement: the sum of weight times score, between minimum and maximum."""
        return round(math.fsum(one.weight * scores[one.name] for one in self.dimensions), SCORE_DIGITS)


def default_text() -> str:
    """Return the default rubric as TOML, with its comments."""
    return (resources.files("trainer_client.difficulty") / "rubric.toml").read_text(encoding="utf-8")


def load_rubric(path: Path | None = None) -> Rubric:
    """Read a rubric from TOML; without ``path`` the default one.

    Raises:
        SettingsError: the file cannot be read or is no rubric; the message names the field.

    """
    where = str(path or "rubric.toml")
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8") if path else default_text())
    except (OSError, ValueError) as error:
        raise SettingsError(f"{where}: {error}") from error
    return validated(Rubric, values, where=where)
