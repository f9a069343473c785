"""The service's side of one worker: its readiness, its deadline, and the problems that it keeps."""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import TYPE_CHECKING, Self

from pydantic import ValidationError

from sandbox import SandboxUnavailableError
from service.errors import WorkerLostError
from service.processes.process import ChildProcess
from service.queue.tasks import Done, Readiness, Task, WorkerConfig

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from pydantic import JsonValue

    from service.intake import Item
    from service.processes.frames import Blob, Frame
    from service.wire import Verdict

WORKER_COMMAND = (sys.executable, "-m", "service.queue.worker")
START_DEADLINE_S = 120.0
KEPT_PROBLEMS_BYTES = 32 << 20


class KeptProblems:
    """Which problems a worker keeps: the latest used, ``max_bytes`` of JSON, and always the last one."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._sizes: OrderedDict[str, int] = OrderedDict()
        self._total_bytes = 0

    def __contains__(self, key: object) -> bool:
        return key in self._sizes

    def use(self, key: str, size_bytes: int) -> tuple[bool, list[str]]:
        """Return whether the worker needs to be sent the problem, and the keys that it has to drop for it."""
        if key in self._sizes:
            self._sizes.move_to_end(key)
            return False, []
        dropped = []
        while self._sizes and self._total_bytes + size_bytes > self._max_bytes:
            old, old_bytes = self._sizes.popitem(last=False)
            self._total_bytes -= old_bytes
            dropped.append(old)
        self._sizes[key] = size_bytes
        self._total_bytes += size_bytes
        return True, dropped


class WorkerProcess:
    """A worker that has said that it is ready."""

    def __init__(self, child: ChildProcess, sandbox: dict[str, JsonValue]) -> None:
        self._child = child
        self._problems = KeptProblems(KEPT_PROBLEMS_BYTES)
        self.sandbox = sandbox

    @classmethod
    async def start(cls, config: WorkerConfig, command: Sequence[str] = WORKER_COMMAND) -> Self:
        """Start a worker and wait until its sandbox is open.

        Raises:
            SandboxUnavailableError: it has none.
            WorkerLostError: it died or took longer than ``START_DEADLINE_S``.
            OSError: it could not be started.

        """
        child = await ChildProcess.start(command)
        (answer,) = await child.ask([config.model_dump_json().encode()], 1, START_DEADLINE_S)
        readiness = Readiness.model_validate_json(answer)
        if not readiness.ready:
            await child.close()
            raise SandboxUnavailableError(readiness.cause, readiness.cure)
        return cls(child, readiness.sandbox)

    @property
    def pid(self) -> int:
        """Return its process id."""
        return self._child.pid

    @property
    def exited(self) -> asyncio.Future[int]:
        """Return what becomes done when it has ended. Not to be cancelled."""
        return self._child.exited

    def keeps(self, problem: str) -> bool:
        """Tell whether the worker has the problem with this key already."""
        return problem in self._problems

    async def judge(
        self, item: Item, problem: Blob, request_id: str, *, queue_s: float = 0.0, attempts: int = 1
    ) -> tuple[Verdict, bytes]:
        """Return the verdict and the judgement as JSON; ``problem`` is not looked at where it is kept.

        Raises:
            WorkerLostError: the worker died, or was killed because the item's deadline passed.

        """
        needed, forget = self._problems.use(item.problem, len(problem))
        task = task_of(
            item, request_id, brings_problem=needed, forget=forget, queue_s=queue_s, attempts=attempts
        )
        frames: list[Frame] = [task.model_dump_json().encode(), item.submission]
        if needed:
            frames.append(problem)
        done, judgement = await self._child.ask(frames, 2, item.deadline_s)
        try:
            return Done.model_validate_json(done).verdict, bytes(judgement)
        except ValidationError:
            await self._child.kill()
            raise WorkerLostError("answered something else and was killed") from None

    async def kill(self) -> None:
        """End it at once, with the program that it judges."""
        await self._child.kill()

    async def close(self) -> None:
        """End it in good order."""
        await self._child.close()


def task_of(
    item: Item,
    request_id: str,
    *,
    brings_problem: bool = False,
    forget: Sequence[str] = (),
    queue_s: float = 0.0,
    attempts: int = 1,
) -> Task:
    """Return what a worker is told of ``item``."""
    return Task(
        index=item.index,
        problem=item.problem,
        brings_problem=brings_problem,
        forget=list(forget),
        tests=item.tests,
        options=item.options,
        request_id=request_id,
        queue_s=round(queue_s, 6),
        attempts=attempts,
        observe=item.observe,
    )
