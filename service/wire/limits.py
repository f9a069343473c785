"""What a test may use."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo

from service.wire.base import Integer, Real, WireModel

DEFAULT_CPU_TIME_S = 6.0
DEFAULT_MEMORY_BYTES = 1 << 30
DEFAULT_OUTPUT_BYTES = 16 << 20
DEFAULT_PROCESSES = 32
MIN_MEMORY_BYTES = 16 << 20


def _below_maximum(value: float | None, info: ValidationInfo) -> float | None:
    maxima = info.context.get("maxima") if info.context else None
    if value is not None and maxima is not None:
        maximum = getattr(maxima, str(info.field_name))
        if maximum is not None and value > maximum:
            raise ValueError(f"{value} is over this server's maximum of {maximum}")
    return value


_Bounded = AfterValidator(_below_maximum)


class Limits(WireModel):
    """Limits of one test. A field left out means the server's default; ``TestLimits`` may override per test."""

    cpu_time_s: Annotated[Real | None, Field(gt=0), _Bounded] = None
    wall_time_s: Annotated[Real | None, Field(gt=0), _Bounded] = None
    memory_bytes: Annotated[Integer | None, Field(ge=MIN_MEMORY_BYTES), _Bounded] = None
    output_bytes: Annotated[Integer | None, Field(gt=0), _Bounded] = None
    processes: Annotated[Integer | None, Field(ge=1), _Bounded] = None
