"""Which tests of a problem fail most often: tried first, they end a wrong submission sooner.

Only the order of trying changes. What is reported of the tests that were run keeps the problem's own order.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Sequence

MAX_PROBLEMS = 1024


class FailureCounts:
    """Counts per problem, of the problems that were judged last."""

    def __init__(self, max_problems: int = MAX_PROBLEMS) -> None:
        self._max_problems = max_problems
        self._counts: OrderedDict[str, Counter[int]] = OrderedDict()

    def order(self, problem: str, tests: int) -> Sequence[int]:
        """Return the indexes of a problem's tests, those first that failed most often, else as the problem has them."""
        counts = self._counts.get(problem)
        if not counts:
            return range(tests)
        return sorted(range(tests), key=lambda index: (-counts[index], index))

    def note(self, problem: str, failed: int | None) -> None:
        """Take note of the test at which a submission failed; None: it did not."""
        if failed is None:
            return
        counts = self._counts.setdefault(problem, Counter())
        self._counts.move_to_end(problem)
        counts[failed] += 1
        if len(self._counts) > self._max_problems:
            self._counts.popitem(last=False)
