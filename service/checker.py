"""Special judges: a problem's own ``check(input, expected, actual)``, run in a jail of its own.

A checker that raises is either broken, which is nobody's wrong answer, or was fed an output that it cannot read.
One that cannot be loaded is broken. ValueError always means the second (it is what parsing raises). For anything
else, and for a checker that does not end in time, the checker is tried on the expected output: if that fails as
well, the checker is broken. Where a problem expects nothing in particular (an empty text, null), that trial says
nothing, and the output is at fault: else a program could get out of a wrong answer by printing nonsense.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from sandbox import CallInput, End, Limits, Outcome, Program, RunResult, Sandbox, Session
from service.text import last_line, shortened

ENTRY_POINT = "__microcoder_check"
PLACEHOLDERS = ("", "null")
LIMITS = Limits(cpu_time_s=10.0, wall_time_s=30.0)
# Appended to the checker's code; returns plain data whatever happens.
DRIVER = f"""

check

def {ENTRY_POINT}(input, expected, actual):
    try:
        answer = check(input, expected, actual)
    except ValueError as error:
        return ["reject", "the output cannot be read: " + str(error)[:500]]
    except Exception as error:
        return ["raised", type(error).__name__ + ": " + str(error)[:500]]
    accepted, message = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, "")
    if type(accepted).__name__ not in ("bool", "bool_"):
        return ["broken", "check() returned neither a bool nor (bool, str)"]
    return ["accept" if accepted else "reject", str(message)[:500]]
"""


class CheckerError(Exception):
    """The checker itself is broken; the output that it was to judge stays unjudged."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a checker thinks of an output."""

    accepted: bool
    message: str


class Checker:
    """A checker that is ready to be asked. Use as a context manager."""

    def __init__(self, sandbox: Sandbox, code: str) -> None:
        """Load the checker. Raises CheckerError where it does not compile, SandboxBrokenError."""
        program = Program(code + DRIVER, mode="call", entry_point=ENTRY_POINT)
        self._session: Session = sandbox.session(program, LIMITS)
        if not self._session.compiled.ok:
            message = self._session.compiled.message
            self._session.close()
            raise CheckerError(f"the checker does not compile: {shortened(message)}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.close()

    def check(self, given: str, expected: str, actual: str) -> Opinion:
        """Ask for an opinion. Raises CheckerError, SandboxBrokenError."""
        word, message = self._ask(given, expected, actual)
        if word in ("accept", "reject"):
            return Opinion(word == "accept", message)
        if word == "broken" or not self._can_judge(given, expected):
            raise CheckerError(f"the checker is broken: {message}")
        return Opinion(accepted=False, message=f"the checker cannot read the output: {message}")

    def _can_judge(self, given: str, expected: str) -> bool:
        if expected.strip() in PLACEHOLDERS:
            return True
        return self._ask(given, expected, expected)[0] in ("accept", "reject")

    def _ask(self, given: str, expected: str, actual: str) -> tuple[str, str]:
        result = self._session.run(CallInput((given, expected, actual)), LIMITS)
        match result.value:
            case [("accept" | "reject" | "raised" | "broken") as word, str(message)] if (
                result.end is End.EXITED and result.outcome is Outcome.RETURNED
            ):
                return word, shortened(message)
        if result.outcome is Outcome.RAISED:  # while it was loaded: what check() raises comes as a value
            return "broken", _failure(result)
        return "raised", _failure(result)


def _failure(result: RunResult) -> str:
    if result.end is not End.EXITED:
        return f"it ended with {result.end}"
    return last_line(result.stderr) or result.message or f"it ended with exit code {result.exit_code}"
