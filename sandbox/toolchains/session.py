"""A session whose program is a command: a compiler, or what it made. Runs as all others do, in a jail of its own."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

from sandbox.facts import End, Limits, Program, RunInput, RunResult
from sandbox.jail import ENVIRONMENT, STACK_BYTES
from sandbox.launch import Launcher, Running
from sandbox.session import ServedSession
from sandbox.toolchains.languages import MIB, Step

# What a runtime that is told the size of its stack leaves free of it.
STACK_MARGIN = 8
OF_PYTHON_ONLY = "PYTHON"


@dataclass(frozen=True, slots=True)
class Command:
    """What is run.

    ``argv`` still holds ``{memory_mib}`` and ``{stack_kib}``, which are each run's. ``file`` is put into the folder
    of sources before every run: a name and its content, or None for what ``artifact`` holds. ``artifact`` is a
    descriptor of a compiled program, -1 for none; with ``executable`` it is started itself. ``collect`` is the path
    (in the jail) of what a compiler makes and the most bytes it may have; it is copied to ``output``.
    """

    argv: tuple[str, ...]
    step: Step
    environment: dict[str, str]
    file: tuple[str, bytes | None] = ("", None)
    artifact: int = -1
    executable: bool = False
    collect: tuple[str, int] | None = None
    output: int = -1


class CommandSession(ServedSession):
    """Runs one command. Use as a context manager; one run at a time."""

    def __init__(
        self, launcher: Launcher, command: Command, *, disk_bytes: int, memory_bytes: int, language: str
    ) -> None:
        """Start its jail. Raises SandboxBrokenError."""
        self._command = command
        self._measured = False
        super().__init__(
            launcher,
            Program("", language=language),
            disk_bytes=disk_bytes,
            compile_cpu_time_s=0.0,
            memory_bytes=memory_bytes,
        )

    def run(self, given: RunInput, limits: Limits, *, fresh: bool = True) -> RunResult:
        """Run the command once, with its runtime's own needs added to ``limits``. Raises as Session.run does."""
        if not self.compiled.ok:
            raise ValueError("this program does not compile")
        step = self._command.step
        roomy = replace(
            limits,
            cpu_time_s=limits.cpu_time_s + step.extra_cpu_time_s,
            wall_time_s=limits.wall_time_s + step.extra_cpu_time_s,
            memory_bytes=limits.memory_bytes + step.extra_memory_mib * MIB,
            processes=limits.processes + step.extra_processes,
        )
        result = super().run(given, roomy, fresh=fresh)
        used_too_much = self._measured and (result.memory_peak_bytes or 0) > roomy.memory_bytes
        if used_too_much or self._says_out_of_memory(result):
            return replace(result, end=End.MEMORY_LIMIT)
        return result

    def _says_out_of_memory(self, result: RunResult) -> bool:
        """Whether the runtime tells that it failed for lack of memory. A program that lies about it gains nothing."""
        failed = result.end is End.SIGNALED or (result.end is End.EXITED and result.exit_code != 0)
        return failed and any(text.encode() in result.stderr for text in self._command.step.out_of_memory)

    def _request(self, limits: Limits, jail: Running) -> dict[str, Any]:
        step = self._command.step
        message = super()._request(limits, jail)
        stack_bytes = int(min(STACK_BYTES, limits.memory_bytes * step.stack_share))
        message["stack_bytes"] = stack_bytes
        self._measured = not jail.by_group and step.memory_limit == "data"
        if self._measured:
            data_bytes = limits.memory_bytes + step.extra_processes * stack_bytes
            message |= {"address_space_bytes": 0, "data_bytes": data_bytes}
        values = {
            "memory_mib": str(limits.memory_bytes // MIB - step.extra_memory_mib),
            "stack_kib": str((stack_bytes - stack_bytes // STACK_MARGIN) >> 10),
        }
        message["argv"] = [filled(word, values) for word in self._command.argv]
        if self._command.collect is not None:
            message["collect"] = list(self._command.collect)
        return message

    def _further_descriptors(self) -> list[int]:
        return [os.dup(self._command.output)] if self._command.output >= 0 else []

    def _loading(self) -> tuple[dict[str, Any], dict[str, Any], list[int]]:
        command = self._command
        environment = {name: value for name, value in ENVIRONMENT.items() if OF_PYTHON_ONLY not in name}
        spec = {
            "mode": "stdio",
            "environment": environment | command.environment,
            "file": list(command.file),
            "executable": command.executable,
            "threads_only": command.step.handles_sigchld and command.output < 0,
        }
        return {"op": "command"}, spec, [command.artifact] if command.artifact >= 0 else []


def filled(word: str, values: dict[str, str]) -> str:
    """Return ``word`` with the names in braces replaced by their values; other braces stay."""
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word
