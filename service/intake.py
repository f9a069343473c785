"""From a request's body to validated submissions, each ready to be sent to a worker.

The body is parsed once, every problem is validated once however often the batch repeats it, and what comes
out is JSON again: the service hands bytes on and never holds a batch as Python objects. Errors name the field
as a path in the body, such as ``submissions.7.problem.tests.3.expected``. :mod:`service.json_text` says
how JSON is read.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import to_json

from service import languages
from service.deadline import compiling_s, deadline_s
from service.errors import UnknownProblemError
from service.fields import Faults, Path
from service.json_text import parsed_object
from service.limits import Defaults
from service.wire import (
    Batch,
    Isolation,
    Limits,
    Options,
    Priority,
    Problem,
    Submission,
    canonical_json,
    digest_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.processes.frames import Blob

Shape = Literal["single", "batch", "problem"]

_PROBLEM: TypeAdapter[Problem] = TypeAdapter(Problem)
_PLACEHOLDER = _PROBLEM.validate_python({"mode": "assert", "tests": [{"code": ""}]})


class Rules(BaseModel):
    """What this server accepts and adds. ``languages`` are names and aliases."""

    model_config = ConfigDict(frozen=True)

    maxima: Limits
    defaults: Defaults
    isolation: Isolation
    languages: list[str]
    profiles: list[str]


@dataclass(frozen=True, slots=True)
class Item:
    """One submission of a request.

    ``submission`` is its JSON with the problem left out and ``problem_id`` set to ``problem``, the key of its
    problem. ``deadline_s`` is the longest that judging it can take when nothing is wrong with us. ``program``
    is equal for submissions that differ in nothing but id, priority and problem. ``observe`` asks for what every
    comparison profile makes of the same runs, as an audit does.

    One that names a stored problem has its id in ``stored`` and neither key nor tests nor deadline until
    :meth:`Intake.resolved` looks them up.
    """

    index: int
    id: str
    submission: bytes
    problem: str
    tests: int
    deadline_s: float
    options: Options
    language: str = "python"
    program: str = ""
    stored: str | None = None
    observe: bool = False

    @property
    def priority(self) -> Priority:
        """Return the level that it waits at."""
        return self.options.priority


@dataclass(frozen=True, slots=True)
class Intake:
    """The submissions of one request, and its distinct problems as JSON by their keys."""

    items: list[Item]
    problems: Mapping[str, Blob]

    @property
    def named(self) -> list[str]:
        """Return the ids of the stored problems that submissions name, each once."""
        return list(dict.fromkeys(item.stored for item in self.items if item.stored is not None))

    def resolved(self, known: Mapping[str, Known], shape: Shape) -> Intake:
        """Return the intake with ``known`` stored problems looked up.

        Raises:
            UnknownProblemError: submissions name others.
            InvalidFieldsError: a submission's language is none that its problem can be tested in.

        """
        missing = [name for name in self.named if name not in known]
        if missing:
            raise UnknownProblemError(missing)
        faults = Faults()
        for item in self.items:
            stored = known.get(item.stored or "")
            if stored and (fault := languages.fault(item.language, [item.language], stored)):
                where: Path = () if shape == "single" else ("submissions", item.index)
                faults.add((*where, "language"), fault)
        faults.raise_if_any()
        contents = {one.key: one.content for one in known.values() if one.content is not None}
        return Intake(
            [item if item.stored is None else _looked_up(item, known[item.stored]) for item in self.items],
            {**self.problems, **contents},
        )


@dataclass(frozen=True, slots=True)
class Known:
    """A stored problem as submissions need it; ``content`` is None where workers fetch it themselves."""

    key: str
    mode: str
    prelude: bool
    tests: int
    deadline_s: float
    content: Blob | None = None


def _looked_up(item: Item, known: Known) -> Item:
    longest_s = known.deadline_s + compiling_s(item.language)
    return replace(item, problem=known.key, tests=known.tests, deadline_s=longest_s)


def take_in(body: bytes, shape: Shape, rules: Rules) -> Intake:
    """Validate a body: one submission, a batch of them, or a problem.

    A problem comes out as the one item of its intake, its content's digest being the id and the content
    itself, in canonical JSON, in ``problems``.

    Raises:
        MalformedBodyError: it is no JSON object.
        InvalidFieldsError: fields are invalid.

    """
    data = parsed_object(body)
    reading = _Reading(rules)
    match shape:
        case "batch":
            return reading.batch(data)
        case "problem":
            return reading.problem(data)
        case _:
            return reading.single(data)


class _Reading:
    """The state of one body's validation: what was found so far."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._context = {"maxima": rules.maxima}
        self._problems: dict[str, Problem | ValidationError] = {}
        self._json: dict[str, bytes] = {}
        self._faults = Faults()

    def single(self, data: dict[str, Any]) -> Intake:
        submission, key = self._submission(data, ())
        return self._intake([(submission, key)], None)

    def problem(self, data: dict[str, Any]) -> Intake:
        canonical = canonical_json(data)
        key = self._problem(data, (), canonical)
        self._faults.raise_if_any()
        problem = self._valid(key)
        item = Item(
            index=0,
            id=digest_of(canonical),
            submission=to_json({"mode": problem.mode, "prelude": bool(problem.prelude)}),
            problem=key,
            tests=len(problem.tests),
            deadline_s=deadline_s(problem, self._rules.defaults),
            options=Options(),
        )
        return Intake([item], self._json)

    def batch(self, data: dict[str, Any]) -> Intake:
        rows = data.get("submissions")
        found: list[tuple[Submission | None, str]] = []
        if isinstance(rows, list):
            found = [self._submission(row, ("submissions", index)) for index, row in enumerate(rows)]
        envelope = {**data, "submissions": [one for one, _ in found]} if isinstance(rows, list) else data
        batch = None
        # An invalid submission would fail the envelope as well, whose own faults then come in the next try.
        if not self._faults:
            try:
                batch = Batch.model_validate(envelope)
            except ValidationError as error:
                self._faults.add_all(error, data, ())
        return self._intake(found, batch.options if batch else None)

    def _submission(self, raw: Any, where: Path) -> tuple[Submission | None, str]:
        if not isinstance(raw, dict):
            self._faults.add(where, "must be an object")
            return None, ""
        key, fields = "", raw
        if raw.get("problem") is not None:
            key = self._problem(raw["problem"], (*where, "problem"))
            problem = self._problems[key]
            fields = {**raw, "problem": _PLACEHOLDER if isinstance(problem, ValidationError) else problem}
        try:
            submission = Submission.model_validate(fields, context=self._context)
        except ValidationError as error:
            self._faults.add_all(error, raw, where)
            return None, key
        found = self._problems.get(key)
        known = None if isinstance(found, ValidationError) else found
        if fault := languages.fault(submission.language, self._rules.languages, known):
            self._faults.add((*where, "language"), fault)
        return submission, key

    def _problem(self, raw: Any, where: Path, text: bytes | None = None) -> str:
        text = text if text is not None else to_json(raw, inf_nan_mode="constants")
        key = hashlib.blake2b(text, digest_size=16).hexdigest()
        if key not in self._problems:
            self._json[key] = text
            try:
                self._problems[key] = _PROBLEM.validate_python(raw, context=self._context)
            except ValidationError as error:
                self._problems[key] = error
        known = self._problems[key]
        if isinstance(known, ValidationError):
            self._faults.add_all(known, raw, where)
        elif known.comparison.profile not in self._rules.profiles:
            self._faults.add(
                (*where, "comparison", "profile"), f"is none of those here: {', '.join(self._rules.profiles)}"
            )
        return key

    def _intake(self, found: list[tuple[Submission | None, str]], options: Options | None) -> Intake:
        self._faults.raise_if_any()
        submissions = [(submission, key) for submission, key in found if submission is not None]
        return Intake(
            [self._item(index, one, key, options) for index, (one, key) in enumerate(submissions)], self._json
        )

    def _valid(self, key: str) -> Problem:
        problem = self._problems[key]
        assert not isinstance(problem, ValidationError)  # noqa: S101 -- errors have been raised before
        return problem

    def _item(self, index: int, submission: Submission, key: str, options: Options | None) -> Item:
        chosen = submission.options or options or Options()
        if "isolation" not in chosen.model_fields_set:
            chosen = chosen.model_copy(update={"isolation": self._rules.isolation})
        name = submission.id or uuid.uuid4().hex
        stripped = submission.model_copy(
            update={
                "id": name,
                "problem": None,
                "problem_id": submission.problem_id or key,
                "options": None,
            }
        )
        problem = self._valid(key) if key else None
        return Item(
            index=index,
            id=name,
            submission=stripped.model_dump_json(exclude_none=True).encode(),
            problem=key,
            tests=len(problem.tests) if problem else 0,
            deadline_s=deadline_s(problem, self._rules.defaults, submission.language) if problem else 0.0,
            options=chosen,
            language=submission.language,
            program=_program_of(submission, chosen),
            stored=submission.problem_id,
        )


def _program_of(submission: Submission, options: Options) -> str:
    """Return a digest of all that a judgement depends on but the problem: named fields only are left out."""
    program = submission.model_dump_json(exclude={"id", "problem", "problem_id", "options"})
    chosen = options.model_dump_json(exclude={"priority"})
    return hashlib.blake2b(f"{program}\n{chosen}".encode(), digest_size=16).hexdigest()
