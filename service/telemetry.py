"""Logs of the service and its child processes, and the measured rate of judging.

Every record is one line on standard error: structlog's own and the standard library's alike, so that
uvicorn's and other libraries' records carry the same fields. ``request_id`` is bound per request.
"""

from __future__ import annotations

import logging
import sys
from collections import deque
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from structlog.typing import Processor

    from service.settings import LogFormat, LogLevel

RATE_WINDOW_S = 60.0


def configure_logging(level: LogLevel, log_format: LogFormat) -> None:
    """Send every record to standard error in ``log_format``, from ``level`` upwards."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    renderers: list[Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if log_format == "json"
        else [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder()],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # The service logs its own start, requests and end.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


class RateMeter:
    """How many events a second happened, over the last ``RATE_WINDOW_S`` seconds at most.

    Events are counted per whole second, so that its size does not grow with the rate.
    """

    def __init__(self) -> None:
        self._counts: deque[tuple[int, int]] = deque()
        self._total = 0

    def record(self, now_s: float) -> None:
        """Count one event at ``now_s`` (a monotonic clock)."""
        second = int(now_s)
        if self._counts and self._counts[-1][0] == second:
            self._counts[-1] = (second, self._counts[-1][1] + 1)
        else:
            self._counts.append((second, 1))
        self._total += 1
        self._forget(now_s)

    def per_second(self, now_s: float) -> float:
        """Return the rate, 0.0 when nothing happened within the window."""
        self._forget(now_s)
        if not self._counts:
            return 0.0
        return self._total / max(1.0, now_s - self._counts[0][0])

    def _forget(self, now_s: float) -> None:
        while self._counts and self._counts[0][0] < now_s - RATE_WINDOW_S:
            self._total -= self._counts.popleft()[1]
