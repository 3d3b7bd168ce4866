"""Keys that other programs write: nothing is lost, mistaken for another, or removed with another."""

from __future__ import annotations

import pytest

from tests.contract.s3.conftest import FaultyPlace
from tests.contract.s3.places import Place, outcomes
from toolkit.storage import ContentSummary, Entry, FileKind, NotFound, WrongKind

FILE, DIRECTORY = FileKind.FILE, FileKind.DIRECTORY


def test_a_marker_is_an_empty_directory_and_no_entry_of_itself(place: Place) -> None:
    place.put(["d/", "d/e/"])
    system = place.opened()
    assert list(system.list(place.at("d"))) == [Entry("e", DIRECTORY)]
    assert list(system.list(place.at("d/e"))) == []
    assert system.status(place.at("d/e")).kind is DIRECTORY
    assert system.content_summary(place.at("d")) == ContentSummary(files=0, directories=2, size=0)


def test_a_name_can_be_an_object_and_a_directory(place: Place) -> None:
    place.put(["d/a", "d/a-1", "d/a/b"])
    system = place.opened()
    assert [entry[:2] for entry in system.list(place.at("d"))] == [("a", FILE), ("a-1", FILE), ("a", DIRECTORY)]
    assert system.status(place.at("d/a")).kind is DIRECTORY
    assert system.content_summary(place.at("d/a")) == ContentSummary(files=2, directories=1, size=2)
    with system.read(place.at("d/a")) as stream:
        assert stream.read() == b"1"
    system.delete(place.at("d/a"), below=place.at("d"))
    assert place.keys() == ["d/a-1"]


def test_a_tree_tells_objects_and_markers_and_nothing_twice(place: Place) -> None:
    place.put(["d/", "d/a", "d/a-1", "d/a/", "d/a/b//c", "d/e/", "d2"])
    assert [entry[:2] for entry in place.opened().list_tree(place.at("d"))] == [
        ("a", FILE),
        ("a-1", FILE),
        ("a", DIRECTORY),
        ("a/b//c", FILE),
        ("e", DIRECTORY),
    ]
    assert list(place.opened().list_tree(place.at("d/e"))) == []


def test_a_tree_is_listed_page_by_page_and_asks_about_no_object(faulty: FaultyPlace) -> None:
    faulty.fill(f"d/{number % 30:02}/{number:04}" for number in range(2500))
    assert len(list(faulty.opened().list_tree(faulty.at("d")))) == 2500
    assert len(faulty.proxy.seen(method="GET", query="list-type")) == 3
    assert faulty.proxy.seen(method="HEAD") == []


def test_names_that_no_path_can_have_are_listed_and_go_with_their_directory(place: Place) -> None:
    place.put(["d/a//b", "d/a/./c", "d/a/../e", "d/a//", "d//f", "d/g"])
    system = place.opened()
    assert [entry.name for entry in system.list(place.at("d/a"))] == [".", "..", ""] or [
        entry.name for entry in system.list(place.at("d/a"))
    ] == ["..", ".", ""]
    assert [entry.name for entry in system.list(place.at("d"))] == ["", "a", "g"]
    system.delete(place.at("d/a"), below=place.at("d"))
    assert place.keys() == ["d//f", "d/g"]


def test_what_only_begins_with_the_path_stays(place: Place) -> None:
    beside = ["d/a!", "d/a-1/x", "d/a.b", "d/a0", "d/a2", "d/a_$folder$", "d/aa/x", "d/aü"]
    place.put([*beside, "d/a/", "d/a/x", "d/a/y/z"])
    place.opened().delete(place.at("d/a"), below=place.at("d"))
    assert place.keys() == beside


def test_odd_names_are_kept_and_removed_as_they_are(place: Place) -> None:
    odd = ["ü", "e\u0301", "\U0001f98a", " a b ", "%41", "a+b", "a&b<c>'\"", "?x=1", "#f", "c\x01d", "r\rn", "t\tt"]
    names, system = sorted([*odd, "A", "a b", "é"]), place.opened()
    place.put(f"d/{name}/x" for name in names)
    assert list(system.list(place.at("d"))) == [Entry(name, DIRECTORY) for name in names]
    for name in odd:
        left = names[names.index(name) :]
        assert list(system.list(place.at("d"), start_from=name)) == [Entry(each, DIRECTORY) for each in left]
        assert [entry[:2] for entry in system.list(place.at(f"d/{name}"))] == [("x", FILE)]
        assert outcomes(system.delete_all([place.at(f"d/{name}")], below=place.at("d"))) == {f"d/{name}": None}
        names.remove(name)
        assert place.keys() == [f"d/{each}/x" for each in names]


def test_a_bucket_has_a_root_also_when_it_is_empty(place: Place) -> None:
    system = place.opened()
    assert list(system.list(place.root)) == []
    assert system.status(place.root).kind is DIRECTORY
    assert system.content_summary(place.root) == ContentSummary(files=0, directories=1, size=0)
    with pytest.raises(WrongKind):
        system.read(place.root)


def test_a_missing_bucket_is_named(place: Place) -> None:
    other = Place(store=place.store, bucket="not-there", spec=place.spec)
    missing = Place(
        store=place.store,
        bucket="not-there",
        spec=type(place.spec)(scheme="s3", authority="not-there", hadoop_conf=place.spec.hadoop_conf),
    ).opened()
    with pytest.raises(NotFound, match="the bucket does not exist"):
        list(missing.list(other.root))
    with pytest.raises(NotFound, match="the bucket does not exist"):
        missing.write(other.at("a"), [b"1"])
    with pytest.raises(NotFound, match="the bucket does not exist"):
        missing.delete(other.at("a/b"), below=other.at("a"))


def test_only_the_empty_marker_is_removed_if_empty(place: Place) -> None:
    place.put(["d/e/", "d/full/", "d/full/x", "d/none/x", "d/file"])
    with place.store.client() as client:
        client.put_object(Bucket=place.bucket, Key="d/data/", Body=b"not empty")
    system, names = place.opened(), ("e", "full", "none", "data", "missing")
    removed = {name: system.remove_if_empty(place.at(f"d/{name}"), below=place.at("d")) for name in names}
    assert removed == {"e": True, "full": False, "none": False, "data": False, "missing": False}
    with pytest.raises(WrongKind):
        system.remove_if_empty(place.at("d/file"), below=place.at("d"))
    assert place.keys() == ["d/data/", "d/file", "d/full/", "d/full/x", "d/none/x"]


def test_making_directories_writes_nothing(place: Place) -> None:
    place.opened().mkdirs(place.at("a/b"))
    assert place.keys() == []


def test_in_a_bucket_with_versions_the_old_ones_stay(place: Place) -> None:
    with place.store.client() as client:
        client.put_bucket_versioning(Bucket=place.bucket, VersioningConfiguration={"Status": "Enabled"})
        place.put(["d/a/x"])
        place.opened().delete(place.at("d/a"), below=place.at("d"))
        found = client.list_object_versions(Bucket=place.bucket)
    assert (place.keys(), len(found["Versions"]), len(found["DeleteMarkers"])) == ([], 1, 1)
