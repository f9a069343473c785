"""Every format of labelled data becomes items; what cannot is left out by name or refused with file and field."""

from __future__ import annotations

import base64
import json
import os
import pickle  # to make what must not be unpickled
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.audit.items import Item, Loaded
from service.audit.sources import Companions, Labelling, SourceError, load
from service.wire import Verdict

PACKAGES = Path(__file__).parents[2] / "problems"
CASES = [{"input": "1\n", "output": "2\n", "testtype": "stdin"}]
CALLS = [{"input": "[1, 2]\n3", "output": "[4, 5]", "testtype": "functional"}]
LISTS = {"inputs": ["1\n", "2\n"], "outputs": ["2\n", "4\n"]}


def written(folder: Path, name: str, *rows: dict[str, Any]) -> Path:
    path = folder / name
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def packed(value: object) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


def loaded(path: Path, form: str = "auto", **companions: Any) -> Loaded:
    return load([path], form, Companions(**companions))


def read_tests(item: Item) -> list[Any]:
    tests: list[Any] = list(item.problem.tests)
    return [(t.input, t.expected) if item.problem.mode == "stdio" else (t.args, t.expected) for t in tests]


def refused(path: Path, form: str = "auto", **companions: Any) -> str:
    with pytest.raises(SourceError) as caught:
        loaded(path, form, **companions)
    return str(caught.value)


@pytest.mark.parametrize("private", [json.dumps(CASES), packed(json.dumps(CASES))], ids=["json", "packed"])
def test_livecodebench_rows_hold_public_and_hidden_tests(tmp_path: Path, private: str) -> None:
    row = {
        "question_id": "q1",
        "public_test_cases": json.dumps(CASES),
        "private_test_cases": private,
        "metadata": "{}",
        "code_list": ["print(2)", "print(3)"],
        "graded_list": [True, False],
    }
    found = loaded(written(tmp_path, "rows.jsonl", row))
    assert [(one.id, one.truth.accept) for one in found.items] == [
        ("q1/code_list[0]", True),
        ("q1/code_list[1]", False),
    ]
    assert read_tests(found.items[0]) == [("1\n", "2\n"), ("1\n", "2\n")]
    # Its labels are that evaluator's opinion.
    assert found.labels == "reward"


def test_livecodebench_calls_have_an_argument_a_line(tmp_path: Path) -> None:
    row = {
        "question_id": "q",
        "private_test_cases": packed(json.dumps(CALLS)),
        "metadata": '{"func_name": "f"}',
    }
    programs = written(
        tmp_path,
        "programs.jsonl",
        {"problem": "q", "code": "class Solution:\n    def f(self, a, b): ...", "truth": "accept"},
        {"problem": "q", "completion": "def f(a, b): ...", "truth": "WA"},
    )
    method, function = loaded(written(tmp_path, "rows.jsonl", row), submissions=programs).items
    assert read_tests(method) == [([[1, 2], 3], [4, 5])]
    # By its bare name a method of Solution is found as well as a function.
    assert method.problem is function.problem
    assert method.problem.entry_point == "f"
    assert function.truth.verdicts == {Verdict.WA}


def test_rows_without_programs_are_named_and_so_are_programs_without_rows(tmp_path: Path) -> None:
    rows = written(tmp_path, "rows.jsonl", {"question_id": "q", "private_test_cases": json.dumps(CASES)})
    programs = written(tmp_path, "p.jsonl", {"problem": "other", "code": "x", "truth": "reject"})
    found = loaded(rows, submissions=programs)
    assert found.items == []
    assert [one.name for one in found.left] == ["rows.jsonl:1", "other"]


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.parquet"])
def test_apps_solutions_are_right_in_every_file_format(tmp_path: Path, name: str) -> None:
    row = {"problem_id": 7, "input_output": json.dumps(LISTS), "solutions": json.dumps(["a", "b"])}
    found = loaded(written(tmp_path, name, row))
    assert [one.id for one in found.items] == ["7/solutions[0]", "7/solutions[1]"]
    assert all(one.truth.accept for one in found.items)
    assert read_tests(found.items[0]) == [("1\n", "2\n"), ("2\n", "4\n")]


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [([[3], [4]], [3, 4]), ([[3], [4, 5]], [[3], [4, 5]]), (["3", "[4]"], ["3", [4]])],
    ids=["all wrapped", "lists", "texts beside data"],
)
def test_apps_results_are_unwrapped_where_all_are_wrapped(
    tmp_path: Path, outputs: list[Any], expected: list[Any]
) -> None:
    data = {"fn_name": "f", "inputs": [[1], [2]], "outputs": outputs}
    row = {"input_output": json.dumps(data), "solutions": ["def f(x): ..."]}
    (item,) = loaded(written(tmp_path, "rows.jsonl", row)).items
    assert [result for _, result in read_tests(item)] == expected


