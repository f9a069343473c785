"""How a package's outputs are compared: flags as comparison options, a custom validator as a checker.

The format's default validator compares white-space separated tokens without regard to case; numbers have a
tolerance only where a flag gives one. Most of that is said by :class:`~service.wire.ComparisonOptions`. Two
things are not, and are then judged by the default validator's own rules in a checker:
``space_change_sensitive``, and a tolerance where an answer holds integers, which the comparison chain
compares exactly and the format does not.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from service.packages.errors import PackageError
from service.packages.testdata import PackageTest, read_text
from service.wire import Checker, ComparisonOptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from service.packages.metadata import Metadata

_TOLERANCE_FLAGS = {
    "float_tolerance": ("absolute", "relative"),
    "float_absolute_tolerance": ("absolute",),
    "float_relative_tolerance": ("relative",),
}
_INTEGER = re.compile(r"(?<!\S)[+-]?\d+(?!\S)", re.ASCII)
_FOLDERS = ("output_validator", "output_validators")


@dataclass(frozen=True, slots=True)
class _Flags:
    case_sensitive: bool = False
    space_change_sensitive: bool = False
    absolute: float | None = None
    relative: float | None = None

    @property
    def tolerances(self) -> tuple[float, float] | None:
        if self.absolute is None and self.relative is None:
            return None
        return self.absolute or 0.0, self.relative or 0.0


def read_comparison(root: Path, metadata: Metadata, tests: Sequence[PackageTest]) -> ComparisonOptions:
    """Return how the outputs of all tests are compared.

    Raises:
        PackageError: flags are unknown or differ between tests, or the validator is not one Python program.

    """
    flags = tests[0].flags
    for test in tests:
        if test.flags != flags:
            raise PackageError(
                test.file,
                f"has the validator flags {' '.join(test.flags)!r}, other tests have {' '.join(flags)!r}: "
                "one problem has one comparison here; split the package",
            )
    all_flags = (*metadata.flags, *flags)
    program = _validator(root)
    if program is not None and metadata.validation in {"default", "custom"}:
        return ComparisonOptions(checker=_program_checker(*program, all_flags))
    if metadata.validation == "custom":
        raise PackageError(root / "problem.yaml", "is custom, but there is no output validator", "validation")
    return _default_comparison(_parsed(root / "problem.yaml", all_flags), [test.answer for test in tests])


def _default_comparison(flags: _Flags, answers: Sequence[str]) -> ComparisonOptions:
    tolerances = flags.tolerances
    integers = tolerances is not None and any(_INTEGER.search(answer) for answer in answers)
    if flags.space_change_sensitive or integers:
        return ComparisonOptions(checker=_tokens_checker(flags))
    absolute, relative = tolerances or (0.0, 0.0)
    return ComparisonOptions(abs_tol=absolute, rel_tol=relative, ignore_case=not flags.case_sensitive)


def _parsed(file: Path, flags: Sequence[str]) -> _Flags:
    found: dict[str, bool | float] = {}
    rest = iter(flags)
    for flag in rest:
        if flag in {"case_sensitive", "space_change_sensitive"}:
            found[flag] = True
        elif flag in _TOLERANCE_FLAGS:
            value = _tolerance(file, flag, next(rest, ""))
            found.update(dict.fromkeys(_TOLERANCE_FLAGS[flag], value))
        else:
            raise PackageError(file, f"the default output validator has no flag {flag!r}", "validator_flags")
    return _Flags(
        case_sensitive="case_sensitive" in found,
        space_change_sensitive="space_change_sensitive" in found,
        absolute=found.get("absolute"),
        relative=found.get("relative"),
    )


def _tolerance(file: Path, flag: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise PackageError(file, f"{flag} needs a number of at least 0, not {text!r}", "validator_flags")
    return value


def _tokens_checker(flags: _Flags) -> Checker:
    return Checker(
        code=f"{_source('tokens')}\n\n"
        "def check(input, expected, actual):\n"
        f"    return compare_tokens(expected, actual, case_sensitive={flags.case_sensitive},\n"
        f"        space_change_sensitive={flags.space_change_sensitive}, tolerances={flags.tolerances!r})\n"
    )


def _program_checker(files: dict[str, str], main: str, flags: Sequence[str]) -> Checker:
    return Checker(
        code=f"{_source('program')}\n\n"
        f"FILES = {files!r}\n\n\n"
        "def check(input, expected, actual):\n"
        f"    return run_validator(FILES, {main!r}, {list(flags)!r}, (input, expected, actual))\n"
    )


def _source(name: str) -> str:
    return (resources.files("service.packages.checkers") / f"{name}.py").read_text(encoding="utf-8")


def _validator(root: Path) -> tuple[dict[str, str], str] | None:
    """Return the files of the package's output validator by relative path, and the one to be run."""
    entries = [
        entry
        for name in _FOLDERS
        if (root / name).is_dir()
        for entry in sorted((root / name).iterdir())
        if not entry.name.startswith((".", "__pycache__")) and not entry.name.lower().startswith("readme")
    ]
    if not entries:
        return None
    folder = entries[0].parent
    if folder.name == "output_validators":
        if len(entries) > 1:
            raise PackageError(folder, f"has {len(entries)} validators; one is supported")
        if entries[0].is_dir():
            folder = entries[0]
            entries = sorted(
                entry for entry in folder.rglob("*") if entry.is_file() and "__pycache__" not in entry.parts
            )
    for entry in entries:
        if entry.suffix != ".py" or entry.is_dir():
            raise PackageError(entry, "output validators are supported in Python only (.py files)")
    files = {entry.relative_to(folder).as_posix(): read_text(entry) for entry in entries}
    mains = ["__main__.py"] if "__main__.py" in files else [name for name in files if name != "__init__.py"]
    if not mains:
        raise PackageError(folder, "holds no output validator")
    if len(mains) > 1:
        raise PackageError(folder, f"which of {', '.join(mains)} is the validator? Name it __main__.py")
    return files, mains[0]
