"""A script runs as in an interpreter of its own: every way to read, write and end behaves as it does there."""

from collections.abc import Callable

import pytest

from sandbox import End, Limits, Program, RunResult, Sandbox, StdioInput

Script = Callable[..., RunResult]

READERS = {
    "input() line by line": "print(int(input()) + int(input()))",
    "sys.stdin.buffer": "import sys\nprint(sum(map(int, sys.stdin.buffer.read().split())))",
    "sys.stdin.buffer line by line": "import sys\nr = sys.stdin.buffer.readline\nprint(int(r()) + int(r()))",
    "iterating sys.stdin": "import sys\nprint(sum(int(line) for line in sys.stdin))",
    "sys.__stdin__": "import sys\nprint(sum(map(int, sys.__stdin__.read().split())))",
    "open(0)": "print(sum(map(int, open(0).read().split())))",
    "open(0, 'rb')": "print(sum(map(int, open(0, 'rb').readlines())))",
    "/dev/stdin": "print(sum(map(int, open('/dev/stdin').read().split())))",
    "/proc/self/fd/0": "print(sum(map(int, open('/proc/self/fd/0').read().split())))",
    "fileinput": "import fileinput\nprint(sum(int(line) for line in fileinput.input()))",
    "os.read until it gives nothing": (
        "import os\ndata = b''\nwhile part := os.read(0, 3): data += part\nprint(sum(map(int, data.split())))"
    ),
    "os.read of what fstat promises": (
        "import os\nprint(sum(map(int, os.read(0, os.fstat(0).st_size).split())))"
    ),
    "os.fdopen(0)": "import os\nprint(sum(map(int, os.fdopen(0).read().split())))",
    "mmap of standard input": "import mmap\nprint(sum(map(int, mmap.mmap(0, 0, prot=1)[:].split())))",
    "a rebound input": "import sys\ninput = iter(sys.stdin.read().split()).__next__\n"
    "print(int(input()) + int(input()))",
    "input() until EOFError": ("n = 0\ntry:\n    while True: n += int(input())\nexcept EOFError: print(n)"),
    "readline() until it gives nothing": (
        "import sys\nn = 0\nwhile line := sys.stdin.readline(): n += int(line)\nprint(n)"
    ),
    "seeking back": "import sys\nsys.stdin.read()\nsys.stdin.seek(0)\nprint(sum(map(int, sys.stdin.read().split())))",
    "numpy": "import sys, numpy\nprint(numpy.array(sys.stdin.read().split(), dtype=int).sum())",
}


@pytest.mark.parametrize("source", READERS.values(), ids=READERS.keys())
def test_every_view_of_standard_input_reads_the_whole_input(sandbox: Sandbox, source: str) -> None:
    """Whether or not the last line ends with a line feed."""
    with sandbox.session(Program(source), Limits()) as session:
        for stdin in (b"40\n2\n", b"40\n2"):
            result = session.run(StdioInput(stdin), Limits())
            assert (result.end, result.exit_code, result.stdout) == (End.EXITED, 0, b"42\n"), result.stderr


@pytest.mark.parametrize(
    ("source", "stdout"),
    [
        ("import sys\nprint(repr(sys.stdin.read()))", b"''\n"),
        ("try: input()\nexcept EOFError: print('end')", b"end\n"),
        ("import os\nprint(os.read(0, 10), os.fstat(0).st_size)", b"b'' 0\n"),
    ],
    ids=["read", "input", "descriptor"],
)
def test_an_empty_input_is_at_its_end(script: Script, source: str, stdout: bytes) -> None:
    assert script(source).stdout == stdout


@pytest.mark.parametrize(
    ("source", "stdout"),
    [
        ("import sys\nprint(repr(sys.stdin.read(4)))", b"'\xc3\xa9\xe2\x82\xac\\nx'\n"),
        ("import os\nprint(os.read(0, 3))", b"b'\\xc3\\xa9\\xe2'\n"),
        ("print(len(input()), input())", b"2 x\n"),
    ],
    ids=["characters", "bytes", "lines"],
)
def test_text_is_utf_8_whatever_the_machine_says(script: Script, source: str, stdout: bytes) -> None:
    assert script(source, "é€\nx\n".encode()).stdout == stdout


