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
    from types import FrameType

CLEAN_UP_S = 5.0


def channel_of_this_child() -> Channel:
    """Open the channel named on the command line, and tie this process's life to it. Call it once, first."""
    channel = Channel.from_descriptor(int(sys.argv[1]))
    signal.signal(signal.SIGTERM, _leave)
    # The service gets the terminal's Ctrl-C and decides when its children stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(channel.fileno(),), name="hangup", daemon=True).start()
    return channel


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
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
