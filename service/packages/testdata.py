"""The tests of a package: ``.in`` with ``.ans`` in ``data/sample`` and ``data/secret``, ordered by name.

Folders below them are test groups. Flags for the output validator come down from ``testdata.yaml`` or
``test_group.yaml`` of the nearest folder that has any, or from the test's own ``.yaml``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.packages.errors import PackageError
from service.packages.metadata import read_yaml, words

if TYPE_CHECKING:
    from pathlib import Path

_GROUP_FILES = ("test_group.yaml", "testdata.yaml")
_FLAG_FIELDS = ("output_validator_args", "output_validator_flags")


@dataclass(frozen=True, slots=True)
class PackageTest:
    """One test: ``name`` is its path below ``data`` without extension, ``flags`` are the validator's."""

    name: str
    input: str
    answer: str
    flags: tuple[str, ...]
    file: Path


def read_tests(root: Path) -> list[PackageTest]:
    """Read all tests of the package at ``root``: samples first, then the secret ones.

    Raises:
        PackageError: there are none, a file is missing or no UTF-8, or a test needs what is not supported.

    """
    data = root / "data"
    tests = [test for part in ("sample", "secret") for test in _group(data / part, data, _flags(data, ()))]
    if not tests:
        raise PackageError(data, "has no tests: no .in file in data/sample or data/secret")
    return tests


def _group(
    folder: Path, data: Path, inherited: tuple[str, ...], above: frozenset[Path] = frozenset()
) -> list[PackageTest]:
    if not folder.is_dir():
        return []
    real = folder.resolve()
    if real in above:
        # A link back to a folder on the way here: its tests are being read already.
        return []
    flags = _flags(folder, inherited)
    tests = []
    # A group sorts among its neighbours as a test of the same name would.
    for entry in sorted(folder.iterdir(), key=lambda path: path.stem):
        if entry.suffix == ".files" and entry.is_dir():
            raise PackageError(entry, "input files beside standard input are not supported")
        if entry.is_dir():
            tests += _group(entry, data, flags, above | {real})
        elif entry.suffix == ".in":
            tests.append(_test(entry, data, flags))
        elif entry.suffix == ".interaction" and not entry.with_suffix(".in").exists():
            raise PackageError(entry, "interactive problems are not supported")
    return tests


def _test(file: Path, data: Path, inherited: tuple[str, ...]) -> PackageTest:
    answer = file.with_suffix(".ans")
    if not answer.is_file():
        raise PackageError(file, f"has no answer file {answer.name}")
    own = file.with_suffix(".yaml")
    flags = _flags_in(own, inherited) if own.is_file() else inherited
    name = file.relative_to(data).with_suffix("").as_posix()
    return PackageTest(name, read_text(file), read_text(answer), flags, file)


def _flags(folder: Path, inherited: tuple[str, ...]) -> tuple[str, ...]:
    for name in _GROUP_FILES:
        if (folder / name).is_file():
            return _flags_in(folder / name, inherited)
    return inherited


def _flags_in(file: Path, inherited: tuple[str, ...]) -> tuple[str, ...]:
    settings = read_yaml(file)
    if settings.get("args"):
        raise PackageError(file, "arguments of the submission are not supported", "args")
    for field in _FLAG_FIELDS:
        if field in settings:
            try:
                flags = words(settings[field])
            except ValueError as error:
                raise PackageError(file, str(error), field) from error
            if not isinstance(flags, list) or not all(isinstance(flag, str | int | float) for flag in flags):
                raise PackageError(file, "must be text or a list of texts", field)
            return tuple(str(flag) for flag in flags)
    return inherited


def read_text(file: Path) -> str:
    """Return a file's text with its line ends as they are.

    Raises:
        PackageError: it cannot be read, or its text or name is not UTF-8.

    """
    if os.fsencode(file).decode("utf-8", "replace") != str(file):
        raise PackageError(file, "its name is not UTF-8")
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise PackageError(file, f"is not UTF-8: {error.reason} at byte {error.start}") from error
    except OSError as error:
        raise PackageError(file, f"cannot be read: {error.strerror}") from error
