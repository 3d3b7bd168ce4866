from __future__ import annotations

import io

import pytest

from tests.contract.file_system.stores import Store
from toolkit.storage import FileKind, NotFound, WrongKind


def test_what_is_written_is_read_back(store: Store) -> None:
    path = store.at("a file, with ünïcode and spaces")
    store.system.write(path, [b"one", b"", b"two"])
    with store.system.read(path) as stream:
        assert stream.read() == b"onetwo"


def test_an_empty_file_is_read_as_no_bytes(store: Store) -> None:
    assert store.system.status(store.put("empty", b"")).size == 0
    assert store.content("empty") == b""


def test_a_large_file_is_read_in_pieces(store: Store) -> None:
    pieces = [bytes([number]) * 1_000_003 for number in range(5)]
    store.system.write(store.at("large"), iter(pieces))
    with store.system.read(store.at("large")) as stream:
        found = list(iter(lambda: stream.read(300_007), b""))
    assert len(found) > 10
    assert b"".join(found) == b"".join(pieces)


def test_a_stream_stops_at_the_end_and_can_be_closed_twice(store: Store) -> None:
    stream = store.system.read(store.put("file", b"12345"))
    assert isinstance(stream, io.IOBase)
    assert (stream.read(3), stream.read(3), stream.read(3)) == (b"123", b"45", b"")
    stream.close()
    stream.close()
    assert stream.closed


def test_reading_what_is_not_there_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        store.system.read(store.at("none"))
    with pytest.raises(NotFound):
        store.system.status(store.at("none"))
    with pytest.raises(NotFound):
        next(iter(store.system.list(store.at("none"))))
    with pytest.raises(NotFound):
        store.system.content_summary(store.at("none"))


def test_a_directory_is_not_read(store: Store) -> None:
    store.put("dir/file")
    with pytest.raises(WrongKind if store.system.capabilities.directories else (WrongKind, NotFound)):
        store.system.read(store.at("dir"))


def test_a_status_below_a_file_is_not_found(store: Store) -> None:
    store.put("file")
    with pytest.raises(NotFound):
        store.system.status(store.at("file/below"))


def test_a_status_tells_kind_and_size(store: Store) -> None:
    path = store.put("dir/file", b"12345")
    file, directory = store.system.status(path), store.system.status(path.parent)
    assert (file.path, file.kind, file.size, file.modified.tzname()) == (path, FileKind.FILE, 5, "UTC")
    assert (directory.path, directory.kind, directory.size) == (path.parent, FileKind.DIRECTORY, 0)


def test_a_content_summary_counts_files_directories_and_bytes(store: Store) -> None:
    store.put("a/b/one", b"123")
    store.put("a/two", b"45")
    summary = store.system.content_summary(store.at("a"))
    assert (summary.files, summary.size) == (2, 5)
    assert summary.directories == 2


def test_a_content_summary_of_a_file_is_that_file(store: Store) -> None:
    summary = store.system.content_summary(store.put("file", b"123"))
    assert (summary.files, summary.directories, summary.size) == (1, 0, 3)
