"""Results of calls: plain data of exact built-in types comes out, whatever the program makes of its objects."""

from collections.abc import Callable
from typing import Any

import pytest

from sandbox import Limits, Outcome, RunResult

Call = Callable[..., RunResult]

PLAIN = {
    "tuple": ("return (1, (2, 3))", (1, (2, 3))),
    "set": ("return {1, 2}", {1, 2}),
    "frozenset": ("return frozenset([(1, 2)])", frozenset([(1, 2)])),
    "dict with keys of many types": (
        "return {1: 'a', (2, 3): [4], None: 5.5}",
        {1: "a", (2, 3): [4], None: 5.5},
    ),
    "bytes": ("return b'\\x00a'", b"\x00a"),
    "bytearray": ("return bytearray(b'a')", b"a"),
    "complex": ("return 1 + 2j", 1 + 2j),
    "a huge integer": ("return -(10 ** 30_000)", -(10**30_000)),
    "True is no integer": ("return [True, 1]", [True, 1]),
    "range": ("return range(3)", [0, 1, 2]),
    "map": ("return map(str, [1, 2])", ["1", "2"]),
    "generator": ("return (x * x for x in range(3))", [0, 1, 4]),
    "zip": ("return zip('ab', [1, 2])", [("a", 1), ("b", 2)]),
    "reversed": ("return reversed([1, 2])", [2, 1]),
    "dictionary keys": ("return {'a': 1}.keys()", ["a"]),
    "dictionary values": ("return {'a': 1}.values()", [1]),
    "itertools": ("import itertools\n    return itertools.islice(itertools.count(), 3)", [0, 1, 2]),
    "deque": ("from collections import deque\n    return deque([1, 2])", [1, 2]),
    "Counter": ("from collections import Counter\n    return Counter('aab')", {"a": 2, "b": 1}),
    "defaultdict": ("from collections import defaultdict\n    return defaultdict(int, a=1)", {"a": 1}),
    "OrderedDict": ("from collections import OrderedDict\n    return OrderedDict(a=1)", {"a": 1}),
    "namedtuple": ("from collections import namedtuple\n    return namedtuple('P', 'x y')(1, 2)", (1, 2)),
    "array": ("import array\n    return array.array('i', [1, 2])", [1, 2]),
    "numpy array": ("import numpy as np\n    return np.arange(4).reshape(2, 2)", [[0, 1], [2, 3]]),
    "numpy scalars": (
        "import numpy as np\n    return [np.int64(1), np.float32(0.5), np.bool_(True), np.str_('a')]",
        [1, 0.5, True, "a"],
    ),
    "Decimal": ("from decimal import Decimal\n    return [Decimal('2.5'), Decimal(3)]", [2.5, 3]),
    "Fraction": ("from fractions import Fraction\n    return [Fraction(1, 4), Fraction(6, 3)]", [0.25, 2]),
    "IntEnum": ("import enum\n    return enum.IntEnum('E', 'A B').B", 2),
    "memoryview": ("return memoryview(b'ab')", b"ab"),
    "text that is no valid Unicode": ("return '\\ud800a'", "\ud800a"),
    "the same list twice": ("a = [1]\n    return [a, a]", [[1], [1]]),
    "a nesting of 100000": (
        "a = [7]\n    for _ in range(100_000): a = [a]\n    for _ in range(100_000): a = a[0]\n    return a",
        [7],
    ),
}


@pytest.mark.parametrize(("body", "value"), PLAIN.values(), ids=PLAIN.keys())
def test_what_is_plain_data_or_stands_for_it_comes_out_as_exact_types(
    call: Call, body: str, value: Any
) -> None:
    result = call(f"def f():\n    {body}")
    assert result.outcome is Outcome.RETURNED, result.message or result.stderr
    assert result.value == value
    assert _types(result.value) == _types(value)


def _types(value: Any) -> Any:
    if type(value) in {list, tuple}:
        return [type(value), *map(_types, value)]
    return type(value)


def test_a_deeply_nested_result_comes_out(call: Call) -> None:
    value = call("def f():\n    a = []\n    for _ in range(100_000): a = [a]\n    return a").value
    depth = 0
    while value:
        (value,) = value
        depth += 1
    assert depth == 100_000


def test_a_result_of_a_million_numbers_comes_out(call: Call) -> None:
    result = call("def f(): return list(range(1_000_000))", limits=Limits(memory_bytes=512 << 20))
    assert result.value == list(range(1_000_000))


