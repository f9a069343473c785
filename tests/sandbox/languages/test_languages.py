"""Programs of other languages: they run, and how they end is seen as of Python programs."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import replace

import pytest

from sandbox import (
    End,
    LanguageUnavailableError,
    Program,
    Sandbox,
    Session,
    StdioInput,
    open_sandbox,
)
from sandbox.cgroups.limits import MemoryGroups
from sandbox.settings import SandboxSettings
from sandbox.toolchains import compilers
from sandbox.toolchains.languages import LanguageData, read_all
from service.settings import default_python
from tests.sandbox.languages.languages_here import ACTOR, ALL, EACH, LIMITS, SUM, base, found, needs, run

TIGHT = replace(LIMITS, cpu_time_s=0.5, wall_time_s=10.0, memory_bytes=64 << 20, output_bytes=1 << 18)


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=needs(name)) for name in ALL if name != "cpp17"]
)
def actor(sandbox: Sandbox, request: pytest.FixtureRequest) -> Iterator[Session]:
    """Give a session of a program that does what its input says, in each language."""
    with sandbox.session(Program(ACTOR[base(request.param)], language=request.param), LIMITS) as session:
        assert session.compiled.ok, session.compiled.message
        yield session


@pytest.mark.parametrize("language", EACH)
def test_a_program_reads_and_prints(sandbox: Sandbox, language: str) -> None:
    """A right program of each language answers every one of its inputs."""
    with sandbox.session(Program(SUM[base(language)], language=language), LIMITS) as session:
        assert session.compiled.ok, session.compiled.message
        for stdin, expected in ((b"1 2\n", b"3\n"), (b"-5 5\n", b"0\n")):
            result = session.run(StdioInput(stdin), LIMITS)
            assert (result.end, result.exit_code, result.stdout) == (End.EXITED, 0, expected), result
            assert 0 < result.cpu_time_s < 2
            assert result.memory_peak_bytes


@pytest.mark.parametrize("language", EACH)
def test_what_does_not_compile_is_told_in_the_compilers_words(sandbox: Sandbox, language: str) -> None:
    """The message has the program's own line, and no path but the program's name."""
    source = SUM[base(language)] + "\nthis is no program (\n"
    with sandbox.session(Program(source, language=language), LIMITS) as session:
        assert not session.compiled.ok
        message = session.compiled.message
        assert "this is no program" in message or "error" in message
        assert "/box" not in message
        assert len(message) <= 4000
        with pytest.raises(ValueError, match="does not compile"):
            session.run(StdioInput(), LIMITS)


def test_an_exit_code_is_seen(actor: Session) -> None:
    result = actor.run(StdioInput(b"fail\n"), LIMITS)
    assert (result.end, result.exit_code) == (End.EXITED, 3), result


def test_a_crash_is_no_clean_end(actor: Session) -> None:
    """An abort ends by a signal, an uncaught exception by an exit code; neither is taken for lack of memory."""
    result = actor.run(StdioInput(b"crash\n"), LIMITS)
    assert result.end in (End.SIGNALED, End.EXITED), result
    assert result.exit_code != 0
    assert result.signal in (None, signal.SIGABRT)


def test_cpu_time_is_limited(actor: Session) -> None:
    result = actor.run(StdioInput(b"loop\n"), TIGHT)
    assert result.end is End.CPU_LIMIT, result
    assert TIGHT.cpu_time_s <= result.cpu_time_s < 3


def test_output_is_limited(actor: Session) -> None:
    result = actor.run(StdioInput(b"flood\n"), replace(TIGHT, cpu_time_s=4.0))
    assert result.end is End.OUTPUT_LIMIT, result
    assert len(result.stdout) <= TIGHT.output_bytes


def test_memory_is_limited(actor: Session) -> None:
    result = actor.run(StdioInput(b"eat\n"), replace(TIGHT, cpu_time_s=4.0))
    assert result.end is End.MEMORY_LIMIT, result


def test_recursion_goes_deep(actor: Session) -> None:
    result = actor.run(StdioInput(b"deep\n"), LIMITS)
    assert (result.end, result.stdout) == (End.EXITED, b"500000\n"), result


def test_a_session_goes_on_after_all_that(actor: Session) -> None:
    for word in (b"eat\n", b"loop\n"):
        actor.run(StdioInput(word), TIGHT)
    result = actor.run(StdioInput(b"nothing\n"), LIMITS)
    assert (result.end, result.exit_code, result.stdout) == (End.EXITED, 0, b""), result


WITHOUT_MEMORY = "#include <vector>\nint main() { std::vector<char> v(1ull << 50); return v[7]; }"
SEGFAULT = 'int main() { int *p = nullptr; asm volatile("" : "+r"(p)); return *p; }'
LYING = '#include <cstdio>\nint main() { std::fputs("std::bad_alloc\\n", stderr); std::puts("fine"); }'


@needs("cpp20")
@pytest.mark.parametrize(
    ("source", "end", "number"),
    [
        pytest.param(WITHOUT_MEMORY, End.MEMORY_LIMIT, signal.SIGABRT, id="bad_alloc"),
        pytest.param(SEGFAULT, End.SIGNALED, signal.SIGSEGV, id="segfault"),
        pytest.param(LYING, End.EXITED, None, id="only the words"),
    ],
)
def test_how_a_cpp_program_dies(sandbox: Sandbox, source: str, end: End, number: int | None) -> None:
    result = run(sandbox, "cpp20", source)
    assert (result.end, result.signal) == (end, number), result


@needs("cpp20")
def test_standards_are_those_asked_for(sandbox: Sandbox) -> None:
    """C++20 has concepts, C++17 has not; the names without a number mean the newer."""
    source = (
        "#include <concepts>\ntemplate <std::integral T> T f(T x) { return x; }\nint main() { return f(0); }"
    )
    compiled = {}
    for name in ("cpp", "c++", "cpp20", "cpp17"):
        with sandbox.session(Program(source, language=name), LIMITS) as session:
            compiled[name] = session.compiled.ok
    assert compiled == {"cpp": True, "c++": True, "cpp20": True, "cpp17": False}


THREADS = """
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>
int main() {
    std::atomic<int> started = 0;
    std::vector<std::thread> all;
    for (int i = 0; i < 8; i++) all.emplace_back([&] { started++; while (started < 8) std::this_thread::yield(); });
    for (auto &one : all) one.join();
    std::printf("%d\\n", started.load());
}"""


@needs("cpp20")
def test_threads_work_and_are_counted(sandbox: Sandbox) -> None:
    with sandbox.session(Program(THREADS, language="cpp"), LIMITS) as session:
        assert session.run(StdioInput(), LIMITS).stdout == b"8\n"
        result = session.run(StdioInput(), replace(LIMITS, processes=4))
        assert result.end is End.SIGNALED, result


@pytest.fixture(scope="module")
def groupless() -> Iterator[Sandbox]:
    """Give a sandbox on a machine where no control group can be made."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryGroups, "available", lambda: None)
        with open_sandbox(SandboxSettings(python=default_python())) as opened:
            assert opened.describe()["memory"] == "rlimit-per-process"
            # Compilers' jails are made when first asked for.
            for language in found() - {"python"}:
                opened.session(Program(SUM[base(language)], language=language), LIMITS).close()
            yield opened