def test_apps_results_beside_arguments_in_text_are_json(tmp_path: Path) -> None:
    data = {"fn_name": "f", "inputs": ["1", "2"], "outputs": ["3", '"4"']}
    row = {"input_output": json.dumps(data), "solutions": ["def f(x): ..."]}
    (item,) = loaded(written(tmp_path, "rows.jsonl", row)).items
    assert [result for _, result in read_tests(item)] == [3, "4"]


def test_humaneval_and_mbpp_rows_become_assertions(tmp_path: Path) -> None:
    humaneval = {
        "task_id": "HumanEval/1", "prompt": "def f(x):\n", "canonical_solution": "    return x\n",
        "test": "def check(candidate):\n    assert candidate(1) == 1\n", "entry_point": "f",
    }  # fmt: skip
    mbpp = {
        "task_id": 2,
        "code": "def g(): ...",
        "test_list": ["assert g() == 1"],
        "test_setup_code": "import math",
    }
    (first,) = loaded(written(tmp_path, "h.jsonl", humaneval)).items
    (second,) = loaded(written(tmp_path, "m.jsonl", mbpp)).items
    assert first.submission.code == "def f(x):\n    return x\n"
    assert [one.code for one in first.problem.tests] == [f"{humaneval['test']}\n\ncheck(f)\n"]  # type: ignore[union-attr]
    assert [one.code for one in second.problem.tests] == ["import math\nassert g() == 1"]  # type: ignore[union-attr]


def test_codecontests_rows_hold_programs_of_both_kinds(tmp_path: Path) -> None:
    found = loaded(written(tmp_path, "rows.jsonl", VALID["codecontests"]))
    assert [(one.id, one.submission.code, one.truth.accept) for one in found.items] == [
        ("c/solutions[0]", "print(2)", True),
        ("c/incorrect_solutions[0]", "print(3)", False),
    ]
    assert [one.reason for one in found.left] == ["1 of its programs are in other languages than Python 3"]


def test_leetcode_rows_hold_calls_and_a_solution(tmp_path: Path) -> None:
    (item,) = loaded(written(tmp_path, "rows.jsonl", VALID["leetcode"])).items
    assert (item.id, item.truth.accept, read_tests(item)) == ("l/completion", True, [([1], 2)])


@pytest.mark.parametrize(
    "kind",
    ["livecodebench", "livecodebench calls", "apps calls", "codecontests", "humaneval", "mbpp", "leetcode"],
)
def test_what_is_measured_is_what_the_client_rewards(tmp_path: Path, kind: str) -> None:
    """Imports before the program, set-up, limits, tests: all of it."""
    form = kind.partition(" ")[0]
    row = VALID[kind]
    reader = import_module(f"trainer_client.datasets.{'humaneval' if form == 'mbpp' else form}")
    items = loaded(written(tmp_path, "rows.jsonl", row)).items
    assert items
    assert all(item.problem == reader.problem_of(row) for item in items)


@pytest.mark.parametrize(
    "truth",
    [json.dumps(LISTS), json.dumps([{"input": "1\n", "output": "2\n"}, {"input": "2\n", "output": "4\n"}])],
)
def test_verl_rows_hold_tests_and_take_programs_from_another_file(tmp_path: Path, truth: str) -> None:
    row = {
        "data_source": "code",
        "reward_model": {"style": "rule", "ground_truth": truth},
        "extra_info": {"index": 5},
    }
    programs = written(tmp_path, "p.jsonl", {"problem": 5, "code": "x", "truth": "accept"})
    (item,) = loaded(written(tmp_path, "rows.parquet", row), submissions=programs).items
    assert read_tests(item) == [("1\n", "2\n"), ("2\n", "4\n")]


