"""HumanEval and MBPP: tests are assertions.

Their traps: HumanEval's prompt holds imports and helper functions that completions and tests use, so it comes
before the program; ``check`` is defined by the test but not called. MBPP's assertions need the row's imports and
set-up, each of them in a process of its own here.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from service.datasets.values import RowError, list_of, problem, required, required_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.wire import Problem


DEFINING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


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
    prelude = preamble(row.get("prompt"), name)
    return problem("assert", [{"code": test}], cpu_time_s=cpu_time_s, entry_point=name, prelude=prelude)


def _mbpp(row: Mapping[str, Any], cpu_time_s: float | None) -> Problem:
    setup = list_of(str, row.get("test_imports") or [], "test_imports")
    if row.get("test_setup_code"):
        setup.append(required_text(row, "test_setup_code"))
    before = "".join(f"{line.rstrip()}\n" for line in setup if line.strip())
    cases = [{"code": f"{before}{one}"} for one in list_of(str, required(row, "test_list"), "test_list")]
    return problem("assert", cases, cpu_time_s=cpu_time_s)


def preamble(prompt: Any, name: str) -> str | None:
    """Return what a prompt has before the function ``name``: imports and helpers; None where that is nothing.

    A prompt that does not begin the function is nothing but that (LeetCodeDataset); one in words, or of chat messages,
    has none of it (sets for instructed models).
    """
    # It may end with the signature, its body being the completion's.
    texts = (prompt, f"{prompt.rstrip()}\n    pass\n") if isinstance(prompt, str) else ()
    for text in texts:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        before = _before(tree, text, name).strip()
        return f"{before}\n" if before else None
    return None


def _before(tree: ast.Module, text: str, name: str) -> str:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return "\n".join(text.splitlines()[: first - 1])
    # Words can be Python by chance.
    return text if any(isinstance(node, DEFINING) for node in tree.body) else ""
