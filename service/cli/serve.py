"""``microcoder serve``: the HTTP service, from flags and environment to exit status.

Exit statuses: 0 after SIGTERM or Ctrl-C, 1 where the service cannot run (port in use, no sandbox), 2 for bad
settings, 3 where the application failed to start by a bug of ours, which its log tells.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import signal
import socket
import sys
from typing import TYPE_CHECKING

import click
import uvicorn

from service.cli.flags import load_settings, settings_flags
from service.http.app import create_app
from service.telemetry import configure_logging

if TYPE_CHECKING:
    from types import FrameType

    from fastapi import FastAPI

    from service.settings import Settings

# After draining nothing is being judged; this is for answers on their way to slow clients.
CLOSING_S = 5
LISTEN_BACKLOG = 2048
LOOPBACK = "127.0.0.1"


@click.command()
@settings_flags()
def serve(**flags: str | None) -> None:
    """Judge programs over HTTP.

    API keys are read from MICROCODER_API_KEYS alone (comma separated), because command lines are public.
    """
    settings = load_settings({name: value for name, value in flags.items() if value is not None})
    configure_logging(settings.log_level, settings.log_format)
    host = _host(settings)
    listener = _listener(host, settings.port)
    server = _Server(create_app(settings), settings, _url(host, listener.getsockname()[1]))
    server.run(sockets=[listener])
    if server.failure is not None:
        raise click.ClickException(server.failure)


def _host(settings: Settings) -> str:
    """Return where to listen: without keys, nobody but this machine's users is let in unless that is asked for."""
    if settings.key_ring or settings.open_access or _is_loopback(settings.host):
        return settings.host
    click.echo(
        f"No API key is configured: listening on {LOOPBACK} only, not on {settings.host}. "
        "Set MICROCODER_API_KEYS (`microcoder key NAME` makes one), or --open-access true.",
        err=True,
    )
    return LOOPBACK


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listener(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise click.ClickException(
                f"port {port} on {host} is in use; choose another with --port, or 0 for a free one"
            ) from None
        raise click.ClickException(f"cannot listen on {host} port {port}: {error.strerror}") from None
    return listener


class _Server(uvicorn.Server):
    """Keeps answering while it drains: probes see 503 and go elsewhere, admitted submissions are finished."""

    def __init__(self, app: FastAPI, settings: Settings, url: str) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="uvloop",
                http="httptools",
                # By default an application that fails to start is served all the same, without its parts.
                lifespan="on",
                log_config=None,
                access_log=False,
                backlog=LISTEN_BACKLOG,
                timeout_graceful_shutdown=CLOSING_S,
            )
        )
        self.failure: str | None = None
        self._app = app
        self._settings = settings
        self._url = url
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._loop = asyncio.get_running_loop()
        self._tasks.append(asyncio.create_task(self._announce()))

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain at the first signal, stop at once at the second; neither is raised again: exit status 0."""
        del frame
        if self._loop is None or len(self._tasks) > 1:
            self.should_exit = True
            self.force_exit = sig == signal.SIGINT
        else:
            self._loop.call_soon_threadsafe(self._drain_soon)

    def _drain_soon(self) -> None:
        self._tasks.append(asyncio.create_task(self._drain()))

    async def _drain(self) -> None:
        services = self._app.state.services
        # Nobody waits at the other end of an audit, and it may go on for hours.
        await services.audits.end_all()
        queue = services.queue
        if not await queue.drain(self._settings.drain_s):
            await queue.close()
        self.should_exit = True

    async def _announce(self) -> None:
        queue = self._app.state.services.queue
        await queue.wait_started()
        trouble = queue.health().trouble
        if trouble is None:
            access = "" if self._settings.key_ring else "; no API key is needed"
            click.echo(f"Judging at {self._url} (see {self._url}/docs){access}")
            sys.stdout.flush()
            return
        self.failure = f"no worker can judge here. {trouble.cause}\nCure: {trouble.cure}"
        self.should_exit = True


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
