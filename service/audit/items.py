"""What is audited: submissions with their problems and the verdicts that are right."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Literal, Self

from service.wire import Problem, Submission, Verdict

# Where labels come from: known truth, or another evaluator's opinion, which may itself be wrong.
LabelKind = Literal["truth", "reward"]

REJECTED = frozenset(Verdict) - {Verdict.AC, Verdict.IE, Verdict.SKIPPED}
FINGERPRINT_CHARS = 16


@dataclass(frozen=True, slots=True)
class Truth:
    """The right verdicts. Either AC alone is right, or any of some failures."""

    verdicts: frozenset[Verdict]

    @property
    def accept(self) -> bool:
        """Whether the submission is right."""
        return Verdict.AC in self.verdicts

    @property
    def word(self) -> str:
        """Return how reports name it: ``accept``, ``reject``, or the one right verdict of a failure."""
        if self.accept:
            return "accept"
        return next(iter(self.verdicts)).value if len(self.verdicts) == 1 else "reject"

    @classmethod
    def of(cls, *, accept: bool) -> Self:
        """Return the truth of which no more is known than accept or reject."""
        return cls(frozenset({Verdict.AC}) if accept else REJECTED)


@dataclass(frozen=True, slots=True)
class Item:
    """One labelled submission. ``source`` groups items in the report, ``id`` names one in comparisons of reports."""

    id: str
    source: str
    submission: Submission
    problem: Problem
    truth: Truth

    def fingerprint(self, problem_digest: bytes) -> str:
        """Return what changes when the program, the problem or the truth does."""
        program = self.submission.code if self.submission.code is not None else self.submission.completion
        digest = hashlib.sha256(problem_digest)
        for part in (self.submission.language, program or "", *sorted(self.truth.verdicts)):
            digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
        return digest.hexdigest()[:FINGERPRINT_CHARS]


@dataclass(frozen=True, slots=True)
class Left:
    """Something that a source names and that is not audited, and why; ``is_fault`` where it cannot be read."""

    name: str
    reason: str
    is_fault: bool = False


@dataclass(slots=True)
class Loaded:
    """All that a source gave."""

    name: str
    items: list[Item] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    labels: LabelKind = "truth"


def problem_digest(problem: Problem) -> bytes:
    """Return the SHA-256 of a problem's canonical JSON."""
    return hashlib.sha256(problem.model_dump_json(exclude_unset=True).encode()).digest()
