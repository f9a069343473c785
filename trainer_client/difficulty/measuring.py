"""Measured difficulty: a reference model's completions, judged by the service, and counted.

What nobody could judge is no wrong answer: it leaves the number of completions, and is asked for again next time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from service.wire import Options, Submission, Verdict
from trainer_client.difficulty.completions import digest_of
from trainer_client.difficulty.errors import InputError
from trainer_client.errors import EvaluatorError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from service.wire import Judgement
    from trainer_client.client import EvaluatorClient
    from trainer_client.difficulty.journal import Journal
    from trainer_client.difficulty.references import Reference

SCHEMA_VERSION = 1
# A request's deadline holds for all it carries.
SLICE = 256
REACH_S = 10.0
_POSITION = re.compile(r"\bsubmissions\.(\d+)")


class Line(BaseModel):
    """One line of the journal: a completion's verdict. Digests tell whether it is still the same work."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["verdict"] = "verdict"
    problem: str
    tests: str
    index: int
    completion: str
    verdict: Verdict


@dataclass(slots=True)
class Measured:
    """Of one problem's completions: how many could be judged, how many are right, how many nobody could judge."""

    completions: int = 0
    correct: int = 0
    unscorable: int = 0

    def count(self, verdict: Verdict) -> None:
        """Count one."""
        if verdict is Verdict.IE:
            self.unscorable += 1
        else:
            self.completions += 1
            self.correct += verdict is Verdict.AC


def header() -> dict[str, Any]:
    """Return the first line of the journal."""
    return {"kind": "verdicts", "schema_version": SCHEMA_VERSION}


def measure(
    references: Sequence[Reference],
    client: EvaluatorClient,
    journal: Journal,
    on_judged: Callable[[], None],
) -> dict[str, Measured]:
    """Judge what the journal lacks, and return the counts of every reference.

    ``on_judged`` is called once for each completion, those that the journal had among them.

    Raises:
        InputError: what the journal has of a problem or completion is of another one.
        EvaluatorError: the service refuses something, or fails too often.

    """
    known = _known(journal.entries, journal)
    measured = {one.name: Measured() for one in references}
    work: list[tuple[Reference, int]] = []
    for reference in references:
        for index in range(len(reference.completions)):
            verdict = _verdict(known, reference, index, journal)
            if verdict is None:
                work.append((reference, index))
            else:
                measured[reference.name].count(verdict)
                on_judged()
    if work:
        _reach(client.config.urls)
    for part in _slices(work):

        def on_judgement(judgement: Judgement, part: Sequence[tuple[Reference, int]] = part) -> None:
            reference, index = part[judgement.index]
            measured[reference.name].count(judgement.verdict)
            if judgement.verdict is not Verdict.IE:
                line = Line(
                    problem=reference.name,
                    tests=reference.tests,
                    index=index,
                    completion=digest_of(reference.completions[index]),
                    verdict=judgement.verdict,
                )
                journal.append(line.model_dump(mode="json"))
            on_judged()

        submissions = [
            Submission(completion=reference.completions[index], problem=reference.problem)
            for reference, index in part
        ]
        try:
            client.evaluate_batch(submissions, options=Options(detail="none"), on_judgement=on_judgement)
        except RefusedError as error:
            raise _named(error, part) from error
    return measured


def _reach(urls: Sequence[str]) -> None:
    """Check that some service answers at all: the client would wait for it as long as for its turn."""
    reasons = []
    for url in urls:
        try:
            httpx.get(f"{url}/healthz", timeout=REACH_S, trust_env=False)
        except httpx.HTTPError as error:
            reasons.append(f"{url}: {str(error) or type(error).__name__}")
        else:
            return
    raise EvaluatorError(f"no service answers: {'; '.join(reasons)}")


def _slices[T](work: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(work), SLICE):
        yield work[start : start + SLICE]


def _known(entries: Iterable[Mapping[str, Any]], journal: Journal) -> dict[tuple[str, int], Line]:
    found = {}
    for number, entry in enumerate(entries, start=2):
        try:
            line = Line.model_validate(entry)
        except ValidationError as error:
            raise InputError(
                f"{journal.path}: line {number}: no verdict: {error.errors()[0]['msg']}"
            ) from error
        found[line.problem, line.index] = line
    return found


def _verdict(
    known: Mapping[tuple[str, int], Line], reference: Reference, index: int, journal: Journal
) -> Verdict | None:
    line = known.get((reference.name, index))
    if line is None:
        return None
    changed = []
    if line.tests != reference.tests:
        changed.append("its tests")
    if line.completion != digest_of(reference.completions[index]):
        changed.append(f"completion {index}")
    if changed:
        raise InputError(
            f"problem {reference.name!r}: {' and '.join(changed)} differ from what {journal.path} has the verdict of; "
            "use another folder"
        )
    return line.verdict


def _named(error: RefusedError, part: Sequence[tuple[Reference, int]]) -> RefusedError:
    """Return ``error`` with problems named instead of positions in a request that the user has not seen."""

    def name(found: re.Match[str]) -> str:
        reference, index = part[int(found[1])]
        return f"problem {reference.name!r}, completion {index}"

    return RefusedError(_POSITION.sub(name, str(error)), status=error.status, errors=error.errors)
