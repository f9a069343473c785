"""What right programs need: deep recursion, big numbers, threads, processes, libraries, temporary files."""

import resource
from collections.abc import Callable

import pytest

from sandbox import End, RunResult

Script = Callable[..., RunResult]

POWERS = {
    "recursion to nearly the default depth": (
        "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(990))",
        b"990\n",
    ),
    "recursion beyond the default depth is refused": (
        "def f(n): return 0 if n == 0 else 1 + f(n - 1)\ntry: f(1100)\nexcept RecursionError: print('refused')",
        b"refused\n",
    ),
    "recursion with a raised limit": (
        (
            "import sys\nsys.setrecursionlimit(10 ** 6)\n"
            "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(100_000))"
        ),
        b"100000\n",
    ),
    "recursion in a thread with a big stack": (
        (
            "import sys, threading\nsys.setrecursionlimit(10 ** 6)\nthreading.stack_size(1 << 28)\n"
            "def f(n): return 0 if n == 0 else 1 + f(n - 1)\n"
            "t = threading.Thread(target=lambda: print(f(200_000)))\nt.start()\nt.join()"
        ),
        b"200000\n",
    ),
    "cached recursion 100000 deep": (
        (
            "import sys, functools\nsys.setrecursionlimit(10 ** 6)\n@functools.cache\n"
            "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(100_000))"
        ),
        b"100000\n",
    ),
    "cached recursion in a thread": (
        (
            "import sys, threading, functools\nsys.setrecursionlimit(10 ** 6)\nthreading.stack_size(1 << 28)\n"
            "@functools.lru_cache(None)\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)\n"
            "t = threading.Thread(target=lambda: print(f(100_000)))\nt.start()\nt.join()"
        ),
        b"100000\n",
    ),
    "printing an integer of many digits": ("print(len(str(7 ** 20_000)))", b"16902\n"),
    "reading an integer of many digits": ("print(int('9' * 20_000) % 1000)", b"999\n"),
    "numpy": ("import numpy as np\nprint(np.linalg.det(np.eye(3) * 2).round())", b"8.0\n"),
    "sortedcontainers": ("from sortedcontainers import SortedList\nprint(SortedList([3, 1])[0])", b"1\n"),
    "a pool of processes": (
        (
            "from multiprocessing import Pool\ndef sq(x): return x * x\n"
            "if __name__ == '__main__':\n    with Pool(2) as pool: print(sum(pool.map(sq, range(10))))"
        ),
        b"285\n",
    ),
    "a queue between processes": (
        (
            "from multiprocessing import Process, Queue\ndef work(q): q.put(42)\nq = Queue()\n"
            "p = Process(target=work, args=(q,))\np.start()\nprint(q.get())\np.join()"
        ),
        b"42\n",
    ),
    "a pool of threads": (
        (
            "from concurrent.futures import ThreadPoolExecutor\n"
            "with ThreadPoolExecutor(4) as pool: print(sum(pool.map(len, ['a'] * 9)))"
        ),
        b"9\n",
    ),
    "asyncio": (
        "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 5\nprint(asyncio.run(f()))",
        b"5\n",
    ),
    "temporary files": (
        (
            "import tempfile\nwith tempfile.TemporaryFile('w+') as f:\n    f.write('x')\n    f.seek(0)\n"
            "    print(f.read())"
        ),
        b"x\n",
    ),
    "files of its own": ("open('a.txt', 'w').write('x')\nprint(open('a.txt').read())", b"x\n"),
    "/dev/null": ("print(open('/dev/null').read() == '', open('/dev/null', 'w').write('x'))", b"True 1\n"),
    "signals": (
        (
            "import signal, os\nsignal.signal(signal.SIGUSR1, lambda *a: print('heard'))\n"
            "os.kill(os.getpid(), signal.SIGUSR1)"
        ),
        b"heard\n",
    ),
    "time zones": ("import zoneinfo\nprint(zoneinfo.ZoneInfo('UTC'))", b"UTC\n"),
    "hidden modules that get imported late": (
        "import decimal, json, re, heapq, statistics\nprint('ok')",
        b"ok\n",
    ),
    "a tampered sys.modules": (
        (
            "import sys\nfor name in list(sys.modules):\n"
            "    if name not in ('sys', 'builtins'): sys.modules[name] = None\n"
            "sys.meta_path[:] = []\nprint('alive')"
        ),
        b"alive\n",
    ),
}


@pytest.mark.parametrize(("source", "stdout"), POWERS.values(), ids=POWERS.keys())
def test_what_works_in_an_interpreter_works_here(script: Script, source: str, stdout: bytes) -> None:
    result = script(source)
    assert (result.end, result.exit_code, result.stdout) == (End.EXITED, 0, stdout), result.stderr[-500:]


def test_endless_recursion_is_an_exception_of_the_program(script: Script) -> None:
    result = script("def f(): return f() + 1\nf()")
    assert (result.end, result.exit_code) == (End.EXITED, 1)
    assert b"RecursionError" in result.stderr


def test_endless_recursion_without_a_limit_ends_the_program_only(script: Script) -> None:
    result = script(
        "import sys\nsys.setrecursionlimit(10 ** 9)\nclass A:\n"
        "    def __getattr__(self, name): return getattr(self, name)\nA().x",
        memory_bytes=64 << 20,
    )
    assert result.end in {End.SIGNALED, End.MEMORY_LIMIT, End.EXITED}
    assert result.exit_code != 0


def test_an_unlimited_stack_may_be_asked_for(script: Script) -> None:
    """Contest programs lift the stack's limit; memory bounds it all the same."""
    source = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "sys.setrecursionlimit(10 ** 6)\n"
        "def f(n): return 0 if n == 0 else 1 + f(n - 1)\n"
        "print(f(50000))\n"
    )
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    if hard != resource.RLIM_INFINITY:
        pytest.skip("this machine itself limits the stack")
    assert script(source).stdout == b"50000\n"
