"""A trainer's own log: completions with the rewards that they got.

The label of a completion is what its reward says, so that a report answers: what would my rewards have been under
the other evaluator? Problems are in the rows, or in a file of problems that rows name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.audit.items import Item, Left, Truth
from service.audit.sources.formats import ground_truth
from service.audit.sources.problems import RowProblem, contract_problem
from service.audit.sources.rows import Row, SourceError
from service.wire import Problem, Submission

if TYPE_CHECKING:
    from collections.abc import Mapping

COMPLETIONS = ("completion", "output", "response")
REWARDS = ("reward", "score")
GROUND_TRUTHS = ("gts", "ground_truth")
PROBLEM_NAMES = ("problem_id", "question_id", "task_id", "uid")


@dataclass(frozen=True, slots=True)
class Labelling:
    """Which field holds the reward, and from which reward on a completion counts as accepted."""

    field: str | None = None
    accept_from: float = 1.0


def is_rollout(row: Row, labelling: Labelling) -> bool:
    """Whether a row is one of a rollout log."""
    rewarded = (
        labelling.field in row.fields if labelling.field else any(map(row.fields.__contains__, REWARDS))
    )
    return rewarded and any(name in row for name in COMPLETIONS)


def rollout(
    row: Row, source: str, labelling: Labelling, problems: Mapping[str, RowProblem], cache: dict[str, Problem]
) -> Item | Left:
    """Return the item of a row, or why it has none.

    Raises:
        SourceError: a field cannot be read.

    """
    reward = _reward(row, labelling)
    if reward is None:
        return Left(row.where, "its reward is null: the trainer left it out as well")
    completion = _completion(row)
    problem = _problem(row, problems, cache)
    if isinstance(problem, Left):
        return problem
    step = row.first("step", "global_step")
    return Item(
        id=f"{source}/{'' if step is None else f'step {step}/'}{row.index}",
        source=source,
        submission=Submission(completion=completion, problem_id="-"),
        problem=problem,
        truth=Truth.of(accept=reward >= labelling.accept_from),
    )


def _reward(row: Row, labelling: Labelling) -> float | None:
    field = labelling.field or next((name for name in REWARDS if name in row.fields), REWARDS[0])
    if field not in row.fields:
        raise row.bad(field, "is missing")
    value = row.fields[field]
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise row.bad(field, f"must be a number, not {value!r:.40}")
    return float(value)


def _completion(row: Row) -> str:
    field = next((name for name in COMPLETIONS if name in row), COMPLETIONS[0])
    value = row.get(field)
    if isinstance(value, list) and value and isinstance(value[-1], dict):
        value = value[-1].get("content")
    if not isinstance(value, str):
        raise row.bad(field, "must be text, or a list of chat messages")
    return value


def _problem(row: Row, problems: Mapping[str, RowProblem], cache: dict[str, Problem]) -> Problem | Left:
    given = row.get("problem")
    field = "problem" if isinstance(given, dict) else next((one for one in GROUND_TRUTHS if one in row), None)
    if field is not None:
        # Rows of a group repeat their problem; it is read once.
        key = f"{field} {row.get(field)!r}"
        if key not in cache:
            cache[key] = contract_problem(row, given) if field == "problem" else ground_truth(row, field)
        return cache[key]
    name = row.first(*PROBLEM_NAMES)
    if name is None:
        raise SourceError(
            f"{row.where}: names no problem: give `problem`, `ground_truth`, or `problem_id` with --problems"
        )
    found = problems.get(name)
    return (
        found.problem
        if found is not None
        else Left(row.where, f"its problem {name} is in no file of --problems")
    )