def test_rollouts_are_labelled_by_their_rewards(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"output": "```python\nprint(2)\n```", "score": 1.0, "gts": json.dumps(LISTS), "step": 3},
        {"output": "none", "score": 0.5, "gts": json.dumps(LISTS), "step": 3},
        {"output": "none", "score": None, "gts": json.dumps(LISTS), "step": 3},
    ]
    found = loaded(written(tmp_path, "log.jsonl", *rows))
    assert found.labels == "reward"
    assert [(one.id, one.truth.accept) for one in found.items] == [
        ("log.jsonl/step 3/0", True),
        ("log.jsonl/step 3/1", False),
    ]
    # A group's problem is kept once.
    assert found.items[0].problem is found.items[1].problem
    assert [one.name for one in found.left] == ["log.jsonl:3"]
    lenient = loaded(tmp_path / "log.jsonl", labelling=Labelling(accept_from=0.5))
    assert [one.truth.accept for one in lenient.items] == [True, True]


def test_rollouts_may_name_problems_of_another_file(tmp_path: Path) -> None:
    chat: Any = [{"role": "assistant", "content": "print(2)"}]
    rows = [
        {"completion": chat, "my_reward": 1, "problem_id": "7"},
        {"completion": chat, "my_reward": 0, "problem_id": "8"},
    ]
    problems = written(tmp_path, "problems.jsonl", {"problem_id": 7, "input_output": json.dumps(LISTS)})
    found = loaded(
        written(tmp_path, "log.parquet", *rows), problems=problems, labelling=Labelling("my_reward")
    )
    assert [one.submission.completion for one in found.items] == ["print(2)"]
    assert "its problem 8" in found.left[0].reason


def test_a_problem_that_cannot_be_read_leaves_out_those_that_name_it(tmp_path: Path) -> None:
    rows = [
        {"completion": "print(2)", "reward": 1, "problem_id": "7"},
        {"completion": "print(2)", "reward": 1, "problem_id": "8"},
    ]
    problems = written(
        tmp_path,
        "problems.jsonl",
        {"problem_id": 7, "input_output": json.dumps(LISTS)},
        {"id": 8, "problem": {"mode": "stdio", "tests": []}},
    )
    found = loaded(written(tmp_path, "log.jsonl", *rows), problems=problems)
    assert len(found.items) == 1
    assert [(one.name, one.is_fault) for one in found.left] == [
        ("problems.jsonl:2", True),
        ("log.jsonl:2", False),
    ]


def test_packages_and_labelled_sets_are_those_of_judge(tmp_path: Path) -> None:
    found = loaded(PACKAGES)
    assert len(found.items) > 10
    assert {one.source for one in found.items} >= {"halfway", "staircase"}
    assert all(one.reason for one in found.left)
    row = {
        "id": "p", "source": "s",
        "problem": {"mode": "stdio", "tests": [{"input": "", "expected": "1"}]},
        "submissions": [{"file": "a", "code": "x", "truth": "reject"}, {"file": "a", "code": "y", "truth": "accept"}],
    }  # fmt: skip
    items = loaded(written(tmp_path, "set.jsonl", row)).items
    assert [(one.id, one.source) for one in items] == [("p/a", "s"), ("p/a #2", "s")]


LCB = {"question_id": "q", "private_test_cases": "[]"}
BAD: list[tuple[str, str, dict[str, Any], str]] = [
    ("unknown format", "r.jsonl", {"text": "x"}, "r.jsonl: is in no known format (its first row has text)"),
    ("no tests", "r.jsonl", LCB, "r.jsonl:1: public_test_cases, private_test_cases: no tests"),
    ("broken stream", "r.jsonl", {**LCB, "private_test_cases": "!"}, "private_test_cases: is no base64"),
    (
        "uneven",
        "r.jsonl",
        {"input_output": {"inputs": ["1"], "outputs": []}},
        "r.jsonl:1: inputs, outputs: 1 inputs, but 0 outputs",
    ),
    ("no JSON", "r.jsonl", {"input_output": "{"}, "r.jsonl:1: input_output: not JSON"),
    (
        "no function",
        "r.jsonl",
        {**LCB, "private_test_cases": json.dumps(CALLS), "metadata": "{}"},
        "metadata.func_name",
    ),
    ("no list", "r.jsonl", {"test_list": 5, "code": "x"}, "r.jsonl:1: test_list: not a list of texts"),
    (
        "no assertions",
        "r.jsonl",
        {"test_list": [], "code": "x"},
        "r.jsonl:1: problem.tests: List should have at least",
    ),
    (
        "uneven labels",
        "r.jsonl",
        {**LCB, "private_test_cases": json.dumps(CASES), "code_list": ["x"]},
        "graded_list",
    ),
    ("no text", "r.jsonl", {"test": 1, "entry_point": "f"}, "r.jsonl:1: test: int instead of text"),
    ("odd reward", "r.jsonl", {"completion": "x", "reward": "good"}, "r.jsonl:1: reward: must be a number"),
    ("no problem", "r.jsonl", {"completion": "x", "reward": 1}, "r.jsonl:1: names no problem"),
]


