"""Runs the programs of an audit, each once per repetition: what is asked of a queue, and what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from service.audit.observing import Observation
from service.queue.offline import judge_all
from service.wire import Options, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic import JsonValue

    from service.audit.items import Item
    from service.settings import Settings
    from service.wire import Isolation


def options_of(isolation: Isolation) -> Options:
    """Return how every program of an audit is judged."""
    return Options(stop_on_failure=True, detail="full", priority="low", isolation=isolation)


class Runs:
    """The runs of an audit and what was observed in them.

    Runs are numbered from 0. The repetitions of an item lie apart in time, so that they see different states of the
    machine: first all items once, then all of them again.
    """

    def __init__(self, items: Sequence[Item], repeats: int) -> None:
        self.items = [item for _ in range(repeats) for item in items]
        self._distinct = len(items)
        self._found: dict[int, Observation] = {}

    def note(self, run: int, judgement: bytes | bytearray) -> int:
        """Note what a worker answered; return how many runs have ended."""
        observation = Observation.model_validate_json(judgement)
        if observation.verdict is not Verdict.IE and not observation.views:
            message = "the worker that judged it knows no audits: it is of another version"
            observation = observation.model_copy(
                update={"verdict": Verdict.IE, "reward": None, "message": message}
            )
        # Our own failure has no views: whatever it was, it happened to all profiles.
        self._found[run] = observation
        return len(self._found)

    def observations(self) -> list[list[Observation]]:
        """Return per item its observations, one per repetition, once all runs have ended."""
        starts = range(0, len(self.items), self._distinct)
        return [[self._found[start + index] for start in starts] for index in range(self._distinct)]


async def observed(
    items: Sequence[Item], settings: Settings, repeats: int, on_progress: Callable[[int, int], None]
) -> tuple[list[list[Observation]], dict[str, JsonValue]]:
    """Run everything in a queue of its own; return what was observed per item, and what the sandbox is.

    Raises:
        NoSandboxError: no worker could open its sandbox.
        NotReadyError: the sandboxes of all workers were lost on the way.

    """
    options = options_of(settings.isolation)
    runs = Runs(items, repeats)

    def on_judged(run: int, judgement: bytes) -> None:
        on_progress(runs.note(run, judgement), len(runs.items))

    sandbox = await judge_all(runs.items, settings, lambda _: options, on_judged, observe=True)
    return runs.observations(), sandbox
