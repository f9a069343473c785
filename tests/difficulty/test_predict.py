"""``predict`` against a server on real HTTP: what is asked, what is made of the answers, what is said of the rest."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from fastapi import Response

from tests.difficulty.chat_server import (
    COMPLETION_TOKENS,
    NAMES,
    PROMPT_TOKENS,
    Asked,
    completion,
    failure,
    first,
    honest,
    noisy,
    scores_text,
    slow,
)
from tests.difficulty.running import levels, read_json, write_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    from tests.difficulty.chat_server import Answer, ChatServer

    type Serve = Callable[[Answer], ChatServer]
    type Predict = Callable[..., Result]


def test_scores_are_means_of_three_independent_ratings(
    tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    """Each rating is the weighted sum, each with a seed of its own; mean and spread are those of the three."""

    async def by_seed(asked: Asked) -> Response:
        number = asked.body["seed"] // 100
        return completion(scores_text(asked.level, spread=(0, 1, 3)[number]))

    server = serve(by_seed)
    result = predict(server, levels(tmp_path / "problems.jsonl", 2, 5))
    assert result.exit_code == 0, result.output
    found = read_json(tmp_path / "run" / "prediction.json")
    assert [(one["problem"], one["ratings"]) for one in found["problems"]] == [
        ("p0", [2.0, 3.0, 5.0]),
        ("p1", [5.0, 6.0, 8.0]),
    ]
    assert found["problems"][0]["score"] == pytest.approx(10 / 3, abs=1e-6)
    assert found["problems"][0]["spread"] == pytest.approx(1.527525, abs=1e-6)
    assert found["problems"][0]["dimensions"] == pytest.approx(dict.fromkeys(NAMES, 10 / 3), abs=1e-6)
    assert Counter((asked.statement, asked.body["seed"]) for asked in server.asked).most_common(1)[0][1] == 1
    assert len(server.asked) == 6


def test_a_request_asks_for_exactly_the_dimensions(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    """Model, sampling, key and schema are sent as they were given; nothing of the key is kept."""
    server = serve(honest)
    key = tmp_path / "key"
    key.write_text("word-of-mouth\n")
    flags = ("--temperature", 0.9, "--max-tokens", 77, "--api-key-file", key, "--extra-body", '{"top_k": 5}')
    predict(server, levels(tmp_path / "problems.jsonl", 3), *flags)
    asked = server.asked[0]
    assert asked.headers["authorization"] == "Bearer word-of-mouth"
    body = asked.body
    assert (body["model"], body["temperature"], body["max_tokens"], body["top_k"]) == ("judge", 0.9, 77, 5)
    schema = body["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["required"] == list(NAMES)
    assert schema["schema"]["additionalProperties"] is False
    for path in (tmp_path / "run").iterdir():
        assert "word-of-mouth" not in path.read_text()


def test_fields_that_a_server_refuses_can_be_left_out(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    server = serve(honest)
    predict(server, levels(tmp_path / "problems.jsonl", 3), "--omit", "seed", "--omit", "temperature")
    assert not {"seed", "temperature"} & server.asked[0].body.keys()
    assert "max_tokens" in server.asked[0].body


BAD_ANSWERS = {
    "prose": lambda: completion("I would call it hard."),
    "wrong keys": lambda: completion('{"difficulty": 7}'),
    "cut off": lambda: completion(scores_text(3), finish_reason="length"),
    "refusal": lambda: completion(None, refusal="I cannot rate this."),
    "filtered": lambda: completion(scores_text(3), finish_reason="content_filter"),
    "no text": lambda: completion(None),
    "no choices": lambda: Response('{"id": "x", "object": "chat.completion"}', media_type="application/json"),
    "empty choices": lambda: Response(
        '{"object": "chat.completion", "choices": []}', media_type="application/json"
    ),
    "choices of another type": lambda: Response('{"choices": "none"}', media_type="application/json"),
    "an error with status 200": lambda: Response(
        '{"object": "error", "message": "oops"}', media_type="application/json"
    ),
    "a list": lambda: Response("[1, 2]", media_type="application/json"),
    "broken JSON": lambda: Response('{"choices": [', media_type="application/json"),
    "a page": lambda: Response("<html>Welcome to the proxy</html>", media_type="text/html"),
    "no content type": lambda: Response(b"\x00\xff\x00"),
    "an empty body": lambda: Response(b"", media_type="application/json"),
}


@pytest.mark.parametrize("kind", BAD_ANSWERS)
def test_an_answer_without_scores_is_asked_for_again(
    kind: str, tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    """With another seed, or the same answer would come; the score is that of the answer that holds one."""
    server = serve(first(BAD_ANSWERS[kind]))
    result = predict(server, levels(tmp_path / "problems.jsonl", 4), "--ratings", 1)
    assert result.exit_code == 0, result.output
    found = read_json(tmp_path / "run" / "prediction.json")
    assert [one["score"] for one in found["problems"]] == [4.0]
    assert [asked.body["seed"] for asked in server.asked] == [0, 1]


@pytest.mark.parametrize("kind", BAD_ANSWERS)
def test_a_problem_that_gets_no_answer_has_no_score(
    kind: str, tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    """It is reported with the reason, and the others have theirs."""

    async def answer(asked: Asked) -> Response:
        return BAD_ANSWERS[kind]() if asked.level == 9 else await honest(asked)

    server = serve(answer)
    result = predict(server, levels(tmp_path / "problems.jsonl", 4, 9), "--attempts", 2)
    assert result.exit_code == 1
    found = read_json(tmp_path / "run" / "prediction.json")
    assert [one["problem"] for one in found["problems"]] == ["p0"]
    (unscored,) = found["unscored"]
    assert unscored["problem"] == "p1"
    assert "0 of 3 ratings: 2 answers without scores" in unscored["reason"]
    assert f"p1: {unscored['reason']}" in result.output
    assert len(server.asked) == 3 + 3 * 2


def test_a_problem_rated_less_than_wanted_has_no_score(
    tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    """Two ratings of three are no mean of three."""

    async def answer(asked: Asked) -> Response:
        return completion("?") if asked.body["seed"] >= 200 else await honest(asked)

    result = predict(serve(answer), levels(tmp_path / "problems.jsonl", 4))
    assert result.exit_code == 1
    assert "p0: 2 of 3 ratings" in result.output
    assert read_json(tmp_path / "run" / "prediction.json")["problems"] == []


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(lambda: failure(500, "boom"), id="500"),
        pytest.param(lambda: failure(503, "loading the model"), id="503"),
        pytest.param(lambda: failure(429, "slow down"), id="429"),
        pytest.param(lambda: failure(408, "too slow"), id="408"),
    ],
)
def test_what_passes_is_repeated(
    fault: Callable[[], Response], tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    """The same request again, so with the same seed: no answer was wasted."""
    server = serve(first(fault))
    result = predict(server, levels(tmp_path / "problems.jsonl", 4), "--ratings", 1)
    assert result.exit_code == 0, result.output
    assert [asked.body["seed"] for asked in server.asked] == [0, 0]


def test_retry_after_is_kept(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    """The repetition comes no sooner than the server said, which is later than it would come otherwise."""
    wait_s = 2
    headers = {"Retry-After": str(wait_s)}
    server = serve(first(lambda: failure(429, "slow down", **headers)))
    predict(server, levels(tmp_path / "problems.jsonl", 4), "--ratings", 1)
    before, after = (asked.at_s for asked in server.asked)
    assert after - before >= wait_s


def test_an_answer_that_takes_too_long_is_asked_for_again(
    tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    pauses = iter([30.0])

    async def answer(asked: Asked) -> Response:
        return await slow(next(pauses, 0.0))(asked)

    server = serve(answer)
    result = predict(server, levels(tmp_path / "problems.jsonl", 4), "--ratings", 1, "--timeout-s", 1)
    assert result.exit_code == 0, result.output
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("refused", "taken"),
    [({"json_schema"}, "json_object"), ({"json_schema", "json_object"}, None), (set(), "json_schema")],
)
def test_structured_output_is_asked_for_where_the_server_has_it(
    refused: set[str], taken: str | None, tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    """The strictest form that is not refused, found once and kept."""

    async def answer(asked: Asked) -> Response:
        wanted = asked.body.get("response_format", {}).get("type")
        return failure(400, f"{wanted} is not supported") if wanted in refused else await honest(asked)

    server = serve(answer)
    result = predict(server, levels(tmp_path / "problems.jsonl", 4, 5), "--concurrency", 1)
    assert result.exit_code == 0, result.output
    forms = [asked.body.get("response_format", {}).get("type") for asked in server.asked]
    assert forms == [*sorted(refused, reverse=True), *[taken] * 6]


def test_a_form_asked_for_by_name_is_not_given_up(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    async def answer(asked: Asked) -> Response:
        return failure(422, "no schemas here") if "response_format" in asked.body else await honest(asked)

    result = predict(serve(answer), levels(tmp_path / "problems.jsonl", 4), "--structured", "json_schema")
    assert result.exit_code == 1
    assert "refused by the server: Error code: 422" in result.output
    assert "no schemas here" in result.output


def test_a_statement_that_the_server_refuses_is_reported(
    tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    """In its own words, and without changing what is asked of the others."""

    async def answer(asked: Asked) -> Response:
        return (
            failure(400, "the prompt is longer than 8192 tokens") if asked.level == 9 else await honest(asked)
        )

    server = serve(answer)
    result = predict(server, levels(tmp_path / "problems.jsonl", 9, 4), "--concurrency", 1)
    assert result.exit_code == 1
    assert "the prompt is longer than 8192 tokens" in result.output
    assert [asked.body["response_format"]["type"] for asked in server.asked if asked.level == 4] == [
        "json_schema"
    ] * 3


@pytest.mark.parametrize(
    ("status", "hint"),
    [(401, "--api-key-file"), (403, "may this key"), (404, "does the URL end as it wants it")],
)
def test_a_server_that_refuses_everything_ends_the_run(
    status: int, hint: str, tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    """At once, with a hint, and without a prediction."""

    async def answer(asked: Asked) -> Response:  # noqa: ARG001 -- whatever is asked
        return failure(status, "no")

    server = serve(answer)
    result = predict(server, levels(tmp_path / "problems.jsonl", *range(1, 9)), "--concurrency", 2)
    assert result.exit_code == 1
    assert hint in result.output
    assert len(server.asked) <= 2
    assert not (tmp_path / "run" / "prediction.json").exists()


def test_a_model_that_cannot_do_it_is_given_up(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    """A long file does not cost tokens for nothing to its end; a single success in between goes on."""
    server = serve(first(then=lambda _: _prose()))
    result = predict(
        server, levels(tmp_path / "problems.jsonl", *[5] * 40), "--attempts", 1, "--concurrency", 1
    )
    assert result.exit_code == 1
    assert "20 ratings in a row failed" in result.output
    assert len(server.asked) == 20

    async def sometimes(asked: Asked) -> Response:
        return await honest(asked) if asked.statement.startswith("Problem 3,") else await _prose()

    server = serve(sometimes)
    result = predict(
        server, levels(tmp_path / "problems.jsonl", *[5] * 9), "--attempts", 1, "--concurrency", 1
    )
    assert "in a row" not in result.output
    assert len(server.asked) == 27


async def _prose() -> Response:
    return completion("Hard!")


def test_nobody_listens(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    """The reason says that there was no connection."""
    server = serve(honest)
    server.url = "http://127.0.0.1:9/v1"
    result = predict(server, levels(tmp_path / "problems.jsonl", 5), "--retries", 0)
    assert result.exit_code == 1
    assert "no answer: Connection error" in result.output


def test_requests_at_a_time(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    """As many as were asked for, and no more."""
    server = serve(slow(0.05))
    predict(server, levels(tmp_path / "problems.jsonl", *[5] * 8), "--concurrency", 4)
    assert server.most_at_a_time == 4


def test_cost_counts_every_answer(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    """Those without scores were paid for as well; what the server did not count is said."""
    server = serve(first(lambda: completion("Hm."), lambda: completion(scores_text(4), usage=False)))
    prices = ("--prompt-price", 2, "--completion-price", 10)
    result = predict(server, levels(tmp_path / "problems.jsonl", 4), "--concurrency", 1, *prices)
    found = read_json(tmp_path / "run" / "prediction.json")
    assert found["usage"] == {
        "requests": 4,
        "prompt_tokens": 3 * PROMPT_TOKENS,
        "completion_tokens": 3 * COMPLETION_TOKENS,
        "uncounted": 1,
    }
    assert found["cost"] == pytest.approx(3 * (2 * PROMPT_TOKENS + 10 * COMPLETION_TOKENS) / 1e6)
    assert "1 answers did not say" in result.output


def test_without_prices_there_is_no_cost(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    predict(serve(honest), levels(tmp_path / "problems.jsonl", 4))
    assert read_json(tmp_path / "run" / "prediction.json")["cost"] is None


def test_more_ratings_bring_scores_nearer_to_the_truth(
    tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    """With a noisy judge whose truth is known, the error of nine ratings is below that of one."""
    truth = [2 + 0.25 * step for step in range(24)]
    errors = {}
    for ratings in (1, 9):
        problems = levels(tmp_path / "problems.jsonl", *truth)
        result = predict(serve(noisy(2.0)), problems, "--ratings", ratings, "--seed", ratings)
        assert result.exit_code == 0, result.output
        found = read_json(tmp_path / "run" / "prediction.json")["problems"]
        errors[ratings] = sum((one["score"] - level) ** 2 for one, level in zip(found, truth, strict=True))
        (tmp_path / "run").rename(tmp_path / f"run{ratings}")
    assert errors[9] < errors[1]


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (("--temperature", 0), "3 ratings at temperature 0 are one rating"),
        (("--temperature", 3), "--temperature"),
        (("--ratings", 0), "--ratings"),
        (("--extra-body", "[1]"), "--extra-body: not a JSON object"),
        (("--extra-body", "{"), "--extra-body: not JSON"),
        (("--concurrency", 0), "--concurrency"),
        (("--timeout-s", -1), "--timeout-s"),
        (("--url", "judge:8001"), "--url: 'judge:8001' is no URL of an API"),
        (("--model", ""), "--model"),
    ],
)
def test_bad_settings_are_named(
    flags: tuple[object, ...], complaint: str, tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    server = serve(honest)
    result = predict(server, levels(tmp_path / "problems.jsonl", 4), *flags)
    assert result.exit_code == 2
    assert complaint in result.output
    assert not server.asked


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        (
            [{"id": "a", "statement": "x"}, {"id": "a", "statement": "y"}],
            "line 2: id: 'a' is that of line 1 as well",
        ),
        ([{"id": "a"}], "line 1: statement: missing"),
        ([{"id": ["a"], "statement": "x"}], "line 1: id: neither a text nor an integer"),
        ([], "no rows"),
    ],
)
def test_bad_rows_are_named(
    rows: list[dict[str, object]], complaint: str, tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    result = predict(serve(honest), write_rows(tmp_path / "problems.jsonl", rows))
    assert result.exit_code == 2
    assert complaint in result.output


def test_text_that_utf_8_cannot_write(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    """Half a surrogate pair, in a statement or in what a server says, costs nobody a score or a report."""
    refusal = Response(
        '{"error": {"message": "bad \\ud800 token"}}', status_code=400, media_type="application/json"
    )

    async def answer(asked: Asked) -> Response:
        return refusal if asked.level == 9 else await honest(asked)

    rows = [{"id": "a", "statement": "level 4 \ud800"}, {"id": "b", "statement": "level 9"}]
    result = predict(serve(answer), write_rows(tmp_path / "problems.jsonl", rows), "--structured", "none")
    assert result.exit_code == 1
    found = read_json(tmp_path / "run" / "prediction.json")
    assert [one["score"] for one in found["problems"]] == [4.0]
    assert "token" in found["unscored"][0]["reason"]
    named = predict(
        serve(honest), write_rows(tmp_path / "problems.jsonl", [{"id": "\ud800", "statement": "x"}])
    )
    assert named.exit_code == 2
    assert "line 1: id: " in named.output
