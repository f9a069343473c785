"""What a checkpoint of TRL lacks: the generator of the truncation mask and what the monitor has seen.

Temperature and stage are functions of the step and need no place of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from pathlib import Path

    from trainer_client.grpo.monitor import HealthMonitor
    from trainer_client.grpo.truncation_mask import TruncationMask

STATE_NAME = "microcoder_state.pt"


def save_state(
    folder: Path, mask: TruncationMask | None, monitor: HealthMonitor, accuracy: float | None
) -> None:
    """Write the state into a checkpoint's folder. It is the last of its files: with it, a checkpoint is complete.

    ``accuracy`` is one that was measured and that the monitor has not been told.
    """
    state = {
        "mask": None if mask is None else mask.state_dict(),
        "monitor": monitor.state_dict(),
        "accuracy": accuracy,
    }
    new = folder / f"{STATE_NAME}.new"
    torch.save(state, new)
    new.replace(folder / STATE_NAME)


def load_state(folder: Path, mask: TruncationMask | None, monitor: HealthMonitor) -> float | None:
    """Go on where a checkpoint was taken; return the accuracy that the monitor has not been told.

    Raises:
        ValueError: the checkpoint was not written by this trainer, or without a truncation mask where there is
            one now, or the other way round.

    """
    path = folder / STATE_NAME
    if not path.is_file():
        raise ValueError(
            f"{folder}: no {STATE_NAME}: this checkpoint is incomplete, or not of MicroCoderGRPOTrainer"
        )
    # Tensors and plain values only: nothing in it is run.
    state: dict[str, Any] = torch.load(path, weights_only=True)
    if (state["mask"] is None) != (mask is None):
        raise ValueError(
            f"{path}: the checkpoint was taken {'with' if mask is None else 'without'} a truncation mask"
        )
    if mask is not None:
        mask.load_state_dict(state["mask"])
    monitor.load_state_dict(state["monitor"])
    accuracy: float | None = state["accuracy"]
    return accuracy
