"""The work that every contender does: submissions of one trivial program, each with a number of trivial tests."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Work:
    """``submissions`` programs with ``tests`` tests each. Every program is right and every test must pass."""

    submissions: int
    tests: int

    def sources(self) -> list[str]:
        """Return the programs; no two that were ever made are alike, so that nothing can be answered from memory."""
        mark = secrets.token_hex(8)
        return [
            f"a, b = map(int, input().split())\nprint(a + b)\n# {mark} {n}\n" for n in range(self.submissions)
        ]

    def pairs(self) -> list[tuple[str, str]]:
        """Return input and expected output of each test."""
        return [(f"{n} {n * n}\n", f"{n + n * n}\n") for n in range(self.tests)]


class WrongAnswerError(Exception):
    """A contender did not accept a right program: its speed says nothing."""


class Stopwatch:
    """Takes the time of one submission after the other, in seconds."""

    def __init__(self) -> None:
        self.laps_s: list[float] = []
        self._last = time.perf_counter()

    def lap(self) -> None:
        """End a submission and begin the next."""
        now = time.perf_counter()
        self.laps_s.append(now - self._last)
        self._last = now


def require(*, accepted: bool) -> None:
    """Raise WrongAnswerError unless ``accepted``."""
    if not accepted:
        raise WrongAnswerError("a right program was not accepted")
