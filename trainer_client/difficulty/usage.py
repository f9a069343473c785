"""Tokens, and what they cost."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict

MILLION = 1_000_000


class Usage(BaseModel):
    """Tokens as the server counted them; ``uncounted`` are answers that said nothing of theirs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests: int = 0
    """Answers that came, those that held no scores among them."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0

    def __add__(self, other: Self) -> Usage:
        return Usage(
            requests=self.requests + other.requests,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            uncounted=self.uncounted + other.uncounted,
        )


class Prices(BaseModel):
    """Prices of a million tokens, in a currency that only the user knows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: float | None = None
    completion: float | None = None

    def cost(self, usage: Usage) -> float | None:
        """Return what ``usage`` costs, None where no price is known; answers without a count cost more than that."""
        if self.prompt is None and self.completion is None:
            return None
        prompt = (self.prompt or 0.0) * usage.prompt_tokens
        return (prompt + (self.completion or 0.0) * usage.completion_tokens) / MILLION
