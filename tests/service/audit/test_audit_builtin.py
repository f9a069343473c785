"""The built-in set is what its generator makes, large enough, and covers what it is meant to cover."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from scripts.audit_set.__main__ import lines
from service.audit.sources import builtin

FILE = Path(__file__).parents[3] / "service" / "audit" / "builtin" / "set.jsonl"


def test_the_file_is_what_the_generator_makes() -> None:
    """Truth is by construction: nobody has edited a label."""
    assert FILE.read_text(encoding="ascii").splitlines() == lines()


def test_it_is_large_and_covers_all_modes_and_verdicts() -> None:
    loaded = builtin()
    items = loaded.items
    assert loaded.left == []
    assert len({id(one.problem) for one in items}) >= 60
    assert len(items) >= 600
    assert len({one.id for one in items}) == len(items)
    assert set(Counter(one.problem.mode for one in items)) == {"stdio", "call", "assert"}
    verdicts = {str(verdict) for one in items for verdict in one.truth.verdicts}
    assert verdicts == {"AC", "WA", "RE", "TLE", "MLE", "OLE", "CE", "NC"}
    assert sum(one.submission.completion is not None for one in items) >= 10


def test_it_covers_every_kind_of_difference() -> None:
    sources = {one.source.partition(":")[0] for one in builtin().items}
    assert sources >= {
        "numbers", "sequences", "rows", "drawings", "words", "codes", "labels", "literals", "order", "nothing",
        "returned integers", "returned lists", "returned matrices", "returned reals", "returned strings",
        "returned dictionaries", "returned truth values", "returned nothing", "returned in any order",
        "changed arguments", "nodes", "designs", "limits", "failures", "completions", "cheats", "rules",
        "several right answers", "long outputs", "assertions",
    }  # fmt: skip
