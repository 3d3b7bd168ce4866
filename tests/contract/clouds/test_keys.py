"""Keys that other programs write to Google Cloud Storage and Azure: nothing is mistaken for another, or left behind."""

from __future__ import annotations

import gzip
import os
from dataclasses import replace

import pytest

from tests.testbed.azure_server import ACCOUNT
from tests.testbed.cloud_places import CloudPlace as Place
from toolkit.el import CanonicalPath
from toolkit.storage import (
    BadName,
    ContentSummary,
    FileKind,
    NotFound,
    PermissionDenied,
    StorageSpec,
    WrongKind,
    open_file_system,
)

pytestmark = [pytest.mark.extended, pytest.mark.timeout(900)]

FILE, DIRECTORY = FileKind.FILE, FileKind.DIRECTORY
FOLDER = {"hdi_isfolder": "true"}


def test_a_marker_is_an_empty_directory_and_goes_with_its_path(place: Place) -> None:
    place.put("d/", "d/e/", "d/e/f", "d/g/")
    system = place.opened()
    assert [entry[:2] for entry in system.list(place.at("d"))] == [("e", DIRECTORY), ("g", DIRECTORY)]
    assert list(system.list(place.at("d/g"))) == []
    assert system.status(place.at("d/g")).kind is DIRECTORY
    assert system.content_summary(place.at("d")) == ContentSummary(files=1, directories=3, size=1)
    system.delete(place.at("d/e"), below=place.at("d"))
    system.delete(place.at("d/g"), below=place.at("d"))
    assert place.keys() == ["d/"]


def test_a_marker_alone_is_removed_as_empty_and_nothing_else_is(place: Place) -> None:
    place.put("d/a/", "d/b/", "d/b/x", "d/c/y", "d/f")
    system = place.opened()
    removed = {name: system.remove_if_empty(place.at(f"d/{name}"), below=place.at("d")) for name in "abcn"}
    assert removed == {"a": True, "b": False, "c": False, "n": False}
    with pytest.raises(WrongKind):
        system.remove_if_empty(place.at("d/f"), below=place.at("d"))
    assert place.keys() == ["d/b/", "d/b/x", "d/c/y", "d/f"]


def test_a_name_can_be_an_object_and_a_directory(place: Place) -> None:
    place.put("d/a", "d/a-1", "d/a/b", "d/a2", "d/aa/x")
    system = place.opened()
    assert [entry[:2] for entry in system.list(place.at("d"))] == [
        ("a", FILE),
        ("a-1", FILE),
        ("a", DIRECTORY),
        ("a2", FILE),
        ("aa", DIRECTORY),
    ]
    system.delete(place.at("d/a"), below=place.at("d"))
    assert place.keys() == ["d/a-1", "d/a2", "d/aa/x"]


def test_names_that_no_path_can_have_are_listed_and_go_with_their_directory(place: Place) -> None:
    place.put("d/a//b", "d/a//", "d//f", "d/g")
    system = place.opened()
    assert [entry.name for entry in system.list(place.at("d/a"))] == [""]
    assert [entry.name for entry in system.list(place.at("d"))] == ["", "a", "g"]
    system.delete(place.at("d/a"), below=place.at("d"))
    assert place.keys() == ["d//f", "d/g"]


def test_a_folder_that_hadoop_marks_on_azure_is_no_file_and_goes_with_its_path(on_azure: Place) -> None:
    place = on_azure
    place.put("d", "d/e", "d/e/deep", "d/h", content=b"", metadata=FOLDER)
    place.put("d/e/f", "d/e-1")
    system = place.opened()
    assert [entry[:2] for entry in system.list(place.at("d"))] == [("e-1", FILE), ("e", DIRECTORY)]
    assert sorted(entry[:2] for entry in system.list_tree(place.at("d"))) == [("e-1", FILE), ("e/f", FILE)]
    assert system.status(place.at("d/h")).kind is DIRECTORY
    assert system.content_summary(place.at("d")) == ContentSummary(files=2, directories=2, size=2)
    assert system.content_summary(place.at("d/h")) == ContentSummary(files=0, directories=1, size=0)
    assert not system.remove_if_empty(place.at("d/h"), below=place.at("d"))
    with pytest.raises(WrongKind):
        system.checksum(place.at("d/h"))
    for name in ("e", "h"):
        system.delete(place.at(f"d/{name}"), below=place.at("d"))
    assert place.keys() == ["d", "d/e-1"]


def test_a_name_that_azure_would_take_for_another_is_refused(on_azure: Place) -> None:
    on_azure.put("d/a/b", "d/c")
    system = on_azure.opened()
    for name in (r"a\b", "c.", "c./x"):
        path = on_azure.at(f"d/{name}")
        for attempt in (
            lambda path: system.delete(path, below=on_azure.at("d")),
            system.status,
            lambda path: system.write(path, [b""]),
        ):
            with pytest.raises(BadName):
                attempt(path)
    assert on_azure.keys() == ["d/a/b", "d/c"]


def test_a_bucket_that_is_not_there_is_an_error_and_not_empty(place: Place) -> None:
    spec_of_none = Place(cloud=place.cloud, bucket="", spec=_renamed(place), proxy=place.proxy)
    system = spec_of_none.opened()
    with pytest.raises(NotFound):
        next(iter(system.list(spec_of_none.at("d"))))
    with pytest.raises(NotFound):
        system.write(spec_of_none.at("d"), [b"1"])


def _renamed(place: Place) -> StorageSpec:
    return replace(place.spec, authority=place.spec.authority.replace("test-", "none-"))


def test_a_wrong_key_of_the_account_is_refused(on_azure: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    known = os.environ["AZURE_STORAGE_CONNECTION_STRING"]
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", known.replace("AccountKey=", "AccountKey=AAAA"))
    with pytest.raises(PermissionDenied, match="AuthorizationFailure"):
        on_azure.opened().status(on_azure.at("d"))


@pytest.mark.parametrize(
    "written", ["abfs://{0}@{1}.dfs", "abfss://{0}@{1}.dfs", "wasb://{0}@{1}.blob", "wasbs://{0}@{1}.blob"]
)
def test_a_container_opens_by_all_names_that_hadoop_has_for_it(on_azure: Place, written: str) -> None:
    on_azure.put("d/a")
    path = CanonicalPath.parse(f"{written.format(on_azure.bucket, ACCOUNT)}.core.windows.net/d")
    system = open_file_system(StorageSpec(scheme=path.scheme, authority=path.authority))
    assert [entry.name for entry in system.list(path)] == ["a"]


def test_an_object_that_google_would_unpack_is_read_as_it_is_kept(on_gcs: Place) -> None:
    kept = gzip.compress(b"0123456789" * 100)
    on_gcs.put("d/a", content=kept, metadata={"contentEncoding": "gzip"})
    system = on_gcs.opened()
    assert system.status(on_gcs.at("d/a")).size == len(kept)
    for offset, length in ((0, None), (5, 7)):
        with system.read(on_gcs.at("d/a"), offset=offset, length=length) as stream:
            assert stream.read() == kept[offset:][:length]
