"""The types at the border of this package: rules go in, a comparison comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["printed", "returned"]
Order = Literal["strict", "lines", "elements"]


@dataclass(frozen=True, slots=True)
class Rules:
    """What a problem allows.

    ``kind``: ``printed`` compares an expected text (``str``) with what a program printed (``bytes``);
    ``returned`` compares two plain values. Tolerances apply to decimal fractions only, never to integers.
    """

    kind: Kind = "printed"
    profile: str = "microcoder"
    abs_tol: float = 1e-6
    rel_tol: float = 1e-6
    ignore_case: bool = False
    order: Order = "strict"


@dataclass(frozen=True, slots=True)
class Comparison:
    """``step`` names the step that accepted; ``feedback`` is one line on what differs where none did."""

    accepted: bool
    step: str | None
    feedback: str
