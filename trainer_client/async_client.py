"""The client for asynchronous code."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from service.wire import Judgement, Options, Submission
from trainer_client.breaker import CircuitBreaker
from trainer_client.config import ClientConfig
from trainer_client.dispatch import Dispatcher
from trainer_client.errors import ClosedError, EvaluatorError
from trainer_client.limits import batch_deadline_s
from trainer_client.outcome import reward_of
from trainer_client.problems import parse_problems
from trainer_client.progress import shown
from trainer_client.work import Board, items_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainer_client.problems import ProblemLike


class AsyncEvaluatorClient:
    """Judges programs on one or several services; failures of theirs are IE judgements, not exceptions.

    Connections belong to a process and an event loop: a client may be used from several loops, one after the other
    or at once, after a fork, and may be pickled. ``aclose`` closes those of the running loop.

    ``urls`` is one address or several; every other setting is a field of :class:`ClientConfig`.
    """

    def __init__(self, urls: str | Sequence[str], **settings: Any) -> None:
        """Make a client; nothing is sent before the first call.

        Raises:
            ValueError: a setting is invalid or unknown.

        """
        addresses = (urls,) if isinstance(urls, str) else tuple(urls)
        self.config = ClientConfig(urls=addresses, **settings)
        self._breaker = CircuitBreaker(self.config)
        self._dispatchers: dict[asyncio.AbstractEventLoop, Dispatcher] = {}
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._closed = False

    async def evaluate(self, submission: Submission, *, deadline_s: float | None = None) -> Judgement:
        """Judge one submission; see :meth:`evaluate_batch`."""
        (judgement,) = await self.evaluate_batch([submission], deadline_s=deadline_s)
        return judgement

    async def evaluate_batch(
        self,
        submissions: Sequence[Submission],
        *,
        options: Options | None = None,
        deadline_s: float | None = None,
        on_judgement: Callable[[Judgement], None] | None = None,
    ) -> list[Judgement]:
        """Judge ``submissions`` and return their judgements in the same order, one for each.

        What could not be judged within ``deadline_s`` (by default what the limits of the tests and ``queue_wait_s``
        come to) is IE with a reward of None. ``options`` are those of submissions that carry none. ``on_judgement``
        is called with each judgement as it comes, in this event loop.

        Raises:
            RefusedError: the service refuses a submission or the API key; the message names the field.
            ProblemError: a problem cannot be sent.
            TooManyUnscorableError: see ``max_unscorable_share``.
            ClosedError: the client was closed.

        """
        if not submissions:
            return []
        items = items_of(submissions, self._options(options))
        if deadline_s is None:
            problems = (one.problem for one in submissions)
            deadline_s = batch_deadline_s(problems, self.config.queue_wait_s, self.config.max_deadline_s)
        with shown(len(items), on_judgement, wanted=self.config.progress) as callback:
            board = Board(items, callback)
            await self._dispatcher().run(items, board, deadline_s)
        judgements = board.judgements()
        self._breaker.watch(judgements)
        return judgements

    async def judge(
        self,
        completions: Sequence[str],
        problems: Sequence[ProblemLike],
        *,
        options: Options | None = None,
        deadline_s: float | None = None,
    ) -> list[Judgement]:
        """Judge models' completions, each against the problem at its position; see :meth:`evaluate_batch`.

        Raises:
            ProblemError: a problem is invalid; the message has its position and names the field.

        """
        if len(completions) != len(problems):
            raise EvaluatorError(f"{len(completions)} completions, but {len(problems)} problems")
        submissions = [
            _submission(index, completion, problem)
            for index, (completion, problem) in enumerate(
                zip(completions, parse_problems(problems), strict=True)
            )
        ]
        return await self.evaluate_batch(submissions, options=options, deadline_s=deadline_s)

    async def rewards(
        self,
        completions: Sequence[str],
        problems: Sequence[ProblemLike],
        *,
        options: Options | None = None,
        deadline_s: float | None = None,
    ) -> list[float | None]:
        """Return the rewards of :meth:`judge`; None where nobody could judge: leave that sample out."""
        judgements = await self.judge(completions, problems, options=options, deadline_s=deadline_s)
        return [self.reward_of(judgement) for judgement in judgements]

    def reward_of(self, judgement: Judgement) -> float | None:
        """Return the reward that this client's settings give to ``judgement``."""
        return reward_of(judgement, partial_credit=self.config.partial_credit)

    async def aclose(self) -> None:
        """Close the connections of the running event loop; calls under way end, later ones raise ClosedError."""
        self._closed = True
        dispatcher = self._dispatchers.pop(asyncio.get_running_loop(), None)
        if dispatcher is not None:
            await dispatcher.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __reduce__(self) -> tuple[Callable[[ClientConfig], AsyncEvaluatorClient], tuple[ClientConfig]]:
        return _rebuilt, (self.config,)

    def _options(self, options: Options | None) -> Options | None:
        if not self.config.partial_credit:
            return options
        return (options or Options()).model_copy(update={"stop_on_failure": False})

    def _dispatcher(self) -> Dispatcher:
        if self._closed:
            raise ClosedError("this client was closed")
        if self._pid != os.getpid():
            # Connections that a fork copied belong to the parent; locks may be held by threads that are not there.
            self._dispatchers, self._lock, self._pid = {}, threading.Lock(), os.getpid()
            self._breaker = CircuitBreaker(self.config)
        loop = asyncio.get_running_loop()
        # Two loops are two threads.
        with self._lock:
            if loop not in self._dispatchers:
                # Loops that are over (one per step in some trainers) take their connections with them.
                for one in [one for one in self._dispatchers if one.is_closed()]:
                    del self._dispatchers[one]
                self._dispatchers[loop] = Dispatcher(self.config)
            return self._dispatchers[loop]


def _rebuilt(config: ClientConfig) -> AsyncEvaluatorClient:
    return AsyncEvaluatorClient(**dict(config))


def _submission(index: int, completion: str, problem: Any) -> Submission:
    if not isinstance(completion, str):
        raise EvaluatorError(f"completions.{index}: {type(completion).__name__} instead of text")
    try:
        return Submission(completion=completion, problem=problem)
    except ValidationError as error:
        raise EvaluatorError(f"completions.{index}: {error}") from error
