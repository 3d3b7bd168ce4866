"""Tests of what tells the files of an instance from what they were."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from toolkit.ledger.fingerprints import LISTED_FILES, Fingerprint, InputChanges, ListedFile, changes

NOON = datetime(2026, 3, 1, 12, 0, 0, 1, tzinfo=UTC)
A = ListedFile(name="a", size=10, modified=NOON)
B = ListedFile(name="sub/b", size=5, modified=NOON + timedelta(microseconds=1))


def test_a_fingerprint_counts_the_files_and_does_not_depend_on_their_order() -> None:
    found = Fingerprint.of([B, A])
    assert (found.files, found.size, found.newest_at) == (2, 15, B.modified)
    assert found == Fingerprint.of([A, B])


OTHERS = {
    "a name": A._replace(name="c"),
    "a size": A._replace(size=11),
    "a change of a microsecond": A._replace(modified=NOON - timedelta(microseconds=1)),
    "a name that runs into its size": A._replace(name="a1", size=0),
    "a name that is no Unicode": A._replace(name="a\udcff"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_whatever_differs_shows_in_the_digest(other: ListedFile) -> None:
    assert Fingerprint.of([A, B]).digest != Fingerprint.of([other, B]).digest


def test_the_files_that_came_changed_and_went_are_named() -> None:
    larger, odd = A._replace(size=11), ListedFile(name="ünïcode \udcff\n", size=1, modified=NOON)
    found = changes(Fingerprint.of([A, B]), Fingerprint.of([larger, odd]))
    assert found == InputChanges(added=(odd.name,), changed=("a",), removed=("sub/b",))


def test_what_was_not_there_has_a_fingerprint_too() -> None:
    nothing = Fingerprint.of([])
    assert (nothing.files, nothing.newest_at) == (0, None)
    assert changes(nothing, Fingerprint.of([A])) == InputChanges(added=("a",), changed=(), removed=())


def test_of_too_many_files_it_is_known_that_they_changed_and_not_which() -> None:
    files = [A._replace(name=str(number)) for number in range(LISTED_FILES)]
    assert Fingerprint.of(files).listing is not None
    more = Fingerprint.of([*files, B])
    assert (more.listing, more.files) == (None, LISTED_FILES + 1)
    assert changes(Fingerprint.of(files), more) is None
    assert changes(replace(more), Fingerprint.of(files)) is None
