"""Parts of a real installation fail under load: every submission has one answer, none is lost, none is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.fault_list import FAULTS, inject
from benchmarks.lab import Lab
from benchmarks.load import Load
from benchmarks.redis_server import NoRedisError

if TYPE_CHECKING:
    from pathlib import Path

# Faults that take a worker away cost no failure: its submissions are judged elsewhere.
FAULTLESS = frozenset(FAULTS) - {"nothing"}


@pytest.mark.parametrize("name", sorted(FAULTLESS))
def test_under_a_fault_every_submission_has_its_one_right_answer(tmp_path: Path, name: str) -> None:
    try:
        lab = Lab(tmp_path, pools=(2, 1), flags=("--sandbox", "unsafe-process"))
    except NoRedisError as error:
        pytest.skip(str(error))
    with lab:
        load = Load(lab.url, batches=2, submissions=30, seconds_each=0.1)
        load.start()
        inject(lab, name)
        tally = load.finish()
    assert (tally.sent, tally.answered, tally.wrong) == (60, 60, 0)
    # Our failures are allowed, one in ten at most: they cost a trainer samples, not rewards.
    assert tally.failures <= 6
