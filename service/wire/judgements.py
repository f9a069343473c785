"""What the service answers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from service.wire.base import WireModel
from service.wire.verdicts import Verdict


class CaseResult(WireModel):
    """What became of one test. ``stdout`` and ``stderr`` are cut to 4 KiB each, the cut being marked."""

    index: int
    id: str | None = None
    verdict: Verdict
    accepted_by: str | None = None
    cpu_time_s: float | None = None
    wall_time_s: float | None = None
    memory_peak_bytes: int | None = None
    limit: Literal["cpu", "wall"] | None = None
    feedback: str | None = None
    stdout: str | None = None
    stderr: str | None = None


class Judgement(WireModel):
    """The answer to one submission. ``reward`` is None exactly when ``verdict`` is IE: leave that sample out.

    ``cached``: the same program had been judged against the same problem before. ``queue_s`` is how long it
    waited before it was judged, ``attempts`` how many workers took it up, 2 where the first was lost.
    """

    id: str
    index: int = 0
    verdict: Verdict
    reward: float | None
    score: float
    passed: int
    total: int
    first_failed: int | None
    message: str
    cases: list[CaseResult] = Field(default=[])
    cached: bool = False
    duration_s: float
    queue_s: float | None = None
    attempts: int | None = None
    worker: str | None = None
    isolation: Literal["reuse", "strict", "shared", "none"]


class BatchAnswer(WireModel):
    """Judgements in the order of the request."""

    judgements: list[Judgement]


JobStatus = Literal["queued", "running", "finished", "cancelled", "failed"]


class Job(WireModel):
    """How far a job is; ``judgements`` are those that are ready, in the order of the request."""

    job_id: str
    status: JobStatus
    total: int
    finished: int
    message: str | None = None
    judgements: list[Judgement] = Field(default=[])