NOT_PLAIN = {
    "an object": "return object()",
    "a function": "return f",
    "a class": "return int",
    "an exception": "return ValueError(1)",
    "a module": "import math\n    return math",
    "a cycle": "a = []\n    a.append(a)\n    return a",
    "a cycle through a dictionary": "a = {}\n    a['a'] = (a,)\n    return a",
    "an object deep inside": "return {'a': [(1, object())]}",
    "a coroutine": "async def g(): pass\n    c = g()\n    c.close()\n    return c",
    "an own dataclass": "import dataclasses\n    return dataclasses.make_dataclass('P', ['x'])(1)",
    "an own iterable": "class A:\n        def __iter__(self): return iter([1])\n    return A()",
    "an object that claims to be a list": (
        "class A:\n        __class__ = list\n        def __iter__(self): return iter([1])\n    return [A()]"
    ),
    "NotImplemented": "return NotImplemented",
    "Ellipsis": "return ...",
    "a numpy array of objects": "import numpy\n    return numpy.array([object()], dtype=object)",
}


@pytest.mark.parametrize("body", NOT_PLAIN.values(), ids=NOT_PLAIN.keys())
def test_what_is_no_plain_data_is_no_result(call: Call, body: str) -> None:
    result = call(f"def f():\n    {body}")
    assert result.value is None
    assert result.outcome in {Outcome.NOT_PLAIN, Outcome.RAISED}


HOSTILE = {
    "always equal int": (
        "class A(int):\n    def __eq__(self, o): return True\n    __hash__ = int.__hash__",
        "A(3)",
        3,
    ),
    "always equal str": (
        "class A(str):\n    def __eq__(self, o): return True\n    __hash__ = str.__hash__",
        "A('x')",
        "x",
    ),
    "always equal list": ("class A(list):\n    def __eq__(self, o): return True", "A([1])", [1]),
    "list that iterates otherwise": (
        "class A(list):\n    def __iter__(self): return iter([42])",
        "A([1])",
        [1],
    ),
    "list of another length": ("class A(list):\n    def __len__(self): return 0", "A([1])", [1]),
    "dict with other items": ("class A(dict):\n    def items(self): return [(1, 42)]", "A({1: 2})", {1: 2}),
    "dict that gives anything": ("class A(dict):\n    def __missing__(self, k): return 42", "A()", {}),
    "float of another value": ("class A(float):\n    def __float__(self): return 42.0", "A(1.5)", 1.5),
    "int of another value": (
        "class A(int):\n    def __int__(self): return 42\n    __index__ = __int__",
        "A(1)",
        1,
    ),
    "int that claims to be bool": ("class A(int):\n    __class__ = bool", "A(3)", 3),
    "str of another text": ("class A(str):\n    def __str__(self): return '42'", "A('x')", "x"),
    "tuple": ("class A(tuple):\n    def __iter__(self): return iter((42,))", "A((1,))", (1,)),
    "set": ("class A(set):\n    def __iter__(self): return iter((42,))", "A({1})", {1}),
    "reduce": (
        "import os\nclass A(list):\n    def __reduce__(self): return os.system, ('true',)",
        "A([1])",
        [1],
    ),
    "hash": ("class A(int):\n    def __hash__(self): return 42", "{A(1)}", {1}),
    "nested": (
        "class A(int):\n    def __eq__(self, o): return True\n    __hash__ = int.__hash__",
        "[{'a': A(0)}]",
        [{"a": 0}],
    ),
}


@pytest.mark.parametrize(("definition", "result", "value"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_subclass_is_what_its_base_holds(call: Call, definition: str, result: str, value: Any) -> None:
    found = call(f"{definition}\ndef f(): return {result}")
    assert found.outcome is Outcome.RETURNED, found.message or found.stderr
    assert found.value == value
    assert type(found.value) is type(value)


PRETENDERS = {
    "tolist of something that is no array": (
        "class ndarray:\n    def tolist(self): raise SystemExit(0)\nndarray.__module__ = 'numpy'",
        "ndarray()",
    ),
    "a Decimal that is none": (
        (
            "class Decimal:\n    def __float__(self): return 1.0\n    def __floordiv__(self, o): return self\n"
            "    def __eq__(self, o): return True\n    def __int__(self): raise SystemExit(0)\n"
            "Decimal.__module__ = 'decimal'"
        ),
        "Decimal()",
    ),
    "a property that exits": (
        "class A:\n    @property\n    def __class__(self): raise SystemExit(0)",
        "A()",
    ),
    "a metaclass that lies": (
        (
            "class M(type):\n    __name__ = property(lambda c: 'generator')\n"
            "    __module__ = property(lambda c: 'builtins')\n"
            "class A(metaclass=M):\n    def __iter__(self): raise SystemExit(0)"
        ),
        "A()",
    ),
    "an iterator that exits": ("def g():\n    yield 1\n    raise SystemExit(0)", "g()"),
    "an iterator that kills": ("import os\ndef g():\n    yield 1\n    os._exit(0)", "g()"),
}


@pytest.mark.parametrize(("definition", "result"), PRETENDERS.values(), ids=PRETENDERS.keys())
def test_pretenders_are_no_result(call: Call, definition: str, result: str) -> None:
    found = call(f"{definition}\ndef f(): return {result}")
    assert found.outcome is not Outcome.RETURNED
    assert found.value is None
