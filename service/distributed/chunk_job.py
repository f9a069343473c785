"""RQ's jobs as this service uses them: data to judge, never code to run.

RQ looks functions up by names that it finds in Redis. Here nothing in Redis is a name of anything: a job holds a
chunk, a worker judges it, and what a lost job has to answer is fixed below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog
from pydantic import ValidationError
from rq import Queue, Retry
from rq.command import send_command
from rq.exceptions import DeserializationError, NoSuchJobError
from rq.job import Job, JobStatus

from service.distributed import keys, scripts
from service.distributed.batches import failure_of, published_args
from service.distributed.chunks import Chunk
from service.distributed.codec import JsonSerializer
from service.distributed.running_jobs import RunningJobs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from redis import Redis

    from service.wire import Priority

JUDGE = "judge"
FAILURE_TTL_S = 300
# A submission over which two workers are lost is an IE; each loss costs its chunk a retry.
SPARE_RETRIES = 2
MARGIN_S = 60


class ForeignJobError(Exception):
    """A job in the queue is none of this service's."""


class ChunkJob(Job):
    """A chunk to be judged by the worker that took it."""

    judge: Callable[[Chunk], Retry | None] | None = None

    def restore(self, raw_data: Any) -> None:
        """Take over what Redis has of this job.

        Raises:
            NoSuchJobError: nobody can read it; RQ passes over such a job, where others would end the worker.

        """
        try:
            super().restore(raw_data)
        except Exception as error:
            # RQ asserts, parses and looks up.
            log = structlog.stdlib.get_logger("service.distributed")
            log.error("job passed over", job=self.id, error=repr(error))  # noqa: TRY400 -- nothing of ours failed
            raise NoSuchJobError(f"job {self.id} cannot be read") from error

    def chunk(self) -> Chunk:
        """Return what is to be judged.

        Raises:
            ForeignJobError: it is none of this service's.

        """
        try:
            if self.func_name != JUDGE:
                raise ForeignJobError(f"job {self.id} asks for {self.func_name!r}")
            (data,) = self.args
            return Chunk.model_validate(data)
        except (DeserializationError, ValidationError, ValueError, TypeError) as error:
            raise ForeignJobError(f"job {self.id} cannot be read: {error}") from error

    def _execute(self) -> Any:
        if self.judge is None:
            raise ForeignJobError(f"job {self.id} was taken by a worker that cannot judge")
        return self.judge(self.chunk())

    @property
    def success_callback(self) -> None:
        """Return nothing: judgements are published one by one."""

    @property
    def stopped_callback(self) -> None:
        """Return nothing: a batch is cancelled before its jobs are stopped."""

    def send_webhooks(self, status: str | JobStatus, *, exc_string: str | None = None) -> None:
        """Send nothing: an address that is found in Redis is nobody's to be called."""

    @property
    def started_job_registry(self) -> RunningJobs:
        """Return the jobs of its queue that are being judged."""
        return RunningJobs(
            self.origin, connection=self.connection, job_class=type(self), serializer=JsonSerializer
        )

    @property
    def failure_callback(self) -> Callable[..., None]:
        """Return what answers for a job that is lost for good."""
        return _answer_lost


def job_id(batch_id: str, number: int) -> str:
    """Name the RQ job of a batch's chunk."""
    return f"{batch_id}-{number}"


def batch_of(job: str) -> str:
    """Return the id of the batch that a job's name tells."""
    return job.rpartition("-")[0]


def queues(redis: Redis) -> dict[Priority, Queue]:
    """Return the RQ queues by priority."""
    return {
        priority: Queue(name, connection=redis, job_class=ChunkJob, serializer=JsonSerializer)
        for priority, name in keys.QUEUES.items()
    }


def enqueue(redis: Redis, chunks: Sequence[Chunk], ttl_s: float) -> None:
    """Let chunks of one batch wait for a worker, for ``ttl_s`` seconds at most.

    Raises:
        RedisError: Redis cannot be used.

    """
    by_priority = queues(redis)
    with redis.pipeline() as pipeline:
        pipeline.hset(keys.batch(chunks[0].batch), "chunks", str(len(chunks)))
        # Where it has been dropped meanwhile, this is all that there is of it.
        pipeline.expire(keys.batch(chunks[0].batch), round(ttl_s), nx=True)
        for number, chunk in enumerate(chunks):
            items = chunk.items
            by_priority[items[0].priority].enqueue_many(
                [
                    Queue.prepare_data(
                        JUDGE,
                        args=[chunk.model_dump(mode="json")],
                        job_id=job_id(chunk.batch, number),
                        description=JUDGE,
                        # The worker has a deadline for each submission; this is for a worker that has gone wrong.
                        timeout=round(2 * sum(item.deadline_s for item in items) + MARGIN_S),
                        ttl=round(ttl_s),
                        result_ttl=0,
                        failure_ttl=FAILURE_TTL_S,
                        retry=Retry(max=len(items) + SPARE_RETRIES, enqueue_at_front=True),
                    )
                ],
                pipeline=pipeline,
            )
        pipeline.execute()


def stop(redis: Redis, batch_id: str, chunks: int) -> None:
    """End the jobs of a batch that has been cancelled: those that run, and those that wait.

    Raises:
        RedisError: Redis cannot be used.

    """
    names = [job_id(batch_id, number) for number in range(chunks)]
    found = ChunkJob.fetch_many(names, connection=redis, serializer=JsonSerializer)
    jobs = [job for job in found if job is not None]
    for job in jobs:
        if job.get_status(refresh=False) == JobStatus.STARTED and job.worker_name:
            # Who has just finished it does not heed this.
            send_command(redis, job.worker_name, "stop-job", job_id=job.id)
    waiting = {queue.name: queue for queue in queues(redis).values()}
    for job in jobs:
        # A job that is out of its queue belongs to the worker that took it, which finds its batch cancelled.
        if job.get_status(refresh=False) == JobStatus.QUEUED and waiting[job.origin].remove(job):
            job.delete(remove_from_queue=False)


def _answer_lost(
    job: ChunkJob,
    redis: Redis,
    _kind: type[BaseException],
    error: BaseException,
    _traceback: TracebackType | None,
) -> None:
    """Publish an IE for what a job leaves without a judgement, unless it is tried again."""
    log = structlog.stdlib.get_logger("service.distributed")
    if job.retries_left:
        log.warning("job is tried again", job=job.id, error=str(error) or type(error).__name__)
        return
    try:
        chunk = job.chunk()
    except ForeignJobError as foreign:
        log.error("job dropped", job=job.id, error=str(foreign))  # noqa: TRY400 -- nothing of ours failed
        return
    message = f"its workers were lost; the last: {str(error) or type(error).__name__}"
    outcomes = [failure_of(item, message, queue_s=0.0, attempts=2) for item in chunk.items]
    script = redis.register_script(scripts.PUBLISH)
    script(**published_args(chunk.batch, outcomes))
