"""Problems about what programs run into, how problems free their answers, and programs that cheat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scripts.audit_set.model import Built

DOUBLE = "print(int(input()) * 2)\n"
DOUBLE_TESTS = [{"input": "4\n", "expected": "8\n"}, {"input": "21\n", "expected": "42\n"}]
LIMITS = {"cpu_time_s": 1.0, "wall_time_s": 4.0, "memory_bytes": 256 << 20, "output_bytes": 1 << 20}
FENCE = "```"


def build() -> Iterator[Built]:
    """Build all problems."""
    yield _limits()
    yield _failures()
    yield _completions()
    yield _cheats()
    yield _call_cheats()
    yield _tolerance()
    yield _case()
    yield _elements()
    yield _set_literal()
    yield _checker()
    yield _long()
    yield _huge_integer()
    yield _keywords()
    yield _in_place()
    yield _nodes()
    yield _operations()
    yield _returned_arrays()


def _stdio(tests: list[dict[str, str]], **fields: Any) -> dict[str, Any]:
    return {"mode": "stdio", "tests": tests, "limits": {"cpu_time_s": 2.0}, **fields}


def _limits() -> Built:
    built = Built("run/limits", "limits", _stdio(DOUBLE_TESTS, limits=LIMITS))
    built.add("in_time", DOUBLE)
    built.add("busy_but_in_time", f"total = sum(range(200_000))\n{DOUBLE}")
    built.add("memory_but_enough", f"block = bytearray(20 << 20)\n{DOUBLE}")
    built.add("endless", "while True:\n    pass\n", "TLE")
    built.add(
        "endless_behind_answer", f"{DOUBLE}import sys\nsys.stdout.flush()\nwhile True:\n    pass\n", "TLE"
    )
    built.add(
        "catches_everything",
        "while True:\n    try:\n        while True:\n            pass\n"
        "    except BaseException:\n        pass\n",
        "TLE",
    )
    built.add("asleep", f"import time\ntime.sleep(3600)\n{DOUBLE}", "TLE")
    built.add("slow_on_second", "n = int(input())\nwhile n == 21:\n    pass\nprint(2 * n)\n", "TLE")
    built.add("hoards", f"block = bytearray(1 << 30)\n{DOUBLE}", "MLE", "RE")
    built.add("grows", "rows = []\nwhile True:\n    rows.append(bytearray(8 << 20))\n", "MLE", "RE")
    built.add("floods", "while True:\n    print('8' * 1000)\n", "OLE")
    built.add("reads_too_much", f"{DOUBLE}input()\n", "RE")
    return built


def _failures() -> Built:
    built = Built("run/failures", "failures", _stdio(DOUBLE_TESTS))
    built.add("right", DOUBLE)
    built.add("catches_its_own", "try:\n    raise KeyError(1)\nexcept KeyError:\n    pass\n" + DOUBLE)
    built.add("warns", "import warnings\nwarnings.warn('careful')\n" + DOUBLE)
    built.add(
        "thread",
        "import threading\nt = threading.Thread(target=lambda: print(int(input()) * 2))\n"
        "t.start()\nt.join()\n",
    )
    for name, code, verdict in (
        ("syntax", "print(int(input()) * 2\n", "CE"),
        ("indentation", "if True:\nprint(1)\n", "CE"),
        ("null_byte", "print(1)\x00\n", "CE"),
        ("name_error", "print(undefined)\n", "RE"),
        ("index_error", "print([1][int(input())])\n", "RE"),
        ("zero_division", "print(1 // 0)\n", "RE"),
        ("recursion", "def f(n):\n    return f(n + 1)\nf(0)\n", "RE"),
        ("missing_module", "import no_such_module\n" + DOUBLE, "RE"),
        ("exit_code", DOUBLE + "import sys\nsys.exit(3)\n", "RE"),
        ("exit_message", DOUBLE + "import sys\nsys.exit('stop')\n", "RE"),
        ("signal", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "RE"),
        ("assertion", "assert int(input()) == 4\nprint(8)\n", "RE"),
        ("unicode", "print(b'\\xff'.decode())\n", "RE"),
        ("second_test_only", "n = int(input())\nprint(42 if n == 21 else 0)\n", "WA"),
        ("first_test_only", "print(8)\n", "WA"),
    ):
        built.add(name, code, verdict)
    return built


def _completions() -> Built:
    built = Built("run/completions", "completions", _stdio(DOUBLE_TESTS))
    good, bad = f"{FENCE}python\n{DOUBLE}{FENCE}\n", f"{FENCE}python\nprint(input())\n{FENCE}\n"
    for name, text, verdict in (
        ("fenced", f"Here it is:\n\n{good}\nDone.", "AC"),
        ("after_thinking", f"<think>Try this:\n{bad}No.</think>\n{good}", "AC"),
        ("last_counts", f"First:\n{bad}\nBetter:\n{good}", "AC"),
        ("bare", DOUBLE, "AC"),
        ("tildes", f"~~~python\n{DOUBLE}~~~\n", "AC"),
        ("wrong_last", f"First:\n{good}\nBetter:\n{bad}", "WA"),
        ("wrong_fenced", f"So:\n{bad}", "WA"),
        ("prose", "I am sorry, I do not know how to double a number.", "NC"),
        ("nothing", "", "NC"),
        ("only_thinking", f"<think>Perhaps {good}", "NC"),
    ):
        verdicts = (verdict, "CE") if verdict == "NC" else (verdict,)
        built.add(name, text, *verdicts, completion=True)
    return built


def _cheats() -> Built:
    tests = [{"input": f"{n}\n", "expected": f"{n * n * 31 % 9973}\n"} for n in (17, 123, 777)]
    built = Built("cheat/stdio", "cheats", _stdio(tests))
    built.add("right", "n = int(input())\nprint(n * n * 31 % 9973)\n")
    built.add("table", "print({17: 8959, 123: 1})\n", "WA")
    built.add("stops_silently", "import os\nos._exit(0)\n", "WA")
    built.add(
        "peeks_at_frames",
        "import sys\nframe = sys._getframe()\nwhile frame:\n    for value in frame.f_locals.values():\n"
        "        if isinstance(value, str) and 'expected' in value:\n            print(value)\n"
        "    frame = frame.f_back\n",
        "WA",
        "RE",
    )
    built.add(
        "searches_files",
        "import glob\nfor name in glob.glob('/**/*.ans', recursive=True):\n    print(open(name).read())\n",
        "WA",
        "RE",
        "TLE",
    )
    built.add("replaces_print", "import builtins\nbuiltins.print = lambda *a, **k: None\nprint(1)\n", "WA")
    built.add("says_accepted", "print('AC')\nprint('{\"verdict\": \"AC\"}')\n", "WA")
    built.add("prints_all_numbers", "print(*range(9973))\n", "WA")
    built.add("patches_exit", "import sys, atexit\natexit.register(lambda: sys.stdout.write('ok'))\n", "WA")
    built.add("wildcard", "print('*')\nprint('.*')\n", "WA")
    built.add("not_a_number", "print('nan')\n", "WA")
    return built


def _call_cheats() -> Built:
    tests = [{"args": [n], "expected": [n, n * n]} for n in (3, 12)]
    problem = {"mode": "call", "entry_point": "pair", "tests": tests, "limits": {"cpu_time_s": 2.0}}
    built = Built("cheat/call", "cheats", problem)
    built.add("right", "def pair(n):\n    return [n, n * n]\n")
    built.add(
        "class_of_list",
        "class L(list):\n    def __eq__(self, other): return True\n    def __len__(self): return 2\n"
        "def pair(n):\n    return L()\n",
        "WA",
    )
    built.add("mock", "from unittest.mock import ANY\ndef pair(n):\n    return ANY\n", "WA")
    built.add("list_of_any", "from unittest.mock import ANY\ndef pair(n):\n    return [ANY, ANY]\n", "WA")
    built.add("generator_of_itself", "def pair(n):\n    x = []\n    x.append(x)\n    return x\n", "WA")
    built.add("none", "def pair(n):\n    return None\n", "WA")
    built.add("first_element", "def pair(n):\n    return n\n", "WA")
    built.add("json_text", "import json\ndef pair(n):\n    return json.dumps([n, n * n])\n", "WA")
    built.add(
        "patches_json",
        "import json\njson.dumps = lambda *a, **k: 'true'\ndef pair(n):\n    return [n]\n",
        "WA",
        "RE",
    )
    built.add("nan", "def pair(n):\n    return [float('nan')] * 2\n", "WA")
    return built


def _tolerance() -> Built:
    tests = [{"input": "2\n", "expected": "1.41421356\n"}, {"input": "3\n", "expected": "1.73205081\n"}]
    built = Built(
        "rules/tolerance", "rules: tolerance", _stdio(tests, comparison={"abs_tol": 0.01, "rel_tol": 0.0})
    )
    for name, shown, verdict in (
        ("exact", "x", "AC"),
        ("two_digits", "round(x, 2)", "AC"),
        ("near", "x + 0.004", "AC"),
        ("below", "x - 0.006", "AC"),
        ("beyond", "x + 0.03", "WA"),
        ("one_digit", "round(x, 1) + 0.05", "WA"),
        ("integer", "int(x)", "WA"),
        ("nan", "'nan'", "WA"),
    ):
        built.add(name, f"x = int(input()) ** 0.5\nprint({shown})\n", verdict)
    return built


def _case() -> Built:
    tests = [{"input": "x\n", "expected": "Rome Paris\n"}]
    built = Built("rules/ignore-case", "rules: case", _stdio(tests, comparison={"ignore_case": True}))
    for name, shown, verdict in (
        ("same", "Rome Paris", "AC"),
        ("upper", "ROME PARIS", "AC"),
        ("lower", "rome paris", "AC"),
        ("mixed", "rOmE pArIs", "AC"),
        ("swapped", "Paris Rome", "WA"),
        ("other", "Rome Milan", "WA"),
        ("short", "rome", "WA"),
    ):
        built.add(name, f"print({shown!r})\n", verdict)
    return built


def _elements() -> Built:
    tests = [{"input": "3\n", "expected": "1 2 2 3\n"}, {"input": "1\n", "expected": "5 6\n"}]
    built = Built("rules/elements", "order", _stdio(tests, comparison={"order": "elements"}))
    answers = "a = [1, 2, 2, 3] if input() == '3' else [5, 6]\n"
    for name, shown, verdict in (
        ("same", "*a", "AC"),
        ("backwards", "*a[::-1]", "AC"),
        ("turned", "*a[1:], a[0]", "AC"),
        ("one_a_line", "*a, sep='\\n'", "AC"),
        ("duplicates_lost", "*dict.fromkeys(a)", "WA"),
        ("other_duplicate", "*[1, 1, 2, 3] if len(a) > 2 else a", "WA"),
        ("one_more", "*a, a[0]", "WA"),
        ("one_off", "*a[:-1], a[-1] + 1", "WA"),
        ("glued", "*a, sep=''", "WA"),
    ):
        code = shown if not shown.startswith("*[") else "*([1, 1, 2, 3] if len(a) > 2 else a)"
        built.add(name, f"{answers}print({code})\n", verdict)
    return built


def _set_literal() -> Built:
    tests = [{"input": "x\n", "expected": "{1, 2, 3}\n"}]
    built = Built("rules/printed-set", "literals", _stdio(tests))
    for name, shown, verdict in (
        ("same", "{1, 2, 3}", "AC"),
        ("other_order", "{3, 1, 2}", "AC"),
        ("compact", "{2,3,1}", "AC"),
        ("one_missing", "{1, 2}", "WA"),
        ("one_more", "{1, 2, 3, 4}", "WA"),
        ("one_off", "{1, 2, 4}", "WA"),
        ("texts", "{'1', '2', '3'}", "WA"),
        ("empty", "set()", "WA"),
    ):
        built.add(name, f"print({shown!r})\n", verdict)
    return built


CHECK_SUM = """def check(input, expected, actual):
    total = int(input)
    words = actual.split()
    if len(words) != 2:
        return False, "two numbers are wanted"
    a, b = map(int, words)
    return a + b == total and a > 0 and b > 0, "they do not add up"
