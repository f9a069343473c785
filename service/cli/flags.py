"""Settings as flags: one for each, named as in the environment, and complaints that name both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

# Command lines are visible to every user of a machine.
NO_FLAG = frozenset({"api_keys"})


def settings_flags(
    *, only: Container[str] | None = None, renamed: Mapping[str, str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command a flag for every setting, or for ``only`` some, of them ``renamed`` ones by other names."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        for name, field in reversed(Settings.model_fields.items()):
            if name not in NO_FLAG and (only is None or name in only):
                flag = _flag((renamed or {}).get(name, name))
                help_text = f"{field.description} [env: {_variable(name)}]"
                command = click.option(flag, name, metavar="VALUE", help=help_text)(command)
        return command

    return decorated


def load_settings(flags: dict[str, str]) -> Settings:
    """Return the settings: flags first, then the environment, then the defaults.

    Raises:
        click.UsageError: a value is bad; the message names the flag and the variable.

    """
    values: dict[str, Any] = dict(flags)
    try:
        return Settings(**values)
    except ValidationError as error:
        lines = [_complaint(line["loc"], line["msg"]) for line in error.errors(include_url=False)]
        raise click.UsageError("\n".join(lines)) from None


def _complaint(location: tuple[int | str, ...], message: str) -> str:
    message = message.removeprefix("Value error, ")
    if not location:
        return message
    name = str(location[0])
    flag = "" if name in NO_FLAG else f"{_flag(name)} / "
    return f"{flag}{_variable(name)}: {message}"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _variable(name: str) -> str:
    return f"MICROCODER_{name.upper()}"
