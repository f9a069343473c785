"""One test, in each of the three modes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from service.wire.base import Real, Tolerance, WireModel
from service.wire.limits import Limits

Order = Literal["strict", "lines", "elements"]


class Case(WireModel):
    """What tests of every mode may carry."""

    id: str | None = None
    weight: Annotated[Real, Field(ge=0)] = 1.0
    limits: Limits | None = None
    order: Order | None = None
    abs_tol: Tolerance | None = None
    rel_tol: Tolerance | None = None


class StdioCase(Case):
    """Text in on standard input, text expected on standard output."""

    input: str
    expected: str


class CallCase(Case):
    """Arguments of one call and the value expected back, as JSON."""

    args: list[JsonValue] = Field(default=[])
    kwargs: dict[str, JsonValue] = Field(default={})
    expected: JsonValue


class AssertCase(Case):
    """Statements that raise when the program is wrong."""

    code: str
