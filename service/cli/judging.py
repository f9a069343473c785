"""Puts the work of ``microcoder judge`` through the service's own queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from service.deadline import deadline_s
from service.intake import Intake, Item
from service.queue.local_queue import LocalQueue
from service.wire import Judgement

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from service.cli.inputs import Work
    from service.settings import Settings
    from service.wire import Options


class NoSandboxError(Exception):
    """Nothing can be judged on this machine; the text says why and what to do."""


async def judge_all(
    work: Sequence[Work],
    settings: Settings,
    options: Callable[[Work], Options],
    on_judged: Callable[[int, Judgement], None],
) -> None:
    """Judge everything on all workers; ``on_judged`` gets index and judgement of each as it is ready.

    Raises:
        NoSandboxError: no worker could open its sandbox.
        NotReadyError: the sandboxes of all workers were lost on the way.

    """
    queue = LocalQueue(settings)
    queue.start()
    try:
        await queue.wait_started()
        trouble = queue.health().trouble
        if trouble is not None:
            raise NoSandboxError(f"{trouble.cause}\nCure: {trouble.cure}")
        async for judged in queue.submit(_intake(work, settings, options), "judge"):
            on_judged(judged.index, Judgement.model_validate_json(judged.judgement))
    finally:
        await queue.close()


def _intake(work: Sequence[Work], settings: Settings, options: Callable[[Work], Options]) -> Intake:
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
