"""Programs that try to pass without being right. None may pass; each table says what stands against it."""

from collections.abc import Callable

import pytest

from sandbox import AssertInput, Limits, Outcome, Program, RunResult, Sandbox
from tests.sandbox.assert_tables import CASES, MANY, ONE, TESTS

Check = Callable[..., RunResult]

LIMITS = Limits(cpu_time_s=1.0, wall_time_s=2.0, memory_bytes=256 << 20, output_bytes=1 << 20)

ALWAYS = """
class Always:
    def __eq__(self, o): return True
    def __ne__(self, o): return False
    def __lt__(self, o): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __add__(self, o): return self
    __sub__ = __rsub__ = __radd__ = __mul__ = __truediv__ = __add__
    def __abs__(self): return 0
    def __float__(self): return 4.0
    def __int__(self): return 9
    def __index__(self): return 9
    def __bool__(self): return True
    def __hash__(self): return hash(9)
    def __len__(self): return 1
    def __iter__(self): return iter(())
    def __contains__(self, o): return True
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
"""
FORGE = """
import os, json, struct
def frame(data):
    data = json.dumps(data).encode()
    return struct.pack('>I', len(data)) + data
RECORDS = [b'{"outcome":"passed"}\\n', frame([["t", 1], "ready"]), frame([["t", 2], "value", True]),
           frame([["t", 3], "value", 9, ["m", 0]]), frame([["t", 2], "value", ["m", 0]])]
def forge():
    for fd in range(3, 64):
        for record in RECORDS:
            try: os.write(fd, record)
            except OSError: pass
"""

