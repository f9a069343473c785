"""Problem packages in the format of Kattis and ICPC: ``load_package(folder) -> Package``.

A package is a problem of ``stdio`` mode with submissions whose right verdicts are known. What cannot be
judged faithfully (interactive problems, input files, validators in other languages, flags that differ
between test groups) is refused with an error that names file and field, never judged in some other way.
Scoring problems are judged as pass or fail over all their tests; scores and ``grading`` are not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.packages.errors import PackageError
from service.packages.metadata import read_metadata
from service.packages.submissions import PackageSubmission, Skipped, read_submissions
from service.packages.testdata import read_tests
from service.packages.tree import check_tree
from service.packages.validation import read_comparison
from service.wire import StdioCase, StdioProblem

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Package", "PackageError", "PackageSubmission", "Skipped", "is_package", "load_package"]


@dataclass(frozen=True, slots=True)
class Package:
    """A package as read: its problem, its Python submissions, and what else lies among them."""

    name: str
    problem: StdioProblem
    submissions: tuple[PackageSubmission, ...]
    skipped: tuple[Skipped, ...]


def is_package(folder: Path) -> bool:
    """Whether ``folder`` is a problem package."""
    return (folder / "problem.yaml").is_file()


def load_package(folder: Path) -> Package:
    """Read the package in ``folder``.

    Raises:
        PackageError: it is none, or needs what is not supported here.

    """
    check_tree(folder)
    metadata = read_metadata(folder)
    tests = read_tests(folder)
    problem = StdioProblem(
        mode="stdio",
        tests=[StdioCase(id=test.name, input=test.input, expected=test.answer) for test in tests],
        limits=metadata.limits,
        comparison=read_comparison(folder, metadata, tests),
    )
    submissions, skipped = read_submissions(folder)
    return Package(folder.resolve().name, problem, tuple(submissions), tuple(skipped))
