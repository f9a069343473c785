"""Samples that come one by one, judged together.

Trainers that score each rollout as it ends call with one sample at a time, hundreds at once. Collected over a few
milliseconds they share requests, which saves most of HTTP's cost per sample and lets the service see groups.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainer_client.errors import ClosedError, EvaluatorError, TooManyUnscorableError
from trainer_client.problems import parse_problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from service.wire import Judgement, Problem
    from trainer_client.async_client import AsyncEvaluatorClient
    from trainer_client.problems import ProblemLike

WINDOW_S = 0.01
MAX_SAMPLES = 256

type _Sample = tuple[str, Problem, asyncio.Future[Judgement]]


@dataclass(slots=True)
class _Collecting:
    samples: list[_Sample] = field(default_factory=list)
    timer: asyncio.TimerHandle | None = None
    # The event loop itself keeps no strong reference to a task.
    tasks: set[asyncio.Task[None]] = field(default_factory=set)


class MicroBatcher:
    """Collects samples per event loop; may be pickled like its client."""

    def __init__(
        self, client: AsyncEvaluatorClient, window_s: float = WINDOW_S, max_samples: int = MAX_SAMPLES
    ) -> None:
        """Wait ``window_s`` seconds for company, or until ``max_samples`` are there."""
        if not 0 <= window_s <= 1:
            raise ValueError(f"window_s: {window_s} is not between 0 and 1 second")
        self.client = client
        self._window_s = window_s
        self._max_samples = max_samples
        self._collecting: dict[asyncio.AbstractEventLoop, _Collecting] = {}
        self._pid = os.getpid()

    async def judge(self, completion: str, problem: ProblemLike) -> Judgement:
        """Judge one completion; raises as :meth:`AsyncEvaluatorClient.judge` does, over this sample only."""
        parsed = parse_problem(problem)
        loop = asyncio.get_running_loop()
        collecting = self._of(loop)
        future: asyncio.Future[Judgement] = loop.create_future()
        collecting.samples.append((completion, parsed, future))
        if len(collecting.samples) >= self._max_samples:
            self._flush(collecting)
        elif collecting.timer is None:
            collecting.timer = loop.call_later(self._window_s, self._flush, collecting)
        return await future

    def __reduce__(self) -> tuple[Callable[..., MicroBatcher], tuple[AsyncEvaluatorClient, float, int]]:
        return MicroBatcher, (self.client, self._window_s, self._max_samples)

    def _of(self, loop: asyncio.AbstractEventLoop) -> _Collecting:
        if self._pid != os.getpid():
            self._collecting, self._pid = {}, os.getpid()
        if loop not in self._collecting:
            self._collecting = {one: kept for one, kept in self._collecting.items() if not one.is_closed()}
            self._collecting[loop] = _Collecting()
        return self._collecting[loop]

    def _flush(self, collecting: _Collecting) -> None:
        samples, collecting.samples = collecting.samples, []
        if collecting.timer is not None:
            collecting.timer.cancel()
            collecting.timer = None
        wanted = [sample for sample in samples if not sample[2].done()]
        if wanted:
            task = asyncio.ensure_future(self._judge(wanted))
            collecting.tasks.add(task)
            task.add_done_callback(collecting.tasks.discard)

    async def _judge(self, samples: list[_Sample]) -> None:
        try:
            judgements = await self.client.judge([one[0] for one in samples], [one[1] for one in samples])
        except EvaluatorError as error:
            if len(samples) > 1 and not isinstance(error, TooManyUnscorableError | ClosedError):
                # What is wrong with one sample is no fault of those that came at the same time.
                await asyncio.gather(*(self._judge([sample]) for sample in samples))
            else:
                _fail(samples, error)
        except BaseException as error:
            _fail(samples, error)
            if not isinstance(error, Exception):
                raise
        else:
            for (_, _, future), judgement in zip(samples, judgements, strict=True):
                if not future.done():
                    future.set_result(judgement)


def _fail(samples: list[_Sample], error: BaseException) -> None:
    for _, _, future in samples:
        if not future.done():
            if isinstance(error, asyncio.CancelledError):
                future.cancel()
            else:
                future.set_exception(error)
