"""A run that was ended goes on where it was, and does not mix with what is not of its kind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.difficulty.chat_server import Asked, completion, failure, honest, slow
from tests.difficulty.running import levels, read_json, write_rows
from trainer_client.difficulty.errors import InputError
from trainer_client.difficulty.journal import Journal
from trainer_client.difficulty.rubric import default_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result
    from fastapi import Response

    from tests.difficulty.chat_server import Answer, ChatServer

    type Serve = Callable[[Answer], ChatServer]
    type Predict = Callable[..., Result]


def test_the_same_command_again_asks_for_nothing(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    server = serve(honest)
    problems = levels(tmp_path / "problems.jsonl", 4, 7)
    predict(server, problems)
    first = read_json(tmp_path / "run" / "prediction.json")
    assert predict(server, problems).exit_code == 0
    assert len(server.asked) == 6
    assert read_json(tmp_path / "run" / "prediction.json") == first


def test_problems_that_were_added_are_rated(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    server = serve(honest)
    predict(server, levels(tmp_path / "problems.jsonl", 4))
    result = predict(server, levels(tmp_path / "problems.jsonl", 4, 7))
    assert result.exit_code == 0
    assert [asked.level for asked in server.asked] == [4] * 3 + [7] * 3


def test_failures_are_tried_again_and_paid_for(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    """What failed has cost tokens: the cost of the run has them, the score has not."""
    server = serve(lambda _: _nonsense())
    problems = levels(tmp_path / "problems.jsonl", 4)
    assert predict(server, problems, "--attempts", 1).exit_code == 1
    server.answer = honest
    assert predict(server, problems, "--attempts", 1).exit_code == 0
    found = read_json(tmp_path / "run" / "prediction.json")
    assert [one["score"] for one in found["problems"]] == [4.0]
    assert found["usage"]["requests"] == 6


async def _nonsense() -> Response:
    return completion("nonsense")


def test_interrupted_in_the_middle(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    """Ctrl-C ends the command with what is done kept; the same command does the rest and only that."""
    server = serve(slow(0.15))
    problems = levels(tmp_path / "problems.jsonl", *range(1, 10))
    arguments = [
        tmp_path / "run",
        problems,
        "--url",
        server.url,
        "--model",
        "judge",
        "--concurrency",
        2,
        "--retries",
        2,
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "trainer_client.difficulty", "predict", *map(str, arguments)],
        stderr=subprocess.PIPE,
        text=True,
    )
    journal = tmp_path / "run" / "ratings.jsonl"
    while not journal.exists() or journal.read_bytes().count(b"\n") < 6:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted. What is done is kept" in complaint
    assert "Traceback" not in complaint
    kept = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    assert 5 <= len(kept) < 27
    server.asked.clear()
    server.answer = honest
    assert predict(server, problems).exit_code == 0
    done = {(one["problem"], one["index"]) for one in kept}
    again = {(f"p{asked.level - 1:.0f}", asked.body["seed"] // 100) for asked in server.asked}
    assert len(server.asked) == 27 - len(kept)
    assert not done & again
    assert [one["score"] for one in read_json(tmp_path / "run" / "prediction.json")["problems"]] == list(
        range(1, 10)
    )


@pytest.mark.parametrize("torn", ['{"kind": "rating", "pro', "{", '{"kind": "rating"}'])
def test_a_torn_last_line_is_done_again(torn: str, tmp_path: Path, serve: Serve, predict: Predict) -> None:
    """A machine that died in the middle of a line costs that line."""
    server = serve(honest)
    problems = levels(tmp_path / "problems.jsonl", 4)
    predict(server, problems)
    journal = tmp_path / "run" / "ratings.jsonl"
    whole = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(whole[:-1]) + torn)
    assert predict(server, problems).exit_code == 0
    assert len(server.asked) == 4
    assert len(journal.read_text().splitlines()) == 4
    assert all(json.loads(line) for line in journal.read_text().splitlines())


def test_a_torn_first_line_is_no_run(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "ratings.jsonl").write_text('{"kind": "rat')
    assert predict(serve(honest), levels(tmp_path / "problems.jsonl", 4)).exit_code == 0


@pytest.mark.parametrize(
    "line", ["not JSON", "[1]", '{"kind": "rating"}', '{"kind": "other", "problem": "p0"}']
)
def test_a_broken_line_in_the_middle_is_named(
    line: str, tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    """Nobody who only dies makes one: it is not passed over."""
    server = serve(honest)
    problems = levels(tmp_path / "problems.jsonl", 4)
    predict(server, problems)
    journal = tmp_path / "run" / "ratings.jsonl"
    lines = journal.read_text().splitlines()
    lines[2] = line
    journal.write_text("\n".join(lines) + "\n")
    result = predict(server, problems)
    assert result.exit_code == 2
    assert "ratings.jsonl: line 3" in result.output


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (("--model", "another"), 'model was "judge", now "another"'),
        (("--temperature", 0.9), "temperature was 0.7, now 0.9"),
        (("--ratings", 5), "ratings was 3, now 5"),
        (("--seed", 1), "seed was 0, now 1"),
        (("--omit", "seed"), 'omit was [], now ["seed"]'),
    ],
)
def test_other_settings_are_refused(
    flags: tuple[object, ...], complaint: str, tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    """Ratings of two kinds make no mean; nothing is asked, nothing is lost."""
    server = serve(honest)
    problems = levels(tmp_path / "problems.jsonl", 4)
    predict(server, problems)
    before = (tmp_path / "run" / "ratings.jsonl").read_bytes()
    result = predict(server, problems, *flags)
    assert result.exit_code == 2
    assert complaint in result.output
    assert len(server.asked) == 3
    assert (tmp_path / "run" / "ratings.jsonl").read_bytes() == before


def test_how_a_server_is_reached_may_change(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    """Another address, concurrency or patience makes no other rating."""
    problems = levels(tmp_path / "problems.jsonl", 4)
    predict(serve(honest), problems)
    result = predict(serve(honest), problems, "--concurrency", 1, "--timeout-s", 5, "--attempts", 1)
    assert result.exit_code == 0


def test_another_rubric_is_refused(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    server = serve(honest)
    problems = levels(tmp_path / "problems.jsonl", 4)
    predict(server, problems)
    rubric = tmp_path / "mine.toml"
    rubric.write_text(default_text().replace("loops, lists, sorting", "loops and lists"))
    result = predict(server, problems, "--rubric", rubric)
    assert result.exit_code == 2
    assert "rubric was" in result.output


def test_another_statement_under_the_same_name_is_refused(
    tmp_path: Path, serve: Serve, predict: Predict
) -> None:
    """The rating was of another text."""
    server = serve(honest)
    predict(server, levels(tmp_path / "problems.jsonl", 4))
    changed = write_rows(tmp_path / "problems.jsonl", [{"id": "p0", "statement": "Problem 0, level 9."}])
    result = predict(server, changed)
    assert result.exit_code == 2
    assert "problem 'p0': its statement is not the one" in result.output


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "run" / "ratings.jsonl"
    with Journal(path, {"kind": "x"}), pytest.raises(InputError, match="another process"):
        Journal(path, {"kind": "x"})
    Journal(path, {"kind": "x"}).close()


def test_a_server_that_dies_loses_nothing(tmp_path: Path, serve: Serve, predict: Predict) -> None:
    """The run ends with a message; the next one does the rest."""

    async def dying(asked: Asked) -> Response:
        return await honest(asked) if len(server.asked) <= 10 else failure(500, "out of memory")

    server = serve(dying)
    problems = levels(tmp_path / "problems.jsonl", *[5] * 20)
    result = predict(server, problems, "--retries", 0, "--concurrency", 2)
    assert result.exit_code == 1
    assert "out of memory" in result.output
    assert "the same command goes on from there" in result.output
    server.answer = honest
    server.asked.clear()
    assert predict(server, problems).exit_code == 0
    assert len(server.asked) == 50
