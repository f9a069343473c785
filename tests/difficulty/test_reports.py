"""Documents, pages and pictures: what is in them, and that they stand any data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.difficulty.made import predicted, prediction
from tests.difficulty.running import command, levels
from trainer_client.difficulty.calibration import Calibration, calibrate
from trainer_client.difficulty.documents import LeftOut, read_document, write_document
from trainer_client.difficulty.errors import InputError
from trainer_client.difficulty.labels import Boundaries, PassRates
from trainer_client.difficulty.measuring import Measured
from trainer_client.difficulty.page import calibration_page, selection_page
from trainer_client.difficulty.plots import calibration_figure, png, selection_figure, svg
from trainer_client.difficulty.selection import select, targets_of

if TYPE_CHECKING:
    from pathlib import Path


def _calibration(scores: list[float], correct: list[int], *left_out: LeftOut) -> Calibration:
    measured = {f"p{index}": Measured(completions=10, correct=right) for index, right in enumerate(correct)}
    return calibrate(prediction(scores), measured, PassRates(), 1, least=1, left_out=left_out)


def test_names_and_reasons_are_text_on_a_page() -> None:
    """Whatever a data set calls its problems runs nothing in a browser."""
    hostile = LeftOut(problem="<script>alert(1)</script>", reason='"><img src=x onerror=alert(1)>')
    found = _calibration([2, 8], [10, 0], hostile)
    page = calibration_page(found, calibration_figure(found))
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    assert "<img" not in page


def test_a_page_tells_the_figures() -> None:
    found = _calibration([2, 3, 8, 9], [10, 5, 4, 0])
    page = calibration_page(found, calibration_figure(found))
    assert "1 easy (25.0 %), 2 medium (50.0 %), 1 hard (25.0 %)" in page
    assert "4 problems are few" in page
    chosen = select(
        [predicted("a", 2), predicted("b", 9)],
        Boundaries(medium_from=4, hard_from=7),
        targets_of("0.25", "0.5"),
    )
    page = selection_page(chosen, selection_figure(chosen))
    assert "1 of 2 problems kept" in page
    assert "Limited: the hard ones (1) are above 50 % of 1 at most" in page


@pytest.mark.parametrize(
    ("scores", "correct"),
    [([5.0], [5]), ([5.0, 5.0, 5.0], [0, 5, 10]), ([1.0, 10.0], [10, 10]), ([10.0, 1.0], [0, 0])],
)
def test_pictures_of_little_data(scores: list[float], correct: list[int]) -> None:
    """One problem, one score, one label only: a picture all the same, without a warning of its maker."""
    found = _calibration(scores, correct)
    assert png(calibration_figure(found)).startswith(b"\x89PNG")
    chosen = select(
        [*(predicted(f"p{index}", score) for index, score in enumerate(scores)), predicted("h", 10.5)],
        Boundaries(medium_from=found.boundaries.medium_from, hard_from=min(found.boundaries.hard_from, 10.5)),
        targets_of("0.9", "0.1"),
    )
    assert svg(selection_figure(chosen)).startswith("<svg")


def test_the_same_data_make_the_same_page() -> None:
    pages = set()
    for _ in range(2):
        found = _calibration([2, 5, 8], [10, 5, 0])
        pages.add(calibration_page(found, calibration_figure(found)))
    assert len(pages) == 1


def test_documents_of_another_kind_or_version_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    found = _calibration([2, 8], [10, 0])
    write_document(path, found)
    assert read_document(path, Calibration, "calibrate") == found
    text = path.read_text()
    path.write_text(text.replace('"schema_version": 1', '"schema_version": 2'))
    with pytest.raises(InputError, match="schema_version"):
        read_document(path, Calibration, "calibrate")
    path.write_text(text[: len(text) // 2])
    with pytest.raises(InputError, match=r"calibration\.json: not as `calibrate` of this version"):
        read_document(path, Calibration, "calibrate")


def test_steps_in_the_wrong_order_say_what_comes_first(tmp_path: Path) -> None:
    problems = levels(tmp_path / "problems.jsonl", 4)
    for arguments in (("select",), ("calibrate", problems, "--service", "http://127.0.0.1:9")):
        name, *more = arguments
        result = command(name, tmp_path / "run", problems, *more)
        assert result.exit_code == 2
        assert "`microcoder difficulty predict` makes it" in result.output


def test_help_of_every_command() -> None:
    """Each is listed, and has a help of its own."""
    listed = command("--help").output
    for name in ("predict", "calibrate", "select", "rubric"):
        assert name in listed
        assert "Usage" in command(name, "--help").output
