"""Test code and other runs' arguments cannot be found in a program's memory."""

from collections.abc import Callable

from sandbox import CallInput, Limits, Program, RunResult, Sandbox

LIMITS = Limits(cpu_time_s=3.0, wall_time_s=15.0, memory_bytes=512 << 20, output_bytes=1 << 20)


SCAN = """
import gc, re
def f(needle_halves):
    needle = "".join(needle_halves)
    found = [kind for kind, value in (("gc", gc.get_objects()), ("frames", frames())) if needle in repr(value)[:10**7]]
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            first, last, mode = re.match(r"(\\w+)-(\\w+) (\\S+)", line).groups()
            if mode[0] == "r" and "[v" not in line:
                try:
                    memory.seek(int(first, 16))
                    data = memory.read(int(last, 16) - int(first, 16))
                except (OSError, ValueError, OverflowError):
                    continue
                marker = needle.encode()
                position = data.find(b"".join((b"test-", b"text-", b"starts")))
                if position >= 0:
                    found.append(line)
    return found
def frames():
    import sys
    frame, found = sys._getframe(), []
    while frame:
        found.append({**frame.f_locals, **frame.f_globals})
        frame = frame.f_back
    return [list(map(str, names)) for names in found]
"""


def test_test_code_is_not_in_the_memory_of_the_program(check: Callable[..., RunResult]) -> None:
    """The program looks for a text of the test in its objects, its frames and all its memory."""
    test = "assert f(['needle-', 'in-objects']) == []  # test-text-starts needle-in-objects"
    result = check(SCAN, test)
    assert result.outcome == "passed", result.message


def test_the_search_would_find_what_is_there(call: Callable[..., RunResult]) -> None:
    """The same search finds a text that the program itself holds."""
    result = call(SCAN + "\nheld = ['test-text-starts' * 2]\n", ["needle-", "in-objects"])
    assert result.value


def test_arguments_of_other_runs_are_not_in_memory(sandbox: Sandbox) -> None:
    source = "import gc\ndef f(halves): return ''.join(halves) in repr(gc.get_objects())"
    with sandbox.session(Program(source, mode="call", entry_point="f"), LIMITS) as opened:
        opened.run(CallInput((["secret-argument-one"],)), LIMITS)
        result = opened.run(CallInput((["secret-argument", "-one"],)), LIMITS)
    assert result.value is False
