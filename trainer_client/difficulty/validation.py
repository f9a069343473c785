"""Settings out of values that a user gave, with complaints that name the field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from trainer_client.difficulty.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping


def validated[M: BaseModel](
    kind: type[M], values: Mapping[str, Any], *, where: str = "", flags: bool = False
) -> M:
    """Return ``values`` as settings of ``kind``.

    Raises:
        SettingsError: some are invalid; the message has ``where``, and each field, as a flag with ``flags``.

    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        faults = []
        for fault in error.errors(include_url=False):
            name = ".".join(map(str, fault["loc"]))
            name = f"--{name.replace('_', '-')}" if flags and name else name
            message = fault["msg"].removeprefix("Value error, ")
            faults.append(f"{name}: {message}" if name else message)
        raise SettingsError(f"{where}: {'; '.join(faults)}" if where else "; ".join(faults)) from error
