"""The ways to judge that are measured. Each holds what a long-lived judge would keep between submissions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from benchmarks.forked import ForkedJudge
from benchmarks.work import Stopwatch, Work, require

if TYPE_CHECKING:
    from sandbox import Isolation, SandboxKind

SERVER_TIMEOUT_S = 600.0


class Contender(Protocol):
    """One process that judges, alone or by asking a server."""

    def judge(self, work: Work) -> list[float]:
        """Judge all submissions; return how many seconds each took, none where many are judged at a time.

        Raises WrongAnswerError.
        """
        ...

    def close(self) -> None:
        """Give up what is held."""
        ...


class SandboxContender:
    """Our sandbox alone: facts are compared as plain bytes."""

    kind: SandboxKind = "nsjail"
    isolation: Isolation = "reuse"

    def __init__(self) -> None:
        from sandbox import SandboxSettings, open_sandbox  # noqa: PLC0415 -- others must not carry it in memory
        from service.settings import default_python  # noqa: PLC0415

        settings = SandboxSettings(kind=self.kind, python=default_python(), isolation=self.isolation)
        self._sandbox = open_sandbox(settings)

    def judge(self, work: Work) -> list[float]:
        """Run all tests of all submissions."""
        from sandbox import Limits, Program, StdioInput  # noqa: PLC0415

        limits = Limits()
        pairs = [(StdioInput(given.encode()), expected.encode()) for given, expected in work.pairs()]
        watch = Stopwatch()
        for source in work.sources():
            with self._sandbox.session(Program(source), limits) as session:
                for given, expected in pairs:
                    require(accepted=session.run(given, limits).stdout == expected)
            watch.lap()
        return watch.laps_s

    def close(self) -> None:
        """Close the sandbox."""
        self._sandbox.close()


class StrictContender(SandboxContender):
    """The same with a process per test."""

    isolation: Isolation = "strict"


class ColdContender(SandboxContender):
    """The same with a jail per submission."""

    kind: SandboxKind = "nsjail-cold"


class EvaluateContender:
    """``evaluate``: extraction, sandbox, verdicts and comparison, without queue and HTTP."""

    def __init__(self) -> None:
        from sandbox import SandboxSettings, open_sandbox  # noqa: PLC0415
        from service.settings import Settings  # noqa: PLC0415

        settings = Settings()
        self._defaults = settings.defaults
        self._sandbox = open_sandbox(SandboxSettings(python=settings.python))

    def judge(self, work: Work) -> list[float]:
        """Judge one submission after the other."""
        from service.evaluate import evaluate  # noqa: PLC0415
        from service.wire import StdioCase, StdioProblem, Submission, Verdict  # noqa: PLC0415

        tests = [StdioCase(input=given, expected=expected) for given, expected in work.pairs()]
        problem = StdioProblem(mode="stdio", tests=tests)
        watch = Stopwatch()
        for source in work.sources():
            submission = Submission(code=source, problem_id="measured")
            judgement = evaluate(submission, problem, self._sandbox, defaults=self._defaults)
            require(accepted=judgement.verdict is Verdict.AC)
            watch.lap()
        return watch.laps_s

    def close(self) -> None:
        """Close the sandbox."""
        self._sandbox.close()


class ServerContender:
    """``POST /evaluate/batch`` on a ``microcoder serve`` with a worker per core; client and server are measured."""

    def __init__(self) -> None:
        import httpx  # noqa: PLC0415

        command = [sys.executable, "-m", "service.cli", "serve", "--port", "0", "--log-level", "error"]
        self._server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self._server.stdout.readline() if self._server.stdout else ""
        url = next((word for word in line.split() if word.startswith("http")), None)
        if url is None:
            raise RuntimeError(f"microcoder serve did not start: {line!r}")
        self._client = httpx.Client(base_url=url, timeout=SERVER_TIMEOUT_S)

    def judge(self, work: Work) -> list[float]:
        """Send all submissions in one request."""
        tests = [{"input": given, "expected": expected} for given, expected in work.pairs()]
        problem = {"mode": "stdio", "tests": tests}
        submissions = [{"code": source, "problem": problem} for source in work.sources()]
        answer = self._client.post("/evaluate/batch", json={"submissions": submissions}).raise_for_status()
        verdicts = [judgement["verdict"] for judgement in answer.json()["judgements"]]
        require(accepted=verdicts == ["AC"] * work.submissions)
        return []

    def close(self) -> None:
        """Stop the server."""
        self._client.close()
        self._server.send_signal(signal.SIGTERM)
        self._server.communicate()


class SubprocessContender:
    """A plain ``python -I`` process a test: no isolation, nothing kept, what everybody writes first."""

    def __init__(self) -> None:
        from service.settings import default_python  # noqa: PLC0415

        self._python = default_python()
        self._folder = tempfile.TemporaryDirectory(prefix="benchmark-")

    def judge(self, work: Work) -> list[float]:
        """Start one process after the other."""
        pairs = work.pairs()
        program = Path(self._folder.name, "program.py")
        watch = Stopwatch()
        for source in work.sources():
            program.write_text(source)
            for given, expected in pairs:
                ended = subprocess.run(
                    [self._python, "-I", program],
                    input=given,
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=False,
                    env={"PATH": os.defpath},
                )
                require(accepted=ended.stdout == expected)
            watch.lap()
        return watch.laps_s

    def close(self) -> None:
        """Remove the program."""
        self._folder.cleanup()


CONTENDERS: dict[str, type[Contender]] = {
    "warm": SandboxContender,
    "strict": StrictContender,
    "cold": ColdContender,
    "evaluate": EvaluateContender,
    "server": ServerContender,
    "subprocess": SubprocessContender,
    "fork": ForkedJudge,
}
