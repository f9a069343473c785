"""Files of problems as examples to train on; a fault is told with file, row and field.

A row of format ``problems`` has ``prompt`` (text or chat messages), ``problem`` (the contract's problem, as an object
or as JSON text), and may have ``id`` and ``prefix``: text that stands before the completion when it is judged, for
models that continue a program instead of writing one. Rows of public data sets are read by
:mod:`service.datasets`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from service.datasets.forms import READERS
from trainer_client.datasets.telling import problem_errors
from trainer_client.errors import ProblemError
from trainer_client.problems import parse_problem, problem_text
from trainer_client.train.errors import ConfigError, MissingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from service.wire import Problem
    from trainer_client.train.config import DataSection


@dataclass(frozen=True, slots=True)
class Example:
    """A problem and what the model is told of it; ``problem`` is JSON text."""

    id: str
    prompt: str | list[dict[str, str]]
    problem: str
    prefix: str = ""


def read_examples(path: Path, section: DataSection) -> list[Example]:
    """Return the examples of a file in its order.

    Raises:
        ConfigError: the file or a row of it cannot be used.
        MissingError: it is a Parquet file, and pyarrow is not installed.

    """
    examples: dict[str, Example] = {}
    for number, row in _rows(path):
        where = f"{path}:{number}"
        try:
            one = _example(row, f"{path.stem}-{number}", section)
        except ProblemError as error:
            raise ConfigError(f"{where}: {error}") from error
        if one.id in examples:
            raise ConfigError(f"{where}: id: {one.id!r} stands twice")
        examples[one.id] = one
    if not examples:
        raise ConfigError(f"{path}: holds no problems")
    return list(examples.values())


def _example(row: dict[str, Any], default_id: str, section: DataSection) -> Example:
    prompt = row.get(section.prompt_field)
    prefix = row.get("prefix") or ""
    if not isinstance(prefix, str):
        raise ProblemError("prefix: not text")
    identity = next(
        (row[name] for name in ("id", "question_id", "task_id") if row.get(name) is not None), default_id
    )
    return Example(
        id=str(identity),
        prompt=_prompt(prompt, section),
        problem=problem_text(_problem(row, section)),
        prefix=prefix,
    )


def _problem(row: dict[str, Any], section: DataSection) -> Problem:
    if section.format != "problems":
        with problem_errors():
            return READERS[section.format](row)
    if row.get("problem") is None:
        raise ProblemError("problem: is missing")
    return parse_problem(row["problem"])


def _prompt(prompt: Any, section: DataSection) -> str | list[dict[str, str]]:
    match prompt:
        case str() if prompt:
            text = section.instruction.replace("{prompt}", prompt) if section.instruction else prompt
            return [{"role": "user", "content": text}] if section.chat else text
        case [{"role": str(), "content": str()}, *_]:
            if section.instruction is not None:
                raise ProblemError(f"{section.prompt_field}: data.instruction is for prompts that are text")
            return [{"role": str(one["role"]), "content": str(one["content"])} for one in prompt]
    raise ProblemError(f"{section.prompt_field}: neither text nor chat messages")


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give every row with its number; in JSON lines that of its line."""
    if path.suffix == ".parquet":
        yield from enumerate(_parquet(path), start=1)
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            # Text that is no UTF-8 is a ValueError as well.
            except ValueError as error:
                raise ConfigError(f"{path}:{number}: no JSON: {error}") from error
            if not isinstance(row, dict):
                raise ConfigError(f"{path}:{number}: must be an object")
            yield number, row


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    try:
        from pyarrow import ArrowException  # noqa: PLC0415 -- for Parquet only
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415
    except ImportError as error:
        raise MissingError(
            f"{path}: Parquet needs pyarrow: pip install 'microcoder-evaluator[train]'"
        ) from error
    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches():
                yield from batch.to_pylist()
    except (ArrowException, OSError) as error:
        raise ConfigError(f"{path}: no Parquet file: {error}") from error
