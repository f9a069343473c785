"""The names of everything that is kept in Redis, and of the RQ queues.

All of it lives on one Redis server: scripts touch several keys at once, which a cluster would not let them.
Beside RQ's own lists of queues and workers, no key is without a time to live.
"""

from __future__ import annotations

from service.wire import Priority

PREFIX = "microcoder:"

# Batches that are not finished, by the time at which they are given up.
ACTIVE = f"{PREFIX}active"
# How many submissions, and bytes of them, all unfinished batches hold.
TOTALS = f"{PREFIX}totals"
# Channel: a JSON object for each publication of judgements.
EVENTS = f"{PREFIX}events"
# Counts that workers make.
COUNTS = f"{PREFIX}counts"
SANDBOX_START_FAILURES = "sandbox_start_failures"

# Audits that have a report, each with its size in bytes, by the time at which they ended.
AUDITS = f"{PREFIX}audits"

INDEX_TTL_S = 7 * 86400

# The names of the RQ queues.
QUEUES: dict[Priority, str] = {
    "high": "microcoder-high",
    "normal": "microcoder-normal",
    "low": "microcoder-low",
}


def batch(batch_id: str) -> str:
    """Name the hash of what is known of a batch."""
    return f"{PREFIX}batch:{batch_id}"


def results(batch_id: str) -> str:
    """Name the list of a batch's judgements, in the order in which they were made."""
    return f"{PREFIX}batch:{batch_id}:results"


def done(batch_id: str) -> str:
    """Name the set of the indices of a batch's judgements."""
    return f"{PREFIX}batch:{batch_id}:done"


def problem(key: str) -> str:
    """Name a problem's content."""
    return f"{PREFIX}problem:{key}"


def problem_name(problem_id: str) -> str:
    """Name what a stored problem's id stands for."""
    return f"{PREFIX}problem-id:{problem_id}"


def cached(fingerprint: str) -> str:
    """Name a judgement that answers for equal submissions."""
    return f"{PREFIX}cached:{fingerprint}"


def claim(key: str) -> str:
    """Name the job that answers for an idempotency key."""
    return f"{PREFIX}claim:{key}"


def audit(job_id: str) -> str:
    """Name the status of an audit."""
    return f"{PREFIX}audit:{job_id}"


def audit_alive(job_id: str) -> str:
    """Name what expires where the service that runs an audit is gone."""
    return f"{PREFIX}audit:{job_id}:alive"


def audit_cancelled(job_id: str) -> str:
    """Name what asks for the end of an audit."""
    return f"{PREFIX}audit:{job_id}:cancelled"


def audit_report(job_id: str, kind: str) -> str:
    """Name an audit's report, ``json`` or ``html``."""
    return f"{PREFIX}audit:{job_id}:{kind}"


def worker(name: str) -> str:
    """Name what a worker tells of its sandbox."""
    return f"{PREFIX}worker:{name}"


def rate(key_name: str) -> str:
    """Name the token bucket of an API key."""
    return f"{PREFIX}rate:{key_name}"


def running(key_name: str) -> str:
    """Name the set of an API key's requests that run."""
    return f"{PREFIX}running:{key_name}"
