"""HumanEval and MBPP: tests are assertions.

Their traps: HumanEval's prompt holds imports and helper functions that completions and tests use, so it comes
before the program; ``check`` is defined by the test but not called. MBPP's assertions need the row's imports and
set-up, each of them in a process of its own here.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from trainer_client.datasets.values import json_value, problem, required
from trainer_client.errors import ProblemError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.wire import Problem


def problem_of(row: Mapping[str, Any], *, cpu_time_s: float | None = None) -> Problem:
    """Return the problem of a row of either.

    Raises:
        ProblemError: a field is missing or of the wrong shape.

    """
    if row.get("test_list") is not None:
        return _mbpp(row, cpu_time_s)
    name = required(row, "entry_point")
    test = f"{required(row, 'test')}\n\ncheck({name})\n"
    prelude = preamble(required(row, "prompt"), name)
    return problem("assert", [{"code": test}], cpu_time_s=cpu_time_s, entry_point=name, prelude=prelude)


def _mbpp(row: Mapping[str, Any], cpu_time_s: float | None) -> Problem:
    assertions = json_value(row["test_list"], "test_list")
    if not isinstance(assertions, list) or not all(isinstance(one, str) for one in assertions):
        raise ProblemError("test_list: not a list of assertions")
    setup = [*(row.get("test_imports") or []), row.get("test_setup_code") or ""]
    before = "\n".join(line for line in setup if line)
    cases = [{"code": f"{before}\n{one}" if before else one} for one in assertions]
    return problem("assert", cases, cpu_time_s=cpu_time_s)


def preamble(prompt: str, name: str) -> str | None:
    """Return what a prompt has before the function ``name``: imports and helpers; None where that is nothing.

    Raises:
        ProblemError: the prompt is not Python, or does not define the function.

    """
    try:
        tree = ast.parse(prompt)
    except (SyntaxError, ValueError):
        # A prompt may end with the signature, its body being the completion's.
        try:
            tree = ast.parse(f"{prompt.rstrip()}\n    pass\n")
        except (SyntaxError, ValueError) as error:
            raise ProblemError(f"prompt: not Python: {error}") from error
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            before = "\n".join(prompt.splitlines()[: first - 1]).strip()
            return f"{before}\n" if before else None
    raise ProblemError(f"prompt: does not define {name}")
