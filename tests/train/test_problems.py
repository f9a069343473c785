"""Files of problems: what is read from them, and what is refused, with file, row and field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.trainer_client.live import PROBLEM
from trainer_client import parse_problem, problem_text
from trainer_client.train.config import DataSection, TrainConfig
from trainer_client.train.data import examples_of
from trainer_client.train.errors import ConfigError
from trainer_client.train.problems import Example, read_examples

TEXT = problem_text(PROBLEM)
ROW = {"id": "sum", "prompt": "Add two numbers.", "problem": json.loads(TEXT)}


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(folder: Path, *rows: Any, **settings: Any) -> list[Example]:
    path = lines(folder / "rows.jsonl", *rows)
    return read_examples(path, DataSection(train=path, **settings))


def test_problems_come_as_objects_or_as_text(tmp_path: Path) -> None:
    first, second = read(tmp_path, ROW, ROW | {"id": "text", "problem": TEXT, "prefix": "x = 1\n"})
    assert (first.id, first.prompt, first.prefix) == ("sum", "Add two numbers.", "")
    assert parse_problem(first.problem) == parse_problem(second.problem) == PROBLEM
    assert second.prefix == "x = 1\n"


def test_prompts_can_be_dressed(tmp_path: Path) -> None:
    (one,) = read(tmp_path, ROW, instruction="Solve:\n{prompt}\nGo.", chat=True)
    assert one.prompt == [{"role": "user", "content": "Solve:\nAdd two numbers.\nGo."}]
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Add."}]
    (one,) = read(tmp_path, ROW | {"prompt": messages})
    assert one.prompt == messages


def test_rows_of_public_data_sets_are_read(tmp_path: Path) -> None:
    row = {
        "question_content": "Add two numbers.",
        "question_id": "abc",
        "public_test_cases": json.dumps([{"input": "1 2\n", "output": "3\n", "testtype": "stdin"}]),
        "private_test_cases": "[]",
    }
    (one,) = read(tmp_path, row, format="livecodebench", prompt_field="question_content")
    assert (one.id, one.prompt) == ("abc", "Add two numbers.")
    assert parse_problem(one.problem).mode == "stdio"


def test_parquet_is_read_as_json_lines_are(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([ROW | {"problem": TEXT}]), path)
    assert read_examples(path, DataSection(train=path)) == read(tmp_path, ROW | {"problem": TEXT})
    path.write_bytes(b"PAR1 no")
    with pytest.raises(ConfigError, match=r"rows\.parquet: no Parquet file"):
        read_examples(path, DataSection(train=path))


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        pytest.param([ROW, ROW], ":2: id: 'sum' stands twice", id="twice"),
        pytest.param([{"prompt": "p"}], ":1: problem: is missing", id="no problem"),
        pytest.param([{"problem": TEXT}], ":1: prompt: neither text nor chat messages", id="no prompt"),
        pytest.param([ROW | {"prompt": [{"role": "user"}]}], ":1: prompt: neither", id="no message"),
        pytest.param(
            [ROW | {"problem": {"mode": "stdio", "tests": []}}], ":1: problem: stdio.tests", id="no tests"
        ),
        pytest.param([ROW | {"problem": "{"}], ":1: problem: not JSON", id="no JSON"),
        pytest.param([ROW | {"prefix": 3}], ":1: prefix: not text", id="prefix"),
        pytest.param([[ROW]], ":1: must be an object", id="no object"),
        pytest.param([], "holds no problems", id="empty"),
    ],
)
def test_a_faulty_row_is_told(tmp_path: Path, rows: list[Any], told: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, *rows)
    assert told in str(raised.value)


def test_text_that_is_no_utf_8_is_told(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(json.dumps(ROW).encode() + b'\n{"prompt": "\xff"}\n')
    with pytest.raises(ConfigError, match=r"rows\.jsonl:2: no JSON"):
        read_examples(path, DataSection(train=path))


def config_of(train: Path, heldout: Path, prompts: int = 1) -> TrainConfig:
    return TrainConfig.model_validate(
        {
            "model": {"name": "m"},
            "data": {"train": train, "heldout": heldout},
            "evaluator": {"urls": ["http://judge:8000"]},
            "rollout": {
                "prompts": prompts,
                "stages": [{"step": 0, "temperature": 1.0, "max_completion_length": 8}],
            },
            "run": {"output": "out", "steps": 1},
        }
    )


def test_nothing_held_out_is_trained_on(tmp_path: Path) -> None:
    train = lines(tmp_path / "train.jsonl", ROW)
    other = ROW | {"id": "other", "prompt": "Add them."}
    examples = examples_of(config_of(train, lines(tmp_path / "good.jsonl", other)))
    assert ([one.id for one in examples.train], [one.id for one in examples.heldout]) == (["sum"], ["other"])
    for same in (other | {"id": "sum"}, ROW | {"id": "renamed"}):
        with pytest.raises(ConfigError, match="is also in"):
            examples_of(config_of(train, lines(tmp_path / "bad.jsonl", same)))
    with pytest.raises(ConfigError, match=r"1 problems, fewer than the 2 of rollout\.prompts"):
        examples_of(config_of(train, lines(tmp_path / "good.jsonl", other), prompts=2))
