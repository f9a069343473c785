"""Ways to return results, by what a result is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scripts.audit_set.model import Presentation, right, wrong


def _some(test: Callable[[Any], bool]) -> Callable[[Sequence[Any]], bool]:
    return lambda answers: any(map(test, answers))


def _all(test: Callable[[Any], bool]) -> Callable[[Sequence[Any]], bool]:
    return lambda answers: all(map(test, answers))


EQUAL_TO_ALL = """class Same:
    def __eq__(self, other):
        return True
    def __ne__(self, other):
        return False
    def __hash__(self):
        return 1
return Same()"""

# What holds for any result.
COMMON = [
    right("plain", "return answer"),
    right("noise_on_stdout", "print('debug', answer)\nreturn answer"),
    right("assigned_first", "result = answer\nreturn result"),
    wrong("nothing", "pass", _some(lambda a: a is not None)),
    wrong("printed_only", "print(answer)", _some(lambda a: a is not None)),
    wrong("in_a_list", "return [answer]"),
    wrong("equal_to_all", EQUAL_TO_ALL),
    wrong("function", "return lambda: answer"),
    wrong("raises", "raise RuntimeError(answer)", verdict="RE"),
    wrong("exits", "import sys\nsys.exit(0)", verdict="RE"),
    wrong("killed", "import os\nos._exit(0)", verdict="RE"),
]

INT = [
    right("as_float", "return float(answer)", _all(lambda a: float(a) == a)),
    wrong("one_more", "return answer + 1"),
    wrong("as_text", "return str(answer)"),
    wrong("near", "return answer + 0.0000001", _all(lambda a: abs(a) < 10**6)),
    wrong("through_double", "return int(float(answer))", _some(lambda a: int(float(a)) != a)),
    wrong("negated", "return -answer", _some(lambda a: a != 0)),
    # In Python a truth value is the integer 0 or 1, and no other.
    right("as_truth_value", "return bool(answer)", _all(lambda a: a in (0, 1))),
    wrong("only_whether", "return bool(answer)", _some(lambda a: a not in (0, 1))),
    wrong("opposite_truth", "return not answer", _all(lambda a: a in (0, 1))),
    wrong("not_a_number", "return float('nan')"),
    wrong(
        "liar", "class Liar(int):\n    def __eq__(self, other):\n        return True\nreturn Liar(answer + 1)"
    ),
]

LIST = [
    right("tuple", "return tuple(answer)"),
    right("copied", "return [*answer]"),
    right("own_list", "class Own(list):\n    pass\nreturn Own(answer)"),
    wrong("backwards", "return answer[::-1]", _some(lambda a: a != a[::-1])),
    wrong("last_missing", "return answer[:-1]", _some(bool)),
    wrong("one_too_many", "return [*answer, *answer[-1:]]", _some(bool)),
    wrong("as_text", "return str(answer)"),
    wrong("first_only", "return answer[0] if answer else 0"),
    wrong(
        "liar",
        "class Liar(list):\n    def __eq__(self, other):\n        return True\nreturn Liar([*answer, 'more'])",
    ),
    wrong("empty", "return []", _some(bool)),
    wrong("none_for_empty", "return answer or None", _some(lambda a: a == [])),
    wrong(
        "duplicates_lost",
        "return list(dict.fromkeys(answer))",
        _some(lambda a: all(isinstance(x, str | int) for x in a) and len(set(a)) < len(a)),
    ),
    wrong(
        "as_texts", "return [str(x) for x in answer]", _some(lambda a: any(not isinstance(x, str) for x in a))
    ),
]

MATRIX = [
    right("tuples", "return [tuple(row) for row in answer]"),
    right("all_tuples", "return tuple(tuple(row) for row in answer)"),
    wrong("rows_swapped", "return answer[::-1]", _some(lambda a: a != a[::-1])),
    wrong("flat", "return [x for row in answer for x in row]", _some(bool)),
    wrong("row_missing", "return answer[1:]", _some(bool)),
    wrong(
        "rows_sorted",
        "return [sorted(row, reverse=True) for row in answer]",
        _some(lambda a: any(r != sorted(r, reverse=True) for r in a)),
    ),
    wrong("empty_row", "return [*answer, []]"),
]

FLOAT = [
    right("noise", "return answer + 1e-10"),
    right("nine_digits", "return round(answer, 9)"),
    wrong("two_digits", "return round(answer, 1)", _some(lambda a: abs(a - round(a, 1)) > 1e-4)),
    wrong("as_text", "return f'{answer:.9f}'"),
    wrong("a_hundredth_off", "return answer + 0.01"),
    wrong("not_a_number", "return float('nan')"),
    wrong("infinite", "return float('inf')"),
    wrong("truncated", "return int(answer)", _some(lambda a: abs(a - int(a)) > 1e-4)),
]

FLOATS = [
    right("noise", "return [x + 1e-10 for x in answer]"),
    right("tuple_of_noise", "return tuple(x - 1e-10 for x in answer)"),
    wrong("one_off", "return [*answer[:-1], answer[-1] + 0.01]"),
    wrong("one_nan", "return [*answer[:-1], float('nan')]"),
    wrong("one_missing", "return answer[:-1]"),
    wrong("as_text", "return ' '.join(map(str, answer))"),
    wrong("backwards", "return answer[::-1]", _some(lambda a: len(a) > 1)),
]

STRING = [
    right("built", "return ''.join(list(answer))"),
    wrong("other_case", "return answer.swapcase()", _some(lambda a: a.swapcase() != a)),
    wrong("blank_behind", "return answer + ' '"),
    wrong("line_end", "return answer + '\\n'"),
    wrong("quoted", "return repr(answer)"),
    wrong("as_list", "return list(answer)"),
    wrong("as_number", "return int(answer)", _all(str.isdigit)),
    wrong("first_letter", "return answer[:1]", _some(lambda a: len(a) > 1)),
    wrong("empty", "return ''"),
    wrong("as_bytes", "return answer.encode()"),
]

DICT = [
    right("other_order", "return dict(reversed(answer.items()))"),
    right("own_dict", "import collections\nreturn collections.OrderedDict(answer)"),
    wrong("key_missing", "answer.popitem()\nreturn answer"),
    wrong("key_more", "answer['zzz'] = 1\nreturn answer"),
    wrong("values_only", "return list(answer.values())"),
    wrong("pairs", "return [list(pair) for pair in answer.items()]"),
    wrong("value_changed", "key = next(iter(answer))\nanswer[key] = 'other'\nreturn answer"),
    wrong("keys_changed", "return {f'{key}_': value for key, value in answer.items()}"),
]

BOOL = [
    right("computed", "return not not answer"),
    right("as_integer", "return int(answer)"),
    right("as_float", "return 1.0 if answer else 0.0"),
    wrong("other_truth", "return 7 if answer else 0", _some(bool)),
    wrong("empty_for_false", "return answer or []", _some(lambda a: not a)),
    wrong("opposite_integer", "return int(not answer)"),
    wrong("opposite", "return not answer"),
    wrong("always_true", "return True", _some(lambda a: not a)),
    wrong("always_false", "return False", _some(bool)),
    wrong("as_text", "return 'true' if answer else 'false'"),
    wrong("none_for_false", "return answer or None", _some(lambda a: not a)),
]

OPTIONAL = [
    wrong("minus_one", "return -1 if answer is None else answer", _some(lambda a: a is None)),
    wrong("zero_for_none", "return answer or 0", _some(lambda a: a is None)),
    wrong("false_for_none", "return False if answer is None else answer", _some(lambda a: a is None)),
    wrong("as_text", "return str(answer)"),
    wrong("always_none", "return None", _some(lambda a: a is not None)),
]

FREE_ORDER = [
    right("backwards", "return answer[::-1]"),
    right("sorted", "return sorted(answer)"),
    right("tuple", "return tuple(answer)"),
    wrong("one_missing", "return answer[1:]", _some(bool)),
    wrong("one_twice", "return [*answer, *answer[:1]]", _some(bool)),
    wrong(
        "one_for_another", "return [answer[0], *answer[:-1]]", _some(lambda a: len(a) > 1 and a[0] != a[-1])
    ),
    wrong(
        "duplicates_lost",
        "return list(dict.fromkeys(map(str, answer)))",
        _some(bool),
    ),
    wrong("nested", "return [[x] for x in answer]", _some(bool)),
]

PRESENTATIONS: dict[str, list[Presentation]] = {
    "int": INT,
    "list": LIST,
    "matrix": MATRIX,
    "float": FLOAT,
    "floats": FLOATS,
    "string": STRING,
    "dict": DICT,
    "bool": BOOL,
    "optional": OPTIONAL,
    "any order": FREE_ORDER,
}
