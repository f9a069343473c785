"""Objects that cross between a test and the program: iterators, exceptions, identity, coroutines, printed text.

Each program is right where RIGHT is 1 and wrong where it is 0.
"""

from collections.abc import Callable

import pytest

from sandbox import Outcome, RunResult

Check = Callable[..., RunResult]

OBJECTS = {
    "an iterator given": ("def f(it): return sum(it) * RIGHT", "assert f(iter([1, 2])) == 3"),
    "a generator given": ("def f(it): return max(it) * RIGHT", "assert f(x * x for x in range(4)) == 9"),
    "map and zip given": (
        "def f(a, b): return [x + y for (x, y) in b] if RIGHT else list(a)",
        "assert f(map(str, [1]), zip([1, 2], [3, 4])) == [4, 6]",
    ),
    "an exception caught by its base": (
        "class A(Exception): pass\nclass B(A): pass\ndef f():\n    raise B('b') if RIGHT else KeyError('k')",
        "try:\n    f()\n    assert False\nexcept A as error:\n    assert str(error) == 'b' and isinstance(error, B)",
    ),
    "an exception with a built-in base as well": (
        "class A(Exception): pass\nclass B(A, ValueError): pass\ndef f():\n    raise B if RIGHT else A",
        "try:\n    f()\nexcept ValueError:\n    pass",
    ),
    "attributes of an exception": (
        (
            "class E(Exception):\n    def __init__(self, code):\n        super().__init__('no')\n"
            "        self.code = code\n"
            "def f(): raise E(7 * RIGHT)"
        ),
        "try:\n    f()\n    assert False\nexcept E as error:\n    assert error.code == 7",
    ),
    "identity of what is returned twice": (
        "class N: pass\nn = N()\ndef get(): return n if RIGHT else N()",
        "assert get() is get()\nassert len({get(), get()}) == 1",
    ),
    "identity of linked nodes": (
        (
            "class N:\n    def __init__(self, v, next=None):\n        self.v, self.next = v, next\n"
            "def last(n):\n    while n.next: n = n.next\n    return n if RIGHT else N(n.v)"
        ),
        "c = N(3)\na = N(1, N(2, c))\nassert last(a) is c and a.next.next is c",
    ),
    "objects of equal value in a set": (
        (
            "class K:\n    def __init__(self, v): self.v = v\n    def __hash__(self): return hash(self.v)\n"
            "    def __eq__(self, o): return self.v == o.v and RIGHT == 1"
        ),
        "assert len({K(1), K(1), K(2)}) == 2",
    ),
    "a coroutine": ("async def f(x): return x + RIGHT", "import asyncio\nassert asyncio.run(f(1)) == 2"),
    "printed text captured": (
        "def f(x): print('got', x * RIGHT)",
        (
            "import io\nfrom contextlib import redirect_stdout\nout = io.StringIO()\n"
            "with redirect_stdout(out):\n    f(5)\nassert out.getvalue() == 'got 5\\n'"
        ),
    ),
}


@pytest.mark.parametrize(("program", "test"), OBJECTS.values(), ids=OBJECTS.keys())
def test_a_right_program_passes_and_a_wrong_one_does_not(check: Check, program: str, test: str) -> None:
    right = check(f"RIGHT = 1\n{program}", test)
    assert right.outcome is Outcome.PASSED, right.message
    assert not right.shared
    assert check(f"RIGHT = 0\n{program}", test).outcome in {Outcome.FAILED, Outcome.RAISED}


def test_an_endless_iterator_given_is_no_way_to_fill_the_testers_memory(check: Check) -> None:
    """What cannot be sent over makes the test run beside the program, and that is told."""
    result = check("def f(it): return next(it)", "import itertools\nassert f(itertools.count(3)) == 3")
    assert result.outcome is Outcome.PASSED
    assert result.shared