@pytest.mark.parametrize(("name", "row", "complaint"), [pytest.param(*one[1:], id=one[0]) for one in BAD])
def test_complaints_name_row_and_field(
    tmp_path: Path, name: str, row: dict[str, Any], complaint: str
) -> None:
    assert complaint in refused(written(tmp_path, name, row))


@pytest.mark.parametrize(
    ("name", "content"), [("a.jsonl", b"{]"), ("a.json", b"{}"), ("a.parquet", b"PAR"), ("a.csv", b"")]
)
def test_files_that_hold_no_rows_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert name in refused(tmp_path / name)


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"problem_id", b"problem_\xff\xff"), (b"print(2)", b"print\xff2)"), (b"PAR1", b"PARX")],
    ids=["a column's name", "a value", "the magic"],
)
def test_parquet_that_is_damaged_is_refused_by_name(tmp_path: Path, old: bytes, new: bytes) -> None:
    row = {"problem_id": "7", "input_output": json.dumps(LISTS), "solutions": ["print(2)"]}
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist([row]), path, compression="none")
    assert loaded(path).items
    path.write_bytes(path.read_bytes().replace(old, new))
    assert "rows.parquet: is no Parquet file that can be read" in refused(path)


def test_parquet_without_pyarrow_is_refused_with_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is large, and optional: the image has none."""
    path = written(tmp_path, "rows.parquet", {"test_list": ["assert f()"], "code": "def f(): return 1"})
    assert len(loaded(path).items) == 1
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    complaint = refused(path)
    assert "rows.parquet: Parquet needs the package pyarrow" in complaint
    assert "`parquet`" in complaint
    # Other files do not need it.
    assert len(loaded(written(tmp_path, "rows.jsonl", {"test_list": ["x"], "code": "y"})).items) == 1


class Hostile:
    """Unpickling it would make a folder."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self._target),)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_hostile_pickle_executes_nothing(tmp_path: Path, protocol: int) -> None:
    target = tmp_path / "made"
    stream = pickle.dumps(["text", Hostile(target)], protocol)
    row = {**LCB, "private_test_cases": base64.b64encode(zlib.compress(stream)).decode()}
    complaint = "private_test_cases: is a pickle of more than texts and lists"
    assert complaint in refused(written(tmp_path, "r.jsonl", row))
    assert not target.exists()
    # It would have worked on whoever unpickles it.
    pickle.loads(stream)  # noqa: S301 -- our own stream
    assert target.exists()


