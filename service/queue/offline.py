"""Puts work through a local queue of its own, for commands that judge without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from service.queue.local_queue import LocalQueue
from service.queue.work import intake_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic import JsonValue

    from service.queue.work import Judgeable
    from service.settings import Settings
    from service.wire import Options

UNBOUNDED_S = 1e9


class NoSandboxError(Exception):
    """Nothing can be judged on this machine; the text says why and what to do."""


async def judge_all[W: Judgeable](
    work: Sequence[W],
    settings: Settings,
    options: Callable[[W], Options],
    on_judged: Callable[[int, bytes], None],
    *,
    observe: bool = False,
) -> dict[str, JsonValue]:
    """Judge everything on all workers of a queue of its own; return what their sandbox is.

    ``on_judged`` gets the index of each and its judgement as JSON, as it is ready; with ``observe`` it is an
    observation. Maxima of limits do not apply: caller and host are one person here.

    Raises:
        NoSandboxError: no worker could open its sandbox.
        NotReadyError: the sandboxes of all workers were lost on the way.

    """
    # Whoever waits here waits for all of it, however long that takes.
    queue = LocalQueue(settings.model_copy(update={"max_wait_s": UNBOUNDED_S}))
    queue.start()
    try:
        await queue.wait_started()
        health = queue.health()
        if health.trouble is not None:
            raise NoSandboxError(f"{health.trouble.cause}\nCure: {health.trouble.cure}")
        intake = intake_of(work, settings.defaults, options, observe=observe)
        async for judged in await queue.submit(intake, "judge"):
            on_judged(judged.index, judged.judgement)
    finally:
        await queue.close()
    return health.sandbox