"""


def _checker() -> Built:
    tests = [{"input": "7\n", "expected": "3 4\n"}, {"input": "100\n", "expected": "50 50\n"}]
    problem = _stdio(tests, comparison={"checker": {"code": CHECK_SUM}})
    built = Built("rules/checker", "several right answers", problem)
    for name, shown, verdict in (
        ("same", "n // 2, n - n // 2", "AC"),
        ("other", "1, n - 1", "AC"),
        ("turned", "n - 1, 1", "AC"),
        ("two_lines", "2, n - 2, sep='\\n'", "AC"),
        ("too_much", "n, n", "WA"),
        ("zero", "0, n", "WA"),
        ("three", "1, 1, n - 2", "WA"),
        ("words", "'a', 'b'", "WA"),
        ("nothing", "", "WA"),
        ("negative", "-1, n + 1", "WA"),
    ):
        built.add(name, f"n = int(input())\nprint({shown})\n", verdict)
    return built


def _long() -> Built:
    count = 5000
    expected = "".join(f"{n * 7919 % 1000003}\n" for n in range(count))
    built = Built("print/long", "long outputs", _stdio([{"input": f"{count}\n", "expected": expected}]))
    numbers = "n = int(input())\nrows = [str(i * 7919 % 1000003) for i in range(n)]\n"
    for name, code, verdict in (
        ("plain", "print('\\n'.join(rows))", "AC"),
        ("one_by_one", "for row in rows:\n    print(row)", "AC"),
        ("trailing_blanks", "for row in rows:\n    print(row, '')", "AC"),
        ("windows", "print('\\r\\n'.join(rows))", "AC"),
        ("last_off", "rows[-1] += '1'\nprint('\\n'.join(rows))", "WA"),
        ("middle_off", "rows[2500] = '7'\nprint('\\n'.join(rows))", "WA"),
        ("last_missing", "print('\\n'.join(rows[:-1]))", "WA"),
        ("one_more", "print('\\n'.join(rows + ['5']))", "WA"),
        ("two_swapped", "rows[10], rows[11] = rows[11], rows[10]\nprint('\\n'.join(rows))", "WA"),
        ("sorted", "print('\\n'.join(sorted(rows, key=int)))", "WA"),
    ):
        built.add(name, f"{numbers}{code}\n", verdict)
    return built


def _huge_integer() -> Built:
    digits = "7" * 4400
    built = Built(
        "print/huge-integer",
        "numbers: large integers",
        _stdio([{"input": "4400\n", "expected": f"{digits}\n"}]),
    )
    for name, code, verdict in (
        ("text", "print('7' * int(input()))", "AC"),
        (
            "computed",
            "import sys\nsys.set_int_max_str_digits(0)\nprint((10 ** int(input()) - 1) // 9 * 7)",
            "AC",
        ),
        ("last_off", "print('7' * (int(input()) - 1) + '8')", "WA"),
        ("one_short", "print('7' * (int(input()) - 1))", "WA"),
        ("middle_off", "n = int(input()) // 2\nprint('7' * n + '6' + '7' * (n - 1))", "WA"),
        ("as_exponent", "print('7.777777777777778e+4399')", "WA"),
        ("computed_at_once", "print((10 ** int(input()) - 1) // 9 * 7)", "AC"),
    ):
        built.add(name, f"{code}\n", verdict)
    return built


def _keywords() -> Built:
    tests = [{"args": [10], "kwargs": {"base": 2}, "expected": "1010"}, {"args": [10], "expected": "10"}]
    problem = {"mode": "call", "entry_point": "digits", "tests": tests, "limits": {"cpu_time_s": 2.0}}
    built = Built("return/keywords", "returned strings", problem)
    built.add(
        "right",
        "def digits(n, base=10):\n    text = ''\n    while n:\n        n, d = divmod(n, base)\n"
        "        text = str(d) + text\n    return text\n",
    )
    built.add("ignores_base", "def digits(n, base=10):\n    return str(n)\n", "WA")
    built.add("number", "def digits(n, base=10):\n    return int(bin(n)[2:]) if base == 2 else n\n", "WA")
    built.add("no_keyword", "def digits(n):\n    return str(n)\n", "RE")
    built.add("prefix", "def digits(n, base=10):\n    return bin(n) if base == 2 else str(n)\n", "WA")
    return built


def _in_place() -> Built:
    tests = [{"args": [[3, 1, 2]], "expected": [1, 2, 3]}, {"args": [[5, 5, 0]], "expected": [0, 5, 5]}]
    problem = {
        "mode": "call",
        "entry_point": "Solution.order",
        "answer_from": "arg0",
        "tests": tests,
        "limits": {"cpu_time_s": 2.0},
    }
    built = Built("return/in-place", "changed arguments", problem)
    body = "class Solution:\n    def order(self, numbers):\n        "
    for name, code, verdict in (
        ("sorts", "numbers.sort()", "AC"),
        ("assigns_slice", "numbers[:] = sorted(numbers)", "AC"),
        (
            "swaps",
            (
                "for i in range(len(numbers)):\n            for j in range(i):\n"
                "                if numbers[j] > numbers[i]:\n"
                "                    numbers[i], numbers[j] = numbers[j], numbers[i]"
            ),
            "AC",
        ),
        ("returns_only", "return sorted(numbers)", "WA"),
        ("rebinds", "numbers = sorted(numbers)", "WA"),
        ("backwards", "numbers.sort(reverse=True)", "WA"),
        ("empties", "numbers.clear()", "WA"),
        ("loses_duplicates", "numbers[:] = sorted(set(numbers))", "WA"),
        ("raises", "raise IndexError", "RE"),
    ):
        built.add(name, f"{body}{code}\n", verdict)
    return built


def _nodes() -> Built:
    tests = [{"args": [[1, 2, 3]], "expected": [3, 2, 1]}, {"args": [[]], "expected": []}]
    problem = {
        "mode": "call",
        "entry_point": "Solution.reverse",
        "arg_types": ["ListNode"],
        "return_type": "ListNode",
        "tests": tests,
        "limits": {"cpu_time_s": 2.0},
    }
    built = Built("return/nodes", "nodes", problem)
    head = "class Solution:\n    def reverse(self, head):\n"
    built.add(
        "loop",
        f"{head}        before = None\n        while head:\n"
        "            head.next, before, head = before, head, head.next\n        return before\n",
    )
    built.add(
        "recursive",
        f"{head}        if not head or not head.next:\n            return head\n"
        "        rest = self.reverse(head.next)\n        head.next.next = head\n        head.next = None\n"
        "        return rest\n",
    )
    built.add("unchanged", f"{head}        return head\n", "WA")
    built.add(
        "first_only", f"{head}        if head:\n            head.next = None\n        return head\n", "WA"
    )
    built.add("nothing", f"{head}        return None\n", "WA")
    built.add("attribute_error", f"{head}        return head.before\n", "RE")
    return built


def _operations() -> Built:
    tests = [
        {"args": [["Counter", "up", "up", "get"], [[5], [], [2], []]], "expected": [None, 6, 8, 8]},
        {"args": [["Counter", "get"], [[0], []]], "expected": [None, 0]},
    ]
    problem = {
        "mode": "call",
        "entry_point": "Counter",
        "operations": True,
        "tests": tests,
        "limits": {"cpu_time_s": 2.0},
    }
    built = Built("return/operations", "designs", problem)
    head = "class Counter:\n    def __init__(self, start):\n        self.value = start\n    def get(self):\n"
    up = "    def up(self, by=1):\n"
    built.add(
        "right", f"{head}        return self.value\n{up}        self.value += by\n        return self.value\n"
    )
    built.add(
        "ignores_by",
        f"{head}        return self.value\n{up}        self.value += 1\n        return self.value\n",
        "WA",
    )
    built.add("returns_nothing", f"{head}        return self.value\n{up}        self.value += by\n", "WA")
    built.add(
        "from_zero",
        f"{head}        return self.value\n{up}        self.value = by\n        return self.value\n",
        "WA",
    )
    built.add("no_method", f"{head}        return self.value\n", "RE")
    return built


def _returned_arrays() -> Built:
    tests = [{"args": [3], "expected": [0, 1, 4]}, {"args": [5], "expected": [0, 1, 4, 9, 16]}]
    problem = {"mode": "call", "entry_point": "squares", "tests": tests, "limits": {"cpu_time_s": 5.0}}
    built = Built("return/arrays", "returned lists", problem)
    head = "import numpy as np\n\ndef squares(n):\n    "
    for name, code, verdict in (
        ("array", "return np.arange(n) ** 2", "AC"),
        ("list_of_scalars", "return list(np.arange(n) ** 2)", "AC"),
        ("to_list", "return (np.arange(n) ** 2).tolist()", "AC"),
        ("cubes", "return np.arange(n) ** 3", "WA"),
        ("column", "return (np.arange(n) ** 2).reshape(-1, 1)", "WA"),
        ("sum", "return (np.arange(n) ** 2).sum()", "WA"),
        ("nan", "return np.full(n, np.nan)", "WA"),
    ):
        built.add(name, f"{head}{code}\n", verdict)
    return built
