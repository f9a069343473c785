"""Hidden tests are read out of pickles without unpickling: texts and lists of texts, and nothing that acts."""

from __future__ import annotations

import base64
import contextlib
import pickle
import zlib
from collections import OrderedDict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainer_client import ProblemError
from trainer_client.datasets.plain_pickle import decoded, loaded

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = st.recursive(st.text(), lambda inner: st.lists(inner, max_size=5), max_leaves=20)


@given(TEXTS, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_texts_and_lists_of_texts_come_out_as_they_went_in(value: Any, protocol: int) -> None:
    assert loaded(pickle.dumps(value, protocol), "field") == value


def test_shared_and_long_texts_come_out() -> None:
    shared = ["x" * 300, "y" * 70_000]
    value = [shared, shared, *map(str, range(2000))]
    assert loaded(pickle.dumps(value), "field") == value


class Acting:
    """What a pickle can do to whoever unpickles it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return open, (self.path, "w")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_acts_is_refused_and_does_not_act(tmp_path: Path, protocol: int) -> None:
    planted = tmp_path / "planted"
    for value in (Acting(str(planted)), ["text", Acting(str(planted))]):
        with pytest.raises(ProblemError, match="hidden: not a pickle of texts and lists"):
            loaded(pickle.dumps(value, protocol), "hidden")
    assert not planted.exists()


@pytest.mark.parametrize(
    "value",
    [{"a": "b"}, ("a",), 1, None, b"bytes", 1.5, {"a"}, Fraction(1, 2), OrderedDict(a="b"), [1], len],
    ids=repr,
)
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(ProblemError):
        loaded(pickle.dumps(value), "hidden")


@pytest.mark.parametrize(
    "raw", [b"", b".", b"N.", b"\x80\x04", b"(.", b"h\x05.", b"a.", b"\x80\x04]", b"]e."]
)
def test_broken_pickles_are_refused(raw: bytes) -> None:
    with pytest.raises(ProblemError):
        loaded(raw, "hidden")


@given(st.binary(max_size=60))
def test_random_bytes_are_a_value_or_refused(raw: bytes) -> None:
    with contextlib.suppress(ProblemError):
        assert isinstance(loaded(raw, "hidden"), str | list)


def packed(value: Any) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


def test_the_packing_around_a_pickle_is_undone_and_bounded() -> None:
    assert decoded(packed("[1]"), "hidden") == "[1]"
    with pytest.raises(ProblemError, match="more than 1000 bytes"):
        decoded(packed("0" * 10_000), "hidden", max_bytes=1000)


@pytest.mark.parametrize("text", ["AAAA", "not base64", "", packed("[1]")[:-8]])
def test_what_does_not_decode_is_an_error_and_not_an_empty_suite(text: str) -> None:
    with pytest.raises(ProblemError, match="hidden"):
        decoded(text, "hidden")
