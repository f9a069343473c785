"""What a rollout was, over all processes, and how many of an evaluation's completions were accepted."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from service.wire import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


@dataclass(frozen=True, slots=True)
class Rollout:
    """Completions in the order of their groups, and what the service said to each."""

    ids: Sequence[Sequence[int]]
    verdicts: Sequence[str | None]

    def groups(self, size: int, ends: Collection[int]) -> list[list[Sequence[int]]]:
        """Return the completions by group, without the token that ended them."""
        plain = [ids[:-1] if ids and ids[-1] in ends else ids for ids in self.ids]
        return [plain[start : start + size] for start in range(0, len(plain), size)]


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts the verdicts of an evaluation."""

    counts: Counter[str | None] = field(default_factory=Counter)

    def add(self, verdicts: Sequence[str | None]) -> None:
        """Count the verdicts of a batch."""
        self.counts.update(verdicts)

    @property
    def total(self) -> int:
        """Return how many were counted."""
        return self.counts.total()

    @property
    def judged(self) -> int:
        """Return how many could be judged."""
        return self.total - self.counts[None] - self.counts[Verdict.IE]

    @property
    def accuracy(self) -> float:
        """Return accepted by judged; NaN if none was judged."""
        return self.counts[Verdict.AC] / self.judged if self.judged else math.nan

    def figures(self) -> dict[str, float]:
        """Return the accuracy and the share that nobody could judge, of one completion at least."""
        return {"heldout/accuracy": self.accuracy, "heldout/unscorable": 1 - self.judged / self.total}
