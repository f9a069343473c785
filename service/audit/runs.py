"""Runs the programs of an audit: each once per repetition, on all workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from service.audit.observing import Observation
from service.audit.worker import AUDIT_WORKER_COMMAND
from service.queue.offline import judge_all
from service.wire import Options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic import JsonValue

    from service.audit.items import Item
    from service.settings import Settings


async def observed(
    items: Sequence[Item], settings: Settings, repeats: int, on_progress: Callable[[int, int], None]
) -> tuple[list[list[Observation]], dict[str, JsonValue]]:
    """Return per item its observations, one per repetition, and what the sandbox is.

    The repetitions of an item lie apart in time, so that they see different states of the machine.

    Raises:
        NoSandboxError: no worker could open its sandbox.
        NotReadyError: the sandboxes of all workers were lost on the way.

    """
    options = Options(stop_on_failure=True, detail="full", priority="low", isolation=settings.isolation)
    work = [item for _ in range(repeats) for item in items]
    found: dict[int, Observation] = {}

    def on_judged(index: int, judgement: bytes) -> None:
        observation = Observation.model_validate_json(judgement)
        # A worker's own failure has no views: whatever it was, it happened to all profiles.
        found[index] = observation
        on_progress(len(found), len(work))

    # Equal programs are run each for itself: a repetition that is answered from a cache repeats nothing.
    settings = settings.model_copy(update={"cache_ttl_s": 0.0})
    sandbox = await judge_all(work, settings, lambda _: options, on_judged, AUDIT_WORKER_COMMAND)
    passes = range(0, len(work), len(items))
    return [[found[start + index] for start in passes] for index in range(len(items))], sandbox
