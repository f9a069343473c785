"""The entry: opens a sandbox after having proved that it works, and describes it."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from sandbox import interpreter as interpreters
from sandbox.diagnosis import explain
from sandbox.errors import SandboxBrokenError, SandboxError, SandboxUnavailableError
from sandbox.facts import AssertInput, Limits, Outcome, Program, StdioInput
from sandbox.interpreter import Interpreter
from sandbox.launch import JailLauncher, Launcher, UnsafeLauncher
from sandbox.session import Session
from sandbox.settings import SandboxSettings

PROBE_LIMITS = Limits(cpu_time_s=20.0, wall_time_s=60.0)
# Prints who it is; a jail in which this shows a real root, a network or the host's files is none.
PROBE = """
import os, socket
def outcome(action):
    try:
        action()
    except OSError:
        return "refused"
    return "allowed"
print(os.getpid() > 1, outcome(lambda: socket.socket()), outcome(lambda: os.listdir("/root/.ssh")),
      outcome(lambda: open("/etc/shadow")), outcome(lambda: open("/usr/probe", "w")), os.getuid() > 0)
"""
PROBE_ANSWER = b"True refused refused refused refused True\n"


@dataclass(frozen=True, slots=True)
class Language:
    """A language that programs may be written in."""

    name: str
    version: str
    description: str


class Sandbox:
    """Runs programs. Made by ``open_sandbox``; use as a context manager."""

    def __init__(self, settings: SandboxSettings) -> None:
        self._settings = settings
        self._proc = True
        self._launcher: Launcher
        if settings.kind == "docker":
            self.interpreter, self._launcher = self._containers()
        else:
            self.interpreter = interpreters.probe(settings.python)
            if settings.kind == "nsjail":
                self._launcher = self._first_that_works()
            else:
                self._launcher = UnsafeLauncher(self.interpreter)
        self._check_asserts()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give up what this sandbox holds. Sessions must be closed before."""
        self._launcher.close()

    def session(self, program: Program, limits: Limits) -> Session:
        """Load a program into a jail of its own; ``limits`` hold for compiling. Raises SandboxBrokenError."""
        if program.language != "python":
            raise ValueError(f"no such language: {program.language!r}")
        return Session(
            self._launcher,
            program,
            disk_bytes=self._settings.disk_bytes,
            compile_cpu_time_s=self._settings.compile_cpu_time_s,
            memory_bytes=limits.memory_bytes,
        )

    def describe(self) -> dict[str, Any]:
        """Return what a person who operates this wants to know of it, as JSON-like data."""
        kind = self._settings.kind
        return {
            "kind": kind,
            "isolation": "none" if kind == "unsafe-process" else kind,
            "memory": self._launcher.memory,
            "proc": self._proc,
            "python": self.interpreter.version,
            "numpy": self.interpreter.numpy,
        }

    def _containers(self) -> tuple[Interpreter, Launcher]:
        """Return a launcher of containers that have proved to isolate, and the interpreter in their image."""
        # The engine's client is heavy, and only this kind of sandbox needs it.
        from sandbox.docker_launch import DockerLauncher  # noqa: PLC0415

        launcher = DockerLauncher(self._settings)
        try:
            self._prove(launcher)
        except BaseException:
            launcher.close()
            raise
        return launcher.interpreter, launcher

    def _first_that_works(self) -> JailLauncher:
        """Return a launcher of jails that have proved to isolate: with a /proc where the kernel lets us mount one."""
        message = ""
        for proc in (True, False):
            launcher = JailLauncher(self._settings, self.interpreter, proc=proc)
            try:
                self._prove(launcher)
            except SandboxBrokenError as error:
                message = message or str(error)
                launcher.close()
            except BaseException:
                launcher.close()
                raise
            else:
                self._proc = proc
                return launcher
        raise explain(message)

    def _prove(self, launcher: Launcher) -> None:
        with self._probe_session(launcher, Program(PROBE)) as session:
            result = session.run(StdioInput(), PROBE_LIMITS)
        if result.stdout != PROBE_ANSWER:
            raise SandboxUnavailableError(
                f"The jail does not isolate as it must: its probe printed {result.stdout!r} {result.stderr[-200:]!r}.",
                "Do not judge untrusted programs on this machine; report this output.",
            )

    def _check_asserts(self) -> None:
        """Refuse to judge where a failing assert would pass (an interpreter that runs optimised code)."""
        program = Program("def f(): return 1\n", mode="assert")
        with self._probe_session(self._launcher, program) as session:
            outcomes = [
                session.run(AssertInput(f"assert f() == {value}"), PROBE_LIMITS).outcome for value in (1, 2)
            ]
        if outcomes != [Outcome.PASSED, Outcome.FAILED]:
            raise SandboxUnavailableError(
                f"A failing assert is not seen: {outcomes}.",
                "Use an interpreter that does not optimise asserts away.",
            )

    def _probe_session(self, launcher: Launcher, program: Program) -> Session:
        return Session(
            launcher,
            program,
            disk_bytes=self._settings.disk_bytes,
            compile_cpu_time_s=self._settings.compile_cpu_time_s,
            memory_bytes=PROBE_LIMITS.memory_bytes,
        )


def open_sandbox(settings: SandboxSettings) -> Sandbox:
    """Open a sandbox. Raises SandboxUnavailableError with cause and cure where programs cannot be isolated here."""
    try:
        return Sandbox(settings)
    except SandboxError:
        raise
    except OSError as error:
        raise explain(str(error)) from error


def languages(settings: SandboxSettings) -> list[Language]:
    """Return the languages that programs may be written in. Raises SandboxUnavailableError."""
    if settings.kind == "docker":
        with Sandbox(settings) as opened:
            found = opened.interpreter
    else:
        found = interpreters.probe(settings.python)
    name = "CPython" if found.implementation == "cpython" else found.implementation
    extra = ", numpy" if found.numpy else ""
    return [Language("python", found.version, f"{name} {found.version}{extra}")]
