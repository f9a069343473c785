"""The languages of this machine besides Python: finds them, and opens sessions for programs in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sandbox.errors import LanguageUnavailableError
from sandbox.facts import Limits, Program, StdioInput
from sandbox.interpreter import Interpreter
from sandbox.jail import Extras
from sandbox.launch import JailLauncher
from sandbox.settings import SandboxSettings
from sandbox.toolchains.compiled import CompiledSession, Compiler
from sandbox.toolchains.discovery import Toolchain, find
from sandbox.toolchains.languages import MIB, CodeMarks, LanguageData, Variant, read_all

PROOF_LIMITS = Limits(cpu_time_s=20.0, wall_time_s=60.0)
PROOF_WORD = b"proof\n"


class Compilers:
    """Compilers that were asked for so far, each with its two kinds of jails, or why there is none."""

    def __init__(self, settings: SandboxSettings, interpreter: Interpreter, *, proc: bool) -> None:
        self._settings = settings
        self._interpreter = interpreter
        self._proc = proc
        self._languages: list[LanguageData] | None = None
        self._known: dict[str, Compiler | str] = {}
        self._launchers: list[JailLauncher] = []

    def session(self, program: Program, limits: Limits) -> CompiledSession:
        """Compile a program. Raises SandboxError."""
        if program.mode != "stdio" or program.prelude:
            raise LanguageUnavailableError(
                f"programs in {program.language} are run in stdio mode only, without a prelude"
            )
        if program.language not in self._known:
            self._known[program.language] = self._open(program.language)
        compiler = self._known[program.language]
        if isinstance(compiler, str):
            raise LanguageUnavailableError(compiler)
        return CompiledSession(compiler, program.source, limits, disk_bytes=self._settings.disk_bytes)

    def code_marks(self, language: str) -> CodeMarks:
        """Return how completions mark code in ``language``, whether or not its toolchain is here."""
        return next((data.marks for data, _ in self._variants(language)), CodeMarks())

    def close(self) -> None:
        """Give up what was opened. Sessions must be closed before."""
        for launcher in self._launchers:
            launcher.close()
        self._launchers.clear()
        self._known.clear()

    def _open(self, name: str) -> Compiler | str:
        """Return a compiler that has proved to work, or why there is none: a broken one would fail every program."""
        for data, variant in self._variants(name):
            toolchain = find(data)
            if toolchain is not None:
                compiler = self._prepared(data, variant, toolchain)
                trouble = self._trouble(compiler)
                return (
                    compiler if trouble is None else f"the toolchain for {name} does not work here: {trouble}"
                )
        return f"no such language here: {name!r}"

    def _trouble(self, compiler: Compiler) -> str | None:
        with CompiledSession(
            compiler, compiler.data.proof, PROOF_LIMITS, disk_bytes=self._settings.disk_bytes
        ) as session:
            if not session.compiled.ok:
                return session.compiled.message
            result = session.run(StdioInput(PROOF_WORD), PROOF_LIMITS)
        return (
            None
            if result.stdout == PROOF_WORD
            else f"its program printed {result.stdout!r} {result.stderr!r}"
        )

    def _variants(self, name: str) -> Iterator[tuple[LanguageData, Variant]]:
        if self._languages is None:
            self._languages = read_all()
        for data in self._languages:
            for variant in data.variants:
                if name == variant.name or name in variant.aliases:
                    yield data, variant

    def _prepared(self, data: LanguageData, variant: Variant, toolchain: Toolchain) -> Compiler:
        disk_bytes = data.compile.disk_mib * MIB
        needs_toolchain = data.run.needs_toolchain
        return Compiler(
            data=data,
            variant=variant,
            toolchain=toolchain,
            compiling=self._launcher(
                replace(self._settings, disk_bytes=disk_bytes),
                toolchain.extras(data.compile, with_toolchain=True),
            ),
            running=self._launcher(
                self._settings, toolchain.extras(data.run, with_toolchain=needs_toolchain)
            ),
        )

    def _launcher(self, settings: SandboxSettings, extras: Extras) -> JailLauncher:
        launcher = JailLauncher(settings, self._interpreter, proc=self._proc, extras=extras)
        self._launchers.append(launcher)
        return launcher
