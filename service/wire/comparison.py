"""How outputs are compared with what is expected."""

from __future__ import annotations

from typing import Literal

from service.wire.base import Tolerance, WireModel
from service.wire.cases import Order


class Checker(WireModel):
    """A special judge: ``code`` defines ``check(input, expected, actual) -> bool | (bool, str)``."""

    language: Literal["python"] = "python"
    code: str


class ComparisonOptions(WireModel):
    """How outputs are compared with what is expected."""

    profile: str = "microcoder"
    abs_tol: Tolerance = 1e-6
    rel_tol: Tolerance = 1e-6
    ignore_case: bool = False
    order: Order = "strict"
    checker: Checker | None = None
