"""Compiling ends, whatever the source, with a program or a message."""

import pytest

from sandbox import Limits, Program, Sandbox, StdioInput

LIMITS = Limits(cpu_time_s=3.0, wall_time_s=15.0, memory_bytes=256 << 20, output_bytes=1 << 20)


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "(" * 20_000 + ")" * 20_000,
        "x = " + "-" * 100_000 + "1",
        "x = [" + "(1 << 1000) ** 100, " * 5000 + "]",
        "0\n" * 300_000,
    ],
    ids=["brackets", "signs", "constants", "lines"],
)
def test_compiling_ends_whatever_the_source(sandbox: Sandbox, source: str) -> None:
    with sandbox.session(Program(source), LIMITS) as opened:
        assert opened.compiled.ok or opened.compiled.message


def test_a_program_that_does_not_compile_cannot_be_run(sandbox: Sandbox) -> None:
    with sandbox.session(Program("def f(:\n    pass"), LIMITS) as opened:
        assert not opened.compiled.ok
        assert "line 1" in opened.compiled.message
        with pytest.raises(ValueError, match="does not compile"):
            opened.run(StdioInput(), LIMITS)


def test_a_compilers_message_may_be_long_and_of_any_script(sandbox: Sandbox) -> None:
    for shift in range(3):
        name = "a" * shift + "\U00020000" * 20_000
        with sandbox.session(Program(f"def f():\n    {name} = 1\n    global {name}\n"), LIMITS) as opened:
            assert not opened.compiled.ok
            assert "assigned" in opened.compiled.message or "\U00020000" in opened.compiled.message
