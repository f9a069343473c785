"""The fastest way that is known, and the least safe: a forked child runs the tests of a submission in itself.

Evaluators in the manner of LiveCodeBench do this: the text of the program is executed inside the process that
holds the expected outputs, with text streams in place of standard input and output and an alarm as the limit. The
program can read the answers, replace the comparison or end the process. Here as the mark to be measured against.
"""

from __future__ import annotations

import io
import multiprocessing
import signal
import sys
from multiprocessing.connection import Connection
from types import FrameType
from typing import NoReturn

from benchmarks.work import Stopwatch, Work, require

TEST_TIMEOUT_S = 6
SUBMISSION_TIMEOUT_S = 60.0


class ForkedJudge:
    """Judges in forked children, one submission at a time."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("fork")

    def close(self) -> None:
        """Nothing is held between submissions."""

    def judge(self, work: Work) -> list[float]:
        """Judge all submissions; return how many seconds each took. Raises WrongAnswerError."""
        pairs = work.pairs()
        watch = Stopwatch()
        for source in work.sources():
            ours, theirs = self._context.Pipe(duplex=False)
            child = self._context.Process(target=_judge_here, args=(source, pairs, theirs))
            child.start()
            theirs.close()
            try:
                passed = ours.recv() if ours.poll(SUBMISSION_TIMEOUT_S) else []
            except EOFError:
                passed = []
            if not passed:
                child.kill()
            child.join()
            ours.close()
            require(accepted=passed == [True] * work.tests)
            watch.lap()
        return watch.laps_s


def _judge_here(source: str, pairs: list[tuple[str, str]], answers: Connection) -> None:
    signal.signal(signal.SIGALRM, _out_of_time)
    code = compile(source, "program.py", "exec")
    passed = []
    for given, expected in pairs:
        signal.alarm(TEST_TIMEOUT_S)
        sys.stdin = io.StringIO(given)
        sys.stdout = written = io.StringIO()
        exec(code, {"__name__": "__main__"})  # noqa: S102 -- what is measured here
        signal.alarm(0)
        passed.append(written.getvalue().split() == expected.split())
    answers.send(passed)


def _out_of_time(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise TimeoutError("over the time limit of a test")
