"""Faults of an installation, each a name and what it does to a :class:`~benchmarks.lab.Lab` under load."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

from benchmarks.lab import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.lab import Lab

# Longer than a worker may be silent before its job is given to another.
PAUSE_S = 22.0
AWAY_S = 4.0
LONG_AWAY_S = 20.0


def nothing(_lab: Lab) -> None:
    """Do nothing, to compare with."""


def kill_worker(lab: Lab) -> None:
    """Kill one worker of a pool."""
    os.kill(lab.worker_pids()[0], signal.SIGKILL)


def kill_judge(lab: Lab) -> None:
    """Kill one sandboxed judge."""
    os.kill(lab.judge_pids()[0], signal.SIGKILL)


def kill_pool(lab: Lab) -> None:
    """Kill a pool and its workers, as when their machine is gone."""
    for pid in (lab.pools[0].pid, *lab.worker_pids()):
        os.kill(pid, signal.SIGKILL)


def drain_pool(lab: Lab) -> None:
    """Ask a pool to stop; it ends with status 0 and hands back what it has not begun."""
    lab.pools[0].send_signal(signal.SIGTERM)
    if lab.pools[0].wait(60) != 0:
        raise RuntimeError("the pool did not end in good order")


def pause_worker(lab: Lab) -> None:
    """Stop a worker, until others have its job; then let it go on."""
    worker = lab.worker_pids()[0]
    os.kill(worker, signal.SIGSTOP)
    time.sleep(PAUSE_S)
    os.kill(worker, signal.SIGCONT)


def kill_api(lab: Lab) -> None:
    """Kill the API process and start another."""
    lab.api.kill()
    lab.api.wait()
    lab.start_api()
    lab.wait_ready()


def restart_redis(lab: Lab) -> None:
    """Restart Redis in good order."""
    lab.redis.stop()
    lab.redis.start()


def lose_redis(lab: Lab) -> None:
    """Kill Redis, and start it some seconds later."""
    lab.redis.stop(kill=True)
    time.sleep(AWAY_S)
    lab.redis.start()


def lose_redis_for_long(lab: Lab) -> None:
    """Kill Redis, and start it when workers have long finished what they had."""
    lab.redis.stop(kill=True)
    time.sleep(LONG_AWAY_S)
    lab.redis.start()


def empty_redis(lab: Lab) -> None:
    """Kill Redis, and start it with nothing of what it had."""
    lab.redis.stop(kill=True)
    lab.redis.lose_everything()
    lab.redis.start()


def freeze_redis(lab: Lab) -> None:
    """Let Redis answer nothing for a while, connections staying open."""
    lab.redis.process.send_signal(signal.SIGSTOP)
    time.sleep(AWAY_S)
    lab.redis.process.send_signal(signal.SIGCONT)


FAULTS: dict[str, Callable[[Lab], None]] = {
    "nothing": nothing,
    "kill -9 of a worker": kill_worker,
    "kill -9 of a sandboxed judge": kill_judge,
    "kill -9 of a whole pool of two": kill_pool,
    "SIGTERM to a pool of two": drain_pool,
    "worker paused for 22 s": pause_worker,
    "kill -9 of the API": kill_api,
    "Redis restarted": restart_redis,
    "Redis killed, back after 4 s": lose_redis,
    "Redis killed, back after 20 s": lose_redis_for_long,
    "Redis killed, back empty": empty_redis,
    "Redis frozen for 4 s": freeze_redis,
}


def inject(lab: Lab, name: str) -> None:
    """Do it while submissions are being judged."""
    redis = lab.redis.client()
    until(lambda: bool(redis.exists("rq:wip:microcoder-normal")), 30, "nothing is being judged")
    time.sleep(0.3)
    FAULTS[name](lab)
