"""A service, or what stands in its place, that answers nonsense: no sample is scored by it, and no run is ended."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
import tracemalloc
import zlib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from benchmarks.fault_proxy import PASS, Fault, FaultProxy, Request
from tests.trainer_client.live import PROBLEM, RIGHT, WRONG
from trainer_client import EvaluatorClient, RefusedError, Submission
from trainer_client.answers import MAX_RETRY_AFTER_S, failure_of
from trainer_client.attempt_errors import BusyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    type Harm = Callable[..., FaultProxy]

QUICK: dict[str, Any] = {"first_backoff_s": 0.01, "max_backoff_s": 0.1}
BATCH = [RIGHT, WRONG, RIGHT, WRONG]
REWARDS = [1.0, 0.0, 1.0, 0.0]
NDJSON = "application/x-ndjson"


def ids(request: Request) -> list[str]:
    return [one["id"] for one in json.loads(request.text)["submissions"]]


def line(identity: str, **fields: Any) -> bytes:
    judgement = {
        "id": identity, "index": 0, "verdict": "AC", "reward": 1.0, "score": 1.0, "passed": 2, "total": 2,
        "first_failed": None, "message": "", "duration_s": 0.1, "isolation": "strict",
    }  # fmt: skip
    return json.dumps({**judgement, **fields}).encode() + b"\n"


def answering(body: Callable[[Request], bytes], *, times: int, **fields: Any) -> Callable[[Request], Fault]:
    """Answer batches so for ``times`` times; then they pass."""
    left = iter(range(times))

    def plan(request: Request) -> Fault:
        if request.path != "/evaluate/batch" or next(left, None) is None:
            return PASS
        return Fault(status=200, body=body(request), content_type=NDJSON, **fields)

    return plan


def every(body: Callable[[Request], bytes]) -> Callable[[Request], Fault]:
    return answering(body, times=10**6)


def rewards(url: str | list[str], completions: list[str], **settings: Any) -> list[float | None]:
    deadline_s = settings.pop("deadline_s", 60)
    with EvaluatorClient(url, **QUICK, **settings) as client:
        return client.rewards(completions, [PROBLEM] * len(completions), deadline_s=deadline_s)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(lambda request: line(ids(request)[0])[:40], id="half a line"),
        pytest.param(lambda _: b'{"id": \n', id="a line of half an object"),
        pytest.param(lambda _: b"\x00\xff\xfe\n" * 9, id="bytes"),
        pytest.param(lambda _: b"[" * 100_000 + b"\n", id="deep nesting"),
        pytest.param(lambda _: line("somebody-else"), id="another's judgement"),
        pytest.param(
            lambda _: b'{"type":"x","title":"t","status":500,"detail":"d"}\n', id="an error as a line"
        ),
        pytest.param(lambda request: line(ids(request)[0], reward="NaN"), id="a reward that is no number"),
        pytest.param(lambda request: line(ids(request)[0]).replace(b"1.0", b"NaN"), id="not a number"),
        pytest.param(lambda _: b"\n\n\n", id="blank lines"),
    ],
)
def test_nonsense_once_costs_a_repetition(harm: Harm, body: Callable[[Request], bytes]) -> None:
    # What is judged first is wrong: had the nonsense counted, it would have got a reward.
    assert rewards(harm(plan=answering(body, times=1)).url, [WRONG, RIGHT]) == [0.0, 1.0]


def test_nonsense_for_ever_is_none_and_soon(harm: Harm) -> None:
    proxy = harm(plan=every(lambda _: b"<html>Welcome</html>\n"))
    started_s = time.monotonic()
    assert rewards(proxy.url, BATCH, deadline_s=600) == [None] * 4
    assert time.monotonic() - started_s < 60
    assert len(proxy.seen.requests) < 40


def test_a_judgement_said_twice_counts_once_and_as_first_said(harm: Harm) -> None:
    def twice(request: Request) -> bytes:
        wanted = ids(request)
        return b"".join(line(one) + line(one, verdict="WA", reward=0.0) for one in wanted) + line(wanted[0])

    counted: list[int] = []
    with EvaluatorClient(harm(plan=every(twice)).url, **QUICK) as client:
        submissions = [Submission(completion=text, problem=PROBLEM) for text in BATCH]
        judgements = client.evaluate_batch(submissions, on_judgement=lambda one: counted.append(one.index))
    assert [one.reward for one in judgements] == [1.0] * 4
    assert sorted(counted) == [0, 1, 2, 3]


def test_more_answers_than_questions_change_nothing(harm: Harm) -> None:
    plan = every(lambda request: b"".join(map(line, ids(request))) + line("more") + line("and-more"))
    assert rewards(harm(plan=plan).url, BATCH) == [1.0] * 4


def test_a_verdict_of_a_later_version_costs_its_own_sample_only(harm: Harm) -> None:
    def later(request: Request) -> bytes:
        known = {one["id"]: "novel" in one["completion"] for one in json.loads(request.text)["submissions"]}
        return b"".join(line(one, verdict="XYZ" if novel else "AC") for one, novel in known.items())

    with EvaluatorClient(harm(plan=every(later)).url, **QUICK) as client:
        judgements = client.judge(["a", "novel", "b", "c"], [PROBLEM] * 4, deadline_s=60)
    assert [one.reward for one in judgements] == [1.0, None, 1.0, 1.0]
    assert "no judgement" in judgements[1].message
    assert "XYZ" in judgements[1].message


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirection_is_refused_with_the_address_to_give(harm: Harm, status: int) -> None:
    fault = Fault(status=status, headers=("Location: https://judge.example/login",))
    with pytest.raises(RefusedError, match=r"redirects to https://judge\.example/login") as caught:
        rewards(harm(plan=lambda _: fault).url, BATCH)
    assert caught.value.status == status


@pytest.mark.parametrize("coding", ["gzip", "zstd", "br"])
def test_an_answer_that_does_not_decompress_is_asked_for_again(harm: Harm, coding: str) -> None:
    plan = answering(lambda _: b"not compressed\n", times=2, headers=(f"Content-Encoding: {coding}",))
    assert rewards(harm(plan=plan).url, BATCH) == REWARDS


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """Give half a MiB that unfolds to half a GiB."""
    packing = zlib.compressobj(9, wbits=31)
    return b"".join(packing.compress(b"0" * (1 << 20)) for _ in range(512)) + packing.flush()


@pytest.mark.parametrize("status", [200, 500, 422])
def test_an_answer_that_never_ends_is_not_read_to_its_end(harm: Harm, bomb: bytes, status: int) -> None:
    fault = Fault(status=status, body=bomb, content_type=NDJSON, headers=("Content-Encoding: gzip",))
    proxy = harm(plan=lambda request: fault if request.method == "POST" else PASS)
    tracemalloc.start()
    try:
        if status == 422:
            with pytest.raises(RefusedError):
                rewards(proxy.url, [RIGHT])
        else:
            assert rewards(proxy.url, [RIGHT]) == [None]
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < 320 << 20


def test_a_pause_that_is_asked_for_has_a_bound(harm: Harm, url: str) -> None:
    """A service that asks to be left alone for a year is not left out of the run for good."""
    for header in ("31536000", "inf", "1e400", "Fri, 31 Dec 9999 23:59:59 GMT"):
        request = httpx.Request("POST", "http://judge/evaluate/batch")
        answer = httpx.Response(429, headers={"Retry-After": header}, content=b"", request=request)
        error = asyncio.run(failure_of(answer, None))
        assert isinstance(error, BusyError)
        assert error.retry_after_s == MAX_RETRY_AFTER_S
    # Elsewhere work goes on meanwhile.
    proxy = harm(plan=lambda _: Fault(status=503, retry_after="31536000"))
    assert rewards([proxy.url, url], BATCH * 4, chunk_submissions=2) == REWARDS * 4


@contextmanager
def listening(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """Accept connections, each served in a thread; gives the address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def quietly(connection: socket.socket) -> None:
            # The other side hangs up when it has had enough.
            with connection, suppress(OSError):
                serve(connection)

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=quietly, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)


