"""The example submissions of a package, and which verdicts are right for each.

A folder's name says what is right; ``@EXPECTED_RESULTS@:`` in a file, as DOMjudge has it, overrules the
folder, and so does an entry of ``submissions.yaml`` that matches. The formats count memory limits among
run-time errors.

- ``rejected``: anything but accepted. ``brute_force``: too slow or crashing, never a wrong answer.
- ``partially_accepted`` and ``partial``: not all tests pass, so here it is a rejection.
- any other folder without a word in the file: judged, and nothing is expected.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from service.packages.errors import PackageError, shown
from service.packages.metadata import read_yaml
from service.packages.testdata import read_text
from service.wire import Verdict

if TYPE_CHECKING:
    from pathlib import Path

AC, WA, TLE, MLE, OLE, RE, CE = (
    Verdict.AC, Verdict.WA, Verdict.TLE, Verdict.MLE, Verdict.OLE, Verdict.RE, Verdict.CE
)  # fmt: skip
_REJECTED = frozenset({WA, TLE, MLE, OLE, RE})
_FOLDERS: dict[str, frozenset[Verdict]] = {
    "accepted": frozenset({AC}),
    "rejected": _REJECTED,
    "wrong_answer": frozenset({WA}),
    "no_output": frozenset({WA}),
    "time_limit_exceeded": frozenset({TLE}),
    "run_time_error": frozenset({RE, MLE}),
    "runtime_error": frozenset({RE, MLE}),
    "memory_limit_exceeded": frozenset({MLE, RE}),
    "output_limit_exceeded": frozenset({OLE}),
    "compile_error": frozenset({CE}),
    "compiler_error": frozenset({CE}),
    "brute_force": frozenset({TLE, RE, MLE}),
    "partially_accepted": _REJECTED,
    "partial": _REJECTED,
}
_WORDS: dict[str, frozenset[Verdict]] = {
    "CORRECT": frozenset({AC}),
    "ACCEPTED": frozenset({AC}),
    "WRONG-ANSWER": frozenset({WA}),
    "NO-OUTPUT": frozenset({WA}),
    "TIMELIMIT": frozenset({TLE}),
    "TIME-LIMIT-EXCEEDED": frozenset({TLE}),
    "RUN-ERROR": frozenset({RE, MLE}),
    "RUN-TIME-ERROR": frozenset({RE, MLE}),
    "MEMORY-LIMIT": frozenset({MLE, RE}),
    "OUTPUT-LIMIT": frozenset({OLE}),
    "COMPILER-ERROR": frozenset({CE}),
}
_CODES = {
    "AC": frozenset({AC}),
    "WA": frozenset({WA, OLE}),
    "TLE": frozenset({TLE}),
    "RTE": frozenset({RE, MLE}),
}
_COMMENT = re.compile(r"@EXPECTED_RESULTS@:([^\n]*)")
_PYTHON_2 = re.compile(r"#!.*python2")


@dataclass(frozen=True, slots=True)
class PackageSubmission:
    """One Python program; ``expected`` holds the right verdicts, None where the package says nothing."""

    path: str
    code: str
    expected: frozenset[Verdict] | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A submission that was not judged, and why."""

    path: str
    reason: str


def read_submissions(root: Path) -> tuple[list[PackageSubmission], list[Skipped]]:
    """Read the submissions of the package at ``root``, in the order of their paths.

    Raises:
        PackageError: a file is not UTF-8, or names an unknown verdict.

    """
    folder = root / "submissions"
    index = folder / "submissions.yaml"
    rules = read_yaml(index) if index.is_file() else {}
    taken: list[PackageSubmission] = []
    skipped: list[Skipped] = []
    for entry in sorted(folder.glob("*/*")):
        path = entry.relative_to(root).as_posix()
        program = _program(entry)
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        if isinstance(program, str):
            skipped.append(Skipped(path, program))
            continue
        code = read_text(program)
        if _PYTHON_2.match(code):
            skipped.append(Skipped(path, "Python 2"))
            continue
        expected = _expected(program, code, entry.parent.name)
        name = entry.relative_to(folder).as_posix()
        taken.append(PackageSubmission(path, code, _ruled(index, rules, name, expected)))
    return taken, skipped


def _program(entry: Path) -> Path | str:
    """Return the one Python file of a submission, or why it is not judged."""
    if entry.is_dir():
        files = [
            file for file in sorted(entry.rglob("*")) if file.is_file() and "__pycache__" not in file.parts
        ]
        if len(files) != 1:
            return f"a program of {len(files)} files; programs of one file are judged"
        return _program(files[0])
    if entry.suffix in {".py", ".py3"}:
        return entry
    return f"not Python ({entry.suffix or 'no extension'})"


def _expected(file: Path, code: str, folder: str) -> frozenset[Verdict] | None:
    comment = _COMMENT.search(code)
    if comment is None:
        return _FOLDERS.get(folder)
    verdicts: set[Verdict] = set()
    for word in comment[1].replace("*/", " ").replace('"""', " ").split(","):
        name = word.strip().upper().replace("_", "-")
        if name not in _WORDS:
            known = ", ".join(_WORDS)
            raise PackageError(file, f"{word.strip()!r} is none of {known}", "@EXPECTED_RESULTS@")
        verdicts |= _WORDS[name]
    return frozenset(verdicts)


def _ruled(
    index: Path, rules: dict[str, Any], name: str, expected: frozenset[Verdict] | None
) -> frozenset[Verdict] | None:
    """Apply ``permitted`` and ``required`` of the matching entries; those for test groups are not looked at.

    Both speak of all tests, a verdict here is that of the first failing one: it must be a permitted
    failure, or AC where AC may be the required one.
    """
    for pattern, rule in rules.items():
        if not (_matches(name, pattern) or _matches(name.split("/", maxsplit=1)[0], pattern)):
            continue
        if not isinstance(rule, dict):
            raise PackageError(index, "must be a mapping", pattern)
        if "permitted" not in rule and "required" not in rule:
            continue
        permitted = _codes(index, pattern, rule.get("permitted", list(_CODES)))
        required = _codes(index, pattern, rule.get("required", list(_CODES)))
        expected = permitted if AC in required else permitted - {AC}
    return expected


def _matches(name: str, pattern: str) -> bool:
    parts, globs = name.split("/"), pattern.rstrip("/").split("/")
    return len(parts) == len(globs) and all(map(fnmatchcase, parts, globs))


def _codes(index: Path, pattern: str, codes: object) -> frozenset[Verdict]:
    if not isinstance(codes, list) or not all(isinstance(code, str) and code in _CODES for code in codes):
        raise PackageError(index, f"must be a list of {', '.join(_CODES)}, not {shown(codes)}", pattern)
    return frozenset().union(*(_CODES[code] for code in codes))
