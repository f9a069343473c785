"""A worker process of an audit: judges like any other, and tells what each profile makes of the same runs.

Started by the local queue as ``python -m service.audit.worker DESCRIPTOR``.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sandbox import SandboxSettings, open_sandbox
from service.audit.observing import Observation, Observer
from service.evaluate import evaluate
from service.processes.child import channel_of_this_child
from service.queue.worker import Judge, serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from sandbox import Sandbox
    from service.queue.tasks import WorkerConfig
    from service.wire import Options, Problem, Submission

AUDIT_WORKER_COMMAND = (sys.executable, "-m", "service.audit.worker")


class _ObservingJudge:
    def __init__(self, sandbox: Sandbox, config: WorkerConfig) -> None:
        self._sandbox = sandbox
        self._config = config

    def describe(self) -> dict[str, JsonValue]:
        return self._sandbox.describe()

    def judge(self, submission: Submission, problem: Problem, options: Options, key: str) -> Observation:
        # Always in the problem's own order: which test fails first differs between profiles.
        del key
        observer = Observer()
        judgement = evaluate(
            submission,
            problem,
            self._sandbox,
            defaults=self._config.defaults,
            options=options,
            worker=self._config.name,
            comparing=observer.comparing,
        )
        return observer.observation(judgement, problem)


@contextmanager
def open_observing_judge(config: WorkerConfig) -> Iterator[Judge]:
    """Open the sandbox that ``config`` names, and observe in it."""
    settings = SandboxSettings(config.sandbox, config.python, docker_image=config.docker_image)
    with open_sandbox(settings) as sandbox:
        yield _ObservingJudge(sandbox, config)


if __name__ == "__main__":
    sys.exit(serve(channel_of_this_child(), open_observing_judge))
