"""The queue's figures of the moment, asked for when metrics are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.metrics_core import Metric

    from service.queue.contract import Queue


class QueueFigures(Collector):
    """What is the same in every process that serves one queue: take the maximum over processes, not the sum."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def collect(self) -> Iterator[Metric]:
        """Yield the figures."""
        health = self._queue.health()
        yield GaugeMetricFamily(
            "microcoder_queue_submissions", "Submissions that wait or run.", value=health.waiting
        )
        yield GaugeMetricFamily(
            "microcoder_queue_oldest_age_seconds",
            "How long the submission that was admitted first waits for a worker.",
            value=health.oldest_age_s,
        )
        yield GaugeMetricFamily(
            "microcoder_workers_alive", "Workers that can judge.", value=health.workers_alive
        )
        yield CounterMetricFamily(
            "microcoder_sandbox_start_failures_total",
            "Times that a worker could not be started.",
            value=health.sandbox_start_failures,
        )
