"""A program that is compiled: once, in a jail that shows the compiler, into a sealed file; then run in another jail."""

from __future__ import annotations

import fcntl
import os
import re
from dataclasses import dataclass

from sandbox.facts import CompileResult, End, Limits, RunResult, StdioInput
from sandbox.launch import Launcher
from sandbox.toolchains.discovery import Toolchain
from sandbox.toolchains.languages import MIB, LanguageData, Step, Variant
from sandbox.toolchains.naming import names
from sandbox.toolchains.session import Command, CommandSession, filled

SOURCE = "/box/source"
WORK = "/box/work"
MESSAGE_BYTES = 1 << 20
MAX_MESSAGE_CHARACTERS = 4000
SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
MFD_EXEC = 0x10  # linux/memfd.h; kernels before 6.3 refuse it, and make such files executable by themselves


@dataclass(frozen=True, slots=True)
class Compiler:
    """All that is needed for compiling and running programs of one language on this machine."""

    data: LanguageData
    variant: Variant
    toolchain: Toolchain
    compiling: Launcher
    running: Launcher


class CompiledSession(CommandSession):
    """A compiled program that can be run. Use as a context manager; one run at a time."""

    def __init__(self, compiler: Compiler, source: str, limits: Limits, *, disk_bytes: int) -> None:
        """Compile ``source``; ``limits`` are those of runs. Raises SandboxBrokenError."""
        self._artifact = _sealable_file()
        try:
            failure = _compile(compiler, source, self._artifact)
            if failure is not None:
                self._jail = None
                self.compiled = failure
                return
            fcntl.fcntl(self._artifact, fcntl.F_ADD_SEALS, SEALS)
            super().__init__(
                compiler.running,
                _run_command(compiler, source, self._artifact),
                disk_bytes=disk_bytes,
                memory_bytes=limits.memory_bytes,
                language=compiler.variant.name,
            )
        except BaseException:  # interrupts too: nobody has this object yet who could close it
            os.close(self._artifact)
            self._artifact = -1
            raise

    def close(self) -> None:
        """End everything that belongs to this session."""
        super().close()
        if self._artifact >= 0:
            os.close(self._artifact)
            self._artifact = -1


def _compile(compiler: Compiler, source: str, output: int) -> CompileResult | None:
    """Compile into ``output``. Returns what went wrong, or None."""
    data, step = compiler.data, compiler.data.compile
    name = filled(data.source, {"unit": names(data, source).unit})
    made = f"{SOURCE}/{data.output}" if data.output == data.source else f"{WORK}/{data.output}"
    values = {"source": f"{SOURCE}/{name}", "output": made}
    limits = Limits(
        cpu_time_s=step.cpu_time_s,
        wall_time_s=step.wall_time_s,
        memory_bytes=step.memory_mib * MIB,
        output_bytes=MESSAGE_BYTES,
        processes=step.processes,
    )
    command = Command(
        argv=_argv(compiler, step, values),
        step=step,
        environment=_environment(compiler, step),
        file=(name, source.encode("utf-8", "replace")),
        collect=(made, step.output_mib * MIB),
        output=output,
    )
    with CommandSession(
        compiler.compiling,
        command,
        disk_bytes=step.disk_mib * MIB,
        memory_bytes=limits.memory_bytes,
        language=compiler.variant.name,
    ) as session:
        result = session.run(StdioInput(), limits)
    if result.end is End.EXITED and result.exit_code == 0 and os.fstat(output).st_size:
        return None
    return CompileResult(ok=False, message=_failure(result, limits, step))


def _failure(result: RunResult, limits: Limits, step: Step) -> str:
    match result.end:
        case End.CPU_LIMIT | End.WALL_LIMIT:
            return f"compiling took too much time (more than {limits.cpu_time_s:g} s)"
        case End.MEMORY_LIMIT:
            return f"compiling took too much memory (more than {step.memory_mib} MiB)"
        case End.OUTPUT_LIMIT:
            return "the compiler wrote too many messages"
    said = (result.stderr.strip() or result.stdout.strip()).decode("utf-8", "replace")
    said = re.sub(rf"{SOURCE}/|{WORK}/", "", said)[:MAX_MESSAGE_CHARACTERS]
    if result.end is End.SIGNALED:
        return said or f"the compiler crashed on this program (signal {result.signal})"
    if result.exit_code == 0:
        return f"the compiler made no program of at most {step.output_mib} MiB"
    return said or f"the compiler ended with exit code {result.exit_code}"


def _run_command(compiler: Compiler, source: str, artifact: int) -> Command:
    data, step = compiler.data, compiler.data.run
    executable = step.command[0] == "{program}"
    values = {
        "program": data.output if executable else f"{SOURCE}/{data.output}",
        "entry": names(data, source).entry,
    }
    return Command(
        argv=_argv(compiler, step, values),
        step=step,
        environment=_environment(compiler, step),
        file=("" if executable else data.output, None),
        artifact=artifact,
        executable=executable,
    )


def _argv(compiler: Compiler, step: Step, values: dict[str, str]) -> tuple[str, ...]:
    words: list[str] = []
    for word in step.command:
        words += compiler.variant.options if word == "{options}" else [filled(word, values)]
    first = compiler.toolchain.commands.get(words[0])
    return (str(first) if first else words[0], *words[1:])


def _environment(compiler: Compiler, step: Step) -> dict[str, str]:
    values = {"home": str(compiler.toolchain.home or "")}
    return {name: filled(value, values) for name, value in step.environment.items()}


def _sealable_file() -> int:
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        fd = os.memfd_create("program", flags | MFD_EXEC)
    except OSError:
        fd = os.memfd_create("program", flags)
    os.fchmod(fd, 0o555)
    return fd
