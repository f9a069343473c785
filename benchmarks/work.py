"""The work that every contender does: submissions of one trivial program, each with a number of trivial tests."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Work:
    """``submissions`` programs with ``tests`` tests each. Every program is right and every test must pass."""

    submissions: int
    tests: int

    def sources(self) -> list[str]:
        """Return the programs; no two are alike, so that nothing can be answered from memory."""
        return [f"a, b = map(int, input().split())\nprint(a + b)\n# {n}\n" for n in range(self.submissions)]

    def pairs(self) -> list[tuple[str, str]]:
        """Return input and expected output of each test."""
        return [(f"{n} {n * n}\n", f"{n + n * n}\n") for n in range(self.tests)]


class WrongAnswerError(Exception):
    """A contender did not accept a right program: its speed says nothing."""


def require(*, accepted: bool) -> None:
    """Raise WrongAnswerError unless ``accepted``."""
    if not accepted:
        raise WrongAnswerError("a right program was not accepted")
