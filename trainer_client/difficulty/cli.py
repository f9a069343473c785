"""``microcoder difficulty``: a command's module, and what it needs, is imported only when that command runs."""

from __future__ import annotations

from importlib import import_module

import click

from trainer_client.difficulty.rubric import default_text

# The name of a command is that of the object and of its module; the text is its line in --help.
_COMMANDS = (
    ("predict", "Let a model rate problems."),
    ("calibrate", "Find the boundaries between easy, medium and hard."),
    ("select", "Keep problems to target shares."),
)


class _LazyGroup(click.Group):
    """A group that knows its commands' help lines without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of use."""
        return [*(name for name, _ in _COMMANDS), *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in dict(_COMMANDS):
            return super().get_command(ctx, cmd_name)
        try:
            module = import_module(f"trainer_client.difficulty.commands.{cmd_name}")
        except ModuleNotFoundError as error:
            if error.name is None or error.name.startswith("trainer_client"):
                raise
            raise click.ClickException(
                f"{error.name} is not installed; the extra `difficulty` brings it: "
                "pip install 'microcoder-evaluator[difficulty]'"
            ) from error
        command = getattr(module, cmd_name)
        assert isinstance(command, click.Command)  # noqa: S101 -- a mistake in this package, seen by any test
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 -- click's
        """Write the list of commands for --help."""
        own = [(name, command.get_short_help_str()) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*_COMMANDS, *own])


@click.group(cls=_LazyGroup)
def difficulty() -> None:
    """Predict how hard problems are, calibrate the prediction against measured pass rates, select to target shares."""


@difficulty.command(help="Print the default rubric, to be changed and given to predict as --rubric.")
def rubric() -> None:
    """Print the default rubric."""
    click.echo(default_text(), nl=False)
