"""Batches in Redis: what the API processes and the workers tell each other of them."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ConfigDict

from service.distributed import keys, scripts
from service.distributed.codec import pack, unpack
from service.queue.tasks import internal_error
from service.queue.ticket import Judged
from service.queue.worker_process import task_of
from service.wire import Judgement, Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from redis.asyncio import Redis

    from service.intake import Intake, Item

_INDEX = struct.Struct("!I")


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many unfinished submissions Redis may hold, how long they may wait, and how long finished ones are kept."""

    submissions: int
    bytes: int
    wait_s: float
    keep_s: float


@dataclass(frozen=True, slots=True)
class Admission:
    """``admitted``, ``there`` (already), or ``full``; and what was held of other batches."""

    state: str
    submissions: int
    bytes: int


class Measured(BaseModel):
    """What is counted of one judgement."""

    model_config = ConfigDict(frozen=True)

    verdict: Verdict
    language: str
    judging_s: float
    queue_s: float
    cached: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """A judgement to be published: as JSON, with what is counted of it."""

    index: int
    judgement: bytes
    measured: Measured


@dataclass(frozen=True, slots=True)
class Begun:
    """What a worker finds when it begins a part of a batch; ``wait_left_s`` is negative where it is too late."""

    wanted: bool
    age_s: float
    wait_left_s: float
    done: frozenset[int]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is known of a batch."""

    total: int
    left: int
    chunks: int
    started: bool
    cancelled: bool


class Batches:
    """All batches on one Redis; for one event loop."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._admit = redis.register_script(scripts.ADMIT)
        self._touch = redis.register_script(scripts.TOUCH)
        self._begin = redis.register_script(scripts.BEGIN)
        self._publish = redis.register_script(scripts.PUBLISH)
        self._cancel = redis.register_script(scripts.CANCEL)
        self._drop = redis.register_script(scripts.DROP)

    async def admit(
        self, batch_id: str, intake: Intake, capacity: Capacity, *, size_bytes: int, run_s: float
    ) -> Admission:
        """Make room for a batch, where there is some, and no batch with this id already.

        Nothing of it is begun after ``capacity.wait_s``, nothing of it awaited ``run_s`` after that.

        Raises:
            RedisError: Redis cannot be used.

        """
        total = len(intake.items)
        answer: list[Any] = await self._admit(
            keys=[keys.batch(batch_id), keys.ACTIVE, keys.TOTALS],
            args=[
                batch_id,
                total,
                size_bytes // total,
                capacity.wait_s,
                run_s,
                capacity.keep_s,
                facts_of(intake.items),
                capacity.submissions,
                capacity.bytes,
                keys.INDEX_TTL_S,
            ],
        )
        return Admission(cast("bytes", answer[0]).decode(), int(answer[1]), int(answer[2]))

    async def touch(self, batch_id: str) -> None:
        """Say that something becomes of a batch, so that nobody takes it for one that stands still."""
        await self._touch(keys=[keys.batch(batch_id)])

    async def begin(self, batch_id: str) -> Begun:
        """Find out what is still to do of a batch."""
        state, age_s, left_s, done = await self._begin(keys=[keys.batch(batch_id), keys.done(batch_id)])
        return Begun(state == b"open", float(age_s), float(left_s), frozenset(map(int, done)))

    async def lost(self, batch_id: str, index: int) -> int:
        """Count a worker that may be lost over a submission; return how many were counted before."""
        counted: int = await self._redis.hincrby(keys.batch(batch_id), f"lost:{index}", 1)
        return counted - 1

    async def publish(self, batch_id: str, outcomes: Sequence[Outcome]) -> bool:
        """Let judgements stand for submissions that have none; return False where nobody wants them any longer."""
        accepted = await self._publish(**published_args(batch_id, outcomes))
        return int(accepted) >= 0

    async def cancel(self, batch_id: str) -> int:
        """Let nobody work on a batch any longer; return how many submissions had no judgement."""
        return int(
            await self._cancel(
                keys=[keys.batch(batch_id), keys.ACTIVE, keys.TOTALS],
                args=[
                    batch_id,
                    keys.EVENTS,
                    json.dumps({"batch": batch_id, "measured": {}}),
                ],
            )
        )

    async def drop(self, batch_id: str) -> int:
        """Keep nothing of a batch; return how many submissions had no judgement."""
        return int(await self._drop(keys=_all_keys(batch_id), args=[batch_id]))

    async def snapshot(self, batch_id: str) -> Snapshot | None:
        """Return what is known of a batch, or None where nothing is."""
        fields = await cast(
            "Awaitable[list[bytes | None]]",
            self._redis.hmget(keys.batch(batch_id), ["total", "left", "chunks", "started", "cancelled"]),
        )
        total, left, chunks, started, cancelled = fields
        if total is None or left is None:
            return None
        return Snapshot(
            total=int(total),
            left=int(left),
            chunks=int(chunks or 0),
            started=started is not None,
            cancelled=cancelled is not None,
        )

    async def read(self, batch_id: str, start: int) -> list[Judged]:
        """Return the judgements from number ``start`` on, in the order in which they were made."""
        rows = await cast("Awaitable[list[bytes]]", self._redis.lrange(keys.results(batch_id), start, -1))
        return [Judged(_INDEX.unpack(row[:4])[0], unpack(row[4:])) for row in rows]

    async def fail_rest(self, batch_id: str, message: str) -> None:
        """Publish an IE for every submission without a judgement."""
        begun = await self.begin(batch_id)
        facts = await cast("Awaitable[bytes | None]", self._redis.hget(keys.batch(batch_id), "facts"))
        if begun.wanted and facts is not None:
            outcomes = failures(facts, begun.done, message, begun.age_s)
            if outcomes:
                await self.publish(batch_id, outcomes)


