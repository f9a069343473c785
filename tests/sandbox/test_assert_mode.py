"""Test code against a program in another process: right programs pass and wrong ones fail, as in one process."""

from collections.abc import Callable

import pytest

from sandbox import Limits, Outcome, RunResult

Check = Callable[..., RunResult]

LIMITS = Limits(cpu_time_s=3.0, wall_time_s=15.0, memory_bytes=512 << 20, output_bytes=1 << 20)

# name: program, test, what a wrong program has instead of "RIGHT" in its text
PAIRS = {
    "a function": ("def f(x): return x + RIGHT", "assert f(1) == 2"),
    "several assertions": (
        "def f(x): return x * RIGHT",
        "assert f(0) == 0\nassert f(2) == 2\nassert f(3) == 3",
    ),
    "keyword arguments": ("def f(a, *, b): return a - b * RIGHT", "assert f(5, b=2) == 3"),
    "a loop over cases": ("def f(x): return x * x * RIGHT", "for x in range(5):\n    assert f(x) == x * x"),
    "zip and map": (
        "def f(x): return x + RIGHT",
        "for got, want in zip(map(f, [1, 2]), [2, 3]):\n    assert got == want",
    ),
    "all of a generator": ("def f(x): return x + RIGHT", "assert all(f(x) == x + 1 for x in range(9))"),
    "helpers of the test": (
        "def f(x): return x + RIGHT",
        "def close(a, b): return abs(a - b) < 1e-9\nassert close(f(0.5), 1.5)",
    ),
    "a test's own reference": (
        "def f(x): return sorted(x)[::RIGHT]",
        "def slow(x):\n    return [y for y in sorted(x)]\nassert f([3, 1, 2]) == slow([3, 1, 2])",
    ),
    "text and None": (
        "def f(x): return 'ab' if RIGHT == 1 else None",
        "assert f(0) == 'ab'\nassert f(0) is not None",
    ),
    "tuples and sets": ("def f(): return (1, {2, RIGHT + 2})", "assert f() == (1, {2, 3})"),
    "types of results": (
        "def f(): return [1] if RIGHT == 1 else (1,)",
        "assert isinstance(f(), list)\nassert type(f()) is list",
    ),
    "a class and its methods": (
        (
            "class Box:\n    def __init__(self, n): self.n = n\n    def add(self, k): self.n += k * RIGHT\n        \n"
            "    def get(self): return self.n"
        ),
        "box = Box(1)\nbox.add(2)\nassert box.get() == 3\nassert box.n == 3",
    ),
    "attributes set by the test": (
        "class A: x = 0\ndef f(a): return a.x * RIGHT",
        "a = A()\na.x = 5\nassert f(a) == 5\nassert A.x == 0",
    ),
    "objects of the program passed back": (
        "class P:\n    def __init__(self, v): self.v = v\ndef f(p, q): return p.v + q.v * RIGHT",
        "assert f(P(1), P(2)) == 3",
    ),
    "operators between its objects": (
        (
            "class V:\n    def __init__(self, x): self.x = x\n"
            "    def __add__(self, o): return V(self.x + o.x * RIGHT)\n"
            "    def __eq__(self, o): return self.x == o.x\n    def __lt__(self, o): return self.x < o.x\n"
            "    def __mul__(self, k): return V(self.x * k)\n    __rmul__ = __mul__\n"
            "    def __hash__(self): return hash(self.x)\n    def __repr__(self): return f'V({self.x})'"
        ),
        (
            "assert V(1) + V(2) == V(3)\nassert V(1) < V(2)\nassert V(1) * 3 == V(3) == 3 * V(1)\n"
            "assert max(V(1), V(5), V(2)).x == 5\nassert repr(V(4)) == 'V(4)' and str(V(4)) == 'V(4)'"
        ),
    ),
    "a container's protocol": (
        (
            "class D:\n    def __init__(self): self.d = {}\n    def __setitem__(self, k, v): self.d[k] = v * RIGHT\n"
            "    def __getitem__(self, k): return self.d[k]\n    def __delitem__(self, k): del self.d[k]\n"
            "    def __contains__(self, k): return k in self.d\n    def __len__(self): return len(self.d)\n"
            "    def __iter__(self): return iter(self.d)\n    def __bool__(self): return len(self.d) > 0"
        ),
        (
            "d = D()\nassert not d\nd['a'] = 1\nd['b'] = 2\nassert d['a'] == 1 and 'a' in d and 'c' not in d and d\n"
            "assert list(d) == ['a', 'b'] and len(d) == 2\ndel d['a']\nassert 'a' not in d and sorted(d) == ['b']"
        ),
    ),
    "a context manager": (
        (
            "class C:\n    def __enter__(self):\n        self.open = RIGHT == 1\n        return self\n"
            "    def __exit__(self, *a): self.open = False"
        ),
        "with C() as c:\n    assert c.open is True\nassert c.open is False",
    ),
    "a generator": (
        "def f():\n    n = RIGHT\n    while True:\n        yield n\n        n += 1",
        "g = f()\nassert next(g) == 1\nassert next(g) == 2\nassert [next(g) for _ in range(200)][-1] == 202",
    ),
    "a generator that ends": (
        "def f(n):\n    for i in range(n): yield i * RIGHT",
        (
            "assert list(f(3)) == [0, 1, 2]\nassert sum(f(2000)) == 1999000\nassert list(f(0)) == []\n"
            "assert [x for x, _ in zip(f(9), 'ab')] == [0, 1]"
        ),
    ),
    "an own list class": (
        "class S(list):\n    def push(self, x): self.append(x * RIGHT)",
        "s = S()\ns.push(3)\nassert s == [3] and len(s) == 1 and s[0] == 3 and list(s) == [3]",
    ),
    "an ordered dictionary with methods": (
        (
            "from collections import OrderedDict\nclass LRU(OrderedDict):\n    def __init__(self, n):\n"
            "        super().__init__()\n        self.n = n\n    def get_(self, k):\n"
            "        return self[k] * RIGHT if k in self else -1\n    def put(self, k, v):\n        self[k] = v\n"
            "        if len(self) > self.n: self.popitem(last=False)"
        ),
        "c = LRU(1)\nc.put(1, 1)\nassert c.get_(1) == 1\nc.put(2, 2)\nassert c.get_(1) == -1",
    ),
    "a named tuple": (
        (
            "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(): return P(1, RIGHT + 1)\n"
            "def g(p): return p.x"
        ),
        "p = f()\nassert p == (1, 2) and p.y == 2 and g(p) == 1 and p == P(1, 2)",
    ),
    "a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef f(): return P(RIGHT)",
        "assert f() == P(1)\nassert f().x == 1",
    ),
    "an enumeration": (
        "import enum\nclass C(enum.Enum):\n    A = 1\n    B = 2\ndef f(): return C.A if RIGHT == 1 else C.B",
        "assert f() == C.A\nassert f().name == 'A'",
    ),
    "exceptions of the library": (
        "def f(x):\n    if x < 0: raise ValueError('negative') if RIGHT == 1 else KeyError(x)\n    return x",
        "try:\n    f(-1)\n    assert False\nexcept ValueError as error:\n    assert 'negative' in str(error)",
    ),
    "exceptions of its own": (
        "class Bad(Exception):\n    pass\ndef f(): raise Bad('why') if RIGHT == 1 else Exception('why')",
        "try:\n    f()\nexcept Bad as error:\n    assert error.args == ('why',)\nelse:\n    raise AssertionError",
    ),
    "exceptions of its own passed back": (
        (
            "class Bad(Exception): pass\ndef f(kind): return issubclass(kind, Bad) and RIGHT == 1\n"
            "def g(error): return error.args[0]"
        ),
        "assert f(Bad)\nassert g(Bad(3)) == 3",
    ),
    "arguments changed in place": (
        "def f(x, d, s):\n    x.sort()\n    d['k'] = RIGHT\n    s.add(1)",
        "x, d, s = [2, 1], {}, set()\nassert f(x, d, s) is None\nassert (x, d, s) == ([1, 2], {'k': 1}, {1})",
    ),
    "a callback": (
        "def f(key, xs): return sorted(xs, key=key)[::RIGHT]",
        "assert f(lambda x: -x, [1, 3, 2]) == [3, 2, 1]\nassert f(len, ['aa', 'b']) == ['b', 'aa']",
    ),
    "a callback that fails": (
        "def f(g):\n    try: g()\n    except ZeroDivisionError: return RIGHT == 1\n    return False",
        "def g(): return 1 / 0\nassert f(g) is True",
    ),
    "a decorator": (
        "def twice(g):\n    def wrapped(x): return g(x) * 2 * RIGHT\n    return wrapped",
        "@twice\ndef f(x): return x + 1\nassert f(2) == 6",
    ),
    "a function that is made": (
        "def f(n):\n    return lambda x: x + n * RIGHT",
        "add = f(2)\nassert add(1) == 3\nassert callable(add)",
    ),
    "a constant": ("LIMIT = 10 * RIGHT", "assert LIMIT == 10"),
    "a name like a built-in": ("def sum(xs): return len(xs) * RIGHT", "assert sum([5, 5]) == 2"),
    "numpy results": (
        "import numpy as np\ndef f(n): return np.arange(n) * RIGHT",
        (
            "import numpy as np\nassert (f(3) == np.array([0, 1, 2])).all()\nassert f(3).shape == (3,)\n"
            "assert f(3).dtype.kind == 'i' and f(4).sum() == 6"
        ),
    ),
    "numpy arguments": (
        "def f(a): return a.sum() * RIGHT",
        "import numpy as np\nassert f(np.array([[1, 2], [3, 4]])) == 10\nassert np.isclose(f(np.ones(3)), 3.0)",
    ),
    "numpy arrays changed in place": (
        "def f(a): a[0] = RIGHT",
        "import numpy as np\na = np.zeros(2)\nf(a)\nassert a.tolist() == [1.0, 0.0]",
    ),
    "numpy's own testing": (
        "import numpy as np\ndef f(): return np.array([0.1]) * RIGHT",
        "import numpy as np\nnp.testing.assert_allclose(f(), [0.1])",
    ),
    "modules that only the program imports": (
        "import math, numpy as np\ndef f(x): return math.sqrt(x) * RIGHT",
        "assert math.isclose(f(4), 2)\nassert np.allclose([f(9)], [3])",
    ),
    "Decimal": (
        "from decimal import Decimal\ndef f(x): return Decimal(x) * RIGHT",
        "from decimal import Decimal\nassert f('1.10') == Decimal('1.1')\nassert str(f('1.10')) == '1.10'",
    ),
    "Fraction": (
        "from fractions import Fraction\ndef f(a, b): return a / b * RIGHT",
        "from fractions import Fraction\nassert f(Fraction(1), 3) == Fraction(1, 3)",
    ),
    "dates": (
        "import datetime\ndef f(d): return d + datetime.timedelta(days=RIGHT)",
        (
            "from datetime import date, datetime\nassert f(date(2024, 2, 28)) == date(2024, 2, 29)\n"
            "assert f(datetime(2024, 1, 1, 5)).day == 2"
        ),
    ),
    "deque, Counter and range": (
        "from collections import deque, Counter\ndef f(x): return deque([x] * RIGHT), Counter('ab'), range(x)",
        (
            "from collections import deque, Counter\nd, c, r = f(2)\nassert d == deque([2]) and r == range(2)\n"
            "assert c == Counter('ab') and c.most_common(1) == [('a', 1)]"
        ),
    ),
    "nested results with objects": (
        "class N:\n    def __init__(self, v): self.v = v\ndef f(): return [N(1), {'a': (N(RIGHT + 1),)}]",
        "a, b = f()\nassert a.v == 1\nassert b['a'][0].v == 2",
    ),
    "printing in between": ("def f(x):\n    print('note', x)\n    return x + RIGHT", "assert f(1) == 2"),
    "test functions": (
        "def f(x): return x + RIGHT",
        "def test_one():\n    assert f(1) == 2\ndef test_two():\n    assert f(2) == 3",
    ),
    "test functions after a line of set-up": (
        "def f(x): return x + RIGHT",
        "import random\nrandom.seed(0)\ndef test_one():\n    assert f(1) == 2",
    ),
    "test functions that wait": (
        "def f(x): return x + RIGHT",
        "async def test_one():\n    assert f(1) == 2",
    ),
    "a group of test functions": (
        "def f(x): return x + RIGHT",
        "class TestF:\n    def test_one(self):\n        assert f(1) == 2",
    ),
    "unittest": (
        "def f(x):\n    if x < 0: raise ValueError\n    return x + RIGHT",
        (
            "import unittest\nclass T(unittest.TestCase):\n    def setUp(self): self.x = 1\n"
            "    def test_value(self): self.assertEqual(f(self.x), 2)\n"
            "    def test_error(self):\n        with self.assertRaises(ValueError): f(-1)\n"
            "        self.assertRaises(ValueError, f, -1)\n"
            "    def test_many(self):\n        for x in range(3):\n"
            "            with self.subTest(x=x): self.assertEqual(f(x), x + 1)"
        ),
    ),
    "unittest.main()": (
        "def f(x): return x + RIGHT",
        (
            "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(f(1), 2)\n"
            "if __name__ == '__main__':\n    unittest.main()"
        ),
    ),
    "unittest.main() that does not leave": (
        "def f(x): return x + RIGHT",
        (
            "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(f(1), 2)\n"
            "unittest.main(argv=['x'], exit=False)"
        ),
    ),
    "a suite whose result nobody looks at": (
        "def f(x): return x + RIGHT",
        (
            "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(f(1), 2)\n"
            "unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T))"
        ),
    ),
    "imported from the program": ("def f(x): return x + RIGHT", "from solution import f\nassert f(1) == 2"),
    "the program imported as a module": (
        "def f(x): return x + RIGHT",
        "import solution\nassert solution.f(1) == 2",
    ),
    "everything imported from the program": (
        "def f(x): return x + RIGHT",
        "from solution import *\nassert f(1) == 2",
    ),
}


@pytest.mark.parametrize(("source", "test"), PAIRS.values(), ids=PAIRS.keys())
def test_a_right_program_passes_and_a_wrong_one_does_not(check: Check, source: str, test: str) -> None:
    right, wrong = (check(source.replace("RIGHT", value), test) for value in ("1", "-1"))
    assert right.outcome is Outcome.PASSED, right.message
    assert wrong.outcome in {Outcome.FAILED, Outcome.RAISED}, wrong
    assert not right.shared
    assert not wrong.shared
