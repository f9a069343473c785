"""The client for synchronous code: the asynchronous one on an event loop of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, Self

from trainer_client.async_client import AsyncEvaluatorClient
from trainer_client.errors import ClosedError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from service.wire import Judgement, Options, Submission
    from trainer_client.config import ClientConfig
    from trainer_client.problems import ProblemLike

CLOSE_S = 5.0


class EvaluatorClient:
    """Judges programs on one or several services; see :class:`AsyncEvaluatorClient` for settings and errors.

    May be used from any thread, also where an event loop runs, from several threads at once, after a fork, and may
    be pickled. It has one daemon thread, which a program's end does not wait for, and uses no signals.
    """

    def __init__(self, urls: str | Sequence[str], **settings: Any) -> None:
        """Make a client; nothing is sent and no thread is started before the first call.

        Raises:
            ValueError: a setting is invalid or unknown.

        """
        self._client = AsyncEvaluatorClient(urls, **settings)
        self._lock = threading.Lock()
        self._runner: _Runner | None = None
        self._pid = os.getpid()
        self._closed = False

    @property
    def config(self) -> ClientConfig:
        """Return the settings."""
        return self._client.config

    def evaluate(self, submission: Submission, *, deadline_s: float | None = None) -> Judgement:
        """Judge one submission."""
        return self.run(self._client.evaluate(submission, deadline_s=deadline_s))

    def evaluate_batch(
        self,
        submissions: Sequence[Submission],
        *,
        options: Options | None = None,
        deadline_s: float | None = None,
        on_judgement: Callable[[Judgement], None] | None = None,
    ) -> list[Judgement]:
        """Judge many; ``on_judgement`` is called in the client's own thread."""
        return self.run(
            self._client.evaluate_batch(
                submissions, options=options, deadline_s=deadline_s, on_judgement=on_judgement
            )
        )

    def judge(
        self,
        completions: Sequence[str],
        problems: Sequence[ProblemLike],
        *,
        options: Options | None = None,
        deadline_s: float | None = None,
    ) -> list[Judgement]:
        """Judge models' completions, each against the problem at its position."""
        return self.run(self._client.judge(completions, problems, options=options, deadline_s=deadline_s))

    def rewards(
        self,
        completions: Sequence[str],
        problems: Sequence[ProblemLike],
        *,
        options: Options | None = None,
        deadline_s: float | None = None,
    ) -> list[float | None]:
        """Return rewards, None where nobody could judge: leave that sample out."""
        return self.run(self._client.rewards(completions, problems, options=options, deadline_s=deadline_s))

    def reward_of(self, judgement: Judgement) -> float | None:
        """Return the reward that this client's settings give to ``judgement``."""
        return self._client.reward_of(judgement)

    def run[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work``, which uses the asynchronous client of this one, and return what it returns."""
        try:
            runner = self._running()
        except ClosedError:
            work.close()
            raise
        ended = threading.Event()

        async def watched() -> T:
            try:
                return await work
            finally:
                ended.set()

        future = asyncio.run_coroutine_threadsafe(watched(), runner.loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError as error:
            raise ClosedError("this client was closed during the call") from error
        except BaseException:
            # An interrupt in this thread has to end the work in the other, which tells the services.
            future.cancel()
            ended.wait(CLOSE_S)
            raise

    @property
    def asynchronous(self) -> AsyncEvaluatorClient:
        """The client that does the work, for :meth:`run`."""
        return self._client

    def close(self) -> None:
        """Close the connections and end the thread; calls under way and later ones raise ClosedError."""
        with self._lock:
            self._closed = True
            runner, self._runner = self._runner, None
        if runner is not None:
            runner.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[[ClientConfig], EvaluatorClient], tuple[ClientConfig]]:
        return _rebuilt, (self.config,)

    def _running(self) -> _Runner:
        if self._pid != os.getpid():
            # A lock that another thread held at the fork is held for ever in the child.
            self._lock, self._runner, self._pid = threading.Lock(), None, os.getpid()
        with self._lock:
            if self._closed:
                raise ClosedError("this client was closed")
            if self._runner is None:
                self._runner = _Runner(self._client.aclose)
                # A client that is dropped without being closed does not leave its thread behind.
                weakref.finalize(self, self._runner.stop).atexit = False
            return self._runner


class _Runner:
    """An event loop in a daemon thread; ``cleanup`` is its last work."""

    def __init__(self, cleanup: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        self._cleanup = cleanup
        self._thread = threading.Thread(target=self._serve, name="evaluator-client", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the loop and what runs in it."""
        if self.pid == os.getpid() and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.loop.stop)
            if threading.current_thread() is not self._thread:
                self._thread.join(CLOSE_S)

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            # The runner makes the loop its own; what is cancelled at its end tells its caller.
            self.loop.run_forever()
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            runner.run(self._cleanup())


def _rebuilt(config: ClientConfig) -> EvaluatorClient:
    return EvaluatorClient(**dict(config))
