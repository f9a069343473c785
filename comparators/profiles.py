"""Profiles: named subsets of steps, and what each is for."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from comparators import (
    exact,
    livecodebench,
    numeric,
    published,
    structure,
    text,
    tokens,
    unordered,
    whitespace,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from comparators.pair import Accepts


@dataclass(frozen=True, slots=True)
class Profile:
    """A named chain: ``steps`` maps names to steps, in the order in which they are tried."""

    name: str
    description: str
    steps: Mapping[str, Accepts]


def _profile(name: str, description: str, **steps: Accepts) -> tuple[str, Profile]:
    return name, Profile(name, description, MappingProxyType(steps))


PROFILES: Mapping[str, Profile] = MappingProxyType(
    dict(
        (
            _profile(
                "microcoder",
                "The default: all seven steps, guarded so that integers are exact, order and duplicates "
                "count unless the problem frees them, and a tolerance applies to decimals only.",
                exact=exact.accepts,
                whitespace=whitespace.accepts,
                tokens=tokens.accepts,
                numeric=numeric.accepts,
                structure=structure.accepts,
                text=text.accepts,
                unordered=unordered.accepts,
            ),
            _profile(
                "strict",
                "Identical output but for line ends, trailing blanks and empty lines at the end; "
                "identical values.",
                exact=exact.accepts,
                whitespace=whitespace.accepts,
            ),
            _profile(
                "livecodebench",
                "LiveCodeBench's rules, as a baseline: stripped lines, equal strings or equal decimals; "
                "== for returned values. Tolerances, case and order of the problem are not used.",
                lines=livecodebench.lines,
                decimals=livecodebench.decimals,
                equal=livecodebench.equal,
            ),
            _profile(
                "published",
                "The seven steps as MicroCoder's page describes them, without guards: accepts near integers, "
                "lost duplicates and other orders. To reproduce its figures, not to train with.",
                exact=published.exact,
                whitespace=published.whitespace,
                tokens=published.tokens,
                numeric=published.numeric,
                structure=published.structure,
                text=published.text,
                unordered=published.unordered,
            ),
        )
    )
)
