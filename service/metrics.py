"""What is counted and measured, for ``GET /metrics`` (Prometheus).

Counts are made in the process that serves them, once for each submission that this process admitted, so that
sums over processes are right. What is the same for all processes (the queue's length, the workers that are
alive) is asked for when metrics are read.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

from service.wire import Verdict

# From a trivial program to the longest limits.
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0)


class Meters:
    """The meters of one application; nothing is shared between two of them."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._submissions = Counter(
            "microcoder_submissions_total",
            "Submissions answered, by verdict and language.",
            ["verdict", "language"],
            registry=self.registry,
        )
        self._judging = Histogram(
            "microcoder_judging_seconds",
            "Time a worker took for a submission.",
            buckets=SECONDS,
            registry=self.registry,
        )
        self._queue = Histogram(
            "microcoder_queue_seconds",
            "Time a submission waited for a worker.",
            buckets=SECONDS,
            registry=self.registry,
        )
        self._cache_hits = Counter(
            "microcoder_cache_hits_total",
            "Submissions answered by the judgement of an equal one.",
            registry=self.registry,
        )
        self._request_bytes = Counter(
            "microcoder_request_bytes_total", "Bytes of request bodies, as received.", registry=self.registry
        )
        self._response_bytes = Counter(
            "microcoder_response_bytes_total", "Bytes of response bodies, as sent.", registry=self.registry
        )

    def judged(self, verdict: Verdict, language: str, judging_s: float, queue_s: float) -> None:
        """Count a submission that a worker took up, or that no worker could."""
        self._submissions.labels(verdict.value, language).inc()
        self._judging.observe(judging_s)
        self._queue.observe(queue_s)

    def given_again(self, verdict: Verdict, language: str) -> None:
        """Count a submission that an equal one's judgement answered."""
        self._submissions.labels(verdict.value, language).inc()
        self._cache_hits.inc()

    def received(self, size_bytes: int) -> None:
        """Count bytes of a request's body."""
        self._request_bytes.inc(size_bytes)

    def sent(self, size_bytes: int) -> None:
        """Count bytes of an answer's body."""
        self._response_bytes.inc(size_bytes)
