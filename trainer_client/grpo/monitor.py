"""Warns when training leaves the region that the published runs found healthy; every warning names its insight."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from trainer_client.grpo.health import HealthThresholds, StepFigures, Window
from trainer_client.grpo.health_checks import CHECKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainer_client.grpo.insights import Insight

__all__ = ["HealthMonitor", "HealthThresholds", "HealthWarning", "StepFigures"]

MEASURES = tuple(field.name for field in fields(StepFigures) if field.name != "step")


@dataclass(frozen=True, slots=True)
class HealthWarning:
    """What has become wrong at a step, and the published observation that says why it matters."""

    step: int
    kind: str
    """A key of ``health_checks.CHECKS``."""
    message: str
    insight: Insight

    def __str__(self) -> str:
        return f"step {self.step}: {self.message} (insight: {self.insight})"


class HealthMonitor:
    """Keeps the last values of every measure and which warnings stand; one instance per run, on its main process.

    A warning is given when its condition comes about, and again only after the condition was gone.
    """

    def __init__(self, thresholds: HealthThresholds | None = None) -> None:
        self.thresholds = thresholds or HealthThresholds()
        self._values: dict[str, deque[float]] = {}
        self._judged: deque[tuple[float, float]] = deque(maxlen=self.thresholds.window)
        self._standing: set[str] = set()

    def observe(self, figures: StepFigures) -> list[HealthWarning]:
        """Take the figures of a step and return the warnings that are new with it."""
        earlier = self._values.get("temperature")
        if earlier and figures.temperature not in {None, earlier[-1]}:
            # A jump of the temperature moves diversity at once, and is meant to.
            self._values.pop("diversity", None)
        for name in MEASURES:
            if (value := getattr(figures, name)) is not None:
                self._values.setdefault(name, deque(maxlen=self.thresholds.window)).append(value)
        if figures.reward is not None and figures.accuracy is not None:
            self._judged.append((figures.reward, figures.accuracy))
        values = {name: list(kept) for name, kept in self._values.items()}
        window = Window(figures, values, list(self._judged), self.thresholds)
        found = {kind: finding for kind, check in CHECKS.items() if (finding := check(window)) is not None}
        new = [
            HealthWarning(figures.step, kind, *finding)
            for kind, finding in found.items()
            if kind not in self._standing
        ]
        self._standing = set(found)
        return new

    def state_dict(self) -> dict[str, Any]:
        """Return plain data (JSON) for a checkpoint; thresholds are not part of it."""
        return {
            "values": {name: list(kept) for name, kept in self._values.items()},
            "judged": [list(pair) for pair in self._judged],
            "standing": sorted(self._standing),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where :meth:`state_dict` was taken."""
        size = self.thresholds.window
        self._values = {name: deque(kept, size) for name, kept in state["values"].items()}
        self._judged = deque(((reward, accuracy) for reward, accuracy in state["judged"]), size)
        self._standing = set(state["standing"])