WRITERS = {
    "print": "print('out')",
    "sys.stdout.write without a flush": "import sys\nsys.stdout.write('out\\n')",
    "sys.stdout.buffer": "import sys\nsys.stdout.buffer.write(b'out\\n')",
    "sys.__stdout__": "import sys, io\nsys.stdout = io.StringIO()\nprint('lost')\nsys.__stdout__.write('out\\n')",
    "os.write": "import os\nos.write(1, b'out\\n')",
    "an own file object that nobody flushes": "f = open(1, 'w')\nf.write('out\\n')",
    "an own binary file object that nobody flushes": "import os\nf = os.fdopen(1, 'wb')\nf.write(b'out\\n')",
    "a replaced sys.stdout that nobody flushes": (
        "import sys\nsys.stdout = open(1, 'w', buffering=1 << 20)\nprint('out')"
    ),
    "/dev/stdout": "open('/dev/stdout', 'w').write('out\\n')",
    "atexit": "import atexit\natexit.register(print, 'out')",
    "a thread that goes on after the main one": (
        "import threading, time\ndef late():\n    time.sleep(0.05)\n    print('out')\n"
        "threading.Thread(target=late).start()"
    ),
    "the main guard": "if __name__ == '__main__': print('out')",
    "__del__ of a global": "class A:\n    def __del__(self): print('out')\na = A()",
    "a child": "import subprocess\nsubprocess.run(['echo', 'out'])",
    "a forked child": "import os\nif os.fork() == 0:\n    print('out', flush=True)\n    os._exit(0)\nos.wait()",
    "a generator's finally": "def g():\n    try: yield\n    finally: print('out')\ng = g()\nnext(g)",
    "print from exec": "exec(\"print('out')\")",
}


@pytest.mark.parametrize("source", WRITERS.values(), ids=WRITERS.keys())
def test_all_that_reaches_standard_output_is_the_output(script: Script, source: str) -> None:
    result = script(source)
    assert (result.end, result.exit_code, result.stdout) == (End.EXITED, 0, b"out\n"), result.stderr


def test_standard_error_is_kept_apart(script: Script) -> None:
    result = script("import sys\nprint('answer')\nprint('note', file=sys.stderr)")
    assert (result.stdout, result.stderr) == (b"answer\n", b"note\n")


ENDS = {
    "falling off the end": ("pass", 0),
    "sys.exit()": ("import sys; sys.exit()", 0),
    "sys.exit(None)": ("import sys; sys.exit(None)", 0),
    "sys.exit(0)": ("import sys; sys.exit(0)", 0),
    "sys.exit(False)": ("import sys; sys.exit(False)", 0),
    "exit()": ("exit()", 0),
    "quit()": ("quit()", 0),
    "os._exit(0)": ("import os; os._exit(0)", 0),
    "sys.exit(3)": ("import sys; sys.exit(3)", 3),
    "sys.exit(True)": ("import sys; sys.exit(True)", 1),
    "sys.exit(256 + 7)": ("import sys; sys.exit(263)", 7),
    "sys.exit(-1)": ("import sys; sys.exit(-1)", 255),
    "sys.exit of a message": ("import sys; sys.exit('no')", 1),
    "raise SystemExit": ("raise SystemExit(4)", 4),
    "os._exit(5)": ("import os; os._exit(5)", 5),
    "an exception": ("1 / 0", 1),
    "KeyboardInterrupt": ("raise KeyboardInterrupt", 1),
    "an exception that a hook hides": (
        "import sys\nsys.excepthook = lambda *a: print('fine')\nraise ValueError",
        1,
    ),
    "an exception hook that fails": ("import sys\nsys.excepthook = None\nraise ValueError", 1),
    "an exception in a thread": ("import threading\nthreading.Thread(target=lambda: 1 / 0).start()", 0),
    "an exception in an exit handler": ("import atexit\natexit.register(lambda: 1 / 0)", 0),
    "standard output closed": ("import sys\nprint(1)\nsys.stdout.close()", 0),
    "printing after closing standard output": ("import sys\nsys.stdout.close()\nprint(1)", 1),
    "a generator that is left": ("raise GeneratorExit", 1),
}


@pytest.mark.parametrize(("source", "code"), ENDS.values(), ids=ENDS.keys())
def test_the_exit_code_is_the_interpreters(script: Script, source: str, code: int) -> None:
    result = script(source)
    assert (result.end, result.exit_code, result.signal) == (End.EXITED, code, None)


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", 11),
        ("import os\nos.abort()", 6),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", 9),
        ("import ctypes\nctypes.string_at(0)", 11),
    ],
    ids=["segmentation fault", "abort", "kill", "null pointer"],
)
def test_a_death_by_signal_is_named(script: Script, source: str, number: int) -> None:
    result = script(source)
    assert (result.end, result.exit_code, result.signal) == (End.SIGNALED, None, number)


def test_a_traceback_shows_the_programs_own_lines_and_nothing_of_the_harness(script: Script) -> None:
    result = script("def divide(a, b):\n    return a / b\n\ndivide(1, 0)\n")
    text = result.stderr.decode()
    assert text.startswith("Traceback (most recent call last):\n")
    assert "line 4, in <module>" in text
    assert "return a / b" in text
    assert text.endswith("ZeroDivisionError: division by zero\n")
    assert text.count("File ") == 2


