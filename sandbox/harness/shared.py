"""``assert`` runs in one process with the program: only for tests that pass objects of their own to the program.

What can be guarded here is: built-ins and library modules are put back as they were before the program ran, the
test's text is read only afterwards, and a pass still needs the test to run to its end. A program that walks its
own process can nevertheless forge it; a judgement says ``shared`` where this was used.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from sandbox.harness import tester, testnames


def prepare(
    spec: dict[str, Any], namespace: dict[str, Any], payload_fd: int, report_fd: int
) -> Callable[[], None]:
    """Return what runs the test once the program has been loaded; that never returns."""
    modules = dict(sys.modules)
    saved = [
        (vars(module), dict(vars(module)))
        for module in modules.values()
        if vars(module) is not namespace
        and isinstance(vars(module), dict)  # some are classes that pose as modules
    ]
    restore, modules_now = dict.update, sys.modules
    judge, parse, execute, names_of = tester.judge, tester.parse, tester.execute, testnames.names_of
    write, read, leave, dumps = os.write, os.read, os._exit, json.dumps

    def resolve(names: list[str]) -> dict[str, Any]:
        return {name: namespace[name] for name in names if name in namespace}

    def test() -> None:
        restore(modules_now, modules)
        for contents, original in saved:
            restore(contents, original)
        parts = []
        while part := read(payload_fd, 1 << 20):
            parts.append(part)
        text = b"".join(parts).decode("utf-8", "surrogatepass")
        tree, code = parse(text)
        execute(tree, code, names_of(tree, text, resolve, spec["entry_point"]), resolve, spec["entry_point"])

    def proceed() -> None:
        write(report_fd, dumps(judge(test)).encode("ascii") + b"\n")
        leave(0)

    return proceed
