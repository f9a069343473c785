"""HumanEval and MBPP: tests are assertions.

Their traps: HumanEval's prompt holds imports and helper functions that completions and tests use, so it comes
before the program; ``check`` is defined by the test but not called. MBPP's assertions need the row's imports and
set-up, each of them in a process of its own here.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from service.datasets.values import RowError, problem, required, required_text, texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.wire import Problem


def problem_of(row: Mapping[str, Any], *, cpu_time_s: float | None = None) -> Problem:
    """Return the problem of a row of either.

    Raises:
        RowError: a field is missing or of the wrong shape.

    """
    if row.get("test_list") is not None:
        return _mbpp(row, cpu_time_s)
    name = required_text(row, "entry_point")
    definition = required_text(row, "test")
    if "def check(" not in definition:
        # Of a set with other tests, as unittest's: calling what is not there would fail every program.
        raise RowError("test: does not define check")
    test = f"{definition}\n\ncheck({name})\n"
    # Sets of other benchmarks' tests in this form have programs that need no prompt.
    prelude = preamble(required_text(row, "prompt"), name) if row.get("prompt") is not None else None
    return problem("assert", [{"code": test}], cpu_time_s=cpu_time_s, entry_point=name, prelude=prelude)


def _mbpp(row: Mapping[str, Any], cpu_time_s: float | None) -> Problem:
    setup = texts(row.get("test_imports") or [], "test_imports")
    if row.get("test_setup_code"):
        setup.append(required_text(row, "test_setup_code"))
    before = "".join(f"{line.rstrip()}\n" for line in setup if line.strip())
    cases = [{"code": f"{before}{one}"} for one in texts(required(row, "test_list"), "test_list")]
    return problem("assert", cases, cpu_time_s=cpu_time_s)


def preamble(prompt: str, name: str) -> str | None:
    """Return what a prompt has before the function ``name``: imports and helpers; None where that is nothing.

    Raises:
        RowError: the prompt is not Python, or does not define the function.

    """
    try:
        tree = ast.parse(prompt)
    except (SyntaxError, ValueError):
        # A prompt may end with the signature, its body being the completion's.
        try:
            tree = ast.parse(f"{prompt.rstrip()}\n    pass\n")
        except (SyntaxError, ValueError) as error:
            raise RowError(f"prompt: not Python: {error}") from error
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            before = "\n".join(prompt.splitlines()[: first - 1]).strip()
            return f"{before}\n" if before else None
    raise RowError(f"prompt: does not define {name}")
