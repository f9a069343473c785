"""Submissions as a trainer sends them: most right or wrong, some slow, greedy, broken; each with its verdict."""

from __future__ import annotations

import random
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LIMITS = {"cpu_time_s": 1.0, "memory_bytes": 256 << 20, "output_bytes": 1 << 20}
SUM = {
    "mode": "stdio",
    "tests": [
        {"input": f"{n}\n{' '.join(map(str, range(n)))}\n", "expected": f"{n * (n - 1) // 2}\n"}
        for n in range(1, 13)
    ],
    "limits": LIMITS,
}
SQUARE = {
    "mode": "call",
    "entry_point": "square",
    "tests": [{"args": [n], "expected": n * n} for n in range(12)],
    "limits": LIMITS,
}
ASSERTED = {
    "mode": "assert",
    "tests": [{"code": f"assert square({n}) == {n * n}"} for n in range(5)],
    "limits": LIMITS,
}
READ = "n = int(input())\nvalues = list(map(int, input().split()))\n"


@dataclass(frozen=True, slots=True)
class Kind:
    """A program, the share of all submissions that it has, and its right verdict."""

    share: int
    verdict: str
    problem: Mapping[str, Any]
    code: str


KINDS = (
    Kind(30, "AC", SUM, READ + "print(sum(values))"),
    Kind(8, "AC", SUM, "import numpy\n" + READ + "print(numpy.array(values).sum())"),
    Kind(12, "AC", SQUARE, "def square(n):\n    return n * n"),
    Kind(4, "AC", ASSERTED, "def square(n):\n    return n ** 2"),
    Kind(18, "WA", SUM, READ + "print(sum(values) + (n > 6))"),
    Kind(8, "WA", SQUARE, "def square(n):\n    return n + n"),
    Kind(3, "WA", ASSERTED, "def square(n):\n    return n + n"),
    Kind(6, "RE", SUM, READ + "print(values[n])"),
    Kind(2, "RE", SUM, "import os\nos.kill(os.getpid(), 11)"),
    Kind(4, "CE", SUM, "def broken(:\n    pass"),
    Kind(2, "TLE", SUM, "while True:\n    pass"),
    Kind(1, "MLE", SUM, "x = bytearray(1 << 30)"),
    Kind(2, "OLE", SUM, "while True:\n    print('x' * 4096)"),
)


def mixed(number: int, seed: int = 0) -> list[tuple[dict[str, Any], str]]:
    """Return submissions with their right verdicts; no program is ever made twice, so that none is known already."""
    mark = secrets.token_hex(8)
    drawn = random.Random(seed).choices(KINDS, [kind.share for kind in KINDS], k=number)  # noqa: S311 -- a load
    return [
        ({"id": f"{mark}-{n}", "code": f"# {mark} {n}\n{kind.code}\n", "problem": kind.problem}, kind.verdict)
        for n, kind in enumerate(drawn)
    ]


def wrong(verdicts: Iterable[str], judgements: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the right verdict and the given one, of those that differ."""
    pairs = zip(verdicts, (one["verdict"] for one in judgements), strict=True)
    return [(right, given) for right, given in pairs if right != given]
