"""Short ways to run programs in the one sandbox, each in a session of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import (
    AssertInput,
    CallInput,
    Isolation,
    Limits,
    Program,
    RunResult,
    Sandbox,
    SandboxKind,
    SandboxSettings,
    Session,
    StdioInput,
    open_sandbox,
)
from service.settings import default_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Enough for any program here on a machine that does other things as well.
LIMITS = Limits(cpu_time_s=4.0, wall_time_s=20.0, memory_bytes=512 << 20, output_bytes=4 << 20)


# Every way of running Python programs must do the same.
WAYS: dict[str, tuple[SandboxKind, Isolation]] = {
    "reuse": ("nsjail", "reuse"),
    "strict": ("nsjail", "strict"),
    "cold": ("nsjail-cold", "strict"),
}


@pytest.fixture(scope="session", params=WAYS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Give a sandbox of each way in turn."""
    kind, isolation = WAYS[request.param]
    if request.config.getoption("--sandbox") == "docker":
        kind = "docker"
    settings = SandboxSettings(kind=kind, python=default_python(), isolation=isolation)
    with open_sandbox(settings) as opened:
        assert opened.describe()["warm"] == (kind == "nsjail")
        yield opened


@pytest.fixture(scope="session")
def script(sandbox: Sandbox) -> Callable[..., RunResult]:
    """Give a function that runs a program with an input on its standard input."""

    def run(source: str, stdin: bytes = b"", **limits: Any) -> RunResult:
        chosen = replace(LIMITS, **limits)
        with sandbox.session(Program(source), chosen) as session:
            return session.run(StdioInput(stdin), chosen)

    return run


@pytest.fixture(scope="session")
def call(sandbox: Sandbox) -> Callable[..., RunResult]:
    """Give a function that calls ``f`` (or another entry point) of a program."""

    def run(source: str, *args: Any, limits: Limits = LIMITS, **program: Any) -> RunResult:
        kwargs = program.pop("kwargs", {})
        fields = {"mode": "call", "entry_point": "f", "prelude": None, **program}
        with sandbox.session(Program(source, **fields), limits) as session:
            return session.run(CallInput(args, kwargs), limits)

    return run


@pytest.fixture(scope="session")
def check(sandbox: Sandbox) -> Callable[..., RunResult]:
    """Give a function that runs test code against a program."""

    def run(source: str, test: str, entry_point: str | None = None, *, limits: Limits = LIMITS) -> RunResult:
        program = Program(source, mode="assert", entry_point=entry_point)
        with sandbox.session(program, limits) as session:
            return session.run(AssertInput(test), limits)

    return run


@pytest.fixture(scope="module")
def session(sandbox: Sandbox) -> Iterator[Session]:
    """Give one session, shared by a module's runs, of a program that executes its standard input."""
    with sandbox.session(Program("exec(open(0).read())"), LIMITS) as opened:
        yield opened
