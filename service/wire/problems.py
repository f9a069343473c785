"""A problem: its tests, how they drive the program, and what they allow it."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, model_validator

from service.wire.base import WireModel
from service.wire.cases import AssertCase, CallCase, Case, StdioCase
from service.wire.comparison import ComparisonOptions
from service.wire.limits import Limits
from service.wire.nodes import TypeName


class _ProblemBase(WireModel):
    entry_point: str | None = None
    limits: Limits = Limits()
    comparison: ComparisonOptions = ComparisonOptions()
    prelude: str | None = None


def _some_weight[C: Case](tests: list[C]) -> list[C]:
    total = math.fsum(test.weight for test in tests)
    if not 0 < total < math.inf:
        raise ValueError("the weights of the tests must add up to a finite number above 0")
    return tests


class StdioProblem(_ProblemBase):
    """A program is started once per test; its standard output is compared."""

    mode: Literal["stdio"]
    tests: Annotated[list[StdioCase], Field(min_length=1), AfterValidator(_some_weight)]


class CallProblem(_ProblemBase):
    """A function or method is called once per test; what it returns is compared.

    ``arg_types`` names, per argument, ``ListNode``, ``TreeNode`` or a list of them for level-order lists to be
    built into nodes; any text without ``Node`` stands for plain data. ``answer_from`` is ``return`` or ``argN``
    for the argument changed in place, which every test must give.
    """

    mode: Literal["call"]
    entry_point: Annotated[str, Field(pattern=r"^[^\W\d]\w*(\.[^\W\d]\w*)?$")]
    tests: Annotated[list[CallCase], Field(min_length=1), AfterValidator(_some_weight)]
    arg_types: list[TypeName] | None = None
    return_type: TypeName | None = None
    answer_from: Annotated[str, Field(pattern=r"^(return|arg\d{1,3})$")] = "return"
    operations: bool = False

    @model_validator(mode="after")
    def _answer_is_given(self) -> Self:
        if self.answer_from != "return":
            needed = int(self.answer_from.removeprefix("arg")) + 1
            for index, test in enumerate(self.tests):
                if len(test.args) < needed:
                    raise ValueError(
                        f"tests.{index}.args: with `answer_from` {self.answer_from}, at least {needed} needed, "
                        f"there are {len(test.args)}"
                    )
        return self

    @model_validator(mode="after")
    def _operations_fit(self) -> Self:
        if self.operations:
            for index, test in enumerate(self.tests):
                if not is_operations(test.args):
                    raise ValueError(
                        f"tests.{index}.args: with `operations`, args must be [method names, argument lists] "
                        "of equal length, the first name being the class"
                    )
        return self


def is_operations(args: list[JsonValue]) -> bool:
    """Whether ``args`` has the shape ``[[class, method, ...], [[constructor args], [args], ...]]``."""
    match args:
        case [[_, *_] as names, list() as calls] if len(names) == len(calls):
            return all(isinstance(n, str) for n in names) and all(isinstance(c, list) for c in calls)
    return False


class AssertProblem(_ProblemBase):
    """Each test is code that calls what the program defines and raises when it is wrong."""

    mode: Literal["assert"]
    tests: Annotated[list[AssertCase], Field(min_length=1), AfterValidator(_some_weight)]


Problem = Annotated[StdioProblem | CallProblem | AssertProblem, Field(discriminator="mode")]
