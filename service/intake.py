r"""From a request's body to validated submissions, each ready to be sent to a worker.

The body is parsed once, every problem is validated once however often the batch repeats it, and what comes
out is JSON again: the service hands bytes on and never holds a batch as Python objects. Errors name the field
as a path in the body, such as ``submissions.7.problem.tests.3.expected``.

JSON is read as RFC 8259 has it, and stricter where leniency would hide a mistake: a repeated key is refused,
since one of its two values would be dropped silently, and so are NaN, Infinity and numbers that overflow to
them, integers of more than 4,300 digits and nesting beyond 200 levels. A lone surrogate (``"\\ud800"``),
which UTF-8 cannot carry and which a model's broken output may contain, is read as ``wire.NO_CHARACTER``: one
garbled sample must not refuse a whole batch. A program with one does not compile.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import jiter
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import to_json

from service import languages
from service.deadline import deadline_s
from service.errors import MalformedBodyError, UnknownProblemError
from service.fields import Faults, Path
from service.limits import Defaults
from service.wire import Batch, Isolation, Limits, Options, Priority, Problem, Submission

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.processes.frames import Blob

Shape = Literal["single", "batch"]

_PROBLEM: TypeAdapter[Problem] = TypeAdapter(Problem)
_PLACEHOLDER = _PROBLEM.validate_python({"mode": "assert", "tests": [{"code": ""}]})
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


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
    problem. ``deadline_s`` is the longest that judging it can take when nothing is wrong with us.
    """

    index: int
    id: str
    submission: bytes
    problem: str
    tests: int
    deadline_s: float
    options: Options

    @property
    def priority(self) -> Priority:
        """Return the level that it waits at."""
        return self.options.priority


@dataclass(frozen=True, slots=True)
class Intake:
    """The submissions of one request, and its distinct problems as JSON by their keys."""

    items: list[Item]
    problems: Mapping[str, Blob]


def take_in(body: bytes, shape: Shape, rules: Rules) -> Intake:
    """Validate a body: one submission, or a batch of them.

    Raises:
        MalformedBodyError: it is no JSON object.
        InvalidFieldsError: fields are invalid.
        UnknownProblemError: submissions name problems that are not stored here.

    """
    data = parsed(body)
    if not isinstance(data, dict):
        raise MalformedBodyError("the body must be a JSON object")
    return _Reading(rules).batch(data) if shape == "batch" else _Reading(rules).single(data)


def parsed(body: bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        MalformedBodyError: it is none, or breaks a rule named in this module's docstring.

    """
    try:
        return _load(body)
    except ValueError as error:
        if "hex escape" not in str(error):
            raise _malformed(error) from None
    try:
        return _load(_ESCAPE.sub(lambda found: rb"\uffff" if found[1] else found[0], body))
    except ValueError as error:
        raise _malformed(error) from None


def _load(body: bytes) -> Any:
    return jiter.from_json(body, allow_inf_nan=False, cache_mode="keys", catch_duplicate_keys=True)


def _malformed(error: ValueError) -> MalformedBodyError:
    reason = str(error)
    if "recursion limit" in reason:
        reason = "it nests deeper than 200 levels" + reason.removeprefix("recursion limit exceeded")
    if "number out of range" in reason:
        reason = "an integer has more than 4300 digits" + reason.removeprefix("number out of range")
    return MalformedBodyError(f"the body is no JSON that is read here: {reason}")


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

    def _problem(self, raw: Any, where: Path) -> str:
        text = to_json(raw, inf_nan_mode="constants")
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
        missing = dict.fromkeys(one.problem_id for one, _ in submissions if one.problem_id is not None)
        if missing:
            raise UnknownProblemError(list(missing))
        return Intake(
            [self._item(index, one, key, options) for index, (one, key) in enumerate(submissions)], self._json
        )

    def _item(self, index: int, submission: Submission, key: str, options: Options | None) -> Item:
        problem = self._problems[key]
        assert not isinstance(problem, ValidationError)  # noqa: S101 -- errors have been raised before
        chosen = submission.options or options or Options()
        if "isolation" not in chosen.model_fields_set:
            chosen = chosen.model_copy(update={"isolation": self._rules.isolation})
        name = submission.id or uuid.uuid4().hex
        stripped = submission.model_copy(
            update={"id": name, "problem": None, "problem_id": key, "options": None}
        )
        return Item(
            index=index,
            id=name,
            submission=stripped.model_dump_json(exclude_none=True).encode(),
            problem=key,
            tests=len(problem.tests),
            deadline_s=deadline_s(problem, self._rules.defaults, submission.language),
            options=chosen,
        )
