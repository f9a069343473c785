"""The tester's process of ``assert`` runs: executes test code against a program that lives elsewhere.

Names that the test uses and the program defines become stand-ins that send arguments over and get plain data
back. So the program cannot end the test early, change what ``assert``, ``abs`` or ``unittest`` mean, see the
test's text, or answer with an object that is equal to everything. A test passes by running to its end here.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

from sandbox.harness import standins
from sandbox.harness.cases import Cases
from sandbox.harness.link import LinkClosedError
from sandbox.harness.plain import NotPlainError, TooManyValuesError
from sandbox.harness.request import Request
from sandbox.harness.testnames import (
    PROGRAM_MODULE,
    BrokenTestError,
    Resolve,
    bind,
    missing_modules,
    names_of,
)

MAX_MESSAGE_CHARACTERS = 2000
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def run(link_fd: int, request: Request, spec: dict[str, Any]) -> NoReturn:
    """Run one test in this new process, write its record to the report descriptor and end."""
    try:
        with os.fdopen(request.payload, "rb") as file:
            text = file.read().decode("utf-8", "surrogatepass")
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
        keep = sorted((link_fd, request.report))
        for low, high in ((3, keep[0]), (keep[0] + 1, keep[1]), (keep[1] + 1, 1 << 16)):
            os.closerange(low, high)
        request.apply_limits()
        record = _outcome(text, standins.Caller(link_fd), spec["entry_point"])
        os.write(request.report, json.dumps(record).encode("ascii") + b"\n")
    finally:
        os._exit(0)


def _outcome(text: str, caller: standins.Caller, entry_point: str | None) -> dict[str, Any]:
    record = judge(lambda: _execute(text, caller, entry_point))
    if caller.lost and record["outcome"] == "passed":  # a test that catches everything has caught this too
        return {"outcome": "none", "message": "the program ended before the test did"}
    if caller.failed is not None and record["outcome"] == "passed":
        return _record("failed", caller.failed)
    return record


def judge(execute: Callable[[], None]) -> dict[str, Any]:
    """Run a test and return the record of how it ended."""
    try:
        execute()
    except LinkClosedError:
        return {"outcome": "none", "message": "the program ended before the test did"}
    except BrokenTestError as error:
        return _record("broken-test", error)
    except TooManyValuesError as error:  # a program can choose to answer with that much
        return _record("raised", error)
    except NotPlainError as error:
        return _record("needs-sharing", error)
    except AssertionError as error:
        return _record("raised" if standins.from_program(error) else "failed", error)
    except SystemExit as error:
        if standins.from_program(error) or error.code not in (None, 0, False):
            return _record("raised", error)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the test did not run to its end
        return _record("raised", error)
    return {"outcome": "passed"}


def _record(outcome: str, error: BaseException) -> dict[str, Any]:
    text = str(error)
    where = _line_of(error)
    shown = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return {
        "outcome": outcome,
        "message": (f"line {where}: {shown}" if where else shown)[:MAX_MESSAGE_CHARACTERS],
    }


def _line_of(error: BaseException) -> int | None:
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<test>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _execute(text: str, caller: standins.Caller, entry_point: str | None) -> None:
    tree, code = parse(text)
    caller.wait_until_loaded()
    sys.modules[PROGRAM_MODULE] = standins.program_module(caller)
    execute(tree, code, names_of(tree, text, caller.resolve, entry_point), caller.resolve, entry_point)
    if not caller.gave:
        raise BrokenTestError("the test has passed without using anything that the program defines")


def parse(text: str) -> tuple[ast.Module, types.CodeType]:
    """Return a test's tree and code. Raises BrokenTestError."""
    try:
        tree = ast.parse(text)
        code = compile(tree, "<test>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise BrokenTestError(f"the test does not compile: {error}") from error
    missing = missing_modules(tree)
    if missing:
        raise BrokenTestError(f"the test needs {', '.join(missing)}, which is not installed for programs")
    return tree, code


def execute(
    tree: ast.Module, code: types.CodeType, names: dict[str, Any], resolve: Resolve, entry_point: str | None
) -> None:
    """Run a test whose free names stand for ``names``; raises whatever makes it fail."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv[:] = ["test"]
    namespace = vars(module)
    namespace["__builtins__"] = builtins
    namespace.update(names)
    cases = Cases()
    try:
        exec(code, namespace)  # noqa: S102 - the test's text comes from the problem, and runs in the jail
    except SystemExit:
        cases.check()  # how unittest.main() tells of a failure says nothing about which
        raise
    cases.check()
    _run_definitions(tree, module, cases, resolve, entry_point)


def _acts(tree: ast.Module) -> bool:
    """Whether the test does anything but import, assign and define."""
    passive = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, *DEFINITIONS, ast.Pass)
    return not all(
        isinstance(node, passive) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in tree.body
    )


def _run_definitions(
    tree: ast.Module, module: types.ModuleType, cases: Cases, resolve: Resolve, entry: str | None
) -> None:
    """Run what the test defined and nothing called: unittest's cases, ``test`` functions, ``check(candidate)``."""
    mentioned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    defined = {
        node.name: getattr(module, node.name, None)
        for node in tree.body
        if isinstance(node, DEFINITIONS) and node.name not in mentioned
    }
    started = cases.run(list(defined.values()))
    for name, value in defined.items():
        if name.startswith("test") and isinstance(value, types.FunctionType):
            _finish(value())
            started = True
    check = defined.get("check")
    if entry is not None and isinstance(check, types.FunctionType):
        check(bind(entry, resolve))
        started = True
    if defined and not started and not _acts(tree):
        raise BrokenTestError("the test only defines things that nothing calls")


def _finish(result: Any) -> None:
    if isinstance(result, types.CoroutineType):
        import asyncio

        asyncio.run(result)
