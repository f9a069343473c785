"""Scores out of a model's answer, strictly: an answer that leaves room for doubt is none, and is asked for again.

What stands around the object is tolerated, because servers without structured output cannot prevent it: a reasoning
part that ends with ``</think>``, a fence, a sentence. What is not: a second object, another or a missing dimension, a
key that is there twice, a score that is no integer (``3.0``, ``"3"``, ``true``) or out of range.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainer_client.difficulty.rubric import Rubric

END_OF_REASONING = "</think>"
# Five scores are shorter than this even with an explanation; parsing what is longer would not make it right.
MAX_ANSWER_CHARS = 100_000


class AnswerError(ValueError):
    """An answer holds no scores; the text says why."""


def parse_scores(text: str, rubric: Rubric) -> dict[str, int]:
    """Return the score of every dimension of ``rubric``.

    Raises:
        AnswerError: the answer is not one JSON object with exactly the dimensions and integer scores in range.

    """
    if len(text) > MAX_ANSWER_CHARS:
        raise AnswerError(f"the answer has {len(text)} characters")
    text = text.rpartition(END_OF_REASONING)[2]
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        raise AnswerError(f"no JSON object in {_shown(text)}")
    try:
        found = json.loads(text[begin : end + 1], object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"not one JSON object ({error}): {_shown(text)}") from error
    return _checked(found, rubric)


def _checked(found: dict[str, Any], rubric: Rubric) -> dict[str, int]:
    if missing := [name for name in rubric.names if name not in found]:
        raise AnswerError(f"missing: {', '.join(missing)}")
    if unknown := [name for name in found if name not in rubric.names]:
        raise AnswerError(f"not a dimension: {', '.join(map(_shown, unknown))}")
    for name in rubric.names:
        score = found[name]
        if type(score) is not int:
            raise AnswerError(f"{name}: {_shown(json.dumps(score))} is no integer")
        if not rubric.minimum <= score <= rubric.maximum:
            raise AnswerError(
                f"{name}: {_shown(str(score))} is not from {rubric.minimum} to {rubric.maximum}"
            )
    return {name: found[name] for name in rubric.names}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise AnswerError("a key is there twice")
    return found


def _no_constant(name: str) -> float:
    raise AnswerError(f"{name} is no JSON")


def _shown(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 80 else f"{text[:60]} ... {text[-20:]}")  # noqa: PLR2004 -- a line of a report
