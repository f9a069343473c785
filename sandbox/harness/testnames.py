"""Which names of a test stand for what: the test's own, the library's, or the program's."""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import symtable
import sys
from collections.abc import Callable, Iterable
from typing import Any

# The name under which tests may import from the program.
PROGRAM_MODULE = "solution"
KNOWN_ALIASES = {"np": "numpy", "pd": "pandas"}

# Returns what the program defines of the names given.
Resolve = Callable[[list[str]], dict[str, Any]]


class BrokenTestError(Exception):
    """The test itself is no good: it does not compile, or it tests nothing."""


def names_of(tree: ast.Module, text: str, resolve: Resolve, entry_point: str | None) -> dict[str, Any]:
    """Return what the names that the test uses and does not define stand for.

    Modules of the standard library are the tester's own. A built-in is never replaced by a definition of the
    program, unless it is the very function under test (a task may well be called ``sum``): the entry point, or
    the one name that a test with no other free name can mean. Raises NameError where the program lacks it,
    BrokenTestError where the test needs a module that is not installed.
    """
    wanted, assigned = _used(text)
    for node in tree.body:
        wanted -= _bound_by(node)
    as_modules = _only_dotted(tree)
    own = {name: _import(KNOWN_ALIASES.get(name, name)) for name in wanted & as_modules if _is_library(name)}
    wanted -= own.keys()
    known = set(vars(builtins))
    found = resolve(sorted(wanted - known))
    named = entry_point.partition(".")[0] if entry_point else None
    if named is not None and named in known & wanted:
        found[named] = bind(named, resolve)
    elif named is None and not wanted - known - assigned and PROGRAM_MODULE not in _imported(ast.walk(tree)):
        found |= _built_in_under_test(sorted(wanted & known), resolve)
    return {**own, **found}


def bind(name: str, resolve: Resolve) -> Any:
    """Return what the program defines as ``name``. Raises NameError."""
    found = resolve([name])
    if name not in found:
        raise NameError(f"name {name!r} is not defined")
    return found[name]


def missing_modules(tree: ast.Module) -> list[str]:
    """Return the modules that the test's top level imports and that are not installed."""
    names = _imported(tree.body) - {PROGRAM_MODULE, "__main__"}
    return sorted(
        name for name in names if name not in sys.modules and importlib.util.find_spec(name) is None
    )


def _imported(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the top-level packages that some of ``nodes`` import."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def _built_in_under_test(names: list[str], resolve: Resolve) -> dict[str, Any]:
    found = resolve(names)
    if len(found) > 1:  # a program that also redefines what the test checks with
        raise NameError(f"the program redefines more than one of {', '.join(sorted(found))}")
    return found


def _used(text: str) -> tuple[set[str], set[str]]:
    """Return the global names that the test reads in any scope, and those that its top level assigns."""
    top = symtable.symtable(text, "<test>", "exec")
    pending: list[symtable.SymbolTable] = [top]
    used: set[str] = set()
    while pending:
        table = pending.pop()
        pending += table.get_children()
        used |= {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and symbol.is_global()
        }
    return used, {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned()}


def _only_dotted(tree: ast.Module) -> set[str]:
    """Return the names that only ever occur as in ``name.attribute``."""
    loads: dict[str, int] = {}
    dotted: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                loads[node.id] = loads.get(node.id, 0) + 1
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            dotted[node.value.id] = dotted.get(node.value.id, 0) + 1
    return {name for name, count in dotted.items() if loads.get(name) == count}


def _bound_by(node: ast.stmt) -> set[str]:
    """Return the names that a statement of the test's top level defines before anything else can use them."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
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
