"""One sandbox for all tests that need a real jail, and short ways to judge a program in it."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter

from sandbox import Sandbox, SandboxSettings, open_sandbox
from service import wire
from service.evaluate import evaluate
from service.settings import default_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Tests with the marker `jail`; what they ask has another answer in a container, which has tests of its own.
JAILS_ONLY = "containers differ as docs/SECURITY.md says; see test_docker_containers.py"
PROBLEM: TypeAdapter[wire.Problem] = TypeAdapter(wire.Problem)
# Enough for any program here on a machine that does other things as well.
DEFAULTS = wire.Limits(cpu_time_s=4.0, wall_time_s=20.0, memory_bytes=512 << 20, output_bytes=4 << 20)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the whole of the sandbox's tests run against its other kind of isolation."""
    parser.addoption("--sandbox", choices=("nsjail", "docker"), default="nsjail", help="what holds programs")


def pytest_configure() -> None:
    """Have interrupts interrupt what tests start, also where a shell started all of this in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _uses_sandbox(item: pytest.Item) -> bool:
    return "sandbox" in getattr(item, "fixturenames", ())


def _way(item: pytest.Item) -> str | None:
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("sandbox") if callspec is not None else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is said of jails alone where containers hold programs."""
    if config.getoption("--sandbox") == "docker":
        # Of the ways to run a program in a jail, one stands for the one way in a container. What asks for no sandbox
        # says nothing of containers, and what it counts moves while the next container is started beside it.
        items[:] = [item for item in items if _uses_sandbox(item) and _way(item) in {None, "cold"}]
        for item in items:
            if item.get_closest_marker("jail"):
                item.add_marker(pytest.mark.skip(reason=JAILS_ONLY))


@pytest.fixture(scope="session")
def sandbox(pytestconfig: pytest.Config) -> Iterator[Sandbox]:
    """Give the one sandbox of the test run."""
    kind = pytestconfig.getoption("--sandbox")
    with open_sandbox(SandboxSettings(kind=kind, python=default_python())) as opened:
        yield opened


@pytest.fixture
def judged(sandbox: Sandbox) -> Callable[..., wire.Judgement]:
    """Give a function that judges code against a problem given as the contract has it."""

    def judge(
        code: str,
        problem: dict[str, Any],
        *,
        completion: bool = False,
        within: Sandbox | None = None,
        language: str = "python",
        **options: Any,
    ) -> wire.Judgement:
        parsed = PROBLEM.validate_python(problem)
        submission = wire.Submission.model_validate(
            {
                "completion" if completion else "code": code,
                "problem": parsed,
                "language": language,
                "options": {"detail": "full", **options},
            }
        )
        return evaluate(submission, parsed, within or sandbox, defaults=DEFAULTS)

    return judge