def test_a_service_that_takes_connections_and_says_nothing_is_asked_before_it_gets_work_again(
    url: str,
) -> None:
    asked: list[bytes] = []

    def swallow(connection: socket.socket) -> None:
        asked.append(connection.recv(65536).split(b"\r\n")[0])
        while connection.recv(65536):
            pass

    with listening(swallow) as hole:
        urls = [hole, url]
        with EvaluatorClient(
            urls, **QUICK, stall_s=0.5, connect_timeout_s=0.3, chunk_submissions=1
        ) as client:
            assert client.rewards(BATCH, [PROBLEM] * 4, deadline_s=60) == REWARDS
            worked, asked[:] = list(asked), []
            time.sleep(0.2)
            assert client.rewards(BATCH * 2, [PROBLEM] * 8, deadline_s=60) == REWARDS * 2
    assert any(b"PUT" in one for one in worked)
    assert set(asked) <= {b"GET /healthz HTTP/1.1"}


def test_a_connection_that_closes_as_it_is_used_again_costs_nothing(url: str) -> None:
    port = int(url.rpartition(":")[2])
    closed: list[bytes] = []

    def once(connection: socket.socket) -> None:
        """Forward a request and its answer; when the next one comes, hang up without a word."""
        with socket.create_connection(("127.0.0.1", port)) as upstream:
            answered = threading.Event()

            def back() -> None:
                with suppress(OSError):
                    while part := upstream.recv(65536):
                        answered.set()
                        connection.sendall(part)

            threading.Thread(target=back, daemon=True).start()
            while part := connection.recv(65536):
                if answered.is_set():
                    closed.append(part[:4])
                    return
                upstream.sendall(part)

    with listening(once) as address:
        assert rewards(address, BATCH * 4, chunk_submissions=4) == REWARDS * 4
    assert closed


@pytest.mark.parametrize(
    "address", ["http://judge.invalid:8000", "http://[::1]:9", "http://127.0.0.1:1/prefix"]
)
def test_an_address_without_a_service_is_none_with_the_reason(address: str) -> None:
    with EvaluatorClient(address, **QUICK) as client:
        (judgement,) = client.judge([RIGHT], [PROBLEM], deadline_s=0.5)
    assert judgement.reward is None
    assert f"no connection to {address}" in judgement.message


def test_one_submission_that_is_too_large_costs_no_other_and_ends_no_run(harm: Harm) -> None:
    proxy = harm(plan=lambda request: Fault(status=413) if b"vast" in request.text else PASS)
    with EvaluatorClient(proxy.url, **QUICK) as client:
        judgements = client.judge([*BATCH, "vast"], [PROBLEM] * 5, deadline_s=60)
    assert [one.reward for one in judgements] == [*REWARDS, None]
    assert "413" in judgements[4].message


def test_an_error_of_the_callers_own_function_reaches_the_caller(url: str) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError

    with EvaluatorClient(url) as client, pytest.raises(ZeroDivisionError):
        client.evaluate_batch([Submission(completion=RIGHT, problem=PROBLEM)], on_judgement=fail)
