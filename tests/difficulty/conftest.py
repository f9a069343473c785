"""A judging model's server, and a short way to predict with it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.difficulty.chat_server import Answer, ChatServer, chat_server
from tests.difficulty.running import command
from tests.trainer_client.live import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from click.testing import Result


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], ChatServer]]:
    """Give a function that starts a server with a judge."""
    with ExitStack() as stack:
        yield lambda answer: stack.enter_context(chat_server(answer))


@pytest.fixture
def predict(tmp_path: Path) -> Callable[..., Result]:
    """Give a function that rates problems through a server, into ``tmp_path / "run"``."""

    def run(server: ChatServer, problems: Path, *flags: object) -> Result:
        return command(
            "predict",
            tmp_path / "run",
            problems,
            "--url",
            server.url,
            "--model",
            "judge",
            "--retries",
            2,
            *flags,
        )

    return run


@pytest.fixture(scope="session")
def service_url() -> Iterator[str]:
    """Give the URL of a judging service with real sandboxes."""
    with serving() as (_, address):
        yield address
