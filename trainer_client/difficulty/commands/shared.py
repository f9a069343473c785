"""What the commands have in common: exit statuses, files of a run, complaints."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import click
from pydantic import SecretStr

from trainer_client.difficulty.errors import DifficultyError, JudgeError
from trainer_client.difficulty.rows import IDENTITY_FIELDS
from trainer_client.errors import EvaluatorError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainer_client.difficulty.documents import LeftOut

INCOMPLETE, UNUSABLE, INTERRUPTED = 1, 2, 130
RUN = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
RATINGS, PREDICTION = "ratings.jsonl", "prediction.json"
VERDICTS, CALIBRATION = "verdicts.jsonl", "calibration.json"
SELECTION, SELECTED = "selection.json", "selected.jsonl"


SHOWN = 10


class UnusableError(click.ClickException):
    """Bad input or settings, or nowhere to write."""

    exit_code = UNUSABLE


class StoppedError(click.ClickException):
    """A server failed in the middle; what was done is kept."""

    exit_code = INCOMPLETE


def complaining[**P](command: Callable[P, None]) -> Callable[P, None]:
    """Make a command end with a message and an exit status where something is wrong, not with a traceback."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (JudgeError, EvaluatorError) as error:
            raise StoppedError(
                f"{error}\nWhat is done is kept: the same command goes on from there."
            ) from error
        except DifficultyError as error:
            raise UnusableError(str(error)) from error
        except OSError as error:
            raise UnusableError(f"{error.filename or 'file'}: {error.strerror or error}") from error
        except KeyboardInterrupt:
            click.echo("\nInterrupted. What is done is kept: the same command goes on from there.", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None

    return run


def key_of(path: Path | None) -> SecretStr | None:
    """Return the key in a file: command lines and their flags are visible to every user of a machine."""
    if path is None:
        return None
    key = path.read_text(encoding="utf-8").strip()
    if not key or not key.isascii() or len(key.split()) > 1:
        raise UnusableError(f"{path}: holds no key, which is one word of ASCII")
    return SecretStr(key)


def fields_options[**P](command: Callable[P, None]) -> Callable[P, None]:
    """Give a command the flags that say which fields of a row are what."""
    names = ", ".join(IDENTITY_FIELDS)
    identity = click.option(
        "--id-field", help=f"Field with a problem's name; else the first of {names}, else its place."
    )
    statement = click.option(
        "--statement-field", help="Field with a problem's statement; else the usual ones are tried."
    )
    return identity(statement(command))


def show_left_out(problems: Sequence[LeftOut], title: str, where: Path) -> None:
    """Print the first of the problems that have no part in a result."""
    if problems:
        click.echo(f"{len(problems)} {title}")
    for one in problems[:SHOWN]:
        click.echo(f"  {one.problem}: {one.reason}")
    if len(problems) > SHOWN:
        click.echo(f"  and {len(problems) - SHOWN} more in {where}")
