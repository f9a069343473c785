"""What waits in the local queue: admitted, taken in turn, and settled with one answer for each submission."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from service.queue.backlog import Backlog
from service.queue.reuse import Fingerprints, JudgementCache, Twins, certain, given_again
from service.queue.schedule import FairSchedule
from service.queue.tasks import internal_error
from service.queue.ticket import Ticket
from service.queue.worker_process import task_of
from service.wire import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from service.errors import NotReadyError
    from service.intake import Intake, Item
    from service.metrics import Meters
    from service.settings import Settings


@dataclass(slots=True, eq=False)
class Waiter:
    """One submission that waits or runs; ``followers`` equal it and get its judgement where that is certain."""

    ticket: Ticket
    item: Item
    size_bytes: int
    fingerprint: str = ""
    followers: list[Item] = field(default_factory=list)
    attempts: int = 0
    since_s: float = field(default_factory=time.monotonic)

    @property
    def held(self) -> int:
        """Return how many submissions it stands for."""
        return 1 + len(self.followers)


class Waiting:
    """The submissions that are held. Runs on one event loop."""

    def __init__(self, settings: Settings, meters: Meters) -> None:
        self.backlog = Backlog(settings.backlog_submissions, settings.backlog_bytes)
        # Set while something may wait, and while nothing is held.
        self.work = asyncio.Event()
        self.idle = asyncio.Event()
        self.idle.set()
        self._meters = meters
        self._max_wait_s = settings.max_wait_s
        self._schedule: FairSchedule[Ticket, Waiter] = FairSchedule()
        self._tickets: set[Ticket] = set()
        self._cache = JudgementCache(settings.cache_bytes, settings.cache_ttl_s)
        self._fingerprints = Fingerprints.of_settings(settings)

    def admit(self, intake: Intake, request_id: str, on_cancel: Callable[[Ticket], None]) -> Ticket:
        """Let a request's submissions wait for their turn; ``on_cancel`` hears when nobody listens any longer.

        Raises:
            QueueFullError: too much is held already.

        """
        self.backlog.ensure_room()

        def cancelled(ticket: Ticket) -> None:
            self._drop(ticket)
            on_cancel(ticket)

        ticket = Ticket(intake, request_id, cancelled)
        # Problems are shared: each submission counts for its part of them.
        shared_bytes = sum(map(len, intake.problems.values())) // len(intake.items)
        for fingerprint, (first, *followers) in Twins(intake.items, self._fingerprints).by_first.values():
            known = self._cache.get(fingerprint)
            if known is not None:
                self._give_again(ticket, [first, *followers], *known)
                continue
            size_bytes = sum(len(item.submission) + shared_bytes for item in (first, *followers))
            self._hold(Waiter(ticket, first, size_bytes, fingerprint, followers))
        if ticket.open:
            self._tickets.add(ticket)
        return ticket

    def take(self) -> Waiter | None:
        """Return the next that is still wanted and has not waited too long, or None: ``work`` tells when to ask."""
        while (waiter := self._schedule.take()) is not None:
            if not waiter.ticket.open:
                self.release(waiter)
            elif time.monotonic() - waiter.since_s > self._max_wait_s:
                self._expire(waiter)
            else:
                return waiter
        self.work.clear()
        return None

    def put_back(self, waiter: Waiter) -> None:
        """Let it be the next."""
        self._schedule.put_first(waiter.ticket, waiter.item.priority, waiter)
        self.work.set()

    def settle(self, waiter: Waiter, verdict: Verdict, judgement: bytes, judging_s: float) -> None:
        """Hand out a judgement, to equal submissions as well where it is certain; else these are judged too."""
        ticket = waiter.ticket
        self.backlog.judged()
        self._meters.judged(
            verdict, waiter.item.language, judging_s, time.monotonic() - waiter.since_s - judging_s
        )
        ticket.finish(waiter.item, judgement)
        self._cache.put(waiter.fingerprint, verdict, judgement)
        if certain(verdict):
            self._give_again(ticket, waiter.followers, verdict, judgement)
        elif ticket.open:
            size_bytes = waiter.size_bytes // waiter.held
            for item in waiter.followers:
                self._hold(Waiter(ticket, item, size_bytes, since_s=waiter.since_s))
        self.release(waiter)

    def fail(self, waiter: Waiter, message: str, judging_s: float) -> None:
        """Hand out an IE."""
        self.settle(waiter, Verdict.IE, _failure(waiter, waiter.item, message, judging_s), judging_s)

    def fail_all(self, error: NotReadyError) -> None:
        """Tell everyone who listens that the rest will not be judged."""
        for ticket in list(self._tickets):
            ticket.fail(error)

    def release(self, waiter: Waiter) -> None:
        """Hold it no longer."""
        self.backlog.release(waiter.held, waiter.size_bytes)
        if not waiter.ticket.open:
            self._tickets.discard(waiter.ticket)
        if self.backlog.submissions == 0:
            self.idle.set()

    def oldest_age_s(self) -> float:
        """Return how long the one that was admitted first waits."""
        now_s = time.monotonic()
        return max((now_s - waiter.since_s for waiter in self._schedule.oldest()), default=0.0)

    def _hold(self, waiter: Waiter) -> None:
        self.backlog.hold(waiter.held, waiter.size_bytes)
        self._schedule.put(waiter.ticket, waiter.item.priority, waiter)
        self.idle.clear()
        self.work.set()

    def _drop(self, ticket: Ticket) -> None:
        for waiter in self._schedule.drop(ticket):
            self.release(waiter)
        self._tickets.discard(ticket)

    def _give_again(self, ticket: Ticket, items: list[Item], verdict: Verdict, judgement: bytes) -> None:
        for item in items:
            ticket.finish(item, given_again(judgement, item))
            self._meters.given_again(verdict, item.language)

    def _expire(self, waiter: Waiter) -> None:
        waited_s = time.monotonic() - waiter.since_s
        message = f"it waited {waited_s:.0f} s for a worker, more than this server's {self._max_wait_s:g} s"
        for item in (waiter.item, *waiter.followers):
            waiter.ticket.finish(item, _failure(waiter, item, message, 0.0))
            self._meters.judged(Verdict.IE, item.language, 0.0, waited_s)
        self.release(waiter)


def _failure(waiter: Waiter, item: Item, message: str, judging_s: float) -> bytes:
    queue_s = time.monotonic() - waiter.since_s - judging_s
    task = task_of(item, waiter.ticket.request_id, queue_s=queue_s, attempts=waiter.attempts)
    judgement = internal_error(task, item.id, message, worker=None, duration_s=judging_s)
    return judgement.model_dump_json().encode()
