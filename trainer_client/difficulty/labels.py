"""Easy, medium, hard: by a measured pass rate, or by a predicted score."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from trainer_client.difficulty.documents import Document
from trainer_client.difficulty.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable


class Label(StrEnum):
    """A class of difficulty. Compare with ``is``: every member is truthy."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Counts(Document):
    """How many problems have each label."""

    easy: int
    medium: int
    hard: int

    @classmethod
    def of(cls, labels: Iterable[Label]) -> Counts:
        """Count ``labels``."""
        listed = list(labels)
        return cls(**{str(label): listed.count(label) for label in Label})

    @property
    def total(self) -> int:
        """How many there are."""
        return self.easy + self.medium + self.hard

    def share(self, label: Label) -> float:
        """Return the share of ``label``, 0 among none."""
        return float(getattr(self, label)) / self.total if self.total else 0.0

    def __str__(self) -> str:
        return ", ".join(
            f"{getattr(self, label)} {label} ({100 * self.share(label):.1f} %)" for label in Label
        )


class PassRates(Document):
    """The pass rates that make a problem easy or hard: from ``easy_from`` on, below ``hard_below``.

    Decimal texts, so that a rate of exactly 0.7 is from 0.7 on.
    """

    easy_from: str = "0.7"
    hard_below: str = "0.3"

    def label(self, rate: Fraction) -> Label:
        """Return the measured label of a problem."""
        if rate >= Fraction(self.easy_from):
            return Label.EASY
        return Label.HARD if rate < Fraction(self.hard_below) else Label.MEDIUM


def pass_rates(easy_from: str, hard_below: str) -> PassRates:
    """Return checked thresholds.

    Raises:
        SettingsError: they are no numbers with 0 <= hard_below <= easy_from <= 1.

    """
    easy, hard = share_of(easy_from, "--easy-from"), share_of(hard_below, "--hard-below")
    if hard > easy:
        raise SettingsError(f"--hard-below: {hard_below} is over --easy-from, {easy_from}")
    return PassRates(easy_from=easy_from, hard_below=hard_below)


def share_of(text: str, name: str) -> Fraction:
    """Return a share given as decimal text, exactly.

    Raises:
        SettingsError: it is no number from 0 to 1; the message has ``name``.

    """
    try:
        share = Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise SettingsError(f"{name}: {text!r} is no number, such as 0.25") from error
    if not 0 <= share <= 1:
        raise SettingsError(f"{name}: {text} is not from 0 to 1")
    return share


class Boundaries(Document):
    """The scores from which on a problem is medium, and hard."""

    medium_from: float
    hard_from: float

    def label(self, score: float) -> Label:
        """Return the predicted label of a problem."""
        if score >= self.hard_from:
            return Label.HARD
        return Label.MEDIUM if score >= self.medium_from else Label.EASY