@pytest.mark.parametrize(
    ("source", "stdout"),
    [
        ("print(open(__file__).read().splitlines()[0][:5])", b"print\n"),
        ("import sys\nprint(len(sys.argv), sys.argv[0] == __file__)", b"1 True\n"),
        ("import sys\nprint(sys.modules['__main__'].__dict__ is globals())", b"True\n"),
        ("import __main__\nx = 5\nprint(__main__.x)", b"5\n"),
        ("print(__name__, __builtins__.len is len)", b"__main__ True\n"),
        ("import sys\nprint([m for m in sys.modules if 'sandbox' in m or 'harness' in m])", b"[]\n"),
        ("class A: pass\nprint(A.__module__)", b"__main__\n"),
        (
            "import pickle\nclass A:\n    x = 1\nprint(pickle.loads(pickle.dumps(A())).x)",
            b"1\n",
        ),
        ("import inspect\ndef f(): return 1\nprint(inspect.getsource(f), end='')", b"def f(): return 1\n"),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nprint(P(1))", b"P(x=1)\n"),
        ("print(hash('a') == hash('a'), {'b', 'a', 'c'} == {'a', 'b', 'c'})", b"True True\n"),
    ],
    ids=[
        "reads itself",
        "arguments",
        "main module",
        "imports itself",
        "names",
        "no harness",
        "module of classes",
        "pickles its classes",
        "inspects itself",
        "dataclass",
        "hashes",
    ],
)
def test_a_program_finds_the_interpreter_as_if_started_alone(
    script: Script, source: str, stdout: bytes
) -> None:
    result = script(source)
    assert result.stdout == stdout, result.stderr


def test_output_does_not_depend_on_chance(script: Script) -> None:
    source = "print({str(i) for i in range(50)})"
    assert script(source).stdout == script(source).stdout


def test_random_numbers_differ_from_run_to_run(script: Script) -> None:
    source = "import random, numpy\nprint(random.random(), numpy.random.rand())"
    first, second = (script(source).stdout.split() for _ in range(2))
    assert first[0] != second[0]
    assert first[1] != second[1]


BIG = b"7\n" * 1_000_000


@pytest.mark.parametrize(
    ("source", "stdin", "stdout"),
    [
        ("print('done')", BIG * 8, b"done\n"),
        ("import sys\nprint(len(sys.stdin.read()))", BIG, b"2000000\n"),
        ("import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line)", BIG, BIG),
        ("import os\nwhile d := os.read(0, 1 << 16): os.write(1, d)", BIG, BIG),
    ],
    ids=["reads nothing of it", "reads all", "line by line in and out", "block by block in and out"],
)
def test_big_inputs_and_outputs_never_block(script: Script, source: str, stdin: bytes, stdout: bytes) -> None:
    result = script(source, stdin)
    assert (result.end, result.exit_code) == (End.EXITED, 0)
    assert result.stdout == stdout
    assert not result.stdout_cut


def test_much_on_standard_error_before_the_answer_is_no_obstacle(script: Script) -> None:
    result = script("import sys\nsys.stderr.write('first' + 'x' * 3_000_000 + 'last')\nprint('answer')")
    assert (result.end, result.exit_code, result.stdout) == (End.EXITED, 0, b"answer\n")
    assert result.stderr_cut
    assert result.stderr.startswith(b"first")
    assert result.stderr.endswith(b"last")
    assert len(result.stderr) < 70_000


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess\nsubprocess.Popen(['sleep', '1000'])\nprint('out')",
        "import os, time\nif os.fork() == 0:\n    time.sleep(1000)\nprint('out')",
        "import os\nif os.fork() == 0:\n    os.setsid()\n    while True: pass\nprint('out')",
        "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\nprint('out')",
    ],
    ids=["a child that holds the pipe", "a fork that sleeps", "a daemon that works", "a daemon thread"],
)
def test_a_run_is_over_when_its_main_process_is(script: Script, source: str) -> None:
    result = script(source)
    assert (result.end, result.exit_code, result.stdout) == (End.EXITED, 0, b"out\n")
    assert result.wall_time_s < 10


def test_a_stream_of_the_programs_own_class_is_not_flushed_after_its_globals_are_gone(script: Script) -> None:
    """The fast output classes of contest templates flush themselves, then the interpreter must let them be."""
    source = (
        "import os, sys\n"
        "class Out:\n"
        "    def __init__(self): self.parts = []\n"
        "    def write(self, text): self.parts.append(text)\n"
        "    def flush(self):\n"
        "        os.write(1, ''.join(self.parts).encode())\n"
        "        self.parts.clear()\n"
        "sys.stdout = Out()\n"
        "print(3)\n"
    )
    result = script(source)
    assert (result.exit_code, result.stdout) == (0, b"3\n"), result.stderr
    # One that fails while the program still stands is its own fault.
    assert script(source.replace("os.write", "os.nothing")).exit_code != 0
