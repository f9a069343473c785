"""What ``microcoder judge`` and ``microcoder audit`` read: submissions with problems and right verdicts.

JSON is read as the service reads request bodies, so that a file that works here works there. A file holds
one of

- a submission of the HTTP contract, with its problem;
- a batch: ``{"submissions": [...], "options": {...}}``;
- a labelled set: ``{"problem": {...}, "submissions": [{"file" or "id", "code" or "completion", "expect"}]}``,

and a ``.jsonl`` file one of these a line. A folder is a problem package, or holds packages.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from service.errors import MalformedBodyError
from service.json_text import parsed
from service.packages import PackageError, is_package, load_package
from service.wire import Batch, Options, Problem, Submission, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ACCEPTED = frozenset({Verdict.AC})
NOT_ACCEPTED = frozenset(Verdict) - {Verdict.AC, Verdict.IE, Verdict.SKIPPED}
_PROBLEM: TypeAdapter[Problem] = TypeAdapter(Problem)


class InputError(Exception):
    """Something that cannot be read. The text names the file and the field."""


@dataclass(frozen=True, slots=True)
class Work:
    """One submission to judge. ``expected`` holds the verdicts that are right; None expects nothing.

    ``origin`` is where its problem comes from, as a labelled set's ``source`` or a package's name says it; ``name``
    names it wherever the file lies.
    """

    file: str
    submission: Submission
    problem: Problem
    expected: frozenset[Verdict] | None
    options: Options | None = None
    origin: str | None = None
    name: str | None = None


@dataclass(slots=True)
class Inputs:
    """All that was read. ``skipped`` pairs files with the reason why they are not judged."""

    work: list[Work] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)


class _Labelled(BaseModel):
    """A submission of a labelled set; without ``expect`` or ``truth`` it is expected to be accepted."""

    model_config = ConfigDict(extra="forbid")

    id: str | None = None
    file: str | None = None
    code: str | None = None
    completion: str | None = None
    language: str = "python"
    expect: Annotated[list[Verdict], Field(min_length=1)] | None = None
    verdicts: Annotated[list[Verdict], Field(min_length=1)] | None = None
    truth: Literal["accept", "reject"] | None = None

    @field_validator("expect", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.code is None) == (self.completion is None):
            raise ValueError("give exactly one of `code` and `completion`")
        return self

    @property
    def expected(self) -> frozenset[Verdict]:
        verdicts = self.expect if self.expect is not None else self.verdicts
        if verdicts is not None:
            return frozenset(verdicts)
        return NOT_ACCEPTED if self.truth == "reject" else ACCEPTED


class _LabelledSet(BaseModel):
    """A problem with submissions whose right verdicts are known."""

    model_config = ConfigDict(extra="forbid")

    problem: Problem
    submissions: list[_Labelled] = Field(min_length=1)
    options: Options | None = None
    id: str | None = None
    source: str | None = None
    license: str | None = None


def read_inputs(paths: list[Path], problem_file: Path | None) -> Inputs:
    """Read everything named on the command line, in its order.

    ``problem_file`` is a problem as JSON, or a package, whose tests are then those of the programs in
    ``paths``.

    Raises:
        InputError: a file cannot be read.

    """
    inputs = Inputs()
    try:
        problem = None if problem_file is None else _read_problem(problem_file)
        for path in paths:
            if problem is not None:
                code = _read(path).decode("utf-8", "replace")
                inputs.work.append(Work(str(path), _submission(code=code), problem, ACCEPTED))
            elif path.is_dir():
                _read_folder(path, inputs)
            else:
                inputs.work.extend(_read_json(path))
    except PackageError as error:
        raise InputError(str(error)) from error
    for name in (*(one.file for one in inputs.work), *(file for file, _ in inputs.skipped)):
        if name.encode("utf-8", "replace").decode() != name:
            raise InputError(f"{name}: the file's name is not UTF-8, the report is")
    return inputs


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _read_problem(path: Path) -> Problem:
    if path.is_dir():
        return load_package(path).problem
    return _validated(_PROBLEM, _json(str(path), _read(path)), str(path))


def _read_folder(folder: Path, inputs: Inputs) -> None:
    packages = (
        [folder] if is_package(folder) else [one for one in sorted(folder.iterdir()) if is_package(one)]
    )
    if not packages:
        raise InputError(f"{folder}: is no problem package and holds none: there is no problem.yaml")
    for path in packages:
        package = load_package(path)
        for one in package.submissions:
            inputs.work.append(
                Work(
                    str(path / one.path),
                    _submission(code=one.code),
                    package.problem,
                    one.expected,
                    origin=package.name,
                    name=f"{package.name}/{one.path}",
                )
            )
        inputs.skipped.extend((str(path / one.path), one.reason) for one in package.skipped)


def _read_json(path: Path) -> Iterator[Work]:
    if path.suffix in {".jsonl", ".ndjson"}:
        for number, line in enumerate(_read(path).split(b"\n"), start=1):
            if line.strip():
                yield from _work(f"{path}:{number}", _json(f"{path}:{number}", line))
    elif path.suffix == ".json":
        yield from _work(str(path), _json(str(path), _read(path)))
    else:
        raise InputError(f"{path}: is neither .json nor .jsonl; a program needs --problem")


def _json(where: str, text: bytes) -> Any:
    try:
        return parsed(text)
    except MalformedBodyError as error:
        raise InputError(f"{where}: {error}") from error


def _work(where: str, data: Any) -> Iterator[Work]:
    if not isinstance(data, dict):
        raise InputError(f"{where}: must be a JSON object")
    if "submissions" not in data:
        yield _complete(where, _validated(TypeAdapter(Submission), data, where), None)
    elif "problem" in data:
        labelled = _validated(TypeAdapter(_LabelledSet), data, where)
        for index, one in enumerate(labelled.submissions):
            name = f"{where}[{one.file or one.id or index}]"
            submission = _submission(code=one.code, completion=one.completion, language=one.language)
            yield Work(
                name,
                submission,
                labelled.problem,
                one.expected,
                labelled.options,
                origin=labelled.source,
                name=f"{labelled.id}/{one.file or one.id or index}" if labelled.id else None,
            )
    else:
        batch = _validated(TypeAdapter(Batch), data, where)
        for index, submission in enumerate(batch.submissions):
            yield _complete(f"{where}[{submission.id or index}]", submission, batch.options)


def _complete(where: str, submission: Submission, options: Options | None) -> Work:
    if submission.problem is None:
        raise InputError(f"{where}: problem_id: needs a server that stores the problem; give it as `problem`")
    return Work(where, submission, submission.problem, ACCEPTED, submission.options or options)


def _submission(**fields: str | None) -> Submission:
    # The problem is kept beside it, once for all its submissions; the contract wants one of the two named.
    return Submission.model_validate({**fields, "problem_id": "-"})


def _validated[T](model: TypeAdapter[T], data: Any, where: str) -> T:
    try:
        return model.validate_python(data)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        path = ".".join(str(part) for part in detail["loc"] if part not in {"stdio", "call", "assert"})
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise InputError(f"{where}: {path or 'object'}: {detail['msg']}{more}") from error
