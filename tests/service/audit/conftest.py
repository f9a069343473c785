"""One small labelled set, audited once through real workers and jails, for all tests that look at a report."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from service.audit.engine import Plan, audit
from service.audit.sources import Companions, load
from service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from service.audit.report import Report

DOUBLE = {"mode": "stdio", "tests": [{"input": f"{n}\n", "expected": f"{2 * n}\n"} for n in (1, 4, 9)]}
REAL = {"mode": "stdio", "tests": [{"input": "3\n", "expected": "0.333333333\n"}]}
CALL = {"mode": "call", "entry_point": "f", "tests": [{"args": [2], "expected": [2, 4]}]}
ASSERT = {"mode": "assert", "tests": [{"code": "assert f(2) == 4"}]}
CHECKED = {
    "mode": "stdio",
    "tests": [{"input": "", "expected": "1"}],
    "comparison": {
        "checker": {"code": "def check(input, expected, actual):\n    return int(actual) % 2 == 1\n"}
    },
}
BROKEN = {
    "mode": "stdio",
    "tests": [{"input": "", "expected": "1"}],
    "comparison": {"checker": {"code": "def check(input, expected, actual):\n    return 1 / 0\n"}},
}
SET: list[dict[str, Any]] = [
    {
        "id": "double", "source": "printed", "problem": {**DOUBLE, "limits": {"cpu_time_s": 1}},
        "submissions": [
            {"file": "right", "code": "print(int(input()) * 2)", "truth": "accept"},
            {"file": "spread", "code": "print(' ', int(input()) * 2.0)", "truth": "accept"},
            {"file": "underscored", "code": "n = int(input())\nprint(2 if n == 1 else f'{2 * n}')", "truth": "accept"},
            {"file": "last_wrong", "code": "n = int(input())\nprint(2 * n if n < 9 else 17)", "verdicts": ["WA"]},
            {"file": "raises", "code": "n = int(input())\nprint(2 * n if n < 9 else 1 // 0)", "verdicts": ["RE"]},
            {"file": "endless", "code": "while True: pass", "verdicts": ["TLE"]},
            {"file": "syntax", "code": "print(", "verdicts": ["CE"]},
        ],
    },
    {
        "id": "third", "source": "printed", "problem": REAL,
        "submissions": [
            {"file": "rounded", "code": "print(round(1 / int(input()), 7))", "truth": "accept"},
            {"file": "short", "code": "print(round(1 / int(input()), 2))", "truth": "reject"},
        ],
    },
    {
        "id": "pair", "source": "returned", "problem": CALL,
        "submissions": [
            {"file": "tuple", "code": "def f(n): return (n, n * n)", "truth": "accept"},
            {"file": "turned", "code": "def f(n): return [n * n, n]", "truth": "reject"},
        ],
    },
    {
        "id": "asserted", "source": "asserted", "problem": ASSERT,
        "submissions": [
            {"file": "right", "code": "def f(n): return n * n", "truth": "accept"},
            {"file": "wrong", "code": "def f(n): return n + 1", "truth": "reject"},
        ],
    },
    {
        "id": "odd", "source": "checked", "problem": CHECKED,
        "submissions": [
            {"file": "other", "code": "print(7)", "truth": "accept"},
            {"file": "even", "code": "print(8)", "truth": "reject"},
        ],
    },
]  # fmt: skip
# What cannot be measured, and what is doubtful.
BAD_SET: list[dict[str, Any]] = [
    {
        "id": "broken", "source": "bad", "problem": BROKEN,
        "submissions": [{"file": "any", "code": "print(1)", "truth": "accept"}],
    },
    {
        "id": "doubtful", "source": "bad", "problem": DOUBLE,
        "submissions": [{"file": "mislabelled", "code": "print(0)", "truth": "accept"}],
    },
]  # fmt: skip
SETTINGS = Settings(log_level="error", log_format="console")


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Report]:
    """Give a function that audits a labelled set."""

    def run(rows: list[dict[str, Any]], **plan: Any) -> Report:
        path = written(tmp_path_factory.mktemp("audit") / "set.jsonl", rows)
        return asyncio.run(audit(load([path], "auto", Companions()), SETTINGS, Plan(**plan), lambda *_: None))

    return run


@pytest.fixture(scope="session")
def labelled_set() -> list[dict[str, Any]]:
    """Give the set."""
    return SET


@pytest.fixture(scope="session")
def bad_set() -> list[dict[str, Any]]:
    """Give items that cannot be measured, or are doubtful."""
    return BAD_SET


@pytest.fixture(scope="session")
def report(audited: Callable[..., Report]) -> Report:
    """Give the report of the set."""
    return audited(SET)
