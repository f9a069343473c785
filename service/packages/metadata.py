"""``problem.yaml`` and the files beside it that say how a package is judged.

Read are the formats ``legacy``, ``legacy-icpc``, ``2023-07`` (and its draft) and ``2025-09``, as far as
they concern judging: type, validation, validator flags and limits. The time limit is ``limits.time_limit``,
else the number in ``.timelimit``, else ``timelimit`` in DOMjudge's ``domjudge-problem.ini``; without any,
the service's default holds, since the format's own (a multiple of the slowest accepted submission's time)
would differ from machine to machine.
"""

from __future__ import annotations

import configparser
import math
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, field_validator

from service.packages.errors import PackageError, first_error
from service.wire import Limits

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20
# What the formats call the typical default; accepted submissions may count on it.
DEFAULT_MEMORY_MIB = 2048.0
_UNSUPPORTED_TYPES = frozenset({"interactive", "multi-pass", "submit-answer"})
_UNSUPPORTED_FOLDERS = ("include/python3", "include/python", "include/default", "static_validator")


class _YamlLimits(BaseModel):
    model_config = ConfigDict(strict=False)

    time_limit: Annotated[FiniteFloat | None, Field(gt=0)] = None
    memory: Annotated[FiniteFloat, Field(gt=0)] = DEFAULT_MEMORY_MIB
    output: Annotated[FiniteFloat | None, Field(gt=0)] = None


class _ProblemYaml(BaseModel):
    type: list[str] = ["pass-fail"]
    validation: str = "default"
    validator_flags: list[str] = []
    output_validator_flags: list[str] = []
    limits: _YamlLimits = _YamlLimits()
    constants: dict[str, Any] = {}

    @field_validator("type", "validator_flags", "output_validator_flags", mode="before")
    @classmethod
    def _words(cls, value: object) -> object:
        return words(value)

    @field_validator("limits", "constants", mode="before")
    @classmethod
    def _empty(cls, value: object) -> object:
        return {} if value is None else value


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a package says about judging; newer formats leave the legacy field ``validation`` ``default``."""

    limits: Limits
    flags: tuple[str, ...]
    types: tuple[str, ...]
    validation: str


class _YamlLoader(yaml.SafeLoader):
    """Refuses a mapping in which a key is repeated: one of its two values would be dropped silently."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f"duplicate key {key.value!r}", problem_mark=key.start_mark
                    )
                seen.add((key.tag, key.value))
        return node


def words(value: object) -> object:
    """Return flags as a list, whether they were written as text, as a list or not at all.

    Raises:
        ValueError: a quotation mark has no partner.

    """
    if value is None:
        return []
    return shlex.split(value) if isinstance(value, str) else value


def read_yaml(file: Path) -> dict[str, Any]:
    """Return the mapping in a YAML file; an empty file is an empty mapping.

    Raises:
        PackageError: it is not UTF-8, not YAML, no mapping, or a key is there twice.

    """
    try:
        data = _YamlLoader(file.read_text(encoding="utf-8")).get_single_data()
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        # A ValueError: what is no UTF-8, or an integer of more digits than Python reads.
        raise PackageError(file, f"cannot be read: {' '.join(str(error).split())}") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise PackageError(file, "must be a mapping of fields")
    return {str(key): value for key, value in data.items()}


def read_metadata(root: Path) -> Metadata:
    """Read what the package at ``root`` says about judging.

    Raises:
        PackageError: a field is invalid, or the package needs what is not supported here.

    """
    file = root / "problem.yaml"
    try:
        problem = _ProblemYaml.model_validate(read_yaml(file))
    except ValidationError as error:
        raise first_error(file, error) from error
    except ValueError as error:  # shlex: a quotation mark without its partner
        raise PackageError(file, str(error)) from error
    validation = problem.validation.split()
    for kind in [*problem.type, *validation]:
        if kind in _UNSUPPORTED_TYPES:
            raise PackageError(file, f"{kind} problems are not supported", "type")
    if problem.constants:
        raise PackageError(file, "constants in validators and submissions are not replaced here", "constants")
    for folder in _UNSUPPORTED_FOLDERS:
        if (root / folder).is_dir():
            raise PackageError(root / folder, "is not supported: submissions are judged as they are")
    return Metadata(
        limits=_limits(root, file, problem.limits),
        flags=(*problem.validator_flags, *problem.output_validator_flags),
        types=tuple(problem.type),
        validation=validation[0] if validation else "default",
    )


def _limits(root: Path, file: Path, given: _YamlLimits) -> Limits:
    time_limit_s = given.time_limit if given.time_limit is not None else _time_limit_beside(root)
    try:
        return Limits(
            cpu_time_s=time_limit_s,
            memory_bytes=int(given.memory * MIB),
            output_bytes=None if given.output is None else max(1, int(given.output * MIB)),
        )
    except ValidationError as error:
        field = str(error.errors()[0]["loc"][0])
        names = {"memory_bytes": "limits.memory", "output_bytes": "limits.output"}
        raise PackageError(
            file, str(error.errors()[0]["msg"]), names.get(field, "limits.time_limit")
        ) from error


def _time_limit_beside(root: Path) -> float | None:
    kattis, domjudge = root / ".timelimit", root / "domjudge-problem.ini"
    if kattis.is_file():
        return _seconds(kattis, kattis.read_text(encoding="utf-8", errors="replace"))
    if domjudge.is_file():
        # The file has no section; its values may be quoted.
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read_string("[problem]\n" + domjudge.read_text(encoding="utf-8", errors="replace"))
        except configparser.Error as error:
            raise PackageError(domjudge, f"cannot be read: {' '.join(str(error).split())}") from error
        text = parser.get("problem", "timelimit", fallback=None)
        return None if text is None else _seconds(domjudge, text.strip("'\""), "timelimit")
    return None


def _seconds(file: Path, text: str, field: str | None = None) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise PackageError(file, f"must be a number of seconds above 0, not {text.strip()!r:.40}", field)
    return seconds
