"""Which waiting submission is judged next: by priority, and within a priority in turn between the requests.

A higher priority goes first, but a lower one that waits is passed over a limited number of times only. Round-robin
between requests, so that a single call waits for about one submission of a huge batch, not for all of it.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from service.wire import Priority

LEVELS: tuple[Priority, ...] = ("high", "normal", "low")
# How often a priority is passed over before it has a turn.
PATIENCE: dict[Priority, int] = {"high": 0, "normal": 4, "low": 16}


class Turns:
    """Which priority is looked at first."""

    def __init__(self) -> None:
        self._passed: dict[Priority, int] = dict.fromkeys(LEVELS, 0)

    def order(self) -> list[Priority]:
        """Return the priorities, those first that have been passed over often enough."""
        return sorted(LEVELS, key=lambda level: level == "high" or self._passed[level] < PATIENCE[level])

    def took(self, taken: Priority, waiting: Iterable[Priority] = LEVELS) -> None:
        """Count that one of ``taken`` went first while ``waiting`` ones may have waited as well."""
        for level in waiting:
            self._passed[level] += 1
        self._passed[taken] = 0


class FairSchedule[R: Hashable, J]:
    """Jobs ``J`` of requests ``R``. Every operation but :meth:`drop` takes constant time."""

    def __init__(self) -> None:
        self._levels: dict[Priority, OrderedDict[R, deque[J]]] = {level: OrderedDict() for level in LEVELS}
        self._turns = Turns()

    def put(self, request: R, priority: Priority, job: J) -> None:
        """Let ``job`` wait behind those of its request and priority."""
        self._levels[priority].setdefault(request, deque()).append(job)

    def put_first(self, request: R, priority: Priority, job: J) -> None:
        """Let ``job`` be the next of its priority."""
        level = self._levels[priority]
        level.setdefault(request, deque()).appendleft(job)
        level.move_to_end(request, last=False)

    def take(self) -> J | None:
        """Return the next job, or None when nothing waits."""
        for priority in self._turns.order():
            level = self._levels[priority]
            if level:
                self._turns.took(priority, [one for one, requests in self._levels.items() if requests])
                request, jobs = level.popitem(last=False)
                job = jobs.popleft()
                if jobs:
                    level[request] = jobs
                return job
        return None

    def oldest(self) -> list[J]:
        """Return the first job of every request and priority."""
        return [jobs[0] for level in self._levels.values() for jobs in level.values()]

    def drop(self, request: R) -> list[J]:
        """Return what waited for ``request``, which waits no longer."""
        return [job for level in self._levels.values() for job in level.pop(request, ())]
