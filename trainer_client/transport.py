"""One request to one service, and the single place where its failures are told apart."""

from __future__ import annotations

import asyncio
import email.utils
import socket
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
from pydantic import ValidationError

from service.wire import Judgement, ProblemDetail
from trainer_client.attempt_errors import (
    BrokenError,
    BusyError,
    FaultError,
    MissingError,
    StalledError,
    TooLargeError,
    UnreachableError,
)
from trainer_client.encoding import EncodedProblem, body_of
from trainer_client.endpoints import StoredProblem
from trainer_client.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from trainer_client.config import ClientConfig
    from trainer_client.endpoints import Endpoint
    from trainer_client.work import Unit

    type Receiver = Callable[[str, Judgement], None]

BUSY = frozenset({408, 429, 502, 503, 504})
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
MAX_SHOWN_CHARS = 300


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

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def judge(self, endpoint: Endpoint, unit: Unit, receive: Receiver) -> None:
        """Have ``unit`` judged, giving each judgement to ``receive`` as it comes.

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
        url = f"{endpoint.url}/evaluate/batch"
        with _translated(endpoint.url):
            async with self._http.stream(
                "POST", url, content=body.content, headers=headers, timeout=self._timeout(silence_s)
            ) as response:
                if response.status_code != httpx.codes.OK:
                    raise await _failure(response, unit)
                if response.headers.get("content-type", "").partition(";")[0] != NDJSON:
                    raise FaultError(f"{url} does not answer with {NDJSON}: is that an evaluator's URL?")
                async for line in _lines(response):
                    receive(unit.key, _judgement(line))

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
            with _translated(endpoint.url):
                response = await self._http.put(
                    f"{endpoint.url}/problems/{problem.id}",
                    content=body.content,
                    headers=body.headers,
                    timeout=self._timeout(self._config.stall_s),
                )
            if response.status_code in NO_STORE:
                endpoint.keeps_problems = False
            elif response.is_success:
                endpoint.keeps_problems = stored.done = True
            else:
                error = await _failure(response, None)
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


async def _lines(response: httpx.Response) -> AsyncIterator[bytes]:
    # httpx's own lines also end at U+2028 and its kin, which JSON strings may contain.
    rest = b""
    async for part in response.aiter_bytes():
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            if line:
                yield line
    if rest:
        raise BrokenError("the answer ended within a line")


def _judgement(line: bytes) -> Judgement:
    try:
        # Later services may say more.
        return Judgement.model_validate_json(line, extra="ignore")
    except ValidationError as error:
        raise FaultError(f"an answer is no judgement: {line[:MAX_SHOWN_CHARS]!r}") from error


async def _failure(response: httpx.Response, unit: Unit | None) -> Exception:
    """Return the error that an answer other than 200 is."""
    await response.aread()
    status, detail = response.status_code, _detail(response)
    message = f"{response.request.method} {response.request.url} answered {status}: {_told(response, detail)}"
    if status in BUSY:
        return BusyError(message, _retry_after_s(response.headers.get("retry-after")))
    if status >= httpx.codes.INTERNAL_SERVER_ERROR:
        return FaultError(message)
    if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE and unit and len(unit.items) > 1:
        return TooLargeError(message)
    if status == httpx.codes.CONFLICT and unit:
        # The first call under this key is still being received.
        return BusyError(message, _retry_after_s(response.headers.get("retry-after")))
    ours = {problem.id for _, problem in unit.problems()} if unit else set()
    if detail and detail.missing and ours.intersection(detail.missing):
        return MissingError(message, detail.missing)
    listed = (detail.errors if detail else None) or []
    if unit is None:
        return RefusedError(message, status=status, errors=listed)
    errors = [error.model_copy(update={"field": unit.renumbered(error.field)}) for error in listed]
    return RefusedError(unit.renumbered(message), status=status, errors=errors)


def _detail(response: httpx.Response) -> ProblemDetail | None:
    try:
        return ProblemDetail.model_validate_json(response.content, extra="ignore")
    except ValidationError:
        return None


def _told(response: httpx.Response, detail: ProblemDetail | None) -> str:
    if detail is None:
        return f"{response.text[:MAX_SHOWN_CHARS]!r}"
    fields = "; ".join(f"{error.field}: {error.message}" for error in detail.errors or [])
    return f"{detail.title}: {fields or detail.detail}"


def _retry_after_s(header: str | None) -> float | None:
    """Return the seconds that a ``Retry-After`` asks for, a number or a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None
