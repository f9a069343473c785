"""One request to one service, and the single place where its failures are told apart."""

from __future__ import annotations

import asyncio
import socket
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING

import httpx

from trainer_client.answers import beginning, failure_of, judgement_of, lines
from trainer_client.attempt_errors import BrokenError, FaultError, StalledError, UnreachableError
from trainer_client.encoding import EncodedProblem, body_of
from trainer_client.endings import Endings, jobs_of
from trainer_client.endpoints import StoredProblem
from trainer_client.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from service.wire import Judgement
    from trainer_client.config import ClientConfig
    from trainer_client.endpoints import Endpoint
    from trainer_client.work import Unit

    type Receiver = Callable[[str, Judgement], None]

NO_STORE = frozenset({404, 405, 501})
NDJSON = "application/x-ndjson"
# Below the 5 s after which servers close idle connections: a request must not meet one that is closing.
KEEPALIVE_S = 3.0
# A peer that vanished without a word is noticed after half a minute.
KEEPALIVE_PROBES = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 15),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
)


class Transport:
    """Requests over the connections of one event loop."""

    def __init__(self, config: ClientConfig) -> None:
        self._config = config
        headers = {}
        if config.api_key is not None:
            headers["Authorization"] = f"Bearer {config.api_key.get_secret_value()}"
        limits = httpx.Limits(
            max_connections=2 * config.concurrency,
            max_keepalive_connections=config.concurrency,
            keepalive_expiry=KEEPALIVE_S,
        )
        # A transport of our own also means that proxies from the environment, which seldom lead to a judge on the
        # same cluster, are not used.
        transport = httpx.AsyncHTTPTransport(limits=limits, socket_options=KEEPALIVE_PROBES)
        self._http = httpx.AsyncClient(transport=transport, headers=headers)
        self.endings = Endings(self._http)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def judge(self, endpoint: Endpoint, unit: Unit, receive: Receiver, jobs: set[str]) -> None:
        """Have ``unit`` judged, giving each judgement to ``receive`` as it comes.

        Among ``jobs`` is, until its answer has ended, the URL of the job that the request has become.

        Raises:
            RefusedError: the service refuses the request.
            AttemptError: another one of the tree above; what has been received stays received.

        """
        inline = not await self._store(endpoint, unit.problems())
        body = await body_of(unit.text(inline=inline))
        headers = body.headers | {"Accept": NDJSON, "Idempotency-Key": unit.key}
        # Asking again is free where the key is known; elsewhere it would be a second run.
        suite_s = max(item.suite_s for item in unit.items)
        silence_s = self._config.stall_s + suite_s if endpoint.keeps_problems else None
        request = self._http.build_request(
            "POST",
            f"{endpoint.url}/evaluate/batch",
            content=body.content,
            headers=headers,
            timeout=self._timeout(silence_s),
        )
        with _translated(endpoint.url):
            async with aclosing(await self._opened(request)) as response:
                if response.status_code != httpx.codes.OK:
                    raise await failure_of(response, unit)
                if response.headers.get("content-type", "").partition(";")[0] != NDJSON:
                    raise FaultError(
                        f"{request.url} does not answer with {NDJSON}: is that an evaluator's URL?"
                    )
                begun = jobs_of(response)
                jobs |= begun
                async for line in lines(response):
                    receive(unit.key, judgement_of(line))
                jobs -= begun

    async def _opened(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return the beginning of its answer."""
        opening = asyncio.ensure_future(self._http.send(request, stream=True))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            # The service may have it already; only its answer names the job that is to be ended.
            self.endings.once_opened(opening)
            raise

    async def probe(self, endpoint: Endpoint) -> None:
        """Make sure that a service answers at all, before it is trusted with work again.

        Raises:
            AttemptError: it does not.

        """
        # On a connection of its own, as what broke may be those that are used again.
        headers, timeout_s = {"Connection": "close"}, self._config.connect_timeout_s
        with _translated(endpoint.url):
            await self._http.get(f"{endpoint.url}/healthz", headers=headers, timeout=timeout_s)
        endpoint.silent = False

    async def _store(self, endpoint: Endpoint, problems: list[tuple[int, EncodedProblem]]) -> bool:
        """Make sure that the service has ``problems``; returns whether it can be asked by their ids."""
        if endpoint.keeps_problems is None and problems:
            async with endpoint.first_upload:
                await self._upload(endpoint, *problems[0])
        if endpoint.keeps_problems:
            uploads = (self._upload(endpoint, position, problem) for position, problem in problems)
            for outcome in await asyncio.gather(*uploads, return_exceptions=True):
                if outcome is not None:
                    raise outcome
        return bool(endpoint.keeps_problems)

    async def _upload(self, endpoint: Endpoint, position: int, problem: EncodedProblem) -> None:
        stored = endpoint.problems.setdefault(problem.id, StoredProblem())
        async with stored.lock:
            if stored.done or endpoint.keeps_problems is False:
                return
            body = await body_of(problem.text)
            url = f"{endpoint.url}/problems/{problem.id}"
            timeout = self._timeout(self._config.stall_s)
            with _translated(endpoint.url):
                async with self._http.stream(
                    "PUT", url, content=body.content, headers=body.headers, timeout=timeout
                ) as response:
                    if response.is_success or response.status_code in NO_STORE:
                        await beginning(response)
                        endpoint.keeps_problems = stored.done = response.is_success
                        return
                    error = await failure_of(response, None)
                    if isinstance(error, RefusedError):
                        error.args = (f"submissions.{position}.problem: {error}",)
                    raise error

    def _timeout(self, read_s: float | None) -> httpx.Timeout:
        return httpx.Timeout(
            connect=self._config.connect_timeout_s, write=self._config.stall_s, read=read_s, pool=None
        )


@contextmanager
def _translated(url: str) -> Iterator[None]:
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise UnreachableError(f"no connection to {url}: {_said(error)}") from error
    except httpx.ReadTimeout as error:
        raise StalledError(f"{url} was silent for too long") from error
    except (httpx.TransportError, httpx.DecodingError) as error:
        raise BrokenError(f"the connection to {url} broke: {_said(error)}") from error


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
