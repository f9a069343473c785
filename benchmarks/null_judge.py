"""A worker process that accepts everything at once, to measure a queue and nothing else."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from service.processes.child import run_child
from service.queue.worker import serve
from service.wire import Judgement, Options, Problem, Submission, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from service.queue.tasks import WorkerConfig

COMMAND = (sys.executable, "-m", "benchmarks.null_judge")


class NullJudge:
    """Looks at nothing."""

    def __init__(self, name: str) -> None:
        self._name = name

    def describe(self) -> dict[str, JsonValue]:
        """Return what the sandbox is."""
        return {"kind": "null", "isolation": "none"}

    def judge(self, submission: Submission, problem: Problem, options: Options, _key: str) -> Judgement:
        """Accept."""
        total = len(problem.tests)
        return Judgement(
            id=submission.id or "",
            verdict=Verdict.AC,
            reward=1.0,
            score=1.0,
            passed=total,
            total=total,
            first_failed=None,
            message="accepted unseen",
            duration_s=0.0,
            worker=self._name,
            isolation=options.isolation,
        )

    observe = judge


@contextmanager
def open_judge(config: WorkerConfig) -> Iterator[NullJudge]:
    """Open nothing."""
    yield NullJudge(config.name)


if __name__ == "__main__":
    run_child(partial(serve, open_judge=open_judge))
