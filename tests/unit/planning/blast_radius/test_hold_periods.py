"""Tests of what other holds leave of a hold."""

from __future__ import annotations

import pytest

from toolkit.el import parse_instant
from toolkit.entities import Hold
from toolkit.planning.blast_radius.feed_effects import covered, hold_text, period_text


def hold(start: str | None = None, end: str | None = None, cluster: str | None = None) -> Hold:
    return Hold(
        feed="clicks",
        cluster=cluster,
        start=None if start is None else parse_instant(f"2026-{start}T00:00Z"),
        end=None if end is None else parse_instant(f"2026-{end}T00:00Z"),
        reason="audit",
    )


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([], []),
        ([hold("01-01", "02-01")], ["2026-01-01 to 2026-02-01"]),
        ([hold()], ["2026-01-01 to 2026-02-01"]),
        ([hold("01-20"), hold(end="01-21")], ["2026-01-01 to 2026-02-01"]),
        ([hold("01-20"), hold(end="01-10")], ["2026-01-01 to 2026-01-10", "2026-01-20 to 2026-02-01"]),
        ([hold("02-01"), hold(end="01-01")], []),
        ([hold("01-05", "01-20"), hold("01-06", "01-07")], ["2026-01-05 to 2026-01-20"]),
    ],
)
def test_the_parts_that_others_cover_are_told(others: list[Hold], expected: list[str]) -> None:
    assert [period_text(each) for each in covered(hold("01-01", "02-01"), tuple(others))] == expected


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (hold(), "clicks, all instances (audit)"),
        (hold("01-01"), "clicks, 2026-01-01 and later (audit)"),
        (hold(end="02-01", cluster="primary"), "clicks on primary, before 2026-02-01 (audit)"),
    ],
)
def test_a_hold_is_told_in_words(of: Hold, expected: str) -> None:
    assert hold_text(of) == expected