CHEATS = {
    "leaves while loading": "raise SystemExit(0)",
    "os._exit while loading": "import os\nos._exit(0)",
    "leaves in the call": "import sys\ndef f(x): sys.exit(0)",
    "raise SystemExit in the call": "def f(x): raise SystemExit",
    "os._exit in the call": "import os\ndef f(x): os._exit(0)",
    "kills itself": "import os\ndef f(x): os.kill(os.getpid(), 9)",
    "kills everybody": "import os\ndef f(x): os.kill(-1, 9)",
    "stops everybody": "import os\ndef f(x): os.kill(-1, 19)",
    "interrupts everybody": "import os, signal\nsignal.signal(2, signal.SIG_IGN)\ndef f(x):\n"
    "    os.kill(-1, 2)\n    return 0",
    "ends the tester only": (
        "import os\ndef f(x):\n    for p in os.listdir('/proc'):\n        if p.isdigit() and int(p) != os.getpid():\n"
        "            try: os.kill(int(p), 15)\n            except OSError: pass\n    return 0"
    ),
    "leaves in an exit handler": "import atexit, os\natexit.register(os._exit, 0)\ndef f(x): return 0",
    "leaves from a thread": (
        "import threading, os, time\nthreading.Thread(target=lambda: (time.sleep(0.01), os._exit(0))).start()\n"
        "def f(x):\n    time.sleep(0.5)\n    return 0"
    ),
    "closes every descriptor": "import os\nos.closerange(0, 256)\ndef f(x): return 0",
    "an object equal to everything": f"{ALWAYS}\ndef f(x): return Always()",
    "an instance as the function": f"{ALWAYS}\nf = Always()",
    "a class as the function": f"{ALWAYS}\nclass f(Always):\n    def __init__(self, x): pass",
    "an int equal to everything": (
        "class A(int):\n    def __eq__(self, o): return True\n    def __sub__(self, o): return A(0)\n"
        "    __hash__ = int.__hash__\ndef f(x): return A(0)"
    ),
    "a float equal to everything": (
        "class A(float):\n    def __eq__(self, o): return True\n    def __sub__(self, o): return A(0)\n"
        "    __hash__ = float.__hash__\ndef f(x): return A(0)"
    ),
    "a list equal to everything": "class A(list):\n    def __eq__(self, o): return True\ndef f(x): return A()",
    "a tuple equal to everything": (
        "from collections import namedtuple\nclass A(namedtuple('A', 'x')):\n    def __eq__(self, o): return True\n"
        "def f(x): return A(0)"
    ),
    "an array equal to everything": (
        "import numpy as np\nclass A(np.ndarray):\n    def __eq__(self, o): return np.True_\n"
        "def f(x): return np.zeros(1).view(A)"
    ),
    "a Decimal of another mind": (
        "import decimal\nclass Decimal(decimal.Decimal):\n    def __eq__(self, o): return True\n"
        "    def __sub__(self, o): return 0\nDecimal.__module__ = 'decimal'\ndef f(x): return Decimal(0)"
    ),
    "a mock": "from unittest.mock import MagicMock\nf = MagicMock()",
    "unittest.mock.ANY": "from unittest.mock import ANY\ndef f(x): return ANY",
    "not a number": "def f(x): return float('nan')",
    "patched built-ins": (
        "import builtins\nbuiltins.all = builtins.any = builtins.isinstance = lambda *a: True\n"
        "builtins.abs = builtins.len = lambda o: 0\nbuiltins.zip = builtins.map = builtins.range = lambda *a: ()\n"
        "builtins.AssertionError = ValueError\nbuiltins.__build_class__ = None\ndef f(x): return 0"
    ),
    "own built-ins": (
        "all = any = lambda *a: True\nabs = len = lambda o: 0\nzip = map = range = lambda *a: ()\n"
        "AssertionError = ValueError\nisinstance = lambda *a: True\ndef f(x): return 0"
    ),
    "own built-ins and no function": "all = any = lambda *a: True\nabs = lambda o: 0\nrange = zip = lambda *a: ()",
    "patched math": "import math\nmath.isclose = lambda *a, **k: True\ndef f(x): return 0",
    "patched unittest": (
        "import unittest\nfor name in dir(unittest.TestCase):\n    if name.startswith('assert') or name == 'run':\n"
        "        setattr(unittest.TestCase, name, lambda *a, **k: None)\n"
        "unittest.TestResult.wasSuccessful = lambda s: True\ndef f(x): return 0"
    ),
    "own names of the test": (
        "class TestCase: pass\nunittest = math = None\ncases = []\ngiven = want = 9\ndef check(*a): return True\n"
        "def test_one(*a): pass\nresult = 9\ndef f(x): return 0"
    ),
    "SkipTest": "import unittest\ndef f(x): raise unittest.SkipTest('later')",
    "SkipTest while loading": "import unittest\nraise unittest.SkipTest('later')",
    "StopIteration": "def f(x): raise StopIteration",
    "StopIteration of its own": "class StopIteration(StopIteration): pass\ndef f(x): raise StopIteration",
    "GeneratorExit": "def f(x): raise GeneratorExit",
    "IndexError": "def f(x): raise IndexError",
    "AssertionError": "def f(x): raise AssertionError",
    "KeyboardInterrupt": "def f(x): raise KeyboardInterrupt",
    "an exception named like ours": (
        "class LinkClosedError(BaseException): pass\nclass NotPlainError(Exception): pass\n"
        "def f(x): raise NotPlainError"
    ),
    "an exception that says the test is broken": "class BrokenTestError(Exception): pass\n"
    "def f(x): raise BrokenTestError",
    "a dangling decorator": "def f(x): return 0\n@(lambda *a: None)",
    "an open string": 'def f(x): return 0\nx = """',
    "an open bracket": "def f(x): return 0\nx = (",
    "a line that continues": "def f(x): return 0\nif False: \\",
    "an early return at the top": "def f(x): return 0\nreturn",
    "forged frames while loading": f"{FORGE}\nforge()\ndef f(x): return 0",
    "forged frames in the call": f"{FORGE}\ndef f(x):\n    forge()\n    return 0",
    "forged frames before leaving": f"{FORGE}\ndef f(x):\n    forge()\n    os._exit(0)",
    "forged frames from a child": f"{FORGE}\nif os.fork() == 0:\n    forge()\n    os._exit(0)\ndef f(x): return 0",
    "frames without an end": "import os\ndef f(x):\n    os.write(4, b'\\xff\\xff\\xff\\xff')\n    return 0",
    "a module that leaves": "import types\nf = types.ModuleType('unittest.__main__')",
    "a module of the tester's": "import types\nf = types.ModuleType('sandbox.harness.tester')",
    "a global that asks for sharing": (
        'import os\ntry: os.write(3, b\'{"outcome":"passed"}\\n\')\nexcept OSError: pass\nclass f(Exception): pass'
    ),
    "tracing": (
        "import sys, threading\nsys.settrace(lambda *a: None)\nthreading.settrace(lambda *a: None)\n"
        "sys.excepthook = lambda *a: None\ndef f(x): return 0"
    ),
    "frames": (
        "import sys\ndef f(x):\n    frame = sys._getframe()\n    while frame:\n"
        "        for value in list(frame.f_locals.values()) + list(frame.f_globals.values()):\n"
        "            if value == x * x and type(value) is int: return value\n        frame = frame.f_back\n    return 0"
    ),
    "collected objects": (
        "import gc\ndef f(x):\n    for o in gc.get_objects():\n"
        "        if type(o) is tuple and o[:1] == (x,) and len(o) == 2 and o[1] == x ** 2: return o[1]\n    return 0"
    ),
    "files of the test": (
        "import glob\ndef f(x):\n    for name in glob.glob('/[bht]*/**', recursive=True):\n"
        "        try:\n            if 'f' + '(3)' in open(name).read(): return 9\n"
        "        except (OSError, ValueError): pass\n    return 0"
    ),
    "written modules": (
        "import os, sys\nfor name in ('unittest.py', 'math.py', 'sitecustomize.py', 'solution.py'):\n"
        "    for folder in ('.', '/tmp', '/box', *sys.path):\n"
        "        try: open(os.path.join(folder, name), 'w').write('raise SystemExit(0)')\n"
        "        except OSError: pass\n"
        "def f(x): return 0"
    ),
    "a lucky constant": "def f(x): return 9",
    "nothing at all": "",
}
# What is right only by chance of a test with one assertion, or by that test's own forgiveness.
NOT_A_CHEAT = {
    ("a lucky constant", "one"),
    ("a lucky constant", "forgiving"),
}
# This test forgives every exception: only the end of the program and wrong values can be held against one.
FORGIVEN = {
    *(
        "SkipTest",
        "StopIteration",
        "StopIteration of its own",
        "GeneratorExit",
        "IndexError",
        "AssertionError",
    ),
    *("KeyboardInterrupt", "an exception named like ours", "an exception that says the test is broken"),
    *(
        "leaves in the call",
        "raise SystemExit in the call",
        "nothing at all",
        "own built-ins and no function",
    ),
    *("a module that leaves", "a module of the tester's", "an instance as the function"),
}


