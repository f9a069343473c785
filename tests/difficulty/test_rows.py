"""Which rows are understood: names, statements, completions, and tests in the form of each data set."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.difficulty.running import write_rows
from trainer_client.difficulty.completions import read_completions
from trainer_client.difficulty.errors import InputError
from trainer_client.difficulty.formats import problem_of
from trainer_client.difficulty.rows import read_rows, read_statements
from trainer_client.errors import ProblemError

if TYPE_CHECKING:
    from pathlib import Path

CONTRACT = {"mode": "stdio", "tests": [{"input": "1\n", "expected": "1\n"}]}
ROWS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    # row, its name, a part of its statement, the mode of its tests
    "own": ({"id": "a", "prompt": "Echo.", "problem": json.dumps(CONTRACT)}, "a", "Echo.", "stdio"),
    "own, as an object": ({"id": 3, "prompt": "Echo.", "problem": CONTRACT}, "3", "Echo.", "stdio"),
    "own, with messages": (
        {
            "id": "a",
            "prompt": [{"role": "system", "content": "You code."}, {"role": "user", "content": "Echo."}],
            "problem": CONTRACT,
        },
        "a",
        "Echo.",
        "stdio",
    ),
    "livecodebench": (
        {
            "question_id": "q1",
            "question_content": "Echo.",
            "starter_code": "",
            "public_test_cases": json.dumps([{"input": "1", "output": "1", "testtype": "stdin"}]),
            "private_test_cases": "[]",
            "metadata": "{}",
        },
        "q1",
        "Echo.",
        "stdio",
    ),
    "apps": (
        {
            "problem_id": 7,
            "question": "Echo.",
            "input_output": json.dumps({"inputs": ["1"], "outputs": ["1"]}),
        },
        "7",
        "Echo.",
        "stdio",
    ),
    "deepcoder": (
        {
            "problem": 'Echo {"mode"} ',
            "tests": json.dumps([{"type": "stdin_stdout", "input": "1", "output": "1"}]),
        },
        "row-0",
        "Echo",
        "stdio",
    ),
    "codecontests": (
        {"name": "1_A", "description": "Echo.", "public_tests": {"input": ["1"], "output": ["1"]}},
        "1_A",
        "Echo.",
        "stdio",
    ),
    "humaneval": (
        {
            "task_id": "HumanEval/0",
            "prompt": 'def f(x):\n    """Echo."""\n',
            "entry_point": "f",
            "test": "def check(candidate):\n    assert candidate(1) == 1\n",
        },
        "HumanEval/0",
        "Echo.",
        "assert",
    ),
    "mbpp": ({"task_id": 11, "text": "Echo.", "test_list": ["assert f(1) == 1"]}, "11", "Echo.", "assert"),
    "leetcode": (
        {
            "task_id": "echo",
            "problem_description": "Echo.",
            "starter_code": "class Solution:\n    def f(self, x: int) -> int:\n        ",
            "input_output": [{"input": "x = 1", "output": "1"}],
        },
        "echo",
        "def f(self, x: int)",
        "call",
    ),
    "verl": (
        {
            "id": "v",
            "prompt": [{"role": "user", "content": "Echo."}],
            "reward_model": {"ground_truth": json.dumps({"inputs": ["1"], "outputs": ["1"]})},
        },
        "v",
        "Echo.",
        "stdio",
    ),
}


@pytest.mark.parametrize("kind", ROWS)
def test_rows_of_every_kind(kind: str, tmp_path: Path) -> None:
    """Name, statement and tests are found without being told where."""
    row, name, said, mode = ROWS[kind]
    path = write_rows(tmp_path / "rows.jsonl", [row])
    (statement,) = read_statements(path, None, None)
    assert statement.problem == name
    assert said in statement.text
    assert "You code." not in statement.text
    assert problem_of(row).mode == mode


def test_fields_by_name(tmp_path: Path) -> None:
    """What is named is taken, and must be there."""
    rows = [{"id": "a", "slug": "s1", "statement": "no", "summary": "yes"}]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    (statement,) = read_statements(path, "slug", "summary")
    assert (statement.problem, statement.text) == ("s1", "yes")
    with pytest.raises(InputError, match="line 1: slip: missing"):
        read_statements(path, "slip", None)
    with pytest.raises(InputError, match="line 1: body: missing"):
        read_statements(path, None, "body")


def test_tests_by_name_of_their_form() -> None:
    """A form that is named is not guessed, and one that does not fit is a complaint, not a traceback."""
    row = ROWS["apps"][0]
    assert problem_of(row, "apps").mode == "stdio"
    with pytest.raises(ProblemError, match="public_test_cases: missing"):
        problem_of(row, "livecodebench")
    for value in (5, [5], {"inputs": 5}, [None], {"inputs": [None], "outputs": [{}]}):
        with pytest.raises(ProblemError):
            problem_of({"input_output": value})
    with pytest.raises(ProblemError, match="no field with tests"):
        problem_of({"question": "Echo."})
    with pytest.raises(ProblemError, match="problem: "):
        problem_of({"problem": {"mode": "stdio", "tests": []}})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"id": "a", "statement": "x"}\n{"id": ', "line 2: not JSON"),
        ('{"id": "a", "statement": "x"}\n\n[1]\n', "line 3: not a JSON object"),
        ('{"a":' * 100_000, "line 1: not JSON"),
    ],
)
def test_lines_that_are_no_rows_are_named(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=complaint):
        list(read_rows(path))


def test_text_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"id": "a", "statement": "\xff"}\n')
    with pytest.raises(InputError, match="not UTF-8"):
        list(read_rows(path))


def test_completions_of_every_shape(tmp_path: Path) -> None:
    """Many in a row, or one a row, as texts or messages; those of one problem stay in order."""
    message = {"role": "assistant", "content": "c"}
    rows: list[dict[str, Any]] = [
        {"id": "a", "completions": ["1", [{"role": "user", "content": "?"}, message], message]},
        {"problem_id": 5, "completion": "x"},
        {"id": "a", "output": "4"},
        {"problem_id": 5, "response": "y"},
    ]
    found = read_completions(write_rows(tmp_path / "rows.jsonl", rows))
    assert found == {"a": ["1", "c", "c", "4"], "5": ["x", "y"]}


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"completions": ["x"]}, "id: missing"),
        ({"id": "a"}, "completions: missing"),
        ({"id": "a", "completions": "x"}, "completions: not a list"),
        ({"id": "a", "completions": ["x", 5]}, "completions: completion: neither text nor messages"),
    ],
)
def test_completions_that_are_none_are_named(row: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"line 1: {complaint}"):
        read_completions(write_rows(tmp_path / "rows.jsonl", [row]))
