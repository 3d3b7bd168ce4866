"""The logic on obstore's own stores; the services behind it are not tested (see the module)."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import obstore
import pytest
from obstore.store import MemoryStore
from obstore.store import S3Store as ObstoreS3

from tests.testbed.s3 import S3Store
from toolkit.el import CanonicalPath
from toolkit.errors import InvalidInput
from toolkit.storage import (
    AlreadyExists,
    BadName,
    ContentSummary,
    Entry,
    FileKind,
    FileSystem,
    NotFound,
    OutsideBase,
    StorageFailure,
    StorageSpec,
    WrongKind,
)
from toolkit.storage.local.file_system import no_check
from toolkit.storage.obstore.files import ObstoreFileSystem
from toolkit.storage.obstore.opening import opened

SPEC = StorageSpec(scheme="gs", authority="bucket")
FILE, DIRECTORY = FileKind.FILE, FileKind.DIRECTORY


def at(key: str) -> CanonicalPath:
    return CanonicalPath("gs", "bucket", f"/{key}")


def filled(*keys: str) -> tuple[MemoryStore, FileSystem]:
    store = MemoryStore()
    for key in keys:
        obstore.put(store, key, b"1")
    return store, ObstoreFileSystem(store, SPEC, no_check)


def keys_of(store: MemoryStore) -> list[str]:
    return sorted(each["path"] for objects in obstore.list(store) for each in objects)


def test_a_directory_lists_in_the_order_of_its_keys() -> None:
    _, system = filled("d/a", "d/a-1", "d/a/b", "d/ü/x", "d/10", "e")
    everything = list(system.list(at("d")))
    assert [(entry.name, entry.kind, entry.size) for entry in everything] == [
        ("10", FILE, 1),
        ("a", FILE, 1),
        ("a-1", FILE, 1),
        ("a", DIRECTORY, 0),
        ("ü", DIRECTORY, 0),
    ]
    assert everything[0] == Entry("10", FILE, 1, system.status(at("d/10")).modified)
    assert list(system.list(at("d"), start_from="a-1")) == everything[2:]
    with pytest.raises(NotFound):
        list(system.list(at("none")))
    with pytest.raises(WrongKind):
        list(system.list(at("e")))


def test_a_tree_is_one_listing_of_keys() -> None:
    _, system = filled("d/a", "d/a-1", "d/a/b/c", "e")
    assert [(entry.name, entry.kind, entry.size) for entry in system.list_tree(at("d"))] == [
        ("a", FILE, 1),
        ("a-1", FILE, 1),
        ("a/b/c", FILE, 1),
    ]
    assert [entry.name for entry in system.list_tree(at(""))][-1] == "e"
    with pytest.raises(NotFound):
        list(system.list_tree(at("none")))
    with pytest.raises(WrongKind):
        list(system.list_tree(at("e")))


def test_ranges_are_read_and_checksums_told() -> None:
    store, system = filled("d/a")
    obstore.put(store, "d/b", b"0123456789")
    for offset, length in [(0, None), (3, 4), (3, 0), (9, 5), (10, 1), (400, None)]:
        with system.read(at("d/b"), offset=offset, length=length) as stream:
            assert stream.read() == b"0123456789"[offset:][:length]
    found = system.checksum(at("d/a"))
    assert found is not None
    assert found.algorithm == "ETag"
    with pytest.raises(NotFound):
        system.checksum(at("d/none"))


def test_files_are_written_read_and_counted() -> None:
    _, system = filled("d/a/x", "d/b")
    system.write(at("d/c"), [b"1", b"23"], overwrite=False)
    with system.read(at("d/c")) as stream:
        assert stream.read() == b"123"
    with pytest.raises(AlreadyExists):
        system.write(at("d/c"), [b"4"], overwrite=False)
    with pytest.raises(WrongKind):
        system.write(at("d/a"), [b"4"])
    with pytest.raises(WrongKind):
        system.read(at("d/a"))
    assert system.content_summary(at("d")) == ContentSummary(files=3, directories=2, size=5)
    assert [system.status(at(key)).kind for key in ("d", "d/a", "d/b")] == [DIRECTORY, DIRECTORY, FILE]


def test_exactly_the_keys_of_a_path_go() -> None:
    store, system = filled("d/a", "d/a/x", "d/a/y/z", "d/a-1/x", "d/a2", "d/aa")
    system.delete(at("d/a"), below=at("d"))
    assert keys_of(store) == ["d/a-1/x", "d/a2", "d/aa"]
    with pytest.raises(NotFound):
        system.delete(at("d/a"), below=at("d"))
    with pytest.raises(OutsideBase):
        system.delete(at("d"), below=at("d"))
    with pytest.raises(StorageFailure):
        system.delete(CanonicalPath("gs", "other", "/d/a2"), below=CanonicalPath("gs", "other", "/d"))


def test_many_paths_are_answered_one_by_one() -> None:
    store, system = filled("d/a/_SUCCESS", "d/a/x", "d/b/x", "d/c")
    answers = system.delete_all([at("d/a"), at("none"), at("d/c"), at("d/no")], below=at("d"), first="_SUCCESS")
    assert [type(answer.error) for answer in answers] == [type(None), OutsideBase, type(None), NotFound]
    assert keys_of(store) == ["d/b/x"]


def test_nothing_is_ever_removed_as_empty() -> None:
    store, system = filled("d/a/x", "d/b")
    assert not system.remove_if_empty(at("d/a"), below=at("d"))
    assert not system.remove_if_empty(at("d/none"), below=at("d"))
    with pytest.raises(WrongKind):
        system.remove_if_empty(at("d/b"), below=at("d"))
    assert keys_of(store) == ["d/a/x", "d/b"]


def test_each_change_is_asked_for_before() -> None:
    class Stopped(Exception):  # noqa: N818 - named for what happened
        pass

    def stop() -> None:
        raise Stopped

    store, _ = filled("d/a")
    system = ObstoreFileSystem(store, SPEC, stop)
    with pytest.raises(Stopped):
        system.write(at("d/b"), [b"1"])
    with pytest.raises(Stopped):
        system.delete(at("d/a"), below=at("d"))
    assert keys_of(store) == ["d/a"]


def on_s3(s3: S3Store, bucket: str) -> FileSystem:
    """Obstore on a store that has markers."""
    store = ObstoreS3(bucket, endpoint=s3.endpoint, region="us-east-1", client_options={"allow_http": True})
    return ObstoreFileSystem(store, SPEC, no_check)


def keys_on_s3(s3: S3Store, bucket: str) -> list[str]:
    with s3.client() as client:
        return [each["Key"] for each in client.list_objects_v2(Bucket=bucket).get("Contents", ())]


def test_a_marker_is_never_mistaken_for_the_object_without_the_slash(s3: S3Store, s3_bucket: str) -> None:
    """Obstore lists "d/a/" as "d/a"; asked to remove it, it would remove that object."""
    s3.fill(s3_bucket, ["d/a", "d/b/", "d/b/x"])
    system = on_s3(s3, s3_bucket)

    with pytest.raises(StorageFailure, match="marker"):
        system.delete(at("d/b"), below=at("d"))
    assert keys_on_s3(s3, s3_bucket) == ["d/a", "d/b/"]


def test_a_listing_that_obstore_cannot_make_is_an_error(s3: S3Store, s3_bucket: str) -> None:
    s3.fill(s3_bucket, ["d/a//b", "d/a/c"])
    system = on_s3(s3, s3_bucket)
    with pytest.raises(BadName):
        system.delete(at("d/a"), below=at("d"))
    assert keys_on_s3(s3, s3_bucket) == ["d/a//b", "d/a/c"]


def test_opening_warns_that_nobody_tested_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        opened(SPEC, no_check)
    assert "never tested" in caplog.text


def test_a_missing_extra_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"feedctl\[azure\]"):
        opened(StorageSpec(scheme="abfs", authority="c@a"), no_check, is_installed=lambda _: None)


def test_an_azure_container_needs_its_account() -> None:
    opened(StorageSpec(scheme="abfs", authority="c@a.dfs.core.windows.net"), no_check)
    with pytest.raises(InvalidInput, match="CONTAINER@ACCOUNT"):
        opened(StorageSpec(scheme="abfs", authority="container"), no_check)


def test_threads_share_a_store() -> None:
    store, system = filled(*(f"d/{number}/x" for number in range(50)))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: system.delete(at(f"d/{number}"), below=at("d")), range(50)))
    assert keys_of(store) == []


def test_a_secret_in_the_settings_is_refused_without_being_repeated() -> None:
    key = "fs.azure.account.key.acc.dfs.core.windows.net"
    with pytest.raises(InvalidInput, match=r"fs\.azure\.account\.key") as refused:
        opened(StorageSpec(scheme="gs", authority="bucket", hadoop_conf={key: "hunter2"}), no_check)
    assert "hunter2" not in str(refused.value)
