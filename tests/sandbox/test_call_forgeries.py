"""Results that a program forges, patches or never finishes: at worst another wrong answer."""

from collections.abc import Callable

import pytest

from sandbox import CallInput, End, Limits, Outcome, Program, RunResult, Sandbox

Call = Callable[..., RunResult]


def test_an_endless_iterator_ends_at_a_limit(call: Call) -> None:
    source = "def f():\n    while True: yield 'x'"
    limits = Limits(cpu_time_s=0.5, wall_time_s=10.0, memory_bytes=128 << 20, output_bytes=1 << 20)
    result = call(source, limits=limits)
    assert result.end in {End.CPU_LIMIT, End.MEMORY_LIMIT, End.OUTPUT_LIMIT}


def test_a_huge_result_is_too_much_output(call: Call) -> None:
    limits = Limits(memory_bytes=512 << 20, output_bytes=1 << 20)
    assert call("def f(): return 'x' * (3 << 20)", limits=limits).end is End.OUTPUT_LIMIT
    assert call("def f(): return 'x' * (1 << 19)", limits=limits).value == "x" * (1 << 19)


def test_a_thread_that_changes_the_result_changes_nothing_once_it_is_out(call: Call) -> None:
    source = """
import threading
result = [0] * 1000
def work():
    while True:
        result.append(1); result.pop(); result[0] = (result[0] + 1) % 10
def f():
    threading.Thread(target=work, daemon=True).start()
    return result
"""
    found = call(source)
    assert found.outcome is Outcome.RETURNED
    assert len(found.value) in {1000, 1001}


def test_threads_left_behind_do_not_hold_the_call(call: Call) -> None:
    result = call(
        "import threading, time\ndef f():\n    threading.Thread(target=time.sleep, args=(100,)).start()\n    return 1"
    )
    assert (result.end, result.value) == (End.EXITED, 1)
    assert result.wall_time_s < 10


PATCHES = {
    "os.write": "import os\nos.write = lambda fd, data: len(data)",
    "built-ins": "import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.len = lambda o: 0\n"
    "builtins.iter = None",
    "streams": "import sys\nsys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = None",
    "modules": "import sys\nfor n in list(sys.modules): sys.modules[n] = None",
    "hooks": "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)\nsys.excepthook = None",
    "closed streams": "import os, sys\nos.close(1)\nos.close(2)",
}


@pytest.mark.parametrize("source", PATCHES.values(), ids=PATCHES.keys())
def test_patched_modules_do_not_make_a_wrong_result_right(call: Call, source: str) -> None:
    """The result is what the function returned, or there is none."""
    result = call(f"{source}\ndef f(): return [7]")
    assert result.value in ([7], None)
    assert (result.outcome is Outcome.RETURNED) == (result.value == [7])


FORGED = {
    "no record": "garbage",
    "brackets": "[" * 100_000,
    "not an object": "[1, 2]",
    "another outcome": '{"outcome":"passed"}',
    "an unknown outcome": '{"outcome":"right"}',
    "sharing": '{"outcome":"needs-sharing"}',
    "a value that is not flat": '{"outcome":"returned","value":{"a":1}}',
    "a value that does not end": '{"outcome":"returned","value":[["l",9]]}',
    "an unknown item": '{"outcome":"returned","value":[["o","object",[0,"x"]]]}',
    "an integer of many digits": '{"outcome":"returned","value":[' + "9" * 100_000 + "]}",
}


@pytest.mark.parametrize("record", FORGED.values(), ids=FORGED.keys())
@pytest.mark.parametrize("where", ["at import", "in the call"])
@pytest.mark.parametrize("bare", [True, False], ids=["bare", "framed"])
def test_a_forged_report_gains_nothing(call: Call, record: str, where: str, *, bare: bool) -> None:
    forge = (
        "for fd in range(3, 256):\n    for message in MESSAGES:\n"
        "        try: os.write(fd, message)\n        except OSError: pass\n"
    )
    inside = "".join(f"    {line}\n" for line in forge.splitlines()) + "    os._exit(0)\n"
    data = record.encode() + b"\n"
    # Bare, and in the frames that processes that are used again speak in.
    frames = [b"p" + data[at : at + 60_000] for at in range(0, len(data), 60_000)]
    messages = [data] if bare else [*frames, b"d1"]
    source = f"import os\nMESSAGES = {messages!r}\n" + (
        f"{forge}def f(): return 42\n" if where == "at import" else f"def f():\n{inside}"
    )
    result = call(source)
    if where == "in the call" or result.value != 42:  # at import, the channel may be out of reach or ignored
        assert result.value is None
        assert result.outcome in {Outcome.NONE, Outcome.PASSED, Outcome.NEEDS_SHARING}
    assert not result.shared


def test_a_forged_value_is_only_another_wrong_answer(call: Call) -> None:
    source = """
import os
RECORD = b'{"outcome":"returned","value":[41]}\\n'
for fd, message in ((3, RECORD), (103, b"p" + RECORD)):
    try: os.write(fd, message)
    except OSError: pass
def f(): return 42
"""
    assert call(source).value == 41


@pytest.mark.parametrize(
    "items",
    ["[k * (2 ** 61 - 1) for k in range(200_000)]", "[((k * (2 ** 61 - 1)),) for k in range(100_000)]"],
    ids=["integers", "tuples"],
)
@pytest.mark.parametrize("shape", ["set(ITEMS[:1000])", "FORGED"])
def test_keys_of_one_hash_do_not_stop_the_judge(sandbox: Sandbox, items: str, shape: str) -> None:
    """Building a table of them would take hours outside, where no limit of the program holds."""
    source = f"""
import os
ITEMS = {items}
def flat(x): return [["t", 1], *flat(x[0])] if isinstance(x, tuple) else [["x", format(x, "x")]]
def f():
    import json
    if {shape == "FORGED"}:
        out = [["s", len(ITEMS)]]
        for x in ITEMS: out += flat(x)
        data = b'{{"outcome":"returned","value":' + json.dumps(out).encode() + b'}}\\n'
        while data:
            try: data = data[os.write(3, data):]
            except OSError: data = data[os.write(103, b"p" + data[:60000]) - 1:]
        os._exit(0)
    return {shape if shape != "FORGED" else None}
"""
    limits = Limits(cpu_time_s=6.0, wall_time_s=30.0, memory_bytes=512 << 20, output_bytes=16 << 20)
    with sandbox.session(Program(source, mode="call", entry_point="f"), limits) as session:
        result = session.run(CallInput(), limits)
    assert (result.outcome is Outcome.RETURNED) == (shape != "FORGED")
