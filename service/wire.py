"""The HTTP contract as types: what a trainer sends and what the service answers.

Imports nothing but pydantic, so that a client can use the same models without the service's dependencies.
Units are in the names: ``_s`` is seconds, ``_bytes`` is bytes. Unknown fields are refused everywhere, because a
misspelt limit that passes silently is a wrong verdict later.

Server-side maxima of limits are not part of the models; whoever validates on a server passes them in as
pydantic's validation context: ``Submission.model_validate(data, context={"maxima": Limits(...)})``.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    JsonValue,
    ValidationInfo,
    model_validator,
)

DEFAULT_CPU_TIME_S = 6.0
DEFAULT_MEMORY_BYTES = 1 << 30
DEFAULT_OUTPUT_BYTES = 16 << 20
DEFAULT_PROCESSES = 32
MIN_MEMORY_BYTES = 16 << 20
# Stands for half a surrogate pair, which JSON can write and UTF-8 cannot: Unicode keeps it for no character.
NO_CHARACTER = "\uffff"


class Verdict(StrEnum):
    """What became of a submission or of one test. Compare with ``is``: every member is truthy."""

    AC = "AC"  # accepted
    WA = "WA"  # wrong answer
    TLE = "TLE"  # time limit exceeded
    MLE = "MLE"  # memory limit exceeded
    OLE = "OLE"  # output limit exceeded
    RE = "RE"  # runtime error
    CE = "CE"  # does not compile
    NC = "NC"  # no code in the completion
    IE = "IE"  # our failure, never the program's
    SKIPPED = "SKIPPED"  # a test that was not run


class WireModel(BaseModel):
    """Base of all wire types: frozen, and strict about unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def _below_maximum(value: float | None, info: ValidationInfo) -> float | None:
    maxima = info.context.get("maxima") if info.context else None
    if value is not None and maxima is not None:
        maximum = getattr(maxima, str(info.field_name))
        if maximum is not None and value > maximum:
            raise ValueError(f"{value} is over this server's maximum of {maximum}")
    return value


def _no_stand_in(value: object) -> object:
    # Pydantic would read `true` as 1 and `"3"` as 3: a misplaced value would pass as a number.
    if isinstance(value, bool | str | bytes):
        raise ValueError("must be a number")  # noqa: TRY004 -- pydantic reports ValueError only
    return value


_Bounded = AfterValidator(_below_maximum)
# An integer may be spelt with an exponent or a zero fraction (1e9), as JSON has one type of number.
_Integer = Annotated[int, BeforeValidator(_no_stand_in)]
_Real = Annotated[FiniteFloat, BeforeValidator(_no_stand_in)]


class Limits(WireModel):
    """Limits of one test. A field left out means the server's default; ``TestLimits`` may override per test."""

    cpu_time_s: Annotated[_Real | None, Field(gt=0), _Bounded] = None
    wall_time_s: Annotated[_Real | None, Field(gt=0), _Bounded] = None
    memory_bytes: Annotated[_Integer | None, Field(ge=MIN_MEMORY_BYTES), _Bounded] = None
    output_bytes: Annotated[_Integer | None, Field(gt=0), _Bounded] = None
    processes: Annotated[_Integer | None, Field(ge=1), _Bounded] = None


Order = Literal["strict", "lines", "elements"]
Tolerance = Annotated[_Real, Field(ge=0)]


class Case(WireModel):
    """What tests of every mode may carry."""

    id: str | None = None
    weight: Annotated[_Real, Field(ge=0)] = 1.0
    limits: Limits | None = None
    order: Order | None = None
    abs_tol: Tolerance | None = None
    rel_tol: Tolerance | None = None


class StdioCase(Case):
    """Text in on standard input, text expected on standard output."""

    input: str
    expected: str


class CallCase(Case):
    """Arguments of one call and the value expected back, as JSON."""

    args: list[JsonValue] = []
    kwargs: dict[str, JsonValue] = {}
    expected: JsonValue


class AssertCase(Case):
    """Statements that raise when the program is wrong."""

    code: str


