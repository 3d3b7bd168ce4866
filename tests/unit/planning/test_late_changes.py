"""Two looks at the files of an instance, compared."""

from __future__ import annotations

from datetime import datetime, timedelta

from toolkit.el import parse_instant
from toolkit.planning.late_changes import KEPT_FILES, Change, Changes, Fingerprint, ListedFile, changes

NOON = parse_instant("2026-03-01T12:00Z")


def file(name: str, size: int = 1, modified: datetime | None = NOON) -> ListedFile:
    return ListedFile(name, size, modified)


def compared(before: list[ListedFile], after: list[ListedFile]) -> Changes | None:
    return changes(Fingerprint.of(before), Fingerprint.of(after))


def test_a_fingerprint_counts_and_its_digest_does_not_depend_on_the_order_of_the_listing() -> None:
    files = [file("b", 5), file("a", 7, NOON - timedelta(hours=1))]
    found = Fingerprint.of(files)
    assert (found.files, found.size, found.newest) == (2, 12, NOON)
    assert found == Fingerprint.of(reversed(files))


def test_the_same_files_are_no_change() -> None:
    assert compared([file("a"), file("b")], [file("b"), file("a")]) is None


def test_added_removed_and_changed_files_are_named() -> None:
    moved = NOON + timedelta(microseconds=1)
    found = compared(
        [file("a"), file("b"), file("c"), file("d")], [file("b"), file("c", 9), file("d", 1, moved), file("e")]
    )
    assert found is not None
    named = {"a": Change.REMOVED, "c": Change.CHANGED, "d": Change.CHANGED, "e": Change.ADDED}
    assert (found.files, found.count, found.size) == (named, 0, 8)
    assert str(found) == "removed a, changed c, changed d and 1 more"


def test_less_data_is_a_change_too() -> None:
    found = compared([file("a", 5), file("b", 4)], [file("a", 5)])
    assert found is not None
    assert (str(found), found.count, found.size) == ("removed b", -1, -4)


def test_two_files_cannot_pass_for_one_with_a_longer_name() -> None:
    assert Fingerprint.of([file("a"), file("b")]).digest != Fingerprint.of([file("a\n1\nb")]).digest


def test_of_an_instance_with_too_many_files_the_figures_are_told_alone() -> None:
    many = [file(f"part-{number:05}") for number in range(KEPT_FILES + 1)]
    assert Fingerprint.of(many[1:]).listing is not None
    found = compared(many, [*many, file("late", 10)])
    assert found is not None
    assert (found.files, str(found)) == ({}, "+1 files, +10 bytes")


def test_a_store_without_times_is_compared_by_name_and_size() -> None:
    found = Fingerprint.of([file("a", modified=None)])
    assert found.newest is None
    assert changes(found, Fingerprint.of([file("a", modified=None)])) is None
    assert changes(found, Fingerprint.of([file("a", 2, modified=None)])) is not None
