"""Names that a program finds defined: the usual import block of call problems, or a problem's own prelude.

A prelude never shadows a built-in by a star import: after ``from math import *``, ``pow(b, e, m)`` still works.
Of the usual block only what a program's text mentions is imported, because imports cost more than most runs.
"""

from __future__ import annotations

import builtins
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Usual aliases first, then modules under their own names, then names out of modules.
ALIASES = {"np": "numpy"}
MODULES = [
    "array",
    "bisect",
    "cmath",
    "collections",
    "copy",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "heapq",
    "io",
    "itertools",
    "json",
    "math",
    "numpy",
    "operator",
    "os",
    "queue",
    "random",
    "re",
    "statistics",
    "string",
    "sys",
    "threading",
    "time",
    "typing",
]
STARS = (
    "typing",
    "collections",
    "math",
    "itertools",
    "functools",
    "heapq",
    "bisect",
    "operator",
    "string",
    "random",
)
EXTRA = {
    "dataclass": "dataclasses",
    "field": "dataclasses",
    "Fraction": "fractions",
    "Decimal": "decimal",
    "Counter": "collections",
    "defaultdict": "collections",
    "deepcopy": "copy",
    "SortedList": "sortedcontainers",
    "SortedDict": "sortedcontainers",
    "SortedSet": "sortedcontainers",
    "Enum": "enum",
    "StringIO": "io",
    "timedelta": "datetime",
}
# Imported for their side effects on run time: once before the processes fork, instead of in each.
PRELOADED = ("numpy", "threading")


def provide(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the names of the usual block that the program mentions, where it wants that block.

    Runs before the processes of the runs fork, so what is imported here costs them nothing.
    """
    source: str = spec["source"]
    if any(name in source for name in PRELOADED):
        _import_mentioned(source)
    if spec["prelude"] is not None:
        return {}
    import re

    return usual_names(set(re.findall(r"\b[A-Za-z_]\w*\b", source)))


def _import_mentioned(source: str) -> None:
    for name in PRELOADED:
        if name in source:
            _import(name)


def usual_names(words: set[str]) -> dict[str, Any]:
    """Return what the usual import block defines of ``words``."""
    found: dict[str, Any] = {}
    for alias, module in ALIASES.items():
        if alias in words and (loaded := _import(module)):
            found[alias] = loaded
    for module in MODULES:
        if module in words and (loaded := _import(module)):
            found[module] = loaded
    for name, module in EXTRA.items():
        if name in words and (loaded := _import(module)):
            found[name] = getattr(loaded, name)
    left = words - found.keys() - set(vars(builtins))
    for module in STARS:
        if module == "typing" and not any(word[0].isupper() for word in left):
            continue  # the dearest of these imports; all of its usual names start with a capital
        loaded = _import(module)
        for name in left & set(_public(loaded)):
            found.setdefault(name, getattr(loaded, name))
    return found


def _import(name: str) -> Any:
    try:
        __import__(name)
    except ImportError:
        return None  # not installed for programs: a program that needs it says so itself
    return sys.modules[name]


def _public(module: Any) -> list[str]:
    names = getattr(module, "__all__", None)
    return list(names) if names is not None else [name for name in vars(module) if not name.startswith("_")]


def execute(text: str, namespace: dict[str, Any]) -> None:
    """Run a problem's own prelude and put its names into ``namespace``, star imports not shadowing built-ins."""
    code = compile(text, "<prelude>", "exec", dont_inherit=True)
    names: dict[str, Any] = {"__name__": namespace["__name__"], "__builtins__": builtins}
    exec(code, names)  # noqa: S102 - inside the jail, in a run's own process
    explicit = _bound_explicitly(text)
    own = vars(builtins)
    hidden = {"__name__", "__builtins__", *(own.keys() - explicit)}
    namespace.update({name: value for name, value in names.items() if name not in hidden})


def _bound_explicitly(text: str) -> set[str]:
    import ast

    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
    return names
