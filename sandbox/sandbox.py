"""The entry: opens a sandbox after having proved that it works, and describes it."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from sandbox import checks
from sandbox import interpreter as interpreters
from sandbox.diagnosis import explain
from sandbox.errors import LanguageUnavailableError, SandboxBrokenError, SandboxError
from sandbox.facts import CompileResult, Limits, Program, RunInput, RunResult
from sandbox.interpreter import Interpreter
from sandbox.launch import JailLauncher, Launcher, UnsafeLauncher
from sandbox.session import ServedSession
from sandbox.settings import Isolation, SandboxKind, SandboxSettings
from sandbox.toolchains.compilers import Compilers
from sandbox.toolchains.discovery import find
from sandbox.toolchains.languages import CodeMarks, read_all
from sandbox.warm.session import WarmSession, reusable
from sandbox.warm.zygotes import USUAL_MODULES, ForkingLauncher, Zygotes

if TYPE_CHECKING:
    from sandbox.docker.launch import DockerLauncher

ISOLATIONS: dict[SandboxKind, str] = {
    "nsjail": "nsjail",
    "nsjail-cold": "nsjail",
    "docker": "docker",
    "unsafe-process": "none",
}
# Toolchains of other languages run in jails of this machine.
PYTHON_ONLY = frozenset({"docker", "unsafe-process"})


@dataclass(frozen=True, slots=True)
class Language:
    """A language that programs may be written in.

    ``aliases`` are names that mean the same.
    """

    name: str
    version: str
    description: str
    aliases: tuple[str, ...] = ()


class Session(Protocol):
    """A program that can be run. Use as a context manager; one run at a time."""

    @property
    def isolation(self) -> str:
        """``strict``: each run has a fresh process; ``reuse``: runs may share one (see ``RunResult.reused``)."""
        ...

    @property
    def compiled(self) -> CompileResult:
        """Whether the program can be run."""
        ...

    def run(self, given: RunInput, limits: Limits, *, fresh: bool = False) -> RunResult:
        """Run the program once, with ``fresh`` in a process that has run nothing before.

        Raises SandboxBrokenError; ValueError before anything ran if it does not compile.
        """
        ...

    def cancel(self) -> None:
        """Have the run that goes on in another thread, if any, end at once."""
        ...

    def close(self) -> None:
        """End everything that belongs to this session."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Sandbox:
    """Runs programs. Made by ``open_sandbox``; use as a context manager."""

    def __init__(self, settings: SandboxSettings) -> None:
        self._settings = settings
        self._proc = True
        self._zygotes: Zygotes | None = None
        self._why_cold = ""
        self._cold: JailLauncher | DockerLauncher | UnsafeLauncher
        if settings.kind == "docker":
            self.interpreter, self._cold = self._containers()
        else:
            self.interpreter = interpreters.probe(settings.python)
            if settings.kind == "unsafe-process":
                self._cold = UnsafeLauncher(self.interpreter)
            else:
                self._cold = self._first_that_works()
        self._compilers = Compilers(settings, self.interpreter, proc=self._proc)
        try:
            if settings.kind == "nsjail":
                self._warm_up()
            checks.check_asserts(self)
        except BaseException:  # interrupts too: nobody has this object yet who could close it
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give up what this sandbox holds. Sessions must be closed before."""
        self._compilers.close()
        if self._zygotes is not None:
            self._zygotes.close()
        self._cold.close()

    def session(self, program: Program, limits: Limits, *, isolation: Isolation | None = None) -> Session:
        """Load a program into isolation of its own. ``limits`` hold for compiling Python; compilers have their own.

        With ``reuse``, programs that can be run several times in one process are; all others have a process per run.
        Raises SandboxError; LanguageUnavailableError for a language, or a way to test it, that there is not.
        """
        if program.language != "python":
            if self._settings.kind in PYTHON_ONLY:
                raise LanguageUnavailableError(f"no such language without a jail: {program.language!r}")
            return self._compilers.session(program, limits)
        if self._zygotes is None:
            return self._served(self._cold, program, limits)
        if program.mode == "assert":  # the harness keeps test code and program apart
            return self._served(ForkingLauncher(self._zygotes, program), program, limits)
        wanted = isolation or self._settings.isolation
        return WarmSession(
            self._zygotes,
            program,
            limits,
            isolation=wanted if reusable(program) else "strict",
            disk_bytes=self._settings.disk_bytes,
            compile_cpu_time_s=self._settings.compile_cpu_time_s,
        )

    def _served(self, launcher: Launcher, program: Program, limits: Limits) -> ServedSession:
        return ServedSession(
            launcher,
            program,
            disk_bytes=self._settings.disk_bytes,
            compile_cpu_time_s=self._settings.compile_cpu_time_s,
            memory_bytes=limits.memory_bytes,
        )

    def code_marks(self, language: str) -> CodeMarks:
        """Return how completions mark code in a language (by name or alias); nothing for Python or unknown ones."""
        return self._compilers.code_marks(language)

    def describe(self) -> dict[str, Any]:
        """Return what a person who operates this wants to know of it, as JSON-like data."""
        description: dict[str, Any] = {
            "kind": self._settings.kind,
            "isolation": ISOLATIONS[self._settings.kind],
            "warm": self._zygotes is not None,
            "memory": self._cold.memory_by,
            "processes": "cgroup" if self._cold.processes_by_group else "rlimit",
            "proc": self._proc,
            "python": self.interpreter.version,
            "numpy": self.interpreter.numpy,
        }
        if self._zygotes is not None:
            description["helper"] = "compiled" if self._zygotes.compiled else "python"
        if self._why_cold:
            description["why_cold"] = self._why_cold
        return description

    def _containers(self) -> tuple[Interpreter, DockerLauncher]:
        """Return a launcher of containers that have proved to isolate, and the interpreter in their image."""
        # The engine's client is heavy, and only this kind of sandbox needs it.
        from sandbox.docker.launch import DockerLauncher  # noqa: PLC0415

        launcher = DockerLauncher(self._settings)
        try:
            with self._served(launcher, checks.PROGRAM, checks.LIMITS) as session:
                checks.check_isolation(session, strangers=1)
        except BaseException:  # interrupts too: nobody else knows of its containers
            launcher.close()
            raise
        return launcher.interpreter, launcher

    def _first_that_works(self) -> JailLauncher:
        """Return a launcher of jails that have proved to isolate: with a /proc where the kernel lets us mount one."""
        message = ""
        for proc in (True, False):
            launcher = JailLauncher(self._settings, self.interpreter, proc=proc)
            try:
                with self._served(launcher, checks.PROGRAM, checks.LIMITS) as session:
                    checks.check_isolation(session)
            except SandboxBrokenError as error:
                message = message or str(error)
                launcher.close()
            except BaseException:  # interrupts too: nobody else knows of its jails
                launcher.close()
                raise
            else:
                self._proc = proc
                return launcher
        raise explain(message)

    def _warm_up(self) -> None:
        """Start the first zygote and prove that what it forks is isolated; where it cannot be had, stay cold."""
        if platform.machine() != "x86_64":
            self._why_cold = f"no system call filter for zygotes on {platform.machine()}"
            return
        zygotes = Zygotes(_zygote_launchers(self._settings, self.interpreter, proc=self._proc))
        try:
            self._zygotes = zygotes
            ways: tuple[Isolation, ...] = ("reuse", "strict")
            for isolation in ways:
                with self.session(checks.PROGRAM, checks.LIMITS, isolation=isolation) as session:
                    checks.check_isolation(session)
        except SandboxBrokenError as error:
            self._zygotes = None
            zygotes.close()
            self._why_cold = str(error)


def _zygote_launchers(
    settings: SandboxSettings, interpreter: Interpreter, *, proc: bool
) -> dict[bool, JailLauncher]:
    launchers = {False: JailLauncher(settings, interpreter, proc=proc, zygote=USUAL_MODULES)}
    if interpreter.numpy:
        modules = (*USUAL_MODULES, "numpy", "numpy.random")
        launchers[True] = JailLauncher(settings, interpreter, proc=proc, zygote=modules)
    return launchers


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
    known = [Language("python", found.version, f"{name} {found.version}{extra}")]
    return known if settings.kind in PYTHON_ONLY else [*known, *_compiled_languages()]


def _compiled_languages() -> list[Language]:
    known = []
    for data in read_all():
        toolchain = find(data)
        if toolchain is not None:
            known += [
                Language(
                    name=variant.name,
                    version=toolchain.version,
                    description=f"{variant.description} {toolchain.version}",
                    aliases=variant.aliases,
                )
                for variant in data.variants
            ]
    return known
