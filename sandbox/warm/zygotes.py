"""Jails that live long: each holds a zygote (harness/zygote.py), which forks a process for one program after the other.

A zygote is taken by one session at a time. One that has died, has grown or has served long enough is replaced.
"""

from __future__ import annotations

import select
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass

from sandbox.errors import SandboxBrokenError
from sandbox.facts import Program
from sandbox.harness import clocks, forks, messages
from sandbox.launch import JailLauncher, Launched

# What contest programs import most. Where numpy is installed, zygotes of a second flavour have it loaded too.
USUAL_MODULES = (
    *("abc", "bisect", "collections", "collections.abc", "contextlib", "copy", "dataclasses", "datetime"),
    *("decimal", "enum", "fractions", "functools", "heapq", "io", "itertools", "json", "linecache", "math"),
    *("numbers", "operator", "queue", "random", "re", "string", "struct", "textwrap", "threading", "time"),
    *("traceback", "types", "typing", "warnings", "weakref", "sortedcontainers"),
)
MAX_USES = 1000
# It touches next to nothing of its own between programs; one that is half as large again is not what it was.
MAX_GROWTH = 1.5
USES_PER_LOOK = 50
MAX_IDLE = 4  # each holds some 12 MB, 22 with numpy
HARNESS_PROCESSES = 32  # while a program is compiled
ANSWER_TIMEOUT_S = 10.0
START_TIMEOUT_S = 30.0
END = forks.pack(forks.END, {})
SERVE = forks.pack(forks.SERVED, {})
CREDENTIALS = struct.Struct("iII")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a program's process ended, and what it and everything that it started used."""

    status: int | None
    cpu_time_s: float
    memory_peak_bytes: int


class Zygote:
    """One jail. Raises SandboxBrokenError from every call once its first process is gone."""

    def __init__(self, launcher: JailLauncher, *, numpy: bool) -> None:
        self.numpy = numpy
        self._launched: Launched = launcher.launch()
        self._uses = 0
        self._limits = (0, 0)
        self._oom_kills = 0
        self._started = self._ending = False
        self.broken = False
        channel = self._launched.channel
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        channel.settimeout(START_TIMEOUT_S)
        try:
            data, self.pid = receive_with_sender(channel)
        except OSError:
            data = b""
        if not data:
            log = self.log()
            self.close()
            raise SandboxBrokenError(f"the zygote did not start: {log or 'no message'}")
        self._resident_bytes = clocks.resident_bytes(self.pid)
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        channel.settimeout(ANSWER_TIMEOUT_S)

    @property
    def by_group(self) -> bool:
        """Whether the memory of everything in the jail is limited and counted by a group."""
        return self._launched.by_group

    @property
    def worn(self) -> bool:
        """Whether another one should take its place: it is broken, has served long enough, or has grown."""
        if (
            self._uses % USES_PER_LOOK == 0
            and clocks.resident_bytes(self.pid) > MAX_GROWTH * self._resident_bytes
        ):
            return True
        return self.broken or self._uses >= MAX_USES

    @property
    def alive(self) -> bool:
        """Whether its first process still listens. To be asked only while it waits."""
        poller = select.poll()
        poller.register(self._launched.channel, select.POLLIN)
        return not poller.poll(0)  # nothing is to be heard of one that waits but its end

    def log(self) -> str:
        """Return the last lines that nsjail or the harness wrote."""
        return self._launched.log()

    @property
    def limits_processes(self) -> bool:
        """Whether a group limits how many processes there are in the jail."""
        return self._launched.limits_processes

    def limit(self, memory_bytes: int, processes: int) -> None:
        """Let what the zygote forks use this much. Nothing of the kind may run when this changes."""
        if (memory_bytes, processes) != self._limits:
            self.settle()
            self._launched.limit(memory_bytes, processes)
            self._limits = (memory_bytes, processes)

    def restart_peak(self) -> None:
        """Start a new peak of memory."""
        if self._launched.group is not None:
            self._launched.group.restart_peak()

    def peak_bytes(self) -> int | None:
        """Return the most memory since the last ``restart_peak``, without the zygote's; None where no group counts."""
        return self._launched.peak_bytes()

    def oom_kills(self) -> int:
        """Return how many processes of the jail were killed so far because the limit was reached."""
        return self._launched.oom_kills()

    def killed_for_memory(self) -> bool:
        """Whether a process was killed at the memory limit since this was last asked."""
        before, self._oom_kills = self._oom_kills, self._launched.oom_kills()
        return self._oom_kills > before

    def start(self, request: bytes, fds: list[int]) -> None:
        """Fork a process as ``request`` (forks.py) asks and give it ``fds``, which the caller still has to close."""
        self.begin_to_end()
        self.settle()
        self._oom_kills = self._launched.oom_kills()  # those so far are nobody's who comes now
        self._uses += 1
        self._started = True
        try:
            socket.send_fds(self._launched.channel, [request], fds)
        except OSError as error:
            raise self._lost(error) from error

    def begin_to_end(self) -> None:
        """Have the process ended, with everything that it started; ``settle`` waits for that."""
        if self._started and not self.broken:
            self._started = False
            self._ending = True
            with suppress(OSError):  # then ``settle`` finds the channel closed as well
                self._launched.channel.send(END)

    def settle(self) -> Ending:
        """Return how the last process ended; nothing of it is alive then. Only once after ``begin_to_end``."""
        if not self._ending:
            return Ending(None, 0.0, 0)
        self._ending = False
        try:
            data = self._launched.channel.recv(messages.MAX_MESSAGE_BYTES)
        except OSError:
            data = b""
        if data:
            facts = messages.outside(data)
            status = int(facts["status"])
            return Ending(
                status if status >= 0 else None, float(facts["cpu_time_s"]), int(facts["memory_peak_bytes"])
            )
        self.broken = True
        if self._launched.oom_kills() > self._oom_kills:
            return Ending(None, 0.0, 0)  # the kernel took the zygote for its program's memory
        raise self._lost("it does not answer")

    def close(self) -> None:
        """End the jail with everything in it."""
        self.broken = True
        self._launched.end()

    def _lost(self, reason: object) -> SandboxBrokenError:
        self.broken = True
        return SandboxBrokenError(f"the zygote is gone: {self.log() or reason}")