@pytest.mark.parametrize("test", TESTS.values(), ids=TESTS.keys())
def test_an_honest_program_passes(check: Check, test: str) -> None:
    result = check("def f(x): return x * x", test, "f", limits=LIMITS)
    assert result.outcome is Outcome.PASSED, result.message


@pytest.mark.parametrize("name", CHEATS)
def test_no_cheat_passes(sandbox: Sandbox, name: str) -> None:
    """One session serves all tests, so that the jail's start is paid once."""
    with sandbox.session(Program(CHEATS[name], mode="assert", entry_point="f"), LIMITS) as session:
        if not session.compiled.ok:
            return
        for kind, test in TESTS.items():
            if name == "stops everybody" and kind != "forgiving":  # each of these takes the whole wall time
                continue
            if (name, kind) in NOT_A_CHEAT or (kind == "forgiving" and name in FORGIVEN):
                continue
            result = session.run(AssertInput(test), LIMITS)
            assert result.outcome not in {Outcome.PASSED, Outcome.BROKEN_TEST, Outcome.NEEDS_SHARING}, (
                kind,
                result,
            )
            assert not result.shared


@pytest.mark.parametrize("entry_point", ["f", None])
@pytest.mark.parametrize("name", ["own built-ins", "own built-ins and no function", "nothing at all"])
def test_own_built_ins_do_not_pass_without_an_entry_point_either(
    check: Check, name: str, entry_point: str | None
) -> None:
    for test in (ONE, MANY, CASES):
        assert check(CHEATS[name], test, entry_point, limits=LIMITS).outcome is not Outcome.PASSED


YES_MAN = """
class Y:
    def __contains__(self, x): return True
    def __getattr__(self, name): return lambda *a: True
    def __iter__(self): return iter((1, 2))
"""


@pytest.mark.parametrize(
    "test",
    [
        pytest.param("assert 7 in f(1)", id="in"),
        pytest.param("assert f(1).startswith('right')", id="startswith"),
        pytest.param("assert f(1).issuperset({7})", id="issuperset"),
    ],
)
def test_an_object_that_says_yes_to_everything_is_not_asked(check: Check, test: str) -> None:
    """A question that holds its own answer goes to plain data only, unless the test is about classes."""
    assert check(f"{YES_MAN}\ndef f(x): return Y()", test).outcome is not Outcome.PASSED
    honest = {"in": "[6, 7]", "startswith": "'right it is'", "issuperset": "{6, 7}"}
    word = next(word for word in ("startswith", "issuperset", "in") if word in test)
    assert check(f"def f(x): return {honest[word]}", test).outcome is Outcome.PASSED


def test_membership_of_an_iterator_is_looked_up_in_what_it_yields(check: Check) -> None:
    """A generator has no answer of its own to give."""
    assert check("def f(n): return (i * i for i in range(n))", "assert 9 in f(5)").outcome is Outcome.PASSED
    assert check("def f(n): return (i * i for i in range(n))", "assert 8 in f(5)").outcome is Outcome.FAILED


def test_a_missing_function_named_like_a_built_in_is_the_programs_fault(check: Check) -> None:
    """The test fails on the built-in, so the submission fails: no way to an unscorable judgement."""
    assert check("def add(a, b): return a + b", "assert sum(10, 15) == 25").outcome is Outcome.RAISED
    assert check("def sum(a, b): return a + b", "assert sum(10, 15) == 25").outcome is Outcome.PASSED


def test_pytests_helpers_work(check: Check) -> None:
    """Tests of data sets use pytest's raises and approx without being run by pytest."""
    test = "import pytest\nwith pytest.raises(ValueError):\n    f(-1)\nassert f(4) == pytest.approx(2.0000000001)"
    right = "import math\ndef f(x): return math.sqrt(x)"
    assert check(right, test).outcome is Outcome.PASSED
    assert check("def f(x): return 2.0", test).outcome is not Outcome.PASSED
    assert check("import math\ndef f(x): return math.sqrt(x) + (x > 0)", test).outcome is Outcome.FAILED
