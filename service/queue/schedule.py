"""Which waiting submission is judged next: by priority, and within a priority in turn between the requests.

Strict between priorities: ``low`` runs only while nothing else waits. Round-robin between requests, so that a
single call waits for about one submission of a huge batch, not for all of it.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

    from service.wire import Priority

LEVELS: tuple[Priority, ...] = ("high", "normal", "low")


class FairSchedule[R: Hashable, J]:
    """Jobs ``J`` of requests ``R``. Every operation but :meth:`drop` takes constant time."""

    def __init__(self) -> None:
        self._levels: dict[Priority, OrderedDict[R, deque[J]]] = {level: OrderedDict() for level in LEVELS}

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
        for level in self._levels.values():
            if level:
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
