"""The problems of ``cpu.yaml``: to finish ``return a`` as the prompt says, with one of three operators and a variable.

``python -m trainer_client.examples.train.expressions`` writes them beside this file. One in six is held out: operators
and variables that occur in training, in pairs that do not.
"""

from __future__ import annotations

import itertools
import json
from operator import add, mul, sub
from pathlib import Path
from types import MappingProxyType

from trainer_client import CallCase, CallProblem, problem_text

OPERATORS = MappingProxyType({"plus": ("+", add), "minus": ("-", sub), "times": ("*", mul)})
VARIABLES = "abc"
ARGUMENTS = ((5, 3), (2, 7), (10, 4))
HELD_OUT_EVERY = 6


def rows() -> list[dict[str, object]]:
    """Return all problems as rows of format ``problems``."""
    found: list[dict[str, object]] = []
    for (word, (_, function)), (x, y) in itertools.product(
        OPERATORS.items(), itertools.permutations(VARIABLES, 2)
    ):
        tests = [CallCase(args=[p, q], expected=function(p, q)) for p, q in ARGUMENTS]
        problem = CallProblem(mode="call", entry_point="f", tests=tests)
        found.append(
            {
                "id": f"{x}-{word}-{y}",
                "prompt": f"{x} {word} {y} ",
                "prefix": f"def f({x}, {y}):\n    return {x}",
                "problem": json.loads(problem_text(problem)),
            }
        )
    return found


def held_out(index: int) -> bool:
    """Whether row ``index`` of :func:`rows` is held out: one in six, of any pair of variables one operator at most."""
    operator, pair = divmod(index, len(VARIABLES) * (len(VARIABLES) - 1))
    return (operator + pair) % HELD_OUT_EVERY == 0


def main() -> None:
    """Write ``expressions.jsonl`` and ``expressions_heldout.jsonl``."""
    folder = Path(__file__).parent
    for name, wanted in (("expressions", False), ("expressions_heldout", True)):
        part = [row for index, row in enumerate(rows()) if held_out(index) is wanted]
        text = "".join(json.dumps(row) + "\n" for row in part)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
