"""What all sections of the configuration have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Frozen, without unknown fields and without infinities."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
