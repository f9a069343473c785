"""The tester's process of ``assert`` runs: executes test code against a program that lives elsewhere.

Names that the test uses and the program defines become stand-ins that send arguments over and get plain data
back. So the program cannot end the test early, change what ``assert``, ``abs`` or ``unittest`` mean, see the
test's text, or answer with an object that is equal to everything. A test passes by running to its end here.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import io
import json
import os
import sys
import types
import unittest
from collections.abc import Callable
from typing import Any, NoReturn

from sandbox.harness import standins
from sandbox.harness.link import LinkClosedError
from sandbox.harness.plain import NotPlainError
from sandbox.harness.request import Request

KNOWN_ALIASES = {"np": "numpy", "pd": "pandas"}
MAX_MESSAGE_CHARACTERS = 2000

# Returns what the program defines of the names given.
Resolve = Callable[[list[str]], dict[str, Any]]


class BrokenTestError(Exception):
    """The test itself is no good: it does not compile, or it tests nothing."""


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
    return record


def judge(execute: Callable[[], None]) -> dict[str, Any]:
    """Run a test and return the record of how it ended."""
    try:
        execute()
    except LinkClosedError:
        return {"outcome": "none", "message": "the program ended before the test did"}
    except BrokenTestError as error:
        return _record("broken-test", error)
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
    execute(tree, code, names_of(tree, caller.resolve, entry_point), caller.resolve, entry_point)


def parse(text: str) -> tuple[ast.Module, types.CodeType]:
    """Return a test's tree and code. Raises BrokenTestError."""
    try:
        tree = ast.parse(text)
        return tree, compile(tree, "<test>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise BrokenTestError(f"the test does not compile: {error}") from error


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
    exec(code, namespace)  # noqa: S102 - the test's text comes from the problem, and runs in the jail
    if not _acts(tree):
        _run_definitions(tree, module, resolve, entry_point)


def _acts(tree: ast.Module) -> bool:
    """Whether the test does anything but import, assign and define."""
    passive = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Pass)
    return not all(
        isinstance(node, passive) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in tree.body
    )


def _run_definitions(tree: ast.Module, module: types.ModuleType, resolve: Resolve, entry: str | None) -> None:
    """Run what the test defined: unittest's cases, ``test_`` functions, HumanEval's ``check(candidate)``."""
    defined = {
        node.name: getattr(module, node.name)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    cases = [
        value
        for value in defined.values()
        if isinstance(value, type) and issubclass(value, unittest.TestCase)
    ]
    functions = [
        value
        for name, value in defined.items()
        if name.startswith("test") and callable(value) and value not in cases
    ]
    if cases:
        _run_cases(cases)
    for function in functions:
        function()
    if "check" in defined and entry is not None:
        defined["check"](resolve([entry]).get(entry))
    elif (
        not cases
        and not functions
        and any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree.body)
    ):
        raise BrokenTestError("the test only defines things that nothing calls")


def _run_cases(cases: list[type[unittest.TestCase]]) -> None:
    loader = unittest.TestLoader()
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)
    result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    if result.errors:
        raise RuntimeError(_last_line(result.errors[0][1]))
    if result.failures:
        raise AssertionError(_last_line(result.failures[0][1]))
    if result.skipped or result.expectedFailures or result.unexpectedSuccesses:
        raise AssertionError("a test was skipped or failed as expected; that is no pass")
    if not result.testsRun:
        raise BrokenTestError("the test's cases hold no test")


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def names_of(tree: ast.Module, resolve: Resolve, entry_point: str | None) -> dict[str, Any]:
    """Return what the names that the test uses and does not define stand for.

    Modules of the standard library are the tester's own. A built-in is never replaced by a definition of the
    program, unless the test uses no other name of the program: then it is the very function under test
    (a task may well be called ``sum``).
    """
    used, as_modules, bound = _usage(tree)
    wanted = used - bound
    own = {name: _import(KNOWN_ALIASES.get(name, name)) for name in wanted & as_modules if _is_library(name)}
    wanted -= own.keys()
    known = set(vars(builtins))
    found = resolve(sorted(wanted - known))
    named = entry_point.partition(".")[0] if entry_point else None
    if named in known & wanted or (not found and wanted & known):
        found |= resolve([named] if named in known & wanted else sorted(wanted & known))
    return {**own, **found}


def _usage(tree: ast.Module) -> tuple[set[str], set[str], set[str]]:
    loads: dict[str, int] = {}
    dotted: dict[str, int] = {}
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                loads[node.id] = loads.get(node.id, 0) + 1
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            dotted[node.value.id] = dotted.get(node.value.id, 0) + 1
    for node in tree.body:
        bound |= _bound_by(node)
    return set(loads), {name for name, count in dotted.items() if loads.get(name) == count}, bound


def _bound_by(node: ast.stmt) -> set[str]:
    """Return the names that a statement of the test's top level defines before anything else can use them."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return set()


def _is_library(name: str) -> bool:
    return name in sys.stdlib_module_names or name in KNOWN_ALIASES


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise BrokenTestError(f"the test needs {name}, which is not installed for programs") from error
