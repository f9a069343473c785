"""The form of a row, told by the fields that only it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from service.datasets import apps, codecontests, humaneval, leetcode, livecodebench, test_lists, verl

if TYPE_CHECKING:
    from service.wire import Problem

type Reader = Callable[[Mapping[str, Any]], Problem]

READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "livecodebench": livecodebench.problem_of,
        "codecontests": codecontests.problem_of,
        "humaneval": humaneval.problem_of,
        "mbpp": humaneval.problem_of,
        "leetcode": leetcode.problem_of,
        "apps": apps.problem_of,
        "verl": verl.problem_of,
        "test_lists": test_lists.problem_of,
    }
)


def form_of(row: Mapping[str, Any]) -> str | None:
    """Return the name in :data:`READERS` of the form that a row is in; None where that cannot be told."""
    has = {name for name, value in row.items() if value is not None}
    if has & set(livecodebench.FIELDS):
        return "livecodebench"
    if "public_tests" in has:
        return "codecontests"
    if "input_output" in has:
        stored = row["input_output"]
        pairs = stored.lstrip().startswith("[") if isinstance(stored, str) else isinstance(stored, list)
        return "leetcode" if pairs else "apps"
    if "test_list" in has:
        return "mbpp"
    if {"test", "entry_point"} <= has:
        return "humaneval"
    if "reward_model" in has:
        return "verl"
    return "test_lists" if has & set(test_lists.FIELDS) else None
