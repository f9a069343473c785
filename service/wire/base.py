"""What all types of the contract have in common: how strict they are, and how numbers are read."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat


class WireModel(BaseModel):
    """Base of all wire types: frozen, and strict about unknown fields."""

    # Short texts would be kept in a cache of the whole process: ids and inputs, which hardly ever come again.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, cache_strings="keys")


def _no_stand_in(value: object) -> object:
    # Pydantic would read `true` as 1 and `"3"` as 3: a misplaced value would pass as a number.
    if isinstance(value, bool | str | bytes):
        raise ValueError("must be a number")  # noqa: TRY004 -- pydantic reports ValueError only
    return value


# An integer may be spelt with an exponent or a zero fraction (1e9), as JSON has one type of number.
Integer = Annotated[int, BeforeValidator(_no_stand_in)]
Real = Annotated[FiniteFloat, BeforeValidator(_no_stand_in)]
Tolerance = Annotated[Real, Field(ge=0)]
