"""Puts work through a local queue of its own, for commands that judge without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from service.deadline import deadline_s
from service.intake import Intake, Item
from service.queue.local_queue import LocalQueue
from service.queue.worker_process import WORKER_COMMAND

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic import JsonValue

    from service.settings import Settings
    from service.wire import Options, Problem, Submission


UNBOUNDED_S = 1e9


class NoSandboxError(Exception):
    """Nothing can be judged on this machine; the text says why and what to do."""


class Judgeable(Protocol):
    """A submission beside its problem; the problem may be shared by many."""

    @property
    def submission(self) -> Submission:
        """What is judged."""
        ...

    @property
    def problem(self) -> Problem:
        """What it is judged against."""
        ...


async def judge_all[W: Judgeable](
    work: Sequence[W],
    settings: Settings,
    options: Callable[[W], Options],
    on_judged: Callable[[int, bytes], None],
    command: Sequence[str] = WORKER_COMMAND,
) -> dict[str, JsonValue]:
    """Judge everything on all workers, which ``command`` starts; return what their sandbox is.

    ``on_judged`` gets the index of each and its judgement as JSON, as it is ready.

    Raises:
        NoSandboxError: no worker could open its sandbox.
        NotReadyError: the sandboxes of all workers were lost on the way.

    """
    # Whoever waits here waits for all of it, however long that takes.
    queue = LocalQueue(settings.model_copy(update={"max_wait_s": UNBOUNDED_S}), command)
    queue.start()
    try:
        await queue.wait_started()
        health = queue.health()
        if health.trouble is not None:
            raise NoSandboxError(f"{health.trouble.cause}\nCure: {health.trouble.cure}")
        async for judged in await queue.submit(_intake(work, settings, options), "judge"):
            on_judged(judged.index, judged.judgement)
    finally:
        await queue.close()
    return health.sandbox


def _intake[W: Judgeable](work: Sequence[W], settings: Settings, options: Callable[[W], Options]) -> Intake:
    """Return the work as one request. Maxima of limits do not apply: caller and host are one person here."""
    keys: dict[int, str] = {}
    problems: dict[str, bytes] = {}
    items = []
    for index, one in enumerate(work):
        key = keys.setdefault(id(one.problem), str(len(keys)))
        if key not in problems:
            problems[key] = one.problem.model_dump_json(exclude_unset=True).encode()
        submission = one.submission.model_copy(
            update={
                "id": one.submission.id or f"{index}",
                "problem": None,
                "problem_id": key,
                "options": None,
            }
        )
        items.append(
            Item(
                index=index,
                id=submission.id or "",
                submission=submission.model_dump_json(exclude_none=True).encode(),
                problem=key,
                tests=len(one.problem.tests),
                deadline_s=deadline_s(one.problem, settings.defaults, submission.language),
                options=options(one),
            )
        )
    return Intake(items, problems)
