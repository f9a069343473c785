"""``microcoder worker``: a pool of workers for a queue in Redis, from flags and environment to exit status.

Exit statuses: 0 after SIGTERM or Ctrl-C, 1 where no worker can judge here, 2 for bad settings.
"""

from __future__ import annotations

import asyncio
import signal
import sys

import click

from sandbox import SandboxUnavailableError
from service.cli.flags import load_settings, settings_flags
from service.distributed.connection import address
from service.distributed.pool import Pool
from service.telemetry import configure_logging

SETTINGS = frozenset(
    {
        "queue",
        "sandbox",
        "python",
        "docker_image",
        "workers",
        "drain_s",
        "failing_first",
        "default_cpu_time_s",
        "default_wall_time_s",
        "default_memory_bytes",
        "default_output_bytes",
        "default_processes",
        "max_cpu_time_s",
        "max_wall_time_s",
        "max_memory_bytes",
        "max_output_bytes",
        "max_processes",
        "log_level",
        "log_format",
    }
)


@click.command()
@settings_flags(only=SETTINGS, renamed={"workers": "processes"})
def worker(**flags: str | None) -> None:
    """Judge what waits in a queue in Redis, with as many processes as there are cores.

    Defaults of limits must be those of the services that share the queue.
    """
    settings = load_settings({name: value for name, value in flags.items() if value is not None})
    if settings.queue is None:
        raise click.UsageError("--queue / MICROCODER_QUEUE: is needed, such as redis://127.0.0.1:6379/0")
    configure_logging(settings.log_level, settings.log_format)
    try:
        asyncio.run(_run(Pool(settings), address(settings.queue), settings.workers))
    except SandboxUnavailableError as error:
        raise click.ClickException(f"no worker can judge here. {error.cause}\nCure: {error.cure}") from None


async def _run(pool: Pool, where: str, workers: int) -> None:
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, pool.stop)
    click.echo(f"Judging for {where} with {workers} processes")
    sys.stdout.flush()
    await pool.run()
