"""What the service's child processes have in common: they never outlive the service.

A child is started with the number of an inherited socket. A thread waits for the other end to close, which
the kernel does however the service died; it then asks the main thread to leave through its context managers,
and where that takes too long kills the child's whole process group, programs that are being judged included.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, NoReturn

from service.processes.frames import Channel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from service.processes.frames import Frame

CLEAN_UP_S = 5.0


def run_child(serve: Callable[[Channel], int]) -> NoReturn:
    """Run ``serve`` with the channel named on the command line, and exit with the status that it returns."""
    channel = _WatchedChannel.from_descriptor(int(sys.argv[1]))
    signal.signal(signal.SIGTERM, _leave)
    # The service gets the terminal's Ctrl-C and decides when its children stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(channel.fileno(),), name="hangup", daemon=True).start()
    status = serve(channel)
    leaving()
    sys.exit(status)


def leaving() -> None:
    """Say that this process is on its way out: SIGTERM no longer breaks off what it closes.

    To be called before the service is told anything upon which it hangs up.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


class _WatchedChannel(Channel):
    """A channel whose end, seen by the main thread, makes the same news of the other thread superfluous."""

    def read(self) -> bytes | None:
        try:
            frame = super().read()
        except ConnectionError:
            # So the kernel tells of an end where answers were never read.
            frame = None
        if frame is None:
            leaving()
        return frame

    def write(self, frames: Sequence[Frame]) -> None:
        try:
            super().write(frames)
        except ConnectionError:
            leaving()
            raise


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    leaving()
    sys.exit(0)


def _follow(descriptor: int) -> None:
    poll = select.poll()
    # No events are asked for: a hang-up is always reported, and data must not wake this thread.
    poll.register(descriptor, 0)
    while not poll.poll():
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(CLEAN_UP_S)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