def published_args(batch_id: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return keys and arguments of the script that publishes."""
    event = {
        "batch": batch_id,
        "measured": {one.index: one.measured.model_dump(mode="json") for one in outcomes},
    }
    return {
        "keys": _all_keys(batch_id),
        "args": [
            batch_id,
            keys.EVENTS,
            json.dumps(event),
            *(part for one in outcomes for part in (one.index, _framed(one))),
        ],
    }


def facts_of(items: Sequence[Item]) -> bytes:
    """Return what the failure of each submission has to tell of it."""
    rows = [[item.index, item.id, item.tests, item.options.isolation, item.language] for item in items]
    return pack(json.dumps(rows, ensure_ascii=False).encode("utf-8", "replace"))


def failures(facts: bytes, done: frozenset[int], message: str, queue_s: float) -> list[Outcome]:
    """Return an IE for each submission that is not done."""
    return [_failure(row, message, queue_s) for row in json.loads(unpack(facts)) if row[0] not in done]


def failure_of(
    item: Item, message: str, *, queue_s: float, attempts: int, duration_s: float = 0.0
) -> Outcome:
    """Return an IE for a submission."""
    task = task_of(item, "", queue_s=queue_s, attempts=attempts)
    judgement = internal_error(task, item.id, message, worker=None, duration_s=duration_s)
    measured = Measured(
        verdict=Verdict.IE, language=item.language, judging_s=duration_s, queue_s=queue_s, cached=False
    )
    return Outcome(item.index, judgement.model_dump_json().encode(), measured)


def _failure(row: list[Any], message: str, queue_s: float) -> Outcome:
    index, name, tests, isolation, language = row
    judgement = {
        "id": name,
        "index": index,
        "verdict": Verdict.IE,
        "reward": None,
        "score": 0.0,
        "passed": 0,
        "total": tests,
        "first_failed": None,
        "message": message,
        "duration_s": 0.0,
        "queue_s": round(queue_s, 6),
        "attempts": 0,
        "isolation": isolation,
    }
    text = Judgement.model_validate(judgement).model_dump_json().encode()
    measured = Measured(verdict=Verdict.IE, language=language, judging_s=0.0, queue_s=queue_s, cached=False)
    return Outcome(index, text, measured)


def _framed(outcome: Outcome) -> bytes:
    return _INDEX.pack(outcome.index) + pack(outcome.judgement)


def _all_keys(batch_id: str) -> list[str]:
    return [
        keys.batch(batch_id),
        keys.results(batch_id),
        keys.done(batch_id),
        keys.ACTIVE,
        keys.TOTALS,
    ]