@pytest.mark.parametrize("language", [one for one in EACH if "cpp17" not in one.values])
def test_memory_is_limited_without_groups_too(groupless: Sandbox, language: str) -> None:
    with groupless.session(Program(ACTOR[base(language)], language=language), LIMITS) as session:
        assert session.compiled.ok, session.compiled.message
        assert session.run(StdioInput(b"nothing\n"), LIMITS).exit_code == 0
        assert session.run(StdioInput(b"deep\n"), LIMITS).stdout == b"500000\n"
        result = session.run(StdioInput(b"eat\n"), replace(TIGHT, cpu_time_s=4.0))
        # Where malloc() says no, what follows is the C program's own doing.
        expected = (End.SIGNALED,) if language == "c" else (End.MEMORY_LIMIT,)
        assert result.end in expected, result


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (Program("", language="cobol"), "no such language here: 'cobol'"),
        (Program("", language="cpp", mode="call", entry_point="f"), "in stdio mode only"),
        (Program("", language="cpp", prelude="import os"), "without a prelude"),
    ],
)
def test_what_there_is_not_is_refused(sandbox: Sandbox, program: Program, reason: str) -> None:
    with pytest.raises(LanguageUnavailableError, match=reason):
        sandbox.session(program, LIMITS)


@needs("c")
def test_a_toolchain_that_does_not_work_fails_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler without its headers would find fault with every program, and each would be punished for it."""

    def without_headers() -> list[LanguageData]:
        return [replace(data, toolchain=replace(data.toolchain, folders=())) for data in read_all()]

    monkeypatch.setattr(compilers, "read_all", without_headers)
    with open_sandbox(SandboxSettings(python=default_python())) as opened:
        for _ in range(2):
            with pytest.raises(
                LanguageUnavailableError, match=r"does not work here: main.c:1:10: fatal error: stdio.h"
            ):
                opened.session(Program("int main(void) {}", language="c"), LIMITS)
        with opened.session(Program("print(1)"), LIMITS) as session:
            assert session.run(StdioInput(), LIMITS).stdout == b"1\n"