class Checker(WireModel):
    """A special judge: ``code`` defines ``check(input, expected, actual) -> bool | (bool, str)``."""

    language: Literal["python"] = "python"
    code: str


class ComparisonOptions(WireModel):
    """How outputs are compared with what is expected."""

    profile: str = "microcoder"
    abs_tol: Tolerance = 1e-6
    rel_tol: Tolerance = 1e-6
    ignore_case: bool = False
    order: Order = "strict"
    checker: Checker | None = None


class _ProblemBase(WireModel):
    entry_point: str | None = None
    limits: Limits = Limits()
    comparison: ComparisonOptions = ComparisonOptions()
    prelude: str | None = None


def _some_weight[C: Case](tests: list[C]) -> list[C]:
    total = math.fsum(test.weight for test in tests)
    if not 0 < total < math.inf:
        raise ValueError("the weights of the tests must add up to a finite number above 0")
    return tests


class StdioProblem(_ProblemBase):
    """A program is started once per test; its standard output is compared."""

    mode: Literal["stdio"]
    tests: Annotated[list[StdioCase], Field(min_length=1), AfterValidator(_some_weight)]


_NODE = "(?:List|Tree)Node"
_MANY_NODES = rf"(?:typing\.)?[Ll]ist\[(?:{_NODE}|Optional\[{_NODE}\])\]"
_NODES = re.compile(rf"{_NODE}|{_MANY_NODES}|Optional\[(?:{_NODE}|{_MANY_NODES})\]")


def _known_type(text: str) -> str:
    # A type of nodes that nobody builds would let every program fail on plain lists.
    if "Node" in text and not _NODES.fullmatch(text):
        raise ValueError("nodes are ListNode, TreeNode, list[...] of one of them, and Optional[...] of these")
    return text


TypeName = Annotated[str, AfterValidator(_known_type)]


class CallProblem(_ProblemBase):
    """A function or method is called once per test; what it returns is compared.

    ``arg_types`` names, per argument, ``ListNode``, ``TreeNode`` or a list of them for level-order lists to be
    built into nodes; any text without ``Node`` stands for plain data. ``answer_from`` is ``return`` or ``argN``
    for the argument changed in place, which every test must give.
    """

    mode: Literal["call"]
    entry_point: Annotated[str, Field(pattern=r"^[^\W\d]\w*(\.[^\W\d]\w*)?$")]
    tests: Annotated[list[CallCase], Field(min_length=1), AfterValidator(_some_weight)]
    arg_types: list[TypeName] | None = None
    return_type: TypeName | None = None
    answer_from: Annotated[str, Field(pattern=r"^(return|arg\d{1,3})$")] = "return"
    operations: bool = False

    @model_validator(mode="after")
    def _answer_is_given(self) -> Self:
        if self.answer_from != "return":
            needed = int(self.answer_from.removeprefix("arg")) + 1
            for index, test in enumerate(self.tests):
                if len(test.args) < needed:
                    raise ValueError(
                        f"tests.{index}.args: with `answer_from` {self.answer_from}, at least {needed} needed, "
                        f"there are {len(test.args)}"
                    )
        return self

    @model_validator(mode="after")
    def _operations_fit(self) -> Self:
        if self.operations:
            for index, test in enumerate(self.tests):
                if not is_operations(test.args):
                    raise ValueError(
                        f"tests.{index}.args: with `operations`, args must be [method names, argument lists] "
                        "of equal length, the first name being the class"
                    )
        return self


def is_operations(args: list[JsonValue]) -> bool:
    """Whether ``args`` has the shape ``[[class, method, ...], [[constructor args], [args], ...]]``."""
    match args:
        case [[_, *_] as names, list() as calls] if len(names) == len(calls):
            return all(isinstance(n, str) for n in names) and all(isinstance(c, list) for c in calls)
    return False


class AssertProblem(_ProblemBase):
    """Each test is code that calls what the program defines and raises when it is wrong."""

    mode: Literal["assert"]
    tests: Annotated[list[AssertCase], Field(min_length=1), AfterValidator(_some_weight)]


Problem = Annotated[StdioProblem | CallProblem | AssertProblem, Field(discriminator="mode")]

