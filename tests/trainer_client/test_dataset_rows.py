"""Rows of public data sets become problems by which right programs pass and wrong ones fail."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from trainer_client import ProblemError, Verdict
from trainer_client.datasets import apps, codecontests, humaneval, leetcode, livecodebench, test_lists, verl

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainer_client import Judgement, Problem

    type Judged = Callable[..., Judgement]


def packed(tests: list[dict[str, str]]) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(tests)))).decode()


def functional(given: str, expected: str) -> dict[str, str]:
    return {"input": given, "output": expected, "testtype": "functional"}


def stdin(given: str, expected: str) -> dict[str, str]:
    return {"input": given, "output": expected, "testtype": "stdin"}


def lcb(public: list[dict[str, str]], private: Any = "[]", **metadata: str) -> dict[str, Any]:
    return {
        "public_test_cases": json.dumps(public),
        "private_test_cases": private,
        "metadata": json.dumps(metadata),
    }


ROTATE = lcb(
    [functional("[1,2,3,4]\n1", "[4,1,2,3]")], packed([functional("[1,2]\n2", "[1,2]")]), func_name="rotate"
)
SUMS = {"inputs": ["1 2\n", "3 4\n"], "outputs": ["3\n", "7\n"]}
ADDS = {"fn_name": "add", "inputs": [[1, 2], [3, 4]], "outputs": [[3], [7]]}
TWO_SUM = {
    "starter_code": "class Solution:\n    def twoSum(self, nums: List[int], target: int) -> List[int]:\n        ",
    "input_output": [{"input": "nums = [3,3], target = 6", "output": "[0, 1]"}],
}
REVERSE = {
    "starter_code": "class Solution:\n"
    "    def reverseList(self, head: Optional[ListNode]) -> Optional[ListNode]:\n        ",
    "input_output": [
        {"input": "head = [1,2,3]", "output": "[3, 2, 1]"},
        {"input": "head = []", "output": "[]"},
    ],
}
TREE = {
    "starter_code": "class Solution:\n    def depth(self, root: Optional[TreeNode]) -> int:\n        ",
    "input_output": [{"input": "root = [3,9,20,null,null,15,7]", "output": "3"}],
}
HUMANEVAL = {
    "prompt": "from typing import List\n\ndef twice(x):\n    return 2 * x\n\n"
    "def f(xs: List[int]) -> int:\n    '''Add.'''\n",
    "test": "METADATA = {}\n\ndef check(candidate):\n    assert candidate([1, 2]) == twice(3)\n",
    "entry_point": "f",
}
MBPP = {
    "test_imports": ["import math"],
    "test_list": ["assert math.isclose(f(2), 1.5)", "assert f(4) == 2.5"],
}

CASES = [
    pytest.param(
        livecodebench.problem_of(ROTATE),
        "class Solution:\n    def rotate(self, nums, k):\n        k %= len(nums)\n"
        "        return nums[-k:] + nums[:-k] if k else nums",
        "class Solution:\n    def rotate(self, nums, k):\n        return nums[-k:] + nums[:-k][::-1]",
        id="LiveCodeBench functional",
    ),
    pytest.param(
        livecodebench.problem_of(lcb([functional('"a\\nb\\nc"', "3")], func_name="lines")),
        "def lines(s): return s.count('\\n') + 1",
        "def lines(s): return 1",
        id="a line end within a text argument",
    ),
    pytest.param(
        livecodebench.problem_of(lcb([functional("4", "true"), functional("5", "false")], func_name="f")),
        "def f(n): return n % 2 == 0",
        "def f(n): return 'true'",
        id="results are JSON text",
    ),
    pytest.param(
        livecodebench.problem_of(lcb([functional('"1"', '"11"')], func_name="f")),
        "def f(s): return s + s",
        "def f(s): return 'x' + s",
        id="a text of digits stays a text",
    ),
    pytest.param(
        livecodebench.problem_of(lcb([stdin("2\n", "1.4142135\n")], packed([stdin("4\n", "2.0\n")]))),
        "print(sqrt(int(input())) if pow(2, 3, 5) == 3 else 'shadowed')",
        "print(int(input()))",
        id="LiveCodeBench stdin, with the names its evaluator provides",
    ),
    pytest.param(
        apps.problem_of({"input_output": json.dumps(SUMS)}),
        "print(sum(map(int, input().split())))",
        "print(3)",
        id="APPS stdio",
    ),
    pytest.param(
        apps.problem_of(
            {"reward_model": {"ground_truth": json.dumps({"inputs": [["1 2", "3"]], "outputs": [["6"]]})}}
        ),
        "import sys; print(sum(map(int, sys.stdin.read().split())))",
        "print(3)",
        id="PRIME, lines in lists",
    ),
    pytest.param(
        apps.problem_of({"input_output": json.dumps(ADDS)}),
        "def add(a, b): return a + b",
        "def add(a, b): return [a - b]",
        id="APPS calls, results wrapped",
    ),
    pytest.param(
        apps.problem_of_suite({"fn_name": "f", "inputs": [[2], [3]], "outputs": [[0], [0, 1]]}),
        "def f(n): return list(range(n - 1))",
        "def f(n): return 0",
        id="APPS calls, results that are lists of one only by chance",
    ),
    pytest.param(
        apps.problem_of_suite({"fn_name": "f", "inputs": ["[1, 2]\n3", "[4]\n5"], "outputs": ["6", "9"]}),
        "def f(xs, y): return sum(xs) + y",
        "def f(xs, y): return str(sum(xs) + y)",
        id="PRIME calls, one JSON argument a line",
    ),
    pytest.param(
        apps.problem_of_suite(
            {"fn_name": "f", "inputs": ["[1, 2]", "[3, 4]"], "outputs": ["[2, 1]", "[4, 3]"]}
        ),
        "def f(xs): return xs[::-1]",
        "def f(xs): return xs",
        id="PRIME calls, the only argument a list",
    ),
    pytest.param(
        apps.problem_of_suite({"fn_name": "f", "inputs": [["4", "5"], ["34", "5"]], "outputs": ["9", "39"]}),
        "def f(a, b): return str(int(a) + int(b))",
        "def f(a, b): return a + b",
        id="APPS calls, results that are texts of digits",
    ),
    pytest.param(
        test_lists.problem_of(
            {"tests": json.dumps([{"input": "1 2", "output": "3", "type": "stdin_stdout"}])}
        ),
        "print(sum(map(int, input().split())))",
        "print(4)",
        id="DeepCoder stdio",
    ),
    pytest.param(
        test_lists.problem_of({"tests": [{**functional("[1,2]\n3", "6"), "metadata": {"func_name": "f"}}]}),
        "def f(xs, y): return sum(xs) + y",
        "def f(xs, y): return y",
        id="DeepCoder, of LiveCodeBench",
    ),
    pytest.param(
        test_lists.problem_of(
            {
                "verification_info": json.dumps(
                    {
                        "language": "python",
                        "test_cases": [
                            {"type": "function_call", "fn_name": "add", "input": [1, 2], "output": [3]},
                            {"type": "function_call", "fn_name": "add", "input": [5, 2], "output": [7]},
                        ],
                    }
                )
            }
        ),
        "def add(a, b): return a + b",
        "def add(a, b): return 3",
        id="SYNTHETIC-1 calls",
    ),
    pytest.param(
        codecontests.problem_of(
            {
                "public_tests": {"input": ["1 2\n"], "output": ["3\n"]},
                "private_tests": {"input": [], "output": []},
                "generated_tests": {"input": ["5 5\n"], "output": ["10\n"]},
                "time_limit": {"seconds": 1, "nanos": 500_000_000},
                "memory_limit_bytes": 256_000_000,
            }
        ),
        "print(sum(map(int, input().split())))",
        "print(3)",
        id="CodeContests",
    ),
    pytest.param(
        humaneval.problem_of(HUMANEVAL),
        "def f(xs): return twice(sum(xs))",
        "def f(xs): return sum(xs)",
        id="HumanEval, with its helpers",
    ),
    pytest.param(
        humaneval.problem_of(MBPP),
        "def f(x): return x / 2 + .5",
        "def f(x): return x // 2 + .5 + x % 3",
        id="MBPP, with its imports",
    ),
    pytest.param(
        leetcode.problem_of(TWO_SUM),
        "class Solution:\n    def twoSum(self, nums, target):\n        return [0, 1]",
        "class Solution:\n    def twoSum(self, nums, target):\n        return [0, 0]",
        id="LeetCode",
    ),
    pytest.param(
        leetcode.problem_of(REVERSE),
        "class Solution:\n    def reverseList(self, head: Optional[ListNode]) -> Optional[ListNode]:\n"
        "        prev = None\n        while head:\n            head.next, prev, head = prev, head, head.next\n"
        "        return prev",
        "class Solution:\n    def reverseList(self, head):\n        return head",
        id="LeetCode lists of nodes",
    ),
    pytest.param(
        leetcode.problem_of(TREE),
        "class Solution:\n    def depth(self, root):\n"
        "        return 1 + max(self.depth(root.left), self.depth(root.right)) if root else 0",
        "class Solution:\n    def depth(self, root):\n        return 2",
        id="LeetCode trees",
    ),
]


@pytest.mark.parametrize(("problem", "right", "wrong"), CASES)
def test_a_right_program_passes_and_a_wrong_one_fails(
    judged: Judged, problem: Problem, right: str, wrong: str
) -> None:
    data = problem.model_dump(exclude_unset=True)
    assert judged(right, data).verdict is Verdict.AC
    assert judged(wrong, data).verdict in {Verdict.WA, Verdict.RE}


# Unpickling it would run a command.
ACTING = b"cos\nsystem\n(S'exit 1'\ntR."
ONE = {"input": ["1"], "output": ["1"]}
NOTHING: dict[str, list[str]] = {"inputs": [], "outputs": []}
REFUSED = [
    pytest.param(lambda: livecodebench.problem_of({}), "public_test_cases: missing", id="no tests"),
    pytest.param(lambda: livecodebench.problem_of(lcb([], "[]")), "no tests", id="empty lists"),
    pytest.param(
        lambda: livecodebench.problem_of(lcb([stdin("", "")], "AAAA")), "private_test_cases", id="undecodable"
    ),
    pytest.param(
        lambda: livecodebench.problem_of(
            lcb([stdin("", "")], base64.b64encode(zlib.compress(ACTING)).decode())
        ),
        "private_test_cases: is a pickle of more than texts and lists: GLOBAL is refused",
        id="pickle that acts",
    ),
    pytest.param(lambda: livecodebench.problem_of(lcb([functional("1", "2")])), "func_name", id="no name"),
    pytest.param(
        lambda: livecodebench.problem_of(lcb([functional("1", "2"), stdin("1", "2")], func_name="f")),
        "testtype",
        id="mixed kinds",
    ),
    pytest.param(
        lambda: livecodebench.problem_of(lcb([functional("1", "[1, 2")], func_name="f")),
        "output",
        id="broken result",
    ),
    pytest.param(
        lambda: livecodebench.problem_of(lcb([functional("[1, 2\n3", "1")], func_name="f")),
        "input",
        id="broken argument",
    ),
    pytest.param(
        lambda: livecodebench.problem_of(lcb([functional("9" * 5000, "1")], func_name="f")),
        "input",
        id="vast integer",
    ),
    pytest.param(lambda: apps.problem_of({"input_output": ""}), "input_output", id="empty text"),
    pytest.param(lambda: apps.problem_of_suite(NOTHING), "no tests", id="empty suite"),
    pytest.param(
        lambda: apps.problem_of_suite({"inputs": ["1", "2", "3"], "outputs": ["1", "4"]}),
        "3 inputs, but 2 outputs",
        id="lists of different lengths",
    ),
    pytest.param(
        lambda: apps.problem_of_suite({"fn_name": "f", "inputs": [1], "outputs": [1]}),
        r"inputs\.0",
        id="no arguments",
    ),
    pytest.param(
        lambda: apps.problem_of_suite({"fn_name": "f", "inputs": [[1]], "outputs": ["[1, 2"]}),
        r"outputs\.0: neither JSON nor a Python literal",
        id="broken structure",
    ),
    pytest.param(
        lambda: apps.problem_of_suite({"fn_name": "f", "inputs": [[1]], "outputs": ["{1, 2}"]}),
        r"outputs\.0: .*set",
        id="a set",
    ),
    pytest.param(
        lambda: apps.problem_of_suite(
            {"fn_name": "f", "inputs": [[1]], "outputs": [[1, 2]]}, wrapping="wrapped"
        ),
        "outputs",
        id="not wrapped",
    ),
    pytest.param(
        lambda: test_lists.problem_of(
            {"tests": [{"input": [1], "output": [1], "fn_name": "f"}, {"input": "1", "output": "1"}]}
        ),
        "fn_name",
        id="mixed tests",
    ),
    pytest.param(
        lambda: test_lists.problem_of({"verification_info": {"language": "cpp", "test_cases": []}}),
        "language: cpp",
        id="another language",
    ),
    pytest.param(
        lambda: test_lists.problem_of({"tests": [{"type": "function_call", "input": [1], "output": 1}]}),
        "fn_name: missing",
        id="calls of nothing",
    ),
    pytest.param(
        lambda: verl.problem_of({"reward_model": {"ground_truth": "{"}}),
        r"reward_model\.ground_truth: .*not JSON",
        id="broken ground truth",
    ),
    pytest.param(
        lambda: codecontests.problem_of({"public_tests": ONE, "time_limit": {"seconds": 10**400}}),
        r"time_limit\.seconds",
        id="vast limit",
    ),
    pytest.param(
        lambda: codecontests.problem_of({"public_tests": ONE, "input_file": "sum.in"}),
        "input_file",
        id="files",
    ),
    pytest.param(
        lambda: leetcode.problem_of({**TWO_SUM, "starter_code": "x=" + "-" * 200_000 + "1"}),
        "starter_code: not Python",
        id="deep starter code",
    ),
    pytest.param(
        lambda: codecontests.problem_of({"public_tests": {"input": ["1"], "output": []}}),
        "public_tests",
        id="half a suite",
    ),
    pytest.param(
        lambda: humaneval.problem_of({**HUMANEVAL, "test": "import unittest\n"}),
        "define check",
        id="no check",
    ),
    pytest.param(lambda: humaneval.problem_of({"test_list": []}), "tests", id="no assertions"),
    pytest.param(
        lambda: leetcode.problem_of({**TWO_SUM, "input_output": [{"input": "nums = [1]", "output": "1"}]}),
        r"input_output\.0\.input: .*target",
        id="missing argument",
    ),
    pytest.param(
        lambda: leetcode.problem_of(
            {**TWO_SUM, "input_output": [{"input": "nums = [1], target = f()", "output": "1"}]}
        ),
        "not a literal",
        id="a call as argument",
    ),
    pytest.param(
        lambda: leetcode.problem_of(
            {**TWO_SUM, "input_output": [{"input": "nums = [1], target = 1", "output": "Error: x"}]}
        ),
        "reference failed",
        id="a failed reference",
    ),
]


@pytest.mark.parametrize(("convert", "said"), REFUSED)
def test_a_row_without_sound_tests_is_an_error_that_names_the_field(
    convert: Callable[[], Problem], said: str
) -> None:
    with pytest.raises(ProblemError, match=said):
        convert()


def test_a_contests_limits_are_kept_with_room_for_python() -> None:
    row = {
        "public_tests": {"input": ["1"], "output": ["1"]},
        "time_limit": {"seconds": 2, "nanos": 0},
        "memory_limit_bytes": 64_000_000,
    }
    limits = codecontests.problem_of(row).limits
    assert (limits.cpu_time_s, limits.memory_bytes) == (6.0, 256 << 20)
    # More than a service grants would be refused.
    assert codecontests.problem_of({**row, "time_limit": {"seconds": 50}}).limits.cpu_time_s == 60.0
    assert codecontests.problem_of({**row, "memory_limit_bytes": 0}).limits.memory_bytes is None


def test_limits_that_the_caller_names_hold() -> None:
    assert apps.problem_of_suite(SUMS, cpu_time_s=3.0).limits.cpu_time_s == 3.0
    assert apps.problem_of_suite(SUMS).limits.cpu_time_s is None


def test_python_literals_become_json() -> None:
    suite = {"fn_name": "f", "inputs": [[1]], "outputs": ["{'a': (1, None), 2: True}"]}
    (test,) = apps.problem_of_suite(suite).tests
    assert test.model_dump()["expected"] == {"a": [1, None], "2": True}


@pytest.mark.parametrize(
    ("given", "output", "expected"),
    [
        (["a"], "(())", "(())"), (["a"], "(()", "(()"), (["a"], "'tis", "'tis"), (["a"], '"a"', "a"),
        (["a"], '"a', '"a'), (["a"], "9", "9"), (["a"], "[1, 2]", [1, 2]),
        ('"a"', "(())", "(())"), ('"a"', "(1, 2)", [1, 2]),
        ('"a"', "0x1f", "0x1f"), ('"a"', "1_0", "1_0"), ('"a"', "True", True), ('"a"', "9", 9),
    ],
)  # fmt: skip
def test_a_text_becomes_data_only_where_it_must_be_meant(given: Any, output: str, expected: Any) -> None:
    (test,) = apps.problem_of_suite({"fn_name": "f", "inputs": [given], "outputs": [output]}).tests
    assert test.model_dump()["expected"] == expected


def test_half_a_character_is_read_as_the_service_reads_it() -> None:
    problem = apps.problem_of({"input_output": '{"inputs": ["a\\ud800"], "outputs": ["\\ud83d\\ude00"]}'})
    (test,) = problem.tests
    assert (test.model_dump()["input"], test.model_dump()["expected"]) == ("a\uffff", "\U0001f600")


# Rows of LeetCodeDataset that have no input_output: a prompt of imports, an entry point that is an expression.
CHECKED = {
    "prompt": "from typing import *\nfrom math import *\n",
    "starter_code": "class Solution:\n    def root(self, n: int) -> int:\n        ",
    "entry_point": "Solution().root",
    "test": "def check(candidate):\n    assert candidate(n = 16) == 4\n",
}


@pytest.mark.parametrize(
    ("changed", "right"),
    [
        ({}, "class Solution:\n    def root(self, n): return isqrt(n)"),
        ({"prompt": "Give the square root."}, "class Solution:\n    def root(self, n): return 4"),
        ({"prompt": "root"}, "class Solution:\n    def root(self, n): return 4"),
        (
            {"prompt": [{"role": "user", "content": "x"}], "entry_point": "Solution().root"},
            "class Solution:\n    def root(self, n): return 4",
        ),
    ],
    ids=["imports", "words", "a word", "messages"],
)
def test_prompts_need_not_begin_the_function(judged: Judged, changed: dict[str, Any], right: str) -> None:
    data = humaneval.problem_of({**CHECKED, **changed}).model_dump(exclude_unset=True)
    assert judged(right, data).verdict is Verdict.AC
    assert judged("class Solution:\n    def root(self, n): return 5", data).verdict is not Verdict.AC


def test_fields_of_other_rows_that_a_table_adds_as_null_stand_for_none() -> None:
    suite = {"inputs": ["1"], "outputs": ["2"], "tests": None, "test_cases": None}
    assert len(verl.problem_of({"reward_model": {"ground_truth": suite}}).tests) == 1
    tests = [{"input": "1", "output": "2", "testtype": kind, "fn_name": None} for kind in ("stdin", None)]
    assert len(test_lists.problem_of({"tests": tests}).tests) == 2
    row = {"input_output": json.dumps(SUMS), "reward_model": {"style": "rule", "ground_truth": "42"}}
    assert len(apps.problem_of(row).tests) == 2


def test_the_name_of_the_function_may_stand_at_the_row_or_at_one_test() -> None:
    tests = [functional("1", "2"), functional("2", "3")]
    named = [{**tests[0], "metadata": {"func_name": "f"}}, tests[1]]
    for row in ({"tests": tests, "metadata": '{"func_name": "f"}'}, {"tests": named}):
        assert test_lists.problem_of(row).model_dump()["entry_point"] == "f"
    row = {"tests": [stdin("1", "2")], "metadata": "of a contest"}
    assert test_lists.problem_of(row).mode == "stdio"


def test_a_text_that_is_returned_needs_no_quotes() -> None:
    starter = "class Solution:\n    def bits(self, n: int) -> str:\n        "
    pairs = [{"input": "n = 5", "output": "101"}, {"input": "n = 2", "output": '"10"'}]
    problem = leetcode.problem_of({"starter_code": starter, "input_output": pairs})
    assert [test.model_dump()["expected"] for test in problem.tests] == ["101", "10"]
