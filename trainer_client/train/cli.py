"""The command ``microcoder train``."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import click

from trainer_client.train.check import check as run_check
from trainer_client.train.config import EvaluatorSection, TrainConfig
from trainer_client.train.errors import MissingError, TrainError
from trainer_client.train.source import load_config

NEEDED = ("torch", "trl", "accelerate", "datasets", "transformers", "tokenizers")
FAILED, INTERRUPTED = 2, 130


@click.command(
    epilog="Exit status: 0 trained, or fit to be; 2 something must be changed first, or the run lost its judge; "
    "130 interrupted."
)
@click.argument("config_file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="CONFIG")
@click.option("--check", is_flag=True, help="Only say whether the configuration will do; needs no GPU.")
@click.option(
    "--processes",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="With --check: processes of the run.",
)
@click.option("--offline", is_flag=True, help="With --check: do not ask the service.")
@click.option("--resume", is_flag=True, help="Go on from the latest checkpoint in the run's folder.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="The run's folder, instead of run.output.",
)
@click.option("--url", multiple=True, help="The service, instead of evaluator.urls; repeat it for several.")
@click.option("--seed", type=click.IntRange(0), help="Instead of run.seed.")
def train(  # noqa: PLR0913 -- one parameter per flag
    config_file: Path,
    *,
    check: bool,
    processes: int,
    offline: bool,
    resume: bool,
    output: Path | None,
    url: tuple[str, ...],
    seed: int | None,
) -> None:
    """Train a code model with MicroCoder-GRPO, DAPO's or GRPO's settings on TRL.

    CONFIG is a YAML file; docs/TRAINING.md has its fields. On several GPUs:
    `accelerate launch -m trainer_client.train CONFIG`.
    """
    try:
        config = _changed(load_config(config_file), output, url, seed)
        if check:
            for line in run_check(config, processes=processes, offline=offline):
                click.echo(line)
            click.echo("fit to be trained")
            return
        _need_packages()
        from trainer_client.train.run import train as run  # noqa: PLC0415 -- loads torch

        outcome = run(config, resume=resume)
    except TrainError as error:
        click.echo(f"microcoder train: {error}", err=True)
        sys.exit(FAILED)
    except KeyboardInterrupt:
        click.echo("microcoder train: interrupted; --resume goes on from the latest checkpoint", err=True)
        sys.exit(INTERRUPTED)
    if outcome is not None:
        curves = outcome.curves or "not drawn: no matplotlib"
        click.echo(f"log {outcome.log}, model {outcome.model}, curves {curves}")


def _changed(
    config: TrainConfig, output: Path | None, urls: tuple[str, ...], seed: int | None
) -> TrainConfig:
    run = {name: value for name, value in (("output", output), ("seed", seed)) if value is not None}
    changes: dict[str, object] = {"run": config.run.model_copy(update=run)} if run else {}
    if urls:
        settings = {name: getattr(config.evaluator, name) for name in config.evaluator.model_fields_set}
        try:
            changes["evaluator"] = EvaluatorSection.model_validate(settings | {"urls": urls})
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--url") from error
    return config.model_copy(update=changes)


def _need_packages() -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingError(
            f"not installed: {', '.join(missing)}; training needs pip install 'microcoder-evaluator[train]'"
        )
