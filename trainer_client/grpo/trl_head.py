"""TRL's fused log-probability head at a temperature that may change.

Since TRL 1.15 log-probabilities come out of the model's ``forward``, from a kernel that was given the temperature
once, when the trainer was made: setting the trainer's temperature later changes the sampling alone, and the ratio of
the objective would compare two different policies. Here every temperature has a head of its own, and ``forward`` asks
the one that is current. It is put in once, before accelerate wraps ``forward`` for mixed precision, so that a change
of the temperature leaves those wrappers where they are.
"""

from __future__ import annotations

import functools
from types import MethodType
from typing import TYPE_CHECKING, Any

try:
    from trl.trainer.utils import add_fused_lm_head
except ImportError:  # TRL 1.14 divides the logits by the trainer's temperature at each call.
    add_fused_lm_head = None

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

OUTPUTS = ("log_probs", "entropy")


class LogProbHead:
    """Makes ``model(..., fused_lm_head=True)`` return log-probabilities of ``logits / temperature``."""

    def __init__(self, model: nn.Module, temperature: float, *, cast_lm_head_to_fp32: bool = False) -> None:
        """Take over ``model.forward``, which has TRL's head already.

        Args:
            model: the causal language model itself, as TRL's trainer left it: not prepared by accelerate yet.
            temperature: the first one, above 0.
            cast_lm_head_to_fp32: TRL's setting of that name.

        """
        self._model = model
        self._cast = cast_lm_head_to_fp32
        self._plain = model.forward
        self._heads: dict[float, Callable[..., Any]] = {}
        self._current: Callable[..., Any] = model.forward
        if add_fused_lm_head is None:
            return
        self.set_temperature(temperature)

        # The signature of the class: generation checks its arguments against it.
        @functools.wraps(type(model).forward)
        def forward(_: nn.Module, *args: Any, **kwargs: Any) -> Any:
            return self._current(*args, **kwargs)

        model.forward = MethodType(forward, model)

    def set_temperature(self, temperature: float) -> None:
        """Use ``temperature`` from the next call on.

        Raises:
            ValueError: ``temperature`` is not above 0.

        """
        if not temperature > 0:
            raise ValueError(f"temperature must be above 0, not {temperature}")
        if add_fused_lm_head is None:
            return
        if temperature not in self._heads:
            self._heads[temperature] = self._made(temperature)
        self._current = self._heads[temperature]

    def _made(self, temperature: float) -> Callable[..., Any]:
        wrapped = self._model.forward
        self._model.forward = self._plain
        try:
            add_fused_lm_head(
                self._model,
                temperature=temperature,
                cast_lm_head_to_fp32=self._cast,
                outputs=OUTPUTS,
            )
            made: Callable[..., Any] = self._model.forward
        finally:
            self._model.forward = wrapped
        return made
