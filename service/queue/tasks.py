"""What the service and its worker processes tell each other.

Frames to a worker: one :class:`WorkerConfig`, then per submission a :class:`Task`, the submission, and the
problem where ``brings_problem`` says so. Frames from it: one :class:`Readiness`, then per submission a
:class:`Done` and the judgement. A submission names its problem by ``problem_id``, the problem's key. The
service alone decides which problems a worker keeps (``Task.forget``), so that the two never disagree.
"""

from typing import Self

from pydantic import BaseModel, ConfigDict, JsonValue

from service.limits import Defaults
from service.settings import LogFormat, LogLevel, SandboxKind, Settings
from service.wire import Judgement, Options, Verdict


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", cache_strings="keys")


class WorkerConfig(_Message):
    """What a worker is told once."""

    name: str
    sandbox: SandboxKind
    docker_image: str
    python: str
    defaults: Defaults
    failing_first: bool = True
    log_level: LogLevel
    log_format: LogFormat

    @classmethod
    def of_settings(cls, settings: Settings, name: str) -> Self:
        """Return what the worker ``name`` is told under ``settings``."""
        return cls(
            name=name,
            sandbox=settings.sandbox,
            docker_image=settings.docker_image,
            python=settings.python,
            defaults=settings.defaults,
            failing_first=settings.failing_first,
            log_level=settings.log_level,
            log_format=settings.log_format,
        )


class Readiness(_Message):
    """Whether the worker's sandbox is open; where not, ``cause`` and ``cure`` say why."""

    ready: bool
    sandbox: dict[str, JsonValue] = {}
    cause: str = ""
    cure: str = ""


class Task(_Message):
    """One submission to judge: ``index`` is its place in its request, ``forget`` what to drop first.

    ``queue_s`` and ``attempts`` go into its judgement as they are. With ``observe`` the judgement is an
    :class:`~service.audit.observing.Observation`.
    """

    index: int
    problem: str
    brings_problem: bool
    forget: list[str] = []
    tests: int
    options: Options
    request_id: str
    queue_s: float = 0.0
    attempts: int = 1
    observe: bool = False


class Done(_Message):
    """What the service wants to know about a judgement without reading it."""

    verdict: Verdict


def internal_error(
    task: Task, submission_id: str, message: str, *, worker: str | None, duration_s: float
) -> Judgement:
    """Return the judgement that says that we failed: IE with a null reward, which punishes nobody."""
    return Judgement(
        id=submission_id,
        index=task.index,
        verdict=Verdict.IE,
        reward=None,
        score=0.0,
        passed=0,
        total=task.tests,
        first_failed=None,
        message=message,
        duration_s=duration_s,
        queue_s=task.queue_s,
        attempts=task.attempts,
        worker=worker,
        isolation=task.options.isolation,
    )
