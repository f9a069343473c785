"""From files and folders to items, whatever their format."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from itertools import chain
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from service.audit.items import Item, Left, Loaded, Truth
from service.audit.sources.formats import ROW_FORMATS, row_problem
from service.audit.sources.problems import Program, RowProblem, contract_problem
from service.audit.sources.rollouts import Labelling, is_rollout, rollout
from service.audit.sources.rows import Row, SourceError, read_rows
from service.datasets.forms import form_of
from service.inputs import InputError, read_inputs
from service.wire import Problem, Submission, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

BUILTIN = "builtin"
FORMATS = ("auto", "labelled", *ROW_FORMATS, "rollouts")


@dataclass(frozen=True, slots=True)
class Companions:
    """Files beside the source: programs for rows that hold none, problems that rollouts name, and their labels."""

    submissions: Path | None = None
    problems: Path | None = None
    labelling: Labelling = field(default_factory=Labelling)


class _Labelled(BaseModel):
    """A row of a file of submissions."""

    model_config = ConfigDict(extra="ignore")

    problem: str | int
    code: str | None = None
    completion: str | None = None
    truth: str

    @model_validator(mode="after")
    def _one(self) -> _Labelled:
        if (self.code is None) == (self.completion is None):
            raise ValueError("give exactly one of `code` and `completion`")
        if self.truth not in {"accept", "reject", *Verdict}:
            raise ValueError(f"truth: {self.truth!r} is neither accept, reject nor a verdict")
        return self

    def program(self, name: str) -> Program:
        word = self.truth
        truth = (
            Truth.of(accept=word == "accept")
            if word in {"accept", "reject"}
            else Truth(frozenset({Verdict(word)}))
        )
        return Program(name, self.code, self.completion, truth)


def load(paths: Sequence[Path], form: str, companions: Companions) -> Loaded:
    """Load everything named, in its order. ``form`` is one of :data:`FORMATS`.

    A row that cannot be used is left out by name and reason, where others can be.

    Raises:
        SourceError: something cannot be read, or no row of it can be used; the text names file and field.

    """
    loaded = Loaded(", ".join(str(path) for path in paths))
    extra = _submissions(companions.submissions)
    for path in paths:
        if path.is_dir() or form == "labelled":
            _labelled(path, loaded)
        else:
            _rows(path, form, companions, extra, loaded)
    if not loaded.items and _faults(loaded):
        raise SourceError(_faults(loaded)[0])
    unused = [name for name, (_, used) in extra.items() if not used]
    loaded.left.extend(Left(name, "its problem is in no file of the source") for name in unused)
    _make_distinct(loaded)
    return loaded


def builtin() -> Loaded:
    """Load the set that comes with this project."""
    loaded = Loaded(BUILTIN)
    with resources.as_file(resources.files("service.audit") / "builtin" / "set.jsonl") as path:
        _labelled(path, loaded)
    return loaded


def _labelled(path: Path, loaded: Loaded) -> None:
    try:
        inputs = read_inputs([path], None)
    except InputError as error:
        raise SourceError(str(error)) from error
    loaded.left.extend(Left(name, reason) for name, reason in inputs.skipped)
    for work in inputs.work:
        if work.expected is None:
            loaded.left.append(Left(work.file, "nothing is expected of it"))
            continue
        name = work.file.removeprefix(f"{path.parent}/")
        source = work.origin or path.name
        loaded.items.append(
            Item(work.name or name, source, work.submission, work.problem, Truth(work.expected))
        )


def _rows(
    path: Path,
    form: str,
    companions: Companions,
    extra: dict[str, tuple[list[Program], list[bool]]],
    loaded: Loaded,
) -> None:
    rows = read_rows(path)
    first = next(rows, None)
    if first is None:
        raise SourceError(f"{path}: has no rows")
    first.check()
    if form == "auto":
        form = _detected(path, first, companions.labelling)
    if form == "labelled":
        _labelled(path, loaded)
        return
    everything = chain([first], rows)
    if form == "rollouts":
        _rollouts(everything, path.name, companions, loaded)
        return
    if form == "livecodebench" and "graded_list" in first:
        loaded.labels = "reward"
    for row in everything:
        with _leaving_out(row, loaded):
            row.check()
            _programs(row, row_problem(row, form), path.name, extra, loaded)


@contextmanager
def _leaving_out(row: Row, loaded: Loaded) -> Iterator[None]:
    """Leave ``row`` out where it cannot be used."""
    try:
        yield
    except SourceError as error:
        loaded.left.append(Left(row.where, str(error).removeprefix(f"{row.where}: "), is_fault=True))


def _faults(loaded: Loaded) -> list[str]:
    return [f"{one.name}: {one.reason}" for one in loaded.left if one.is_fault]


def _detected(path: Path, row: Row, labelling: Labelling) -> str:
    if is_rollout(row, labelling):
        return "rollouts"
    if "submissions" in row or isinstance(row.get("problem"), dict):
        return "labelled"
    form = form_of(row.fields)
    if form is not None:
        return form
    raise SourceError(
        f"{path}: is in no known format (its first row has {', '.join(sorted(row.fields)) or 'no fields'}); "
        f"known are {', '.join(FORMATS[1:])}"
    )


def _programs(
    row: Row,
    known: RowProblem,
    source: str,
    extra: dict[str, tuple[list[Program], list[bool]]],
    loaded: Loaded,
) -> None:
    programs = list(known.programs)
    if known.name in extra:
        given, used = extra[known.name]
        programs += given
        used.append(True)
    if known.left is not None:
        loaded.left.append(Left(row.where, known.left))
    if not programs:
        loaded.left.append(Left(row.where, "holds no labelled program; give some with --submissions"))
    for one in programs:
        loaded.items.append(
            Item(
                id=f"{known.name}/{one.name}",
                source=source,
                submission=Submission(code=one.code, completion=one.completion, problem_id="-"),
                problem=known.problem,
                truth=one.truth,
            )
        )


def _rollouts(rows: Iterable[Row], source: str, companions: Companions, loaded: Loaded) -> None:
    loaded.labels = "reward"
    problems = {}
    if companions.problems is not None:
        problems = {known.name: known for known in _problems(companions.problems, loaded)}
    cache: dict[str, Problem] = {}
    for row in rows:
        with _leaving_out(row, loaded):
            row.check()
            found = rollout(row, source, companions.labelling, problems, cache)
            if isinstance(found, Item):
                loaded.items.append(found)
            else:
                loaded.left.append(found)


def _problems(path: Path, loaded: Loaded) -> Iterator[RowProblem]:
    for row in read_rows(path):
        with _leaving_out(row, loaded):
            row.check()
            yield _named_problem(path, row)


def _named_problem(path: Path, row: Row) -> RowProblem:
    if isinstance(row.get("problem"), dict):
        name = row.first("id", "problem_id") or str(row.index)
        return RowProblem(name, contract_problem(row, row.get("problem")))
    form = _detected(path, row, Labelling())
    if form not in ROW_FORMATS:
        raise SourceError(f"{row.where}: holds {form}, no problems")
    return row_problem(row, form)


def _submissions(path: Path | None) -> dict[str, tuple[list[Program], list[bool]]]:
    found: dict[str, tuple[list[Program], list[bool]]] = {}
    for row in read_rows(path) if path is not None else ():
        row.check()
        try:
            one = _Labelled.model_validate(row.fields)
        except ValidationError as error:
            detail = error.errors(include_url=False)[0]
            raise SourceError(f"{row.where}: {'.'.join(map(str, detail['loc']))}: {detail['msg']}") from error
        programs, _ = found.setdefault(str(one.problem), ([], []))
        programs.append(one.program(row.where))
    return found


def _make_distinct(loaded: Loaded) -> None:
    """Give items of one name numbers, since reports are compared by name."""
    seen: dict[str, int] = {}
    for index, item in enumerate(loaded.items):
        seen[item.id] = seen.get(item.id, 0) + 1
        if seen[item.id] > 1:
            loaded.items[index] = Item(
                f"{item.id} #{seen[item.id]}", item.source, item.submission, item.problem, item.truth
            )