FN = {"fn_name": "f", "inputs": [[1], [2]], "outputs": [[3], [4]]}
VALID: dict[str, dict[str, Any]] = {
    "livecodebench": {
        "question_id": "q", "public_test_cases": json.dumps(CASES), "private_test_cases": CASES, "metadata": "{}",
        "code_list": ["print(2)"], "graded_list": [True],
    },
    "livecodebench calls": {
        "question_id": "q", "private_test_cases": CALLS, "metadata": {"func_name": "f"},
        "code_list": ["def f(a, b): ..."], "graded_list": [False],
    },
    "apps": {"problem_id": 7, "input_output": LISTS, "solutions": ["a", "b"]},
    "apps calls": {"problem_id": 7, "input_output": json.dumps(FN), "solutions": ["def f(x): ..."]},
    "humaneval": {
        "task_id": "H/1", "prompt": "def f(x):\n", "canonical_solution": "    return x\n",
        "test": "def check(c): ...", "entry_point": "f",
    },
    "mbpp": {
        "task_id": 2, "code": "def g(): ...", "test_list": ["assert g() is None"], "test_setup_code": "import math",
        "test_imports": ["import re"], "challenge_test_list": ["assert not g()"],
    },
    "verl": {"reward_model": {"ground_truth": json.dumps(LISTS)}, "extra_info": {"index": 5}},
    "verl calls": {
        "reward_model": {"ground_truth": [{**CALLS[0], "metadata": {"func_name": "f"}}]}, "extra_info": {"index": 5},
    },
    "codecontests": {
        "name": "c", "public_tests": {"input": ["1\n"], "output": ["2\n"]}, "time_limit": {"seconds": 1, "nanos": 5},
        "memory_limit_bytes": 1 << 28, "solutions": {"language": [3, 2], "solution": ["print(2)", "main"]},
        "incorrect_solutions": {"language": ["PYTHON3"], "solution": ["print(3)"]},
    },
    "leetcode": {
        "task_id": "l", "starter_code": "class Solution:\n    def f(self, x: int) -> int:\n        ",
        "input_output": [{"input": "x = 1", "output": "2"}],
        "completion": "class Solution:\n    def f(self, x): return 2",
    },
    "test_lists": {"problem_id": 5, "tests": json.dumps([{"input": [1], "output": [2], "fn_name": "f"}])},
    "rollouts": {"completion": "x", "reward": 1.0, "gts": json.dumps(LISTS), "step": 3},
    "rollouts of chats": {
        "output": [{"content": "x"}], "score": 0.0,
        "problem": {"mode": "stdio", "tests": [{"input": "", "expected": "1"}]},
    },
    "labelled": {
        "id": "p", "source": "s", "problem": {"mode": "stdio", "tests": [{"input": "", "expected": "1"}]},
        "submissions": [{"file": "a", "code": "x", "truth": "reject"}],
    },
}  # fmt: skip
JUNK: list[Any] = [
    None, True, 0, -1, 1e308, 10**30, "", "x", "[", "{}", "[]", "null", "[1", "\ud800", "\x00", [], {}, [None], [[]],
    [1], ["x"], {"a": 1}, {"inputs": None}, [{}], {"tests": 3}, "[" * 100_000, float("nan"), float("inf"), "9" * 5000,
    "AAAA", "1e999999", [[["x"]]],
]  # fmt: skip
MISSING = object()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def replaced(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    if not path:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    if other is MISSING and len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = replaced(copy[path[0]], path[1:], other)
    return copy


@pytest.mark.parametrize("kind", sorted(VALID))
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "behind a right one"])
def test_whatever_a_row_holds_it_is_read_left_out_or_refused_by_name(
    tmp_path: Path, kind: str, *, alone: bool
) -> None:
    row = VALID[kind]
    programs = written(tmp_path, "p.jsonl", {"problem": 5, "code": "x", "truth": "accept"})
    assert loaded(written(tmp_path, "r.jsonl", row), submissions=programs).items
    seen = Counter[str]()
    for path in places(row):
        for junk in (*JUNK, MISSING):
            other = replaced(row, path, None if junk is MISSING and not path else junk)
            text = "".join(f"{json.dumps(one)}\n" for one in ([other] if alone else [row, other]))
            (tmp_path / "r.jsonl").write_text(text)
            try:
                found = loaded(tmp_path / "r.jsonl", submissions=programs)
            except SourceError as error:
                seen["refused" if "r.jsonl" in str(error) else "refused without a name"] += 1
            else:
                assert all(one.reason and one.name for one in found.left)
                seen["left" if any(one.is_fault for one in found.left) else "read"] += 1
    assert seen["read"]
    assert not seen["refused without a name"]
    # A labelled set is ours: one that is wrong anywhere is refused as a whole.
    assert seen["refused" if alone or kind == "labelled" else "left"]


def test_a_row_that_cannot_be_used_is_left_out_by_name_and_the_others_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, "r.jsonl", VALID["apps"], {**VALID["apps"], "input_output": ""})
    path.write_text(path.read_text() + '[1]\n{"input_output": {"inp')
    found = loaded(path)
    assert len(found.items) == 2
    assert [(one.name, one.reason.partition(":")[0]) for one in found.left] == [
        ("r.jsonl:2", "input_output"),
        ("r.jsonl:3", "must be a JSON object"),
        ("r.jsonl:4", "is no JSON"),
    ]


def test_what_python_writes_into_logs_is_read(tmp_path: Path) -> None:
    """A NaN in some other field, or half a character in a completion, is no reason to refuse a log."""
    row = {**VALID["rollouts"], "kl": float("nan"), "completion": "print('\ud800')"}
    (item,) = loaded(written(tmp_path, "r.jsonl", row)).items
    assert item.submission.completion == "print('\uffff')"


@pytest.mark.parametrize("name", ["problem.zip", "problem.kpp", "rows.jsonl.gz"])
def test_archives_are_refused_with_the_cure(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04")
    assert "is an archive: unpack it" in refused(tmp_path / name)
