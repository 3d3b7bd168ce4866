from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.el.matching import second_open
from toolkit.el.segment import Segment
from toolkit.el.tokens import tokenize
from toolkit.linter.overlap import can_overlap

PARTS = st.sampled_from(["a", "b", "ab", "?", "*", "[ab]", "[!a]", "{a,bb}", "${x}"])
JOINED = st.lists(PARTS, min_size=1, max_size=4).map("".join)
NAMES = JOINED.filter(lambda name: "**" not in name and second_open(tuple(tokenize(name))) is None)


def segment(text: str) -> Segment:
    return Segment(tuple(tokenize(text)), text)


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("clicks", "clicks", True),
        ("clicks", "clacks", False),
        ("cl*", "clicks", True),
        ("*_hourly", "clicks_*", True),
        ("*_hourly", "*_daily", False),
        ("${YEAR}", "2026", True),
        ("${YEAR}", "202", False),
        ("${YEAR}-${MONTH}", "${YEAR}-${MONTH}-${DAY}", False),
        ("${MONTH}", "${DAY}", True),
        ("${MONTH}", "${MINUTE}", True),
        ("${YEAR}${MONTH}", "${YEAR}-*", False),
        ("${YEAR}*", "*-${DAY}", True),
        ("${region}", "${YEAR}", True),
        ("${region}_x", "${YEAR}", False),
        ("[0-9]?", "${HOUR}", True),
        ("[!0-9]*", "${HOUR}", False),
        ("{us,de}_${YEAR}", "d*", True),
        ("{us,de}_${YEAR}", "f*", False),
        ("*", "*", True),
    ],
)
def test_two_names_meet_when_a_text_conforms_to_both(one: str, other: str, *, meet: bool) -> None:
    assert can_overlap(segment(one), segment(other)) is meet
    assert can_overlap(segment(other), segment(one)) is meet


@given(NAMES, NAMES, st.text("abc", min_size=1, max_size=6))
def test_what_conforms_to_both_is_never_missed(one: str, other: str, text: str) -> None:
    left, right = segment(one), segment(other)
    if left.match(text) is not None and right.match(text) is not None:
        assert can_overlap(left, right)


@given(NAMES, NAMES)
def test_names_without_a_common_text_do_not_meet(one: str, other: str) -> None:
    left, right = segment(one), segment(other)
    if can_overlap(left, right):
        assert any(left.match(text) is not None and right.match(text) is not None for text in TEXTS)


def _texts(longest: int) -> list[str]:
    found = level = [""]
    for _ in range(longest):
        level = [text + character for text in level for character in "abc"]
        found = found + level
    return found[1:]


TEXTS = _texts(9)


def test_very_many_choices_are_told_apart() -> None:
    many = "{a,b}" * 40
    assert not can_overlap(segment(many), segment("c*"))
    assert can_overlap(segment(many), segment("*ab"))
