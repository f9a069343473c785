"""Ends jobs that nobody waits for any longer.

Behind an idempotency key a request is a job, which goes on when its caller hangs up, as the caller may come back.
One who will not has to say so: at the deadline, when interrupted, and where the answer came from elsewhere. The key is
made for one request of one client, so that nobody else waits for its job.
"""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable

# What a batch that is over waits for services to hear that they may stop.
END_S = 2.0
_JOB = re.compile(r"/jobs/[\w-]{1,128}$", re.ASCII)

_log = logging.getLogger(__name__)


class Endings:
    """Tells services in the background, over the connections of one event loop."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self._tasks: set[asyncio.Task[None]] = set()

    def of(self, jobs: Iterable[str]) -> None:
        """Have ``jobs``, by their URLs, cancelled."""
        for url in jobs:
            self._later(self._end(url))

    def once_opened(self, opening: asyncio.Future[httpx.Response]) -> None:
        """Have the job cancelled that a request becomes which is given up before its answer has begun."""
        self._later(self._end_opened(opening))

    async def done(self) -> None:
        """Return when the services have been told, or could not be told in ``END_S`` seconds."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=END_S)

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end(self, url: str) -> None:
        try:
            await self._http.delete(url, timeout=END_S)
        except httpx.HTTPError as error:
            _log.info("%s goes on for nobody: %r", url, error)

    async def _end_opened(self, opening: asyncio.Future[httpx.Response]) -> None:
        try:
            async with asyncio.timeout(END_S):
                response = await opening
        except (httpx.HTTPError, TimeoutError) as error:
            _log.info("a request was given up before it was answered: %r", error)
            return
        await response.aclose()
        for url in jobs_of(response):
            await self._end(url)


def jobs_of(response: httpx.Response) -> set[str]:
    """Return the URL, at the same service, of the job that a request for a batch has become, if it has."""
    job = _JOB.search(response.headers.get("content-location", ""))
    return {str(response.request.url).removesuffix("/evaluate/batch") + job[0]} if job else set()
