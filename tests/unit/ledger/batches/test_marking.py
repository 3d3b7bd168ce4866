from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.ledger.batches.rows import batch_date, joined, tokens

texts = st.one_of(st.none(), st.text(alphabet="ab ,@-", max_size=12))


@pytest.mark.parametrize(
    ("markings", "expected"),
    [
        ((), None),
        ((None, "", " , ,"), None),
        (("2026-03-02,2026-03-01",), "2026-03-01,2026-03-02"),
        ((None, "b", "a , b"), "a,b"),
        (("null",), "null"),
    ],
)
def test_a_marking_has_each_date_once_sorted(markings: tuple[str | None, ...], expected: str | None) -> None:
    assert joined(markings) == expected


@pytest.mark.parametrize(
    ("token", "date"), [("2026-03-01", "2026-03-01"), ("sales@2026-03-01", "2026-03-01"), ("a@b@ c ", "c"), ("a@", "")]
)
def test_the_date_of_a_token_stands_after_its_last_at_sign(token: str, date: str) -> None:
    assert batch_date(token) == date


@given(st.lists(texts))
def test_joining_keeps_every_date_and_is_joined_already(markings: list[str | None]) -> None:
    once = joined(markings)
    assert tokens(once) == {token for marking in markings for token in tokens(marking)}
    assert joined([once]) == once
