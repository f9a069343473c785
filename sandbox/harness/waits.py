"""How long a run waited for a core, which tells a loaded machine from a slow program.

A program may do its work in any of its threads (a deep stack, a virtual machine's own thread). The one that used the
most CPU time stands for all of them: threads that sleep wait for nothing, and sums would grow with their number.
"""

from __future__ import annotations

import os
from itertools import islice

# Of each process, the oldest: bounds what one look costs.
MAX_THREADS = 64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Spent = tuple[float, float]


class Waits:
    """The waiting of one run, or of one test after another in the same processes."""

    def __init__(self) -> None:
        self._before: dict[str, Spent] = {}
        self._longest_s = 0.0

    def restart(self, pids: Iterable[int]) -> None:
        """Leave out what these processes have done so far."""
        self._before = _threads(pids)
        self._longest_s = 0.0

    def look(self, pids: Iterable[int]) -> float:
        """Return how long the busiest thread of these processes waited for a core, in seconds.

        It is the longest that was ever seen, since a thread that ends takes its times along.
        """
        busiest: Spent = (0.0, 0.0)
        for thread, (ran_s, waited_s) in _threads(pids).items():
            ran_before_s, waited_before_s = self._before.get(thread, (0.0, 0.0))
            busiest = max(busiest, (ran_s - ran_before_s, waited_s - waited_before_s))
        self._longest_s = max(self._longest_s, busiest[1])
        return self._longest_s


def _threads(pids: Iterable[int]) -> dict[str, Spent]:
    """Return of each thread how long it ran and how long it was runnable without a core, in seconds, where known."""
    found = {}
    for pid in pids:
        try:
            with os.scandir(f"/proc/{pid}/task") as tasks:
                paths = [task.path for task in islice(tasks, MAX_THREADS)]
        except OSError:
            continue  # it is gone
        for path in paths:
            try:
                with open(f"{path}/schedstat", encoding="ascii") as file:
                    ran_ns, waited_ns, _ = file.read().split()
                found[path] = (int(ran_ns) / 1e9, int(waited_ns) / 1e9)
            except (OSError, ValueError):
                continue
    return found