Detail = Literal["none", "summary", "full"]
Priority = Literal["high", "normal", "low"]
Isolation = Literal["reuse", "strict"]


class Options(WireModel):
    """How a submission is judged; none of these changes what is right."""

    stop_on_failure: bool = True
    detail: Detail = "summary"
    priority: Priority = "normal"
    isolation: Isolation = "reuse"


class Submission(WireModel):
    """One program (``code``) or one model completion to judge against one problem."""

    id: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    code: str | None = None
    completion: str | None = None
    language: str = "python"
    problem: Problem | None = None
    problem_id: str | None = None
    options: Options | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (self.code is None) == (self.completion is None):
            raise ValueError("give exactly one of `code` and `completion`")
        if (self.problem is None) == (self.problem_id is None):
            raise ValueError("give exactly one of `problem` and `problem_id`")
        return self


class Batch(WireModel):
    """Many submissions; ``options`` are the default for those that carry none."""

    submissions: Annotated[list[Submission], Field(min_length=1)]
    options: Options | None = None

    @model_validator(mode="after")
    def _distinct_ids(self) -> Self:
        seen: set[str] = set()
        for index, submission in enumerate(self.submissions):
            if submission.id is not None:
                if submission.id in seen:
                    raise ValueError(f"submissions.{index}.id: {submission.id!r} is used twice in this batch")
                seen.add(submission.id)
        return self


class CaseResult(WireModel):
    """What became of one test. ``stdout`` and ``stderr`` are cut to 4 KiB each, the cut being marked."""

    index: int
    id: str | None = None
    verdict: Verdict
    accepted_by: str | None = None
    cpu_time_s: float | None = None
    wall_time_s: float | None = None
    memory_peak_bytes: int | None = None
    limit: Literal["cpu", "wall"] | None = None
    feedback: str | None = None
    stdout: str | None = None
    stderr: str | None = None


class Judgement(WireModel):
    """The answer to one submission. ``reward`` is None exactly when ``verdict`` is IE: leave that sample out.

    ``cached``: the same program had been judged against the same problem before. ``queue_s`` is how long it
    waited before it was judged, ``attempts`` how many workers took it up, 2 where the first was lost.
    """

    id: str
    index: int = 0
    verdict: Verdict
    reward: float | None
    score: float
    passed: int
    total: int
    first_failed: int | None
    message: str
    cases: list[CaseResult] = []
    cached: bool = False
    duration_s: float
    queue_s: float | None = None
    attempts: int | None = None
    worker: str | None = None
    isolation: Literal["reuse", "strict", "shared", "none"]


class BatchAnswer(WireModel):
    """Judgements in the order of the request."""

    judgements: list[Judgement]


JobStatus = Literal["queued", "running", "finished", "cancelled", "failed"]


class Job(WireModel):
    """How far a job is; ``judgements`` are those that are ready, in the order of the request."""

    job_id: str
    status: JobStatus
    total: int
    finished: int
    message: str | None = None
    judgements: list[Judgement] = []


class StoredProblem(WireModel):
    """The receipt of a stored problem; ``digest`` is its content's, ``expires_in_s`` counts from its last use."""

    problem_id: str
    digest: str
    mode: Literal["stdio", "call", "assert"]
    tests: int
    size_bytes: int
    expires_in_s: float


def canonical_json(value: JsonValue) -> bytes:
    """Return the JSON text by which contents are compared: sorted keys, no blanks, UTF-8, Python's numbers.

    Raises:
        ValueError: ``value`` has NaN or an infinity.

    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def digest_of(canonical: bytes) -> str:
    """Return what ``problem_id`` is where the content itself names it: ``sha256:`` and 64 hexadecimal digits."""
    return f"sha256:{hashlib.sha256(canonical).hexdigest()}"


class ErrorDetail(WireModel):
    """One invalid field: its path in the body, and what is wrong with it."""

    field: str
    message: str


class ProblemDetail(WireModel):
    """An error as RFC 9457 words it (``application/problem+json``)."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[ErrorDetail] | None = None
    missing: list[str] | None = None
