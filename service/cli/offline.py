"""What commands that judge without a server have in common."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import click

from service.telemetry import configure_logging

if TYPE_CHECKING:
    from service.settings import Settings

UNUSABLE = 2


class UnusableError(click.ClickException):
    """Bad input, no sandbox to judge it in, or nowhere to write the report."""

    exit_code = UNUSABLE


def quiet(settings: Settings) -> Settings:
    """Log only the workers' errors: the report says the rest, and logs tear the progress bar."""
    settings = settings.model_copy(update={"log_level": "error", "log_format": "console"})
    configure_logging(settings.log_level, settings.log_format)
    logging.getLogger("service.queue").setLevel(logging.CRITICAL)
    return settings
