"""What the metrics of diversity cost by the length of completions: ``python -m benchmarks.diversity``.

Groups of eight made completions: one text, of which each has its own three tenths of the tokens replaced. CPU time of
one group, medians over rounds in turn, and beside it the ratio to half the length: 2 is linear, 4 quadratic. The edit
distance looks at the first tokens only, up to a bound; it needs rapidfuzz. Nothing is asserted.
"""

from __future__ import annotations

import random
import statistics
import sys
import time

from rich.table import Table

from benchmarks.tables import console_of
from trainer_client.grpo.diversity import METRICS

LENGTHS = [512, 1024, 2048, 4096, 8192, 16384]
GROUP = 8
ROUNDS = 7
VOCABULARY = 20_000
REPLACED = 0.3


def made_group(length: int, source: random.Random) -> list[list[int]]:
    """Return completions whose tokens are as unequally frequent as words are."""
    weights = [1 / (rank + 3) for rank in range(VOCABULARY)]

    def tokens() -> list[int]:
        return source.choices(range(VOCABULARY), weights, k=length)

    text = tokens()
    return [
        [own if source.random() < REPLACED else shared for own, shared in zip(tokens(), text, strict=True)]
        for _ in range(GROUP)
    ]


def main() -> None:
    """Measure and print a table."""
    source = random.Random(0)  # noqa: S311 -- made data
    groups = {length: made_group(length, source) for length in LENGTHS}
    times_s: dict[tuple[str, int], list[float]] = {}
    values: dict[tuple[str, int], float] = {}
    for _ in range(ROUNDS):
        for length, group in groups.items():
            for name, metric in METRICS.items():
                start_s = time.process_time()
                values[name, length] = metric(group)
                times_s.setdefault((name, length), []).append(time.process_time() - start_s)
    table = Table(title=f"One group of {GROUP} completions; ms of CPU (ratio to half the length) diversity")
    table.add_column("tokens", justify="right")
    for name in METRICS:
        table.add_column(name, justify="right")
    for length in LENGTHS:
        cells = []
        for name in METRICS:
            now_s = statistics.median(times_s[name, length])
            half = times_s.get((name, length // 2))
            ratio = f"{now_s / statistics.median(half):.2f}" if half else "-"
            cells.append(f"{now_s * 1000:.1f} ({ratio}) {values[name, length]:.3f}")
        table.add_row(str(length), *cells)
    console_of(sys.stdout).print(table)


if __name__ == "__main__":
    main()
