"""A worker whose judge does what the program's text says, for faults that no judged program can cause.

Words of a program: ``sleep S``, ``raise``, ``die``, ``die-once PATH``, ``broken-once PATH``, ``hang``,
``die-together`` (with the parent process), and ``count PATH``, ``sleep-count S PATH``, ``count-raise PATH``,
``count-tle PATH``, which note each run in a file; everything else is accepted. The message names the worker's process
id. The environment's ``HOOKED_START`` is done at start: ``die`` and ``unavailable`` are known.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox import SandboxBrokenError, SandboxUnavailableError
from service.processes.child import run_child
from service.queue.worker import serve
from service.wire import Judgement, Options, Problem, Submission, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from service.queue.tasks import WorkerConfig


class HookedJudge:
    def __init__(self, name: str) -> None:
        self._name = name

    def describe(self) -> dict[str, JsonValue]:
        return {"isolation": "none", "kind": "hooked"}

    def judge(self, submission: Submission, problem: Problem, options: Options, _key: str) -> Judgement:
        verdict = Verdict.AC
        match (submission.code or submission.completion or "").split():
            case ["sleep", seconds]:
                time.sleep(float(seconds))
            case ["raise"]:
                raise RuntimeError("as asked")
            case ["die"]:
                os.kill(os.getpid(), signal.SIGKILL)
            case ["die-once", path] if not Path(path).exists():
                Path(path).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            case ["broken-once", path] if not Path(path).exists():
                Path(path).touch()
                raise SandboxBrokenError("as asked")
            case ["hang"]:
                time.sleep(3600)
            case ["die-together"]:
                os.kill(os.getppid(), signal.SIGKILL)
                time.sleep(3600)
            case ["count", path]:
                note(path)
            case ["sleep-count", seconds, path]:
                note(path)
                time.sleep(float(seconds))
            case ["count-raise", path]:
                note(path)
                raise RuntimeError("as asked")
            case ["count-tle", path]:
                note(path)
                verdict = Verdict.TLE
        return Judgement(
            id=submission.id or "",
            verdict=verdict,
            reward=float(verdict is Verdict.AC),
            score=float(verdict is Verdict.AC),
            passed=len(problem.tests) if verdict is Verdict.AC else 0,
            total=len(problem.tests),
            first_failed=None if verdict is Verdict.AC else 0,
            message=f"pid {os.getpid()}",
            duration_s=0.0,
            worker=self._name,
            isolation=options.isolation,
        )

    observe = judge


def note(path: str) -> None:
    with Path(path).open("a", encoding="utf-8") as runs:
        runs.write(f"{os.getpid()}\n")


@contextmanager
def open_judge(config: WorkerConfig) -> Iterator[HookedJudge]:
    match os.environ.get("HOOKED_START"):
        case "die":
            sys.exit(3)
        case "unavailable":
            raise SandboxUnavailableError("No jail here.", "Use another machine.")
    yield HookedJudge(config.name)


if __name__ == "__main__":
    run_child(partial(serve, open_judge=open_judge))
