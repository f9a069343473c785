"""From the body of ``POST /audit`` to what is to be audited. Errors name the field by its path in the body.

Items may name stored problems. Whoever reads the body does not have them: a :class:`Draft` says which are needed, and
becomes an :class:`Order` when their contents are brought.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic_core import to_json

from comparators import PROFILES
from service import languages
from service.audit.engine import Plan
from service.audit.items import Item, Loaded, Truth
from service.audit.sources import builtin
from service.fields import Faults
from service.intake import Rules
from service.json_text import parsed_object
from service.wire import Problem, Submission, Verdict

MAX_REPEATS = 100
MAX_RUNS = 100_000
_PROBLEM: TypeAdapter[Problem] = TypeAdapter(Problem)
TruthWord = Literal["accept", "reject", "AC", "WA", "TLE", "MLE", "OLE", "RE", "CE", "NC"]


class LabelledSubmission(BaseModel):
    """A submission and what is right: ``accept``, ``reject``, or the right verdict. ``source`` groups the report."""

    model_config = ConfigDict(extra="forbid")

    submission: Submission
    truth: TruthWord
    source: Annotated[str, Field(min_length=1, max_length=200)] = "request"


class AuditRequest(BaseModel):
    """What is measured: labelled submissions or a data set by name, under which profiles and how often."""

    model_config = ConfigDict(extra="forbid")

    profiles: Annotated[list[str], Field(min_length=1)] = list(PROFILES)
    items: Annotated[list[LabelledSubmission], Field(min_length=1)] | None = None
    dataset: Literal["builtin"] | None = None
    repeats: Annotated[int, Field(ge=1, le=MAX_REPEATS)] = 1
    controls: bool = True

    @model_validator(mode="after")
    def _one_source(self) -> AuditRequest:
        if (self.items is None) == (self.dataset is None):
            raise ValueError("give exactly one of `items` and `dataset`")
        return self


@dataclass(frozen=True, slots=True)
class Order:
    """A valid request."""

    loaded: Loaded
    plan: Plan


@dataclass(frozen=True, slots=True)
class _Named:
    """A valid item at ``index`` whose problem is stored under ``problem_id``."""

    index: int
    labelled: LabelledSubmission
    problem_id: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A request that is valid as far as can be told without the problems ``named``."""

    rows: Sequence[Item | _Named]
    plan: Plan
    rules: Rules

    @property
    def named(self) -> list[str]:
        """Return the ids of the stored problems that items name, each once."""
        return list(dict.fromkeys(row.problem_id for row in self.rows if isinstance(row, _Named)))

    def order(self, contents: Sequence[bytes | bytearray]) -> Order:
        """Return the order; ``contents`` are the problems ``named`` as JSON, in that order.

        Raises:
            InvalidFieldsError: a program's language is none that its problem can be tested in.

        """
        problems = {
            name: _PROBLEM.validate_json(content) for name, content in zip(self.named, contents, strict=True)
        }
        faults = Faults()
        items = []
        for row in self.rows:
            if isinstance(row, Item):
                items.append(row)
                continue
            problem = problems[row.problem_id]
            language = row.labelled.submission.language
            if fault := languages.fault(language, self.rules.languages, problem):
                faults.add(("items", row.index, "submission", "language"), fault)
            items.append(_item(row.index, row.labelled, problem))
        faults.raise_if_any()
        return Order(Loaded("request", items) if items else builtin(), self.plan)


def _item(index: int, labelled: LabelledSubmission, problem: Problem) -> Item:
    submission = labelled.submission
    name = submission.id or f"items[{index}]"
    return Item(name, labelled.source, submission, problem, _truth(labelled.truth))


