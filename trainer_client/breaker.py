"""Ends a run that would go on without a judge.

Samples that nobody could judge are left out of training, which is right for a few. When most are, what remains
is a biased handful, and the run wastes its GPUs: a person has to look.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from typing import TYPE_CHECKING

from trainer_client.errors import TooManyUnscorableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.wire import Judgement
    from trainer_client.config import ClientConfig

REASONS = 3


class CircuitBreaker:
    """Watches the share of unscorable samples among the latest, over batches and threads."""

    def __init__(self, config: ClientConfig) -> None:
        self._config = config
        self._reasons: deque[str | None] = deque(maxlen=config.unscorable_window)
        self._lock = threading.Lock()

    def watch(self, judgements: Sequence[Judgement]) -> None:
        """Count a batch.

        Raises:
            TooManyUnscorableError: the window is full and the share of unscorable samples over the threshold.

        """
        threshold = self._config.max_unscorable_share
        with self._lock:
            self._reasons.extend(one.message if one.reward is None else None for one in judgements)
            reasons = Counter(reason for reason in self._reasons if reason is not None)
            size, lost = len(self._reasons), reasons.total()
            if threshold is None or size < self._config.unscorable_window or lost <= threshold * size:
                return
            # Whoever goes on after looking starts with a clean window.
            self._reasons.clear()
        frequent = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common(REASONS))
        raise TooManyUnscorableError(
            f"{lost} of the last {size} samples could not be judged ({lost / size:.0%}, more than {threshold:.0%}), so "
            f"that training would go on with a biased rest. Most frequent: {frequent}. Look at "
            f"{', '.join(f'{url}/readyz' for url in self._config.urls)} and at the service's log; "
            f"`max_unscorable_share` sets the threshold.",
            judgements,
        )
