"""What the text of a block tells as Python: whether it parses, is a program, and defines what a test calls.

Completions are hostile text. CPython's parser bounds nesting itself (200 brackets, 100 indentations, a
stack of 6,000 rules, the recursion limit for the tree), and each of these bounds arrives as an exception
that is taken as "does not parse". What it does not bound is size, so that is done here: per text and per
completion.
"""

from __future__ import annotations

import ast
import re
import threading
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PARSED_CHARS = 1 << 18
MAX_PARSED_CHARS_PER_COMPLETION = 1 << 20

# Filters of warnings belong to the whole interpreter; two threads that save and restore them at the same time
# would leave the wrong ones behind.
_WARNING_FILTERS = threading.Lock()

_STATEMENT_START = re.compile(
    r"(?:from\s+[.\w]+\s+import|import\s+\w|def\s+\w+\s*\(|async\s+def\s|class\s+\w+\s*[(:]|@\w|#!|print\s*\("
    r"|\w+(?:\s*,\s*\w+)*\s*=\s*\S|(?:for|while|if|with)\s.*:\s*(?:#.*)?$|try\s*:)"
)
_WRITERS = frozenset({"print", "sys", "os", "open"})
_STATEMENTS_OF_A_PROGRAM = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Import,
    ast.ImportFrom,
    ast.Assign,
    ast.AugAssign,
    ast.For,
    ast.While,
    ast.If,
    ast.With,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)


class Parser:
    """Parses texts of one completion until their sizes add up to what one completion may cost."""

    def __init__(self, max_chars: int = MAX_PARSED_CHARS_PER_COMPLETION) -> None:
        self._chars_left = max_chars

    def parse(self, source: str) -> ast.Module | None:
        """Return the tree of ``source``; None where it does not parse, is too large or over the budget."""
        if len(source) > min(MAX_PARSED_CHARS, self._chars_left):
            return None
        self._chars_left -= len(source)
        with _WARNING_FILTERS, warnings.catch_warnings():
            # An invalid escape such as "\d" is a warning, and under -W error it would be a syntax error.
            warnings.simplefilter("ignore")
            try:
                return ast.parse(source)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None

    def parses(self, source: str) -> bool:
        """Whether ``source`` parses within the budget."""
        return self.parse(source) is not None


def is_program(tree: ast.Module) -> bool:
    """Whether the module does anything: prose (``hello``) and sample data (``5``, ``[1]``) may parse too."""
    return any(map(_does_something, tree.body)) and not any(map(_is_tilde_fence, tree.body))


def _is_tilde_fence(statement: ast.stmt) -> bool:
    """Whether the statement is ``~~~python``, the opener of an unclosed block, read as an expression."""
    match statement:
        case ast.Expr(ast.UnaryOp(ast.Invert(), ast.UnaryOp(ast.Invert(), ast.UnaryOp(ast.Invert())))):
            return True
    return False


def _does_something(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.AnnAssign):
        return statement.value is not None  # `Answer: yes` parses as an annotation
    if isinstance(statement, ast.Raise):
        return isinstance(statement.exc, ast.Call)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call | ast.Await | ast.ListComp | ast.NamedExpr)
    return isinstance(statement, _STATEMENTS_OF_A_PROGRAM)


def defines(tree: ast.Module, entry_point: str) -> bool:
    """Whether the module defines ``entry_point``: a name, a method of any class, or ``Class.method``."""
    owner, _, name = entry_point.rpartition(".")
    for statement in _module_level(tree.body):
        if isinstance(statement, ast.ClassDef):
            methods = {n for inner in _module_level(statement.body) for n in _names_bound(inner)}
            # A base class may bring the method, so that of a subclass only the name is asked.
            inherits = bool(statement.bases) and statement.name == owner
            if (owner in {"", statement.name} and name in methods) or inherits:
                return True
        if not owner and name in _names_bound(statement):
            return True
    return False


def _module_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements of ``body`` and of the blocks in it that open no scope of their own."""
    pending = list(reversed(body))
    while pending:
        statement = pending.pop()
        yield statement
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for inner in ast.iter_child_nodes(statement):
                if isinstance(inner, ast.stmt):
                    pending.append(inner)
                elif isinstance(inner, ast.ExceptHandler | ast.match_case):
                    pending.extend(inner.body)


def _names_bound(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {target.id for target in targets if isinstance(target, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {alias.asname or alias.name for alias in names}
    return set()


def defines_anything(tree: ast.Module) -> bool:
    """Whether the module defines functions or classes, tests of its own apart."""
    return any(
        not statement.name.startswith(("test_", "Test"))
        for statement in _module_level(tree.body)
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )


def may_print(tree: ast.Module) -> bool:
    """Whether the module names something that writes to standard output; samples in prose do not."""
    return any(isinstance(node, ast.Name) and node.id in _WRITERS for node in ast.walk(tree)) or any(
        isinstance(node, ast.ImportFrom) and node.module in _WRITERS for node in tree.body
    )


def starts_statement(line: str) -> bool:
    """Whether a line without its indentation begins as statements of Python do."""
    return _STATEMENT_START.match(line[:400]) is not None


def looks_like_python(text: str) -> bool:
    """Whether text that does not parse was meant as Python: its first line of code starts a statement."""
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped and (not stripped.startswith("#") or stripped.startswith("#!")):
            return starts_statement(stripped)
    return False
