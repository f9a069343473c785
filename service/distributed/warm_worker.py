"""RQ's worker with a work horse that stays: a sandboxed process that judges chunk after chunk.

RQ's own worker forks for each job, which costs more than most submissions do, and would open a sandbox each time.
Everything else is RQ's: queues, registries, heartbeats, retries, the command that stops a job.
"""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any

from rq import Retry, worker_registration
from rq.exceptions import StopRequested
from rq.registry import FailedJobRegistry
from rq.utils import now
from rq.worker import BaseWorker, WorkerStatus

from sandbox import SandboxUnavailableError
from service.distributed import keys
from service.distributed.chunk_job import SPARE_RETRIES, ChunkJob, queues
from service.distributed.codec import JsonSerializer
from service.distributed.running_jobs import RunningJobs
from service.queue.schedule import Turns

if TYPE_CHECKING:
    from types import FrameType

    from redis import Redis
    from rq import Queue
    from rq.executions import Execution
    from rq.job import Job

    from service.distributed.chunks import Chunk
    from service.distributed.judging import Judging

HEARTBEAT_S = 5
# A worker that has not been heard of for this long is given up for dead, and its job is given to another.
DEAD_AFTER_S = 15
DEQUEUE_S = 2
# Handing a chunk back is no failure: it is not counted.
HAND_BACKS = 1_000_000


class WarmWorker(BaseWorker):
    """Takes chunks from the three queues and has them judged."""

    job_class = ChunkJob
    max_connection_wait_time = 2.0
    log_result_lifespan = False

    def __init__(
        self,
        name: str,
        redis: Redis,
        judging: Judging,
        loop: asyncio.AbstractEventLoop,
        *,
        drain_s: float,
        sandbox_json: bytes,
    ) -> None:
        self._by_priority = queues(redis)
        super().__init__(
            list(self._by_priority.values()),
            name=name,
            connection=redis,
            serializer=JsonSerializer,
            worker_ttl=DEAD_AFTER_S + HEARTBEAT_S,
            job_monitoring_interval=HEARTBEAT_S,
            maintenance_interval=HEARTBEAT_S,
            log_job_description=False,
        )
        self._judging = judging
        self._loop = loop
        self._drain_s = drain_s
        self._sandbox_json = sandbox_json
        self._turns = Turns()
        self._running_id: str | None = None
        self._has_job = False
        # Why this worker cannot judge any longer.
        self.trouble: SandboxUnavailableError | None = None

    @property
    def dequeue_timeout(self) -> int:
        """Return how long to wait for a job, in seconds, before heartbeats and orders to stop are looked at."""
        return DEQUEUE_S

    def get_heartbeat_ttl(self, job: Job, working_time: float = 0.0) -> int:  # noqa: ARG002 -- RQ's signature
        """Return for how long a heartbeat stands."""
        return DEAD_AFTER_S

    def reorder_queues(self, reference_queue: Queue) -> None:
        """Let the queue be looked at first whose turn it is; RQ calls this when it has taken a job."""
        self._has_job = True
        taken = next(one for one, queue in self._by_priority.items() if queue.name == reference_queue.name)
        self._turns.took(taken)
        self._ordered_queues = [self._by_priority[one] for one in self._turns.order()]

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        """Say that this worker lives; RQ does so before it looks for a job, where it is asked to stop or goes on.

        Raises:
            StopRequested: it was asked to stop, and has no job.

        """
        if self._stop_requested and not self._has_job:
            raise StopRequested
        super().heartbeat(timeout, pipeline)
        told = self.connection if pipeline is None else pipeline
        # Who counts the workers that are alive counts these.
        told.set(keys.worker(self.name), self._sandbox_json, ex=DEAD_AFTER_S + HEARTBEAT_S)
        # A Redis that came back empty knows no workers.
        worker_registration.register(self, pipeline)

    def clean_registries(self) -> None:
        """Let others judge what workers had that are not heard of any longer; RQ calls this now and then."""
        for queue in self.queues:
            if queue.acquire_maintenance_lock():
                for kind in (RunningJobs, FailedJobRegistry):
                    kind(
                        queue.name,
                        connection=self.connection,
                        job_class=ChunkJob,
                        serializer=JsonSerializer,
                        death_penalty_class=self.death_penalty_class,
                    ).cleanup()
                worker_registration.clean_worker_registry(queue)
                queue.release_maintenance_lock()  # type: ignore[no-untyped-call]
        self.last_cleaned_at = now()  # type: ignore[assignment]  # RQ gives it the type of its first value

    def handle_exception(self, job: Job, *exc_info: Any) -> None:
        """Log why a job failed, without what it holds: programs and tests are nobody's who reads logs."""
        self.log.error("Worker %s: job %s failed", self.name, job.id, exc_info=exc_info)

    def request_stop(self, signum: int, frame: FrameType | None) -> None:  # noqa: ARG002 -- a signal handler's
        """Finish the submission that runs, hand the rest of its chunk back, and stop.

        RQ would break off waiting for a job right here, and lose a job that is just coming in.
        """
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._stop_requested = True
        self._loop.call_soon_threadsafe(self._judging.draining.set)
        self._loop.call_soon_threadsafe(self._loop.call_later, self._drain_s, self._judging.stopping.set)

    def kill_horse(self, sig: signal.Signals = signal.SIGKILL) -> None:  # noqa: ARG002 -- RQ's signature
        """End what is judged; called by RQ's command that stops a job, in a thread of its own."""
        self._loop.call_soon_threadsafe(self._stop, self._stopped_job_id)

    def _stop(self, job_id: str | None) -> None:
        # Orders come late at times: another job may be running by now.
        if job_id is not None and job_id == self._running_id:
            self._judging.stopping.set()

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Have a job judged."""
        execution = self.prepare_execution(job)
        if isinstance(job, ChunkJob):
            job.judge = lambda chunk: self._unbroken(job, chunk, execution)
        self._judging.stopping.clear()
        self._running_id = job.id
        self.perform_job(job, queue, execution)
        self._running_id = None
        # Its batch was cancelled, and RQ's job has ended like any other.
        self._stopped_job_id = None
        self.set_state(WorkerStatus.IDLE)
        self._has_job = False

    def _unbroken(self, job: ChunkJob, chunk: Chunk, execution: Execution) -> Retry | None:
        try:
            return self._loop.run_until_complete(self._judged(job, chunk, execution))
        except BaseException:
            # RQ's time limit is a signal, which leaves the loop in the middle of whatever it does.
            self._loop.run_until_complete(self._judging.abandon())
            raise

    async def _judged(self, job: ChunkJob, chunk: Chunk, execution: Execution) -> Retry | None:
        beating = asyncio.create_task(self._beat(job, execution))
        tried_before = (job.retries_left or 0) < len(chunk.items) + SPARE_RETRIES
        try:
            left = await self._judging.judge(chunk, careful=tried_before)
        except SandboxUnavailableError as error:
            # Others may be able to judge it; this worker would fail whatever it takes.
            self.trouble = error
            self._stop_requested = left = True
        finally:
            beating.cancel()
        return Retry(max=HAND_BACKS, enqueue_at_front=True) if left else None

    async def _beat(self, job: Job, execution: Execution) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            try:
                await asyncio.to_thread(self.maintain_heartbeats, job, execution)
            except Exception as error:  # noqa: BLE001 -- the judging goes on; the next one may get through
                self.log.warning("Worker %s: no heartbeat: %s", self.name, error)
