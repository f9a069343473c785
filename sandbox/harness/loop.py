"""The harness: loads a program once, then runs it afresh, in a new process, for each request on the channel.

As the first process of its pid namespace it cannot be signalled from inside, and with its death everything in
the jail dies. It holds no expected answer, never runs or parses what a program wrote, and passes inputs on as
descriptors without reading them. Requests and answers (see messages.py), one at a time:

    op=load + [spec]                                          -> ok, message
    op=command + [spec(, compiled program)]                   -> ok, message
    op=run, limits + [stdin, stdout, stderr, report(, payload)]  -> facts
    op=kill                                                   while a run goes on: end it now
"""

from __future__ import annotations

import _signal
import _socket
import gc
import os

from sandbox.harness import command, compiling, interpreter, messages, program, runs, workspace
from sandbox.harness.request import Request

FD_BYTES = 4
MAX_FDS = 8
ANCILLARY_BYTES = _socket.CMSG_LEN(MAX_FDS * FD_BYTES)
MAX_MESSAGE_CHARACTERS = 4000  # each of up to ten bytes when escaped, within one message


def begin() -> _socket.socket:
    """Make this first process of a jail ready and return the channel, which it finds as its standard input."""
    interpreter.set_dumpable(0)
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # a first process ignores what it does not handle
    channel = _socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    interpreter.limit_thread_stacks()
    return channel


def serve(channel: _socket.socket) -> program.Job:
    """Answer requests until the channel closes. Returns only in a child."""
    loaded: compiling.Loaded | command.Loaded | None = None
    while True:
        data, fds = receive(channel)
        if not data:
            os._exit(0)
        message = messages.in_harness(data)
        operation = message.pop("op")
        if operation in ("load", "command"):
            loaded = command.load(fds) if operation == "command" else compiling.load(fds[0], message)
            channel.send(
                messages.from_harness(
                    {
                        "ok": loaded.ok,
                        "broken_prelude": loaded.broken_prelude,
                        "message": loaded.message[:MAX_MESSAGE_CHARACTERS],
                    }
                )
            )
            gc.collect()
            gc.freeze()  # else every child's first collection copies the whole heap
        elif operation == "run" and loaded is not None:
            workspace.prepare()
            request = Request(message, fds)
            output = os.dup(request.payload) if "collect" in message else -1
            started = runs.start(request, loaded)
            if started is None:
                if isinstance(loaded, command.Loaded):
                    command.execute(request, loaded, message["argv"])
                channel.detach()  # closed with all other descriptors that a program has no business with
                return program.load(request, loaded)
            facts = runs.supervise(started, request, channel)
            if output >= 0:
                path, max_bytes = message["collect"]
                command.collect(path, max_bytes, output)
                os.close(output)
            facts["clean"] = workspace.wipe()
            channel.send(messages.from_harness(facts))


def receive(channel: _socket.socket) -> tuple[bytes, list[int]]:
    """Return the next message and the descriptors that came with it; no bytes when the other side is gone."""
    data, ancillary, _, _ = channel.recvmsg(messages.MAX_MESSAGE_BYTES, ANCILLARY_BYTES)
    fds: list[int] = []
    for level, kind, content in ancillary:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            fds += memoryview(content).cast("i").tolist()
    return data, fds
