"""What the client makes of a bad network and a service that dies: ``python -m benchmarks.client_faults``.

The same submissions are judged quietly, then through a proxy that turns requests away (429, 503), resets connections
before and after the service got them, cuts answers, and stalls, while the service is killed and started again. All
have a known verdict. Counted is what was answered, what was None, wrong, or answered twice, and how many submissions
reached the service: what is more than there are was sent again.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from benchmarks.fault_proxy import PASS, Fault, FaultProxy, Request
from benchmarks.serving import Serving
from trainer_client import EvaluatorClient, Judgement, StdioCase, StdioProblem, Submission

if TYPE_CHECKING:
    from collections.abc import Callable

PROBLEMS = 50
FAULTS = (
    (0.10, Fault("429", status=429, retry_after="1")),
    (0.08, Fault("503", status=503, retry_after="1")),
    (0.08, Fault("503 without a time", status=503)),
    (0.10, Fault("reset before the service", reset=True)),
    (0.10, Fault("cut within the answer", cut_after_bytes=900)),
    (0.06, Fault("cut before the answer", cut_after_bytes=0)),
    (0.08, Fault("stalled for 3 s", hold_s=3.0)),
    (0.02, Fault("stalled for 30 s, then reset", hold_s=30.0, reset=True)),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run."""

    wall_s: float
    rewards: Counter[float | None]
    wrong: int
    twice: int
    sent: int
    faults: Counter[str]


def submissions(count: int) -> tuple[list[Submission], list[float]]:
    """Return programs, every third of them wrong and no two alike, and the rewards that are right for them."""
    made, truth = [], []
    for number in range(count):
        offset = number % PROBLEMS
        tests = [StdioCase(input=f"{given}\n", expected=f"{given + offset}\n") for given in (1, 20, 300)]
        error = number % 3 == 0
        code = f"print(int(input()) + {offset + error})  # {number}"
        made.append(Submission(code=code, problem=StdioProblem(mode="stdio", tests=tests)))
        truth.append(0.0 if error else 1.0)
    return made, truth


def harming(seed: int) -> FaultProxy:
    """Return a proxy that harms the share of requests that ``FAULTS`` come to."""
    chance = random.Random(seed)  # noqa: S311 -- the same faults each time

    def plan(_: Request) -> Fault:
        drawn = chance.random()
        for share, fault in FAULTS:
            drawn -= share
            if drawn < 0:
                return fault
        return PASS

    return FaultProxy(0, plan)


def judged(url: str, proxy: FaultProxy, count: int, deadline_s: float) -> Outcome:
    """Have ``count`` submissions judged at ``url``, which leads through ``proxy``."""
    batch, truth = submissions(count)
    seen: Counter[int] = Counter()

    def note(judgement: Judgement) -> None:
        seen[judgement.index] += 1

    started_s = time.monotonic()
    with EvaluatorClient(url, stall_s=20.0, max_unscorable_share=None) as client:
        judgements = client.evaluate_batch(batch, deadline_s=deadline_s, on_judgement=note)
    rewards = [judgement.reward for judgement in judgements]
    return Outcome(
        wall_s=time.monotonic() - started_s,
        rewards=Counter(rewards),
        wrong=sum(got is not None and got != right for got, right in zip(rewards, truth, strict=True)),
        twice=sum(times > 1 for times in seen.values()),
        sent=proxy.seen.submissions,
        faults=proxy.seen.faults,
    )


@click.command()
@click.option("--submissions", "count", type=click.IntRange(1), default=2000, show_default=True)
@click.option(
    "--restarts", type=click.IntRange(0), default=2, show_default=True, help="Kills of the service."
)
@click.option("--deadline-s", type=click.FloatRange(1), default=600.0, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
def main(*, count: int, restarts: int, deadline_s: float, seed: int) -> None:
    """Judge quietly, then under faults, and compare."""
    with Serving() as service:
        with FaultProxy(service.port, lambda _: PASS) as proxy:
            quiet = judged(proxy.url, proxy, count, deadline_s)
        with harming(seed) as proxy:
            proxy.target_port = service.port
            ended = threading.Event()

            def restart() -> None:
                # Spread over what the quiet run took; faults only make this run longer.
                for _ in range(restarts):
                    if ended.wait(quiet.wall_s / (restarts + 1)):
                        return
                    service.restart()

            restarting = threading.Thread(target=restart)
            restarting.start()
            try:
                harmed = judged(proxy.url, proxy, count, deadline_s)
            finally:
                ended.set()
                restarting.join()
    Console(width=100).print(_table(count, quiet, harmed))


def _table(count: int, quiet: Outcome, harmed: Outcome) -> Table:
    table = Table(title=f"{count} submissions")
    for name in ("", "quiet", "harmed"):
        table.add_column(name, justify="right" if name else "left")
    rows: list[tuple[str, Callable[[Outcome], float]]] = [
        ("answered", lambda one: one.rewards.total() - one.rewards[None]),
        ("None", lambda one: one.rewards[None]),
        ("wrong", lambda one: one.wrong),
        ("answered twice", lambda one: one.twice),
        ("submissions that reached the service", lambda one: one.sent),
        ("wall s", lambda one: round(one.wall_s, 1)),
    ]
    for name, value in rows:
        table.add_row(name, str(value(quiet)), str(value(harmed)))
    for name, times in sorted(harmed.faults.items()):
        table.add_row(f"requests: {name}", "", str(times))
    return table


if __name__ == "__main__":
    main()
