"""What counts as an answer: exactly the dimensions, integers in range, once."""

from __future__ import annotations

import json

import pytest

from trainer_client.difficulty.answer import AnswerError, parse_scores
from trainer_client.difficulty.rubric import load_rubric

RUBRIC = load_rubric()
SCORES = {"comprehension": 1, "recall": 10, "algorithmic_thinking": 7, "programming": 4, "verification": 5}
TEXT = json.dumps(SCORES)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TEXT, id="bare"),
        pytest.param(f"\n\n  {TEXT}\n", id="blanks"),
        pytest.param(json.dumps(SCORES, indent=4), id="indented"),
        pytest.param(json.dumps(dict(reversed(SCORES.items()))), id="other order"),
        pytest.param(f"```json\n{TEXT}\n```", id="fenced"),
        pytest.param(f"Here are the scores:\n{TEXT}\nI hope this helps.", id="sentences around"),
        pytest.param(f"<think>maybe {{'recall': 3}} ... {TEXT}?</think>\n{TEXT}", id="after reasoning"),
        pytest.param(f"the template opened it ... </think>{TEXT}", id="reasoning without its beginning"),
    ],
)
def test_one_object_with_the_scores_is_an_answer(text: str) -> None:
    assert parse_scores(text, RUBRIC) == SCORES


def _with(**changes: object) -> str:
    return json.dumps({**SCORES, **changes})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "no JSON object", id="empty"),
        pytest.param("I would say 7 of 10.", "no JSON object", id="prose"),
        pytest.param(TEXT[:-1], "no JSON object", id="cut off"),
        pytest.param(TEXT.replace(":", "="), "not one JSON object", id="not JSON"),
        pytest.param(TEXT.replace('"', "'"), "not one JSON object", id="Python, not JSON"),
        pytest.param(f"{TEXT}\n{TEXT}", "not one JSON object", id="twice"),
        pytest.param(f"{TEXT} or rather {_with(recall=2)}", "not one JSON object", id="two opinions"),
        pytest.param(f"[{TEXT}, {TEXT}]", "not one JSON object", id="list of them"),
        pytest.param(f'{{"scores": {TEXT}}}', "missing", id="one level down"),
        pytest.param(
            json.dumps({k: v for k, v in SCORES.items() if k != "recall"}), "missing: recall", id="missing"
        ),
        pytest.param(_with(beauty=3), "not a dimension: 'beauty'", id="unknown"),
        pytest.param(_with(recall=0), "recall: '0' is not from 1 to 10", id="too low"),
        pytest.param(_with(recall=11), "recall: '11' is not from 1 to 10", id="too high"),
        pytest.param(_with(recall=10**400), "is not from 1 to 10", id="absurd"),
        pytest.param(_with(recall=3.5), "recall: '3.5' is no integer", id="fraction"),
        pytest.param(_with(recall=3.0), "recall: '3.0' is no integer", id="zero fraction"),
        pytest.param(_with(recall="3"), "is no integer", id="text"),
        pytest.param(_with(recall=True), "recall: 'true' is no integer", id="boolean"),
        pytest.param(_with(recall=None), "recall: 'null' is no integer", id="null"),
        pytest.param(_with(recall=[3]), "is no integer", id="list"),
        pytest.param(TEXT.replace('"recall": 10', '"recall": NaN'), "NaN is no JSON", id="NaN"),
        pytest.param(TEXT.replace("}", ', "recall": 9}'), "a key is there twice", id="key twice"),
        pytest.param(f"<think>{TEXT}</think>", "no JSON object", id="in the reasoning only"),
        pytest.param('{"a":' * 50_000 + "1" + "}" * 50_000, "characters", id="long"),
        pytest.param('{"a":' * 16_000 + "1" + "}" * 16_000, "not one JSON object", id="deep"),
    ],
)
def test_anything_else_is_none(text: str, reason: str) -> None:
    with pytest.raises(AnswerError, match=reason):
        parse_scores(text, RUBRIC)