def read_request(body: bytes, rules: Rules) -> Draft:
    """Validate a body.

    Raises:
        MalformedBodyError: it is no JSON object.
        InvalidFieldsError: fields are invalid.

    """
    data = parsed_object(body)
    faults = Faults()
    rows = data.get("items")
    if isinstance(rows, list) and len(rows) > MAX_RUNS:
        faults.add(("items",), f"{len(rows)} items: at most {MAX_RUNS} runs")
        faults.raise_if_any()
    items = _Items(rules, faults).read(rows) if isinstance(rows, list) else []
    faults.raise_if_any()
    request = _envelope(data, rows, faults)
    faults.raise_if_any()
    assert request is not None  # noqa: S101 -- its faults have been raised
    if len(items) * request.repeats > MAX_RUNS:
        faults.add(("items",), f"{len(items)} items, {request.repeats} times each: at most {MAX_RUNS} runs")
        faults.raise_if_any()
    plan = Plan(tuple(dict.fromkeys(request.profiles)), request.repeats, request.controls)
    return Draft(items, plan, rules)


def _envelope(data: dict[str, Any], rows: Any, faults: Faults) -> AuditRequest | None:
    # The items have been read already; one that is right stands for them all.
    stand_in = {"submission": {"code": "", "problem_id": "-"}, "truth": "accept"}
    fields = {**data, "items": [stand_in] if rows else rows} if isinstance(rows, list) else data
    try:
        request = AuditRequest.model_validate(fields)
    except ValidationError as error:
        faults.add_all(error, data, ())
        return None
    for index, name in enumerate(request.profiles):
        if name not in PROFILES:
            faults.add(("profiles", index), f"is none of those here: {', '.join(PROFILES)}")
    return request


class _Items:
    """Reads items, each distinct problem once."""

    def __init__(self, rules: Rules, faults: Faults) -> None:
        self._rules = rules
        self._context = {"maxima": rules.maxima}
        self._faults = faults
        self._problems: dict[bytes, Problem | ValidationError] = {}

    def read(self, rows: list[Any]) -> list[Item | _Named]:
        """Return the valid ones; the rest is noted."""
        items: list[Item | _Named] = []
        seen: set[str] = set()
        for index, row in enumerate(rows):
            item = self._item(index, row)
            if item is None:
                continue
            items.append(item)
            name = item.id if isinstance(item, Item) else item.labelled.submission.id or f"items[{index}]"
            if name in seen:
                self._faults.add(("items", index, "submission", "id"), f"{name!r} is used twice")
            seen.add(name)
        return items

    def _item(self, index: int, row: Any) -> Item | _Named | None:
        where = ("items", index)
        if not isinstance(row, dict):
            self._faults.add(where, "must be an object")
            return None
        raw = row.get("submission")
        problem = None
        fields: Any = row
        if isinstance(raw, dict):
            if raw.get("options") is not None:
                self._faults.add((*where, "submission", "options"), "an audit judges all items alike")
            if raw.get("problem") is not None:
                problem = self._problem(raw["problem"], (*where, "submission", "problem"))
                # Validated apart; the contract wants one of the two named.
                fields = {
                    **row,
                    "submission": {**raw, "problem": None, "problem_id": raw.get("problem_id", "-")},
                }
                if raw.get("problem_id") is not None:
                    self._faults.add((*where, "submission"), "give exactly one of `problem` and `problem_id`")
        try:
            labelled = LabelledSubmission.model_validate(fields, context=self._context)
        except ValidationError as error:
            self._faults.add_all(error, row, where)
            return None
        submission = labelled.submission
        if fault := languages.fault(submission.language, self._rules.languages, problem):
            self._faults.add((*where, "submission", "language"), fault)
        if problem is not None:
            return _item(index, labelled, problem)
        if isinstance(raw, dict) and raw.get("problem") is not None:
            # It is invalid, which has been noted.
            return None
        assert submission.problem_id is not None  # noqa: S101 -- the contract wants one of the two
        return _Named(index, labelled, submission.problem_id)

    def _problem(self, raw: Any, where: tuple[str | int, ...]) -> Problem | None:
        key = hashlib.blake2b(to_json(raw, inf_nan_mode="constants"), digest_size=16).digest()
        if key not in self._problems:
            try:
                self._problems[key] = _PROBLEM.validate_python(raw, context=self._context)
            except ValidationError as error:
                self._problems[key] = error
        known = self._problems[key]
        if isinstance(known, ValidationError):
            self._faults.add_all(known, raw, where)
            return None
        return known


def _truth(word: TruthWord) -> Truth:
    if word in {"accept", "reject"}:
        return Truth.of(accept=word == "accept")
    return Truth(frozenset({Verdict(word)}))
