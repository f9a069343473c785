"""A worker process: opens its sandbox once, then judges one submission at a time.

Started by the service as ``python -m service.queue.worker DESCRIPTOR``; ``service.queue.tasks`` describes what goes in
and out. A failure of ours is the verdict IE with a null reward. A broken sandbox ends the process, because
the service then judges the submission again in a new one.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import structlog
from pydantic import ConfigDict, JsonValue, TypeAdapter

from sandbox import SandboxBrokenError, SandboxSettings, SandboxUnavailableError, open_sandbox
from service.audit.observing import Observer
from service.cores import Cores
from service.evaluate import evaluate
from service.failing_first import FailureCounts
from service.processes.child import leaving, run_child
from service.queue.tasks import Done, Readiness, Task, WorkerConfig, internal_error
from service.telemetry import configure_logging
from service.wire import Judgement, Options, Problem, Submission

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from sandbox import Sandbox
    from service.processes.frames import Channel

EXIT_SANDBOX_BROKEN = 70

# Of a union, the setting of its members is not heeded (see `service.wire.base`).
_PROBLEM: TypeAdapter[Problem] = TypeAdapter(Problem, config=ConfigDict(cache_strings="keys"))


class Judge(Protocol):
    """An open sandbox and the way to judge with it."""

    def describe(self) -> dict[str, JsonValue]:
        """Return what the sandbox is."""
        ...

    def judge(self, submission: Submission, problem: Problem, options: Options, key: str) -> Judgement:
        """Return the judgement of one submission; ``key`` is the problem's.

        Raises:
            SandboxBrokenError: the sandbox has failed and this process has to be replaced.

        """
        ...

    def observe(self, submission: Submission, problem: Problem, options: Options, key: str) -> Judgement:
        """Return the judgement with what every comparison profile makes of the same runs. Raises as :meth:`judge`."""
        ...


class _SandboxJudge:
    def __init__(self, sandbox: Sandbox, config: WorkerConfig) -> None:
        self._sandbox = sandbox
        self._config = config
        self._failures = FailureCounts()
        self._cores = Cores(f"{os.getuid()}/{os.getppid()}", len(os.sched_getaffinity(0)))

    def describe(self) -> dict[str, JsonValue]:
        return self._sandbox.describe()

    def judge(self, submission: Submission, problem: Problem, options: Options, key: str) -> Judgement:
        order = self._failures.order(key, len(problem.tests)) if self._config.failing_first else None
        judgement = self._evaluate(submission, problem, options, order=order, cores=self._cores)
        self._failures.note(key, judgement.first_failed)
        return judgement

    def observe(self, submission: Submission, problem: Problem, options: Options, key: str) -> Judgement:
        # Always in the problem's own order: which test fails first differs between profiles.
        del key
        observer = Observer()
        judgement = self._evaluate(submission, problem, options, comparing=observer.comparing)
        return observer.observation(judgement, problem)

    def _evaluate(self, submission: Submission, problem: Problem, options: Options, **how: Any) -> Judgement:
        with self._cores.taken(1):
            return evaluate(
                submission,
                problem,
                self._sandbox,
                defaults=self._config.defaults,
                options=options,
                worker=self._config.name,
                **how,
            )


@contextmanager
def open_sandbox_judge(config: WorkerConfig) -> Iterator[Judge]:
    """Open the sandbox that ``config`` names, and judge in it."""
    settings = SandboxSettings(config.sandbox, config.python, docker_image=config.docker_image)
    with open_sandbox(settings) as sandbox:
        yield _SandboxJudge(sandbox, config)


def serve(channel: Channel, open_judge: Callable[[WorkerConfig], AbstractContextManager[Judge]]) -> int:
    """Judge what comes over ``channel`` until it closes; return the process's exit status."""
    hello = channel.read()
    if hello is None:
        return 0
    config = WorkerConfig.model_validate_json(hello)
    configure_logging(config.log_level, config.log_format)
    log = structlog.stdlib.get_logger("service.queue.worker").bind(worker=config.name)
    try:
        with open_judge(config) as judge:
            _say(channel, Readiness(ready=True, sandbox=judge.describe()))
            _Desk(channel, judge, config.name, log).work()
    except SandboxUnavailableError as error:
        leaving()
        _say(channel, Readiness(ready=False, cause=error.cause, cure=error.cure))
        return 1
    except SandboxBrokenError:
        log.exception("the sandbox has failed, this worker ends")
        return EXIT_SANDBOX_BROKEN
    except ConnectionError:
        log.info("the service is gone")
    return 0


def _say(channel: Channel, readiness: Readiness) -> None:
    channel.write([readiness.model_dump_json().encode()])


class _Desk:
    def __init__(self, channel: Channel, judge: Judge, name: str, log: structlog.stdlib.BoundLogger) -> None:
        self._channel = channel
        self._judge = judge
        self._name = name
        self._log = log
        self._problems: dict[str, Problem] = {}

    def work(self) -> None:
        while (head := self._channel.read()) is not None:
            task = Task.model_validate_json(head)
            submission_json = self._channel.read()
            problem_json = self._channel.read() if task.brings_problem else b""
            if submission_json is None or problem_json is None:
                return
            for key in task.forget:
                del self._problems[key]
            if task.brings_problem:
                self._problems[task.problem] = _PROBLEM.validate_json(problem_json)
            self._channel.write(self._answer(task, Submission.model_validate_json(submission_json)))

    def _answer(self, task: Task, submission: Submission) -> list[bytes]:
        started_s = time.monotonic()
        try:
            with structlog.contextvars.bound_contextvars(request_id=task.request_id):
                judge = self._judge.observe if task.observe else self._judge.judge
                judgement = judge(submission, self._problems[task.problem], task.options, task.problem)
                judgement = judgement.model_copy(
                    update={"index": task.index, "queue_s": task.queue_s, "attempts": task.attempts}
                )
                # Within the try, because text that cannot be encoded is a failure of ours as well.
                return _frames(judgement)
        except SandboxBrokenError:
            raise
        except Exception as error:  # noqa: BLE001 -- whatever our bug is, the program must not pay for it
            self._log.exception("judging failed", request_id=task.request_id, submission=submission.id)
            return _frames(
                internal_error(
                    task,
                    submission.id or "",
                    f"the judge failed ({type(error).__name__}); its log has request {task.request_id}",
                    worker=self._name,
                    duration_s=time.monotonic() - started_s,
                )
            )


def _frames(judgement: Judgement) -> list[bytes]:
    done = Done(verdict=judgement.verdict)
    return [done.model_dump_json().encode(), judgement.model_dump_json().encode()]


if __name__ == "__main__":
    run_child(partial(serve, open_judge=open_sandbox_judge))
