"""Redis servers and folders of a test's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.redis_server import NoRedisError, RedisServer, redis_server
from tests.service.conftest import _quiet, serve_any, serve_hooked, shared_redis

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["_quiet", "own_redis", "serve_any", "serve_hooked", "shared_redis"]


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """Give a Redis that one test may do anything to."""
    folder = tmp_path / "own-redis"
    folder.mkdir()
    try:
        with redis_server(folder) as server:
            yield server
    except NoRedisError as error:
        pytest.skip(str(error))
