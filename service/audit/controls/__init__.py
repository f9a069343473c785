"""Outputs whose truth is known because they are made from the expected ones: wrong ones and reformatted ones.

A control is only made where its truth is beyond doubt under the problem's own rules: numbers are changed by far more
than the tolerance, rows are swapped where order counts and the rows differ, and so on.
"""

from service.audit.controls.trying import ControlCounts, try_controls

__all__ = ["ControlCounts", "try_controls"]
