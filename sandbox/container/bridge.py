"""Joins a container's harness to whoever started the container: frames (see frames.py) on standard input and output.

It has a user id of its own, so that no program can signal it or look into it, and lives as long as its standard
input: with its end the harness loses its channel, and with the harness the container ends.
"""

from __future__ import annotations

import ctypes
import fcntl
import importlib.util
import json
import os
import selectors
import socket
import sys
import time
from collections import deque

sys.path.insert(0, __file__.rsplit("/", 3)[0])

from sandbox.container import first, frames
from sandbox.container.digest import digest

ROOT = __file__.rsplit("/", 2)[0]
CONNECT_TIMEOUT_S = 30.0
RETRY_S = 0.005
MAX_MESSAGE_BYTES = 1 << 16
PIPE_BYTES = 1 << 20
UNSENT_BYTES = 1 << 20  # at which programs have to wait for whoever reads
PR_SET_DUMPABLE = 4
# What is used and how often the limit killed, in versions 2 and 1 of control groups.
USAGE = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")
KILLS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")


class Bridge:
    """The loop; ``run`` returns when either side is gone."""

    def __init__(self) -> None:
        self._channel = connect()
        self._selector = selectors.DefaultSelector()
        self._parser = frames.Parser()
        self._inputs: dict[int, int] = {}
        self._outputs: dict[int, int] = {}
        self._unsent: deque[bytes] = deque()
        self._unsent_bytes = 0
        self._paused = False
        self._over = False
        for fd in (0, 1):
            os.set_blocking(fd, False)
        self._selector.register(0, selectors.EVENT_READ, self._from_outside)
        self._selector.register(self._channel, selectors.EVENT_READ, self._from_harness)

    def run(self) -> None:
        """Pass on until standard input ends, or until the harness has ended and that is told."""
        while not self._over or self._unsent:
            for key, _ in self._selector.select():
                key.data()
            self._send_some()
            self._pause_or_resume()

    def _from_outside(self) -> None:
        data = os.read(0, frames.CHUNK_BYTES)
        if not data:
            os._exit(0)  # nobody is left to tell
        for kind, number, content in self._parser.feed(data):
            if kind == frames.HELLO:
                self._queue(frames.HELLO, 0, json.dumps(introduction()).encode())
            elif kind == frames.INPUT:
                self._write_input(number, content)
            elif kind == frames.MESSAGE:
                self._to_harness(content[:number], content[number:])

    def _write_input(self, index: int, content: bytes) -> None:
        if index not in self._inputs:
            self._inputs[index] = os.memfd_create("input", os.MFD_CLOEXEC)
        view = memoryview(content)
        while view:
            view = view[os.write(self._inputs[index], view) :]

    def _to_harness(self, kinds: bytes, message: bytes) -> None:
        fds = []
        for index, kind in enumerate(kinds):
            if kind == frames.READ[0]:
                self._write_input(index, b"")
                os.lseek(self._inputs[index], 0, os.SEEK_SET)
                fds.append(self._inputs.pop(index))
            else:
                reader, writer = os.pipe2(os.O_CLOEXEC)
                os.set_blocking(reader, False)
                os.fchmod(writer, 0o666)  # programs may open /dev/stdout, under another user id
                enlarge(reader)
                self._outputs[index] = reader
                if not self._paused:
                    self._listen(index)
                fds.append(writer)
        try:
            socket.send_fds(self._channel, [message], fds)
        except OSError:
            self._end()
        for fd in fds:
            os.close(fd)

    def _from_run(self, index: int) -> bool:
        """Take what was written to a descriptor of the run, at most a chunk; False where nothing is left."""
        if index not in self._outputs:
            return False  # closed since it was found ready
        try:
            data = os.read(self._outputs[index], frames.CHUNK_BYTES)
        except BlockingIOError:
            return False
        if data:
            self._queue(frames.OUTPUT, index, data)
        else:
            self._close_output(index)
        return bool(data)

    def _listen(self, index: int) -> None:
        self._selector.register(self._outputs[index], selectors.EVENT_READ, lambda: self._from_run(index))

    def _pause_or_resume(self) -> None:
        """Read nothing more of a run while much is unsent: its pipes fill, and the program waits."""
        wanted = self._unsent_bytes >= UNSENT_BYTES
        if wanted != self._paused:
            self._paused = wanted
            for index, fd in self._outputs.items():
                if wanted:
                    self._selector.unregister(fd)
                else:
                    self._listen(index)

    def _close_output(self, index: int) -> None:
        fd = self._outputs.pop(index)
        if not self._paused:
            self._selector.unregister(fd)
        os.close(fd)

    def _from_harness(self) -> None:
        try:
            answer = self._channel.recv(MAX_MESSAGE_BYTES)
        except ConnectionError:
            answer = b""
        if not answer:
            self._end()
            return
        # Whoever wrote is dead by now: what is left fits into the pipes.
        for index in list(self._outputs):
            while self._from_run(index):
                pass
            if index in self._outputs:
                self._close_output(index)
        self._queue(frames.ANSWER, 0, counters() + answer)

    def _end(self) -> None:
        if not self._over:
            self._over = True
            self._queue(frames.GONE)
            self._selector.unregister(self._channel)

    def _queue(self, kind: int, number: int = 0, data: bytes = b"") -> None:
        if not self._unsent:
            self._selector.register(1, selectors.EVENT_WRITE, lambda: None)
        content = frames.frame(kind, number, data)
        self._unsent.append(content)
        self._unsent_bytes += len(content)

    def _send_some(self) -> None:
        while self._unsent:
            try:
                written = os.write(1, self._unsent[0])
            except BlockingIOError:
                return
            self._unsent_bytes -= written
            if written < len(self._unsent[0]):
                self._unsent[0] = self._unsent[0][written:]
            else:
                self._unsent.popleft()
            if not self._unsent:
                self._selector.unregister(1)


def connect() -> socket.socket:
    """Return the channel to the first process, which may still be starting. Raises OSError."""
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    deadline = time.monotonic() + CONNECT_TIMEOUT_S
    while True:
        try:
            channel.connect(first.ADDRESS)
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(RETRY_S)
        else:
            return channel


def introduction() -> dict[str, object]:
    """Return what this container is, as plain data."""
    return {
        "digest": digest(ROOT),
        "executable": sys.executable,
        "version": sys.version.split()[0],
        "implementation": sys.implementation.name,
        "numpy": importlib.util.find_spec("numpy") is not None,
        "counted": any(map(os.path.exists, USAGE)) and any(map(os.path.exists, KILLS)),
    }


def counters() -> bytes:
    """Return the container's memory in use, and how many processes its limit has killed; zeros where unknown."""
    kills = dict(line.split() for line in first_of(KILLS).splitlines())
    return frames.COUNTERS.pack(int(first_of(USAGE) or 0), int(kills.get("oom_kill", 0)))


def first_of(paths: tuple[str, ...]) -> str:
    """Return the content of the first file that can be read."""
    for path in paths:
        try:
            with open(path, encoding="ascii") as file:
                return file.read()
        except OSError:
            continue
    return ""


def enlarge(fd: int) -> None:
    """Make a pipe large, where this user's share of pipe memory lets us; a small one works as well."""
    try:
        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    except OSError:
        return


if __name__ == "__main__":
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    Bridge().run()