class Forked:
    """A harness that a zygote has forked for one session (see ``launch.Running``)."""

    def __init__(self, zygotes: Zygotes, zygote: Zygote) -> None:
        self._zygotes = zygotes
        self._zygote = zygote
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            zygote.start(SERVE, [theirs.fileno()])
        except BaseException:  # interrupts too: nobody has this object yet who could close it
            self.channel.close()
            raise
        finally:
            theirs.close()

    @property
    def by_group(self) -> bool:
        """Whether its memory is limited and counted by a group."""
        return self._zygote.by_group

    def log(self) -> str:
        """Return the last lines that it wrote when something was wrong."""
        return self._zygote.log()

    @property
    def limits_processes(self) -> bool:
        """Whether a group limits how many processes it has."""
        return self._zygote.limits_processes

    def limit(self, memory_bytes: int, processes: int | None = None) -> None:
        """Let what runs in it use this much, and start a new peak."""
        self._zygote.limit(memory_bytes, processes or HARNESS_PROCESSES)
        self._zygote.restart_peak()

    def oom_kills(self) -> int:
        """Return how many processes were killed so far because the limit was reached."""
        return self._zygote.oom_kills()

    def peak_bytes(self) -> int | None:
        """Return the most that was used since the last limit; None where no group counts."""
        return self._zygote.peak_bytes()

    def end(self) -> None:
        """End it with all that runs in it."""
        self.channel.close()
        self._zygotes.give_back(self._zygote)


@dataclass(frozen=True, slots=True)
class ForkingLauncher:
    """Has harnesses forked for one program (see ``launch.Launcher``)."""

    zygotes: Zygotes
    program: Program

    def launch(self) -> Forked:
        """Have one forked. Raises SandboxBrokenError."""
        zygote = self.zygotes.take(self.program)
        try:
            return Forked(self.zygotes, zygote)
        except BaseException:  # interrupts too: a zygote that is not given back is never ended
            self.zygotes.give_back(zygote)
            raise

    def close(self) -> None:
        """Nothing is held between launches."""


class Zygotes:
    """The zygotes of one sandbox: those that wait, by flavour (whether numpy is loaded)."""

    def __init__(self, launchers: dict[bool, JailLauncher]) -> None:
        self._launchers = launchers
        self._idle: dict[bool, list[Zygote]] = {flavour: [] for flavour in launchers}

    @property
    def compiled(self) -> bool:
        """Whether zygotes use the compiled helper."""
        return all(launcher.compiled for launcher in self._launchers.values())

    def take(self, program: Program) -> Zygote:
        """Return a zygote for a program, for nobody else; a new one where none waits. Raises SandboxBrokenError."""
        numpy = "numpy" in program.source or "numpy" in (program.prelude or "")
        flavour = numpy and True in self._launchers
        idle = self._idle[flavour]
        while idle:
            zygote = idle.pop()
            try:
                zygote.settle()
            except SandboxBrokenError:
                zygote.close()  # what it ran last has broken it: nobody else's loss
            else:
                if zygote.alive:
                    return zygote
                zygote.close()
        return Zygote(self._launchers[flavour], numpy=flavour)

    def give_back(self, zygote: Zygote) -> None:
        """End what a zygote has forked and let others use it, unless it is worn or enough of them wait."""
        zygote.begin_to_end()
        idle = self._idle[zygote.numpy]
        if zygote.worn or len(idle) >= MAX_IDLE:
            zygote.close()
        else:
            idle.append(zygote)

    def close(self) -> None:
        """End all that wait."""
        for idle in self._idle.values():
            while idle:
                idle.pop().close()
        for launcher in self._launchers.values():
            launcher.close()


def receive_with_sender(channel: socket.socket) -> tuple[bytes, int]:
    """Receive a message on a socket with SO_PASSCRED; return it and the sender's process id as it is seen here."""
    data, ancillary, _, _ = channel.recvmsg(messages.MAX_MESSAGE_BYTES, socket.CMSG_SPACE(CREDENTIALS.size))
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            return data, CREDENTIALS.unpack(content[: CREDENTIALS.size])[0]
    return data, 0
