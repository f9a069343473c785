"""Dimensions and weights, the default ones and those of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.difficulty.running import command
from trainer_client.difficulty.errors import SettingsError
from trainer_client.difficulty.prompt import answer_schema, messages
from trainer_client.difficulty.rubric import default_text, load_rubric

if TYPE_CHECKING:
    from pathlib import Path


def test_default_favours_finding_and_writing_over_reading_and_knowing() -> None:
    """Algorithmic thinking and programming outweigh comprehension and recall, each of the former each of the latter."""
    weights = {one.name: one.weight for one in load_rubric().dimensions}
    assert len(weights) == 5
    assert min(weights["algorithmic_thinking"], weights["programming"]) > max(
        weights["comprehension"], weights["recall"]
    )
    assert weights["algorithmic_thinking"] + weights["programming"] > 0.5
    assert all(one.ground for one in load_rubric().dimensions)


def test_weighted_sum() -> None:
    """A judgement's difficulty is the sum of weight times score; the ends of the scale are reached."""
    rubric = load_rubric()
    scores = {"comprehension": 2, "recall": 4, "algorithmic_thinking": 8, "programming": 6, "verification": 5}
    assert rubric.weighted_sum(scores) == pytest.approx(0.2 + 0.4 + 2.8 + 1.5 + 1.0)
    assert rubric.weighted_sum(dict.fromkeys(rubric.names, 1)) == 1
    assert rubric.weighted_sum(dict.fromkeys(rubric.names, 10)) == 10


def test_printed_default_is_a_rubric_of_its_own(tmp_path: Path) -> None:
    """What `difficulty rubric` prints can be changed and given back."""
    printed = command("rubric").output
    copy = tmp_path / "mine.toml"
    copy.write_text(printed)
    assert load_rubric(copy).digest == load_rubric().digest
    copy.write_text(printed.replace("maximum = 10", "maximum = 5"))
    changed = load_rubric(copy)
    assert changed.digest != load_rubric().digest
    assert answer_schema(changed)["properties"]["recall"] == {"type": "integer", "minimum": 1, "maximum": 5}


def test_prompt_has_everything_a_judge_needs() -> None:
    """Every dimension with its question and ends, the scale, and the statement, apart from the instructions."""
    rubric = load_rubric()
    system, user = messages(rubric, "Count the sheep.")
    for one in rubric.dimensions:
        assert all(text in system["content"] for text in (one.name, one.question, one.low, one.high))
    assert "Count the sheep." in user["content"]
    assert "sheep" not in system["content"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("weight = 0.35", "weight = 0.45", "the weights add up to 1.1 instead of 1"),
        ("weight = 0.35", "weight = -0.35", "dimensions.2.weight"),
        ('name = "recall"', 'name = "comprehension"', "'comprehension' is named twice"),
        ('name = "recall"', 'name = "Re call"', "dimensions.1.name"),
        ("minimum = 1", "minimum = 10", "10 is not below the maximum"),
        ("minimum = 1", "minimun = 1", "minimun"),
        ("minimum = 1", "minimum =", "mine.toml"),
    ],
)
def test_broken_rubrics_are_refused_by_field(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = tmp_path / "mine.toml"
    assert old in default_text()
    path.write_text(default_text().replace(old, new, 1))
    with pytest.raises(SettingsError, match=complaint):
        load_rubric(path)
