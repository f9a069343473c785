"""LeetCodeDataset: calls of ``Solution`` methods, with the nodes that starter code names.

Its traps: an input is the text of keyword arguments (``nums = [3,3], target = 6``); ``null`` and ``true`` occur among
Python literals; linked lists and trees are level-order lists and only the starter code's annotations say so; a
result that the set's own reference could not compute is a text beginning with ``Error``.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from service.datasets.values import (
    RowError,
    expected_value,
    list_of,
    plain,
    problem,
    required,
    required_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.wire import Problem

JSON_NAMES = {"null": None, "true": True, "false": False}


def problem_of(row: Mapping[str, Any], *, cpu_time_s: float | None = None) -> Problem:
    """Return the problem of a row: its ``input_output`` pairs against the method of ``starter_code``.

    Raises:
        RowError: a field is missing, or is not what the set has there.

    """
    method = _method(required_text(row, "starter_code"))
    parameters = [argument.arg for argument in method.args.args[1:]]
    pairs = list_of(dict, required(row, "input_output"), "input_output")
    if not pairs:
        raise RowError("input_output: no tests; nothing tested is never a pass")
    types = [_type(argument.annotation) for argument in method.args.args[1:]]
    returned = _type(method.returns)
    cases = [_case(pair, parameters, returned, index) for index, pair in enumerate(pairs)]
    return problem(
        "call",
        cases,
        cpu_time_s=cpu_time_s,
        entry_point=method.name,
        arg_types=types if any("Node" in one for one in types) else None,
        return_type=returned if "Node" in returned else None,
    )


def _method(starter_code: str) -> ast.FunctionDef:
    try:
        # The starter code ends with a signature whose body is left to the program.
        tree = ast.parse(f"{starter_code.rstrip()}\n        pass\n")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise RowError(f"starter_code: not Python: {error}") from error
    methods = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.args.args]
    if len(methods) != 1:
        raise RowError(f"starter_code: {len(methods)} methods; design problems are not of this shape")
    return methods[0]


def _case(pair: dict[str, Any], parameters: list[str], returned: str, index: int) -> dict[str, Any]:
    field = f"input_output.{index}"
    given = _arguments(required_text(pair, "input"), f"{field}.input")
    if set(given) != set(parameters):
        raise RowError(f"{field}.input: {sorted(given)} instead of {parameters}")
    output = required(pair, "output")
    if isinstance(output, str) and output.startswith("Error"):
        raise RowError(f"{field}.output: the set's reference failed here: {output[:80]}")
    expected = expected_value(output, f"{field}.output")
    if returned == "str" and isinstance(output, str) and not isinstance(expected, str):
        expected = output  # "101" without its quotes
    return {"args": [given[name] for name in parameters], "expected": expected}


def _arguments(text: str, field: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({text})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise RowError(f"{field}: not keyword arguments: {error}") from error
    if not isinstance(call, ast.Call) or call.args:
        raise RowError(f"{field}: not keyword arguments")
    found: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise RowError(f"{field}: not keyword arguments")
        try:
            value = ast.literal_eval(_JsonNames().visit(keyword.value))
        except (ValueError, TypeError, MemoryError, RecursionError) as error:
            raise RowError(f"{field}.{keyword.arg}: not a literal: {error}") from error
        found[keyword.arg] = plain(value, f"{field}.{keyword.arg}")
    return found


class _JsonNames(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(JSON_NAMES[node.id]) if node.id in JSON_NAMES else node


def _type(annotation: ast.expr | None) -> str:
    return ast.unparse(annotation).replace("'", "") if annotation is not None else "Any"
