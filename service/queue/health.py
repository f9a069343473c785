"""What a queue says of itself, and the error that follows where it cannot judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.errors import NotReadyError

if TYPE_CHECKING:
    from pydantic import JsonValue

    from sandbox import SandboxUnavailableError

STARTING_RETRY_AFTER_S = 2.0
BROKEN_RETRY_AFTER_S = 30.0


@dataclass(frozen=True, slots=True)
class Health:
    """Whether submissions can be judged now.

    ``trouble`` is why not, where no worker could be started, ``reason`` where something else is amiss.
    ``oldest_age_s`` is how long the submission that was admitted first waits for a worker.
    """

    ready: bool
    stopping: bool
    workers_alive: int
    workers: int
    sandbox: dict[str, JsonValue]
    trouble: SandboxUnavailableError | None
    waiting: int
    oldest_age_s: float = 0.0
    sandbox_start_failures: int = 0
    reason: str | None = None
    warnings: tuple[str, ...] = ()


def not_ready(health: Health) -> NotReadyError:
    """Return the error of a queue that is not ready."""
    if health.stopping:
        return NotReadyError("the service is stopping", retry_after_s=STARTING_RETRY_AFTER_S)
    if health.trouble is not None:
        return NotReadyError(
            f"{health.trouble.cause} Cure: {health.trouble.cure}", retry_after_s=BROKEN_RETRY_AFTER_S
        )
    return NotReadyError(health.reason or "the workers are starting", retry_after_s=STARTING_RETRY_AFTER_S)
