"""Rows of verl: ``reward_model.ground_truth`` holds the tests, of whichever make.

That text is all that a reward function is given of a problem, so it is read by itself as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.datasets import test_lists
from service.datasets.values import RowError, json_value, required

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.datasets.apps import Wrapping
    from service.wire import Problem


def problem_of(
    row: Mapping[str, Any], *, cpu_time_s: float | None = None, wrapping: Wrapping = "auto"
) -> Problem:
    """Return the problem of a row; ``wrapping`` is that of :mod:`service.datasets.apps`.

    Raises:
        RowError: a field is missing or cannot be decoded.

    """
    model = json_value(required(row, "reward_model"), "reward_model")
    if not isinstance(model, dict):
        raise RowError("reward_model: not an object")
    truth = required(model, "ground_truth")
    try:
        return problem_of_ground_truth(truth, cpu_time_s=cpu_time_s, wrapping=wrapping)
    except RowError as error:
        raise RowError(f"reward_model.ground_truth: {error}") from error


def problem_of_ground_truth(
    truth: Any, *, cpu_time_s: float | None = None, wrapping: Wrapping = "auto"
) -> Problem:
    """Return the problem of a ground truth by itself; raises as :func:`problem_of`."""
    return test_lists.problem_of({"ground_truth": truth}, cpu_time_s=cpu_time_s, wrapping=wrapping)
