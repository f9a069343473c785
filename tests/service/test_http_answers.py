"""What the service answers when all is well: order, streams, codings, ids, keys, and what it is."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
import zlib
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import zstandard

from service.http.compression import preferred_coding
from service.http.middleware import RequestContextMiddleware
from service.wire import BatchAnswer, Judgement

if TYPE_CHECKING:
    from collections.abc import Callable

PROBLEM: dict[str, Any] = {"mode": "stdio", "tests": [{"input": "1\n", "expected": "1\n"}]}
NDJSON = {"Accept": "application/x-ndjson"}


def submission(code: str = "accept", **fields: Any) -> dict[str, Any]:
    return {"code": code, "problem": PROBLEM, **fields}


def decoder_of(coding: str) -> Callable[[bytes], bytes]:
    """Return what decodes a stream part by part."""
    if coding == "gzip":
        return zlib.decompressobj(31).decompress
    if coding == "zstd":
        return zstandard.ZstdDecompressor().decompressobj().decompress
    return bytes


def test_a_judgement_carries_the_callers_id(hooked: httpx.Client) -> None:
    judgement = Judgement.model_validate_json(hooked.post("/evaluate", json=submission(id="mine")).content)
    assert (judgement.id, judgement.index, judgement.verdict, judgement.reward) == ("mine", 0, "AC", 1.0)


def test_an_id_is_made_up_where_none_is_given(hooked: httpx.Client) -> None:
    batch = {"submissions": [submission()] * 2}
    first, second = hooked.post("/evaluate/batch", json=batch).json()["judgements"]
    assert first["id"]
    assert first["id"] != second["id"]


def test_a_batch_is_answered_in_the_order_of_the_request(hooked: httpx.Client) -> None:
    codes = ["sleep 0.3", "accept", "sleep 0.1", "accept", "accept"]
    batch = {"submissions": [submission(code, id=str(index)) for index, code in enumerate(codes)]}
    answer = BatchAnswer.model_validate_json(hooked.post("/evaluate/batch", json=batch).content)
    assert [one.id for one in answer.judgements] == ["0", "1", "2", "3", "4"]
    assert [one.index for one in answer.judgements] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("coding", ["identity", "gzip", "zstd"])
def test_a_stream_brings_each_judgement_as_it_is_ready(hooked: httpx.Client, coding: str) -> None:
    batch = {"submissions": [submission("sleep 1", id="slow"), submission(id="fast")]}
    headers = {**NDJSON, "Accept-Encoding": coding}
    decoder = decoder_of(coding)
    arrivals: list[tuple[float, bytes]] = []
    with hooked.stream("POST", "/evaluate/batch", json=batch, headers=headers) as answer:
        assert answer.headers["content-type"] == "application/x-ndjson"
        assert answer.headers.get("content-encoding", "identity") == coding
        arrivals.extend((time.monotonic(), decoder(part)) for part in answer.iter_raw())
    lines = [json.loads(line) for line in b"".join(part for _, part in arrivals).splitlines()]
    assert [(line["id"], line["index"]) for line in lines] == [("fast", 1), ("slow", 0)]
    first_line_s = next(at_s for at_s, part in arrivals if b"\n" in part)
    assert arrivals[-1][0] - first_line_s > 0.5


@pytest.mark.parametrize(("coding", "decompress"), [("gzip", gzip.decompress), ("zstd", None)])
def test_answers_are_compressed_as_asked(hooked: httpx.Client, coding: str, decompress: Any) -> None:
    batch = {"submissions": [submission()] * 50}
    with hooked.stream("POST", "/evaluate/batch", json=batch, headers={"Accept-Encoding": coding}) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == coding
    assert "accept-encoding" in answer.headers["vary"].lower()
    plain = decompress(raw) if decompress else zstandard.ZstdDecompressor().decompressobj().decompress(raw)
    assert len(json.loads(plain)["judgements"]) == 50


@pytest.mark.parametrize(
    ("header", "coding"),
    [
        ("", None),
        ("identity", None),
        ("gzip", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip;q=1.0, zstd;q=0.5", "gzip"),
        ("zstd;q=0, gzip;q=0", None),
        ("*", "zstd"),
        ("*;q=0.1, zstd;q=0", "gzip"),
        ("gzip;q=nonsense", None),
    ],
)
def test_the_coding_follows_the_clients_weights(header: str, coding: str | None) -> None:
    assert preferred_coding(header) == coding


@pytest.mark.parametrize(
    ("accept", "streamed"),
    [
        ("application/x-ndjson", True),
        ("Application/X-NDJSON; charset=utf-8", True),
        ("application/x-ndjson;q=0.5, */*;q=0.1", True),
        ('text/plain;a=",", application/x-ndjson', True),
        ("application/x-ndjson, application/json", True),
        ("application/x-ndjson;q=0", False),
        ("application/x-ndjson; Q=0.5, application/json", False),
        ("application/x-ndjson;q=much", False),
        ("application/x-ndjson-seq", False),
        ('text/plain;a="application/x-ndjson, application/x-ndjson"', False),
        ("*/*", False),
        (";, ,", False),
    ],
)
def test_a_stream_is_what_the_accept_header_prefers(
    hooked: httpx.Client, accept: str, *, streamed: bool
) -> None:
    answer = hooked.post("/evaluate/batch", json={"submissions": [submission()]}, headers={"Accept": accept})
    assert answer.headers["content-type"] == ("application/x-ndjson" if streamed else "application/json")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_may_ask_for_the_head_alone(hooked: httpx.Client, path: str) -> None:
    head, whole = hooked.head(path), hooked.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == whole.headers["content-type"]


def test_a_path_with_a_slash_too_many_is_a_404(hooked: httpx.Client) -> None:
    answer = hooked.post("/evaluate/", json=submission())
    assert (answer.status_code, answer.json()["type"]) == (404, "not-found")
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_request_id_is_taken_over_or_made(hooked: httpx.Client) -> None:
    def answered(given: str) -> str:
        return str(hooked.get("/healthz", headers={"X-Request-ID": given}).headers["x-request-id"])

    assert answered("trainer-7/step.3") == "trainer-7/step.3"
    for bad in ("", "two words", "x" * 129, '"quoted"'):
        assert answered(bad) not in {"", bad}


def test_errors_carry_the_request_id_too(hooked: httpx.Client) -> None:
    answer = hooked.post("/evaluate", content=b"", headers={"X-Request-ID": "abc"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (400, "abc")


def test_keys_are_asked_for_where_configured_but_not_by_the_probes(
    serve_hooked: Callable[..., httpx.Client],
) -> None:
    client = serve_hooked(api_keys="one, two")

    def status(authorization: str | None) -> int:
        headers = {} if authorization is None else {"Authorization": authorization}
        return client.post("/evaluate", json=submission(), headers=headers).status_code

    assert [status("Bearer one"), status("bearer two")] == [200, 200]
    wrong = [None, "", "Bearer", "Bearer three", "Basic one", "one", "Bearer one, two"]
    assert [status(one) for one in wrong] == [401] * len(wrong)
    answer = client.get("/version")
    assert answer.json()["type"] == "unauthorized"
    assert answer.headers["www-authenticate"] == "Bearer"
    assert [client.get(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]


def test_a_key_beyond_ascii_is_known_in_either_coding(serve_hooked: Callable[..., httpx.Client]) -> None:
    client = serve_hooked(api_keys="schlüssel,ключ")

    def status(key: bytes) -> int:
        return client.get("/version", headers={b"Authorization": b"Bearer " + key}).status_code

    right = ["schlüssel".encode(), "schlüssel".encode("latin-1"), "ключ".encode()]
    assert [status(key) for key in right] == [200] * 3
    assert [status(key) for key in (b"schl\xffssel", b"schlssel", b"????")] == [401] * 3


def test_readiness_warns_where_nothing_isolates(hooked: httpx.Client) -> None:
    ready = hooked.get("/readyz").json()
    assert (ready["status"], ready["isolation"], ready["workers_alive"]) == ("ready", "none", 2)
    assert "without isolation" in ready["warnings"][0]


def test_the_service_tells_what_runs_here(hooked: httpx.Client) -> None:
    version = hooked.get("/version").json()
    assert set(version) == {"version", "python", "languages", "sandbox"}
    assert version["sandbox"]["kind"] == "hooked"
    assert [one["name"] for one in hooked.get("/languages").json()["languages"]] == ["python"]
    profiles = {one["name"]: one for one in hooked.get("/profiles").json()["profiles"]}
    assert {"microcoder", "strict"} <= set(profiles)
    assert profiles["strict"]["steps"] == ["exact", "whitespace"]
    assert profiles["strict"]["description"]


def test_the_openapi_description_is_complete(hooked: httpx.Client) -> None:
    assert hooked.get("/docs").status_code == 200
    text = hooked.get("/openapi.json").text
    schemas = json.loads(text)["components"]["schemas"]
    references = {part.split('"')[0] for part in text.split('"#/components/schemas/')[1:]}
    assert {"Submission", "Batch", "Judgement", "BatchAnswer", "ProblemDetail"} <= references
    assert references <= set(schemas)


def test_a_bug_of_ours_is_a_500_that_names_the_request_and_nothing_else() -> None:
    async def broken(_scope: object, _receive: object, _send: object) -> None:
        raise RuntimeError("secret")

    transport = httpx.ASGITransport(RequestContextMiddleware(broken))

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            return await client.get("/evaluate", headers={"X-Request-ID": "abc"})

    answer = asyncio.run(ask())
    assert (answer.status_code, answer.json()["type"]) == (500, "internal-error")
    assert "abc" in answer.json()["detail"]
    assert "secret" not in answer.text
