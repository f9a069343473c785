"""Who uses the cores of a machine: workers of one service hold one each while they judge, and may borrow idle ones.

A core is held by a name in the kernel's table of abstract sockets (unix(7)), which goes with its holder, however that
ends; so nothing is left of a worker that is killed.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


class Cores:
    """The cores that processes with the same ``owner`` share out among themselves."""

    def __init__(self, owner: str, count: int) -> None:
        self._names = [f"\0microcoder-core/{owner}/{number}" for number in range(count)]

    @contextmanager
    def taken(self, most: int) -> Iterator[int]:
        """Hold as many idle cores as there are, at most ``most``; give their number."""
        with ExitStack() as stack:
            held = 0
            for name in self._names:
                if held < most and _take(name, stack):
                    held += 1
            yield held


def _take(name: str, stack: ExitStack) -> bool:
    holder = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    try:
        holder.bind(name)
    except OSError:
        holder.close()
        return False
    return True
