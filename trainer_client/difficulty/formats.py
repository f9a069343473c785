"""Tests out of a row: the project's own form, or that of a public data set, told by fields that only it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from trainer_client.datasets import apps, codecontests, humaneval, leetcode, livecodebench, test_lists
from trainer_client.difficulty.rows import holds_tests
from trainer_client.errors import ProblemError
from trainer_client.problems import parse_problem

if TYPE_CHECKING:
    from service.wire import Problem

type _Reader = Callable[[Mapping[str, Any]], Problem]


def contract_problem(row: Mapping[str, Any]) -> Problem:
    """Return the problem in the column ``problem``: an object of the contract, or that as JSON text.

    Raises:
        ProblemError: it is none.

    """
    value = row.get("problem")
    if not isinstance(value, str | Mapping):
        raise ProblemError("problem: missing")
    return parse_problem(value)


READERS: Mapping[str, _Reader] = MappingProxyType(
    {
        "problem": contract_problem,
        "livecodebench": livecodebench.problem_of,
        "codecontests": codecontests.problem_of,
        "humaneval": humaneval.problem_of,
        "leetcode": leetcode.problem_of,
        "apps": apps.problem_of,
        "test_lists": test_lists.problem_of,
    }
)
AUTO = "auto"


def problem_of(row: Mapping[str, Any], form: str = AUTO) -> Problem:
    """Return the problem of a row in the form named, one of ``READERS``, or found out.

    Raises:
        ProblemError: the row is in no known form, or cannot be read in the one it is in.

    """
    name = _form_of(row) if form == AUTO else form
    if name is None:
        raise ProblemError("no field with tests that is known")
    try:
        return READERS[name](row)
    except (TypeError, AttributeError, KeyError) as error:
        # A field of a type that no row of that set has.
        raise ProblemError(f"not a row of form {name}: {type(error).__name__}: {error}") from error


def _form_of(row: Mapping[str, Any]) -> str | None:
    if holds_tests(row.get("problem")):
        return "problem"
    if _has(row, "public_test_cases"):
        return "livecodebench"
    if _has(row, "public_tests"):
        return "codecontests"
    if _has(row, "input_output"):
        stored = row["input_output"]
        pairs = stored.lstrip().startswith("[") if isinstance(stored, str) else isinstance(stored, list)
        return "leetcode" if pairs else "apps"
    if _has(row, "test_list") or (_has(row, "test") and _has(row, "entry_point")):
        return "humaneval"
    if _has(row, "reward_model"):
        return "apps"
    if any(_has(row, name) for name in test_lists.FIELDS):
        return "test_lists"
    return None


def _has(row: Mapping[str, Any], name: str) -> bool:
    return row.get(name) is not None
