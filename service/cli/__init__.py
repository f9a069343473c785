"""The command line ``microcoder``. A command's module is imported only when that command runs.

So ``microcoder --help`` answers at once. What an installation without the service's dependencies says instead is
:mod:`service.command`'s.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from service.cli.descriptors import open_closed_descriptors

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LazyGroup", "main"]


class Entry(NamedTuple):
    """A command before it is imported: an object of its own name in ``module``; ``extra`` brings what that needs."""

    help_line: str
    module: str
    extra: str = "service"


_COMMANDS: Mapping[str, Entry] = MappingProxyType(
    {
        "audit": Entry("Measure how often the evaluator is right.", "service.cli.audit", "service,audit"),
        "difficulty": Entry(
            "Choose problems by predicted and measured difficulty.",
            "trainer_client.difficulty.cli",
            "difficulty",
        ),
        "judge": Entry("Judge programs against a problem, without a server.", "service.cli.judge"),
        "key": Entry("Make an API key.", "service.cli.key"),
        "serve": Entry("Judge programs over HTTP.", "service.cli.serve"),
        "train": Entry("Train a code model on the service's rewards.", "trainer_client.train.cli", "train"),
        "worker": Entry("Judge what waits in a queue in Redis.", "service.cli.worker"),
    }
)


class LazyGroup(click.Group):
    """A group that knows its commands' names and help lines without importing them."""

    def __init__(self, *, commands: Mapping[str, Entry], help: str) -> None:  # noqa: A002 -- click's own name
        super().__init__(help=help)
        self._entries = commands

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command, with standard descriptors that nothing else can come to hold."""
        open_closed_descriptors()
        return super().main(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """Return the names of the commands."""
        return sorted(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command.

        Raises:
            click.ClickException: a package that it needs is not installed.

        """
        entry = self._entries.get(cmd_name)
        if entry is None:
            return None
        try:
            command = getattr(import_module(entry.module), cmd_name)
        except ModuleNotFoundError as error:
            if str(error.name).startswith(entry.module.partition(".")[0]):
                raise
            raise click.ClickException(
                f"`microcoder {cmd_name}` needs the package {error.name}, which is not installed: "
                f"pip install 'microcoder-evaluator[{entry.extra}]'"
            ) from error
        assert isinstance(command, click.Command)  # noqa: S101 -- a mistake in this package, seen by any test
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands for --help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help_line) for name, entry in sorted(self._entries.items())])


main = click.version_option(package_name="microcoder-evaluator")(
    LazyGroup(commands=_COMMANDS, help="Judges model-written programs in sandboxes.")
)
