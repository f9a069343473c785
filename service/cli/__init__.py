"""The command line ``microcoder``. A command's module is imported only when that command runs.

So ``microcoder --help`` answers at once. What an installation without the service's dependencies says instead is
:mod:`service.command`'s.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from service.cli.descriptors import open_closed_descriptors

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LazyGroup", "main"]

# The name of a command is that of the object and of its module; the text is its line in --help.
_COMMANDS = {
    "audit": "Measure how often the evaluator is right.",
    "judge": "Judge programs against a problem, without a server.",
    "key": "Make an API key.",
    "serve": "Judge programs over HTTP.",
    "worker": "Judge what waits in a queue in Redis.",
}


class LazyGroup(click.Group):
    """A group that knows its commands' names and help lines without importing them."""

    def __init__(self, *, commands: Mapping[str, str], help: str) -> None:  # noqa: A002 -- click's own name
        super().__init__(help=help)
        self._help_lines = commands

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command, with standard descriptors that nothing else can come to hold."""
        open_closed_descriptors()
        return super().main(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """Return the names of the commands."""
        return sorted(self._help_lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in self._help_lines:
            return None
        command = getattr(import_module(f"service.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)  # noqa: S101 -- a mistake in this package, seen by any test
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands for --help."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(self._help_lines.items()))


main = click.version_option(package_name="microcoder-evaluator")(
    LazyGroup(commands=_COMMANDS, help="Judges model-written programs in sandboxes.")
)
