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


_RANGES = [
    (0, None),
    (0, 0),
    (3, 0),
    (0, 4),
    (3, 4),
    (3, None),
    (9, 1),
    (9, 5),
    (10, None),
    (10, 3),
    (400, 2),
    (7, 300),
]


@pytest.mark.parametrize("content", [b"0123456789", b""])
def test_a_range_is_read_and_there_is_none_behind_the_end(store: Store, content: bytes) -> None:
    path = store.put("file", content)
    for offset, length in _RANGES:
        with store.system.read(path, offset=offset, length=length) as stream:
            end = None if length is None else offset + length
            assert stream.read() == content[offset:end], (offset, length)


def test_a_range_of_what_cannot_be_read_fails_as_all_of_it_does(store: Store) -> None:
    store.put("dir/file")
    for length in (0, 5):
        with pytest.raises(NotFound):
            store.system.read(store.at("none"), offset=5, length=length)
        with pytest.raises(WrongKind if store.system.capabilities.directories else (WrongKind, NotFound)):
            store.system.read(store.at("dir"), offset=5, length=length)


def test_a_large_range_comes_in_pieces(store: Store) -> None:
    content = bytes(range(251)) * 20_000
    store.system.write(store.at("large"), [content])
    with store.system.read(store.at("large"), offset=1_234_567, length=3_000_001) as stream:
        found = list(iter(lambda: stream.read(300_007), b""))
    assert b"".join(found) == content[1_234_567:][:3_000_001]


def test_who_goes_on_with_a_closed_client_connects_anew(store: Store) -> None:
    path = store.put("file", b"12")
    other = store.opened(store.spec, lambda: None)
    for _ in range(2):
        other.close()
        with other.read(path) as stream:
            assert stream.read() == b"12"
    other.close()
