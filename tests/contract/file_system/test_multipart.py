from __future__ import annotations

import pickle
import secrets
from collections.abc import Iterator

import pytest

from tests.contract.file_system.stores import Store
from toolkit.storage import (
    AlreadyExists,
    FileSystem,
    MultipartUpload,
    NotFound,
    StorageFailure,
    Unreachable,
    Unsupported,
    UploadedPart,
)

_NAME = "dir/large"


class _SourceFailed(Exception):  # noqa: N818 - named for what happened
    """The chunks could not be had."""


@pytest.fixture
def system(store: Store) -> FileSystem:
    if not store.system.capabilities.multipart:
        with pytest.raises(Unsupported):
            store.system.start_upload(store.at("file"), 1)
        pytest.skip("the store cannot put a file together from ranges")
    store.system.mkdirs(store.at("dir"))
    return store.system


def _begun(store: Store, whole: int) -> tuple[MultipartUpload, bytes]:
    """An upload of so many and a half parts, and its bytes."""
    one = store.system.start_upload(store.at(_NAME), 1)
    store.system.abort_upload(one)
    content = secrets.token_bytes(one.part_bytes * whole + one.part_bytes // 2)
    return store.system.start_upload(store.at(_NAME), len(content)), content


def _put(system: FileSystem, upload: MultipartUpload, content: bytes, parts: range) -> tuple[UploadedPart, ...]:
    start, end = parts.start * upload.part_bytes, parts.stop * upload.part_bytes
    chunks = [content[start:end][at : at + 700_001] for at in range(0, end - start, 700_001)]
    return system.put_range(upload, start, chunks)


def _chunks_that_fail() -> Iterator[bytes]:
    yield b"half"
    raise _SourceFailed


def test_a_file_is_put_together_from_ranges_that_others_wrote_in_any_order(store: Store, system: FileSystem) -> None:
    upload, content = _begun(store, 3)
    carried = pickle.loads(pickle.dumps(upload))  # noqa: S301 - our own bytes
    other = store.opened(store.spec, lambda: None)
    last = _put(other, carried, content, range(2, 4))
    with pytest.raises(_SourceFailed):
        system.put_range(upload, 0, _chunks_that_fail())
    first = _put(system, upload, content, range(2))
    with pytest.raises(NotFound):
        system.status(upload.path)
    system.complete_upload(upload, [*last, *first])
    assert store.content(_NAME) == content
    assert store.names("dir") == ["large"]
    system.abort_upload(upload)
    assert store.content(_NAME) == content


def test_a_file_of_one_byte_is_one_part(store: Store, system: FileSystem) -> None:
    upload = system.start_upload(store.at(_NAME), 1)
    system.complete_upload(upload, system.put_range(upload, 0, [b"", b"x"]))
    assert store.content(_NAME) == b"x"


def test_parts_that_are_not_the_file_are_refused(store: Store, system: FileSystem) -> None:
    upload, content = _begun(store, 1)
    parts = [*_put(system, upload, content, range(1)), *_put(system, upload, content, range(1, 2))]
    wrong = [parts[:1], parts[1:], [], [*parts, parts[-1]], [parts[0], parts[0]], [parts[0], parts[1]._replace(size=1)]]
    for given in wrong:
        with pytest.raises(StorageFailure, match="announced"):
            system.complete_upload(upload, given)
    with pytest.raises(NotFound):
        system.status(upload.path)
    system.complete_upload(upload, parts)
    assert store.content(_NAME) == content


def test_what_is_there_stays_or_is_replaced_as_is_asked(store: Store, system: FileSystem) -> None:
    store.put(_NAME, b"old")
    upload = system.start_upload(store.at(_NAME), 3)
    parts = system.put_range(upload, 0, [b"new"])
    with pytest.raises(AlreadyExists):
        system.complete_upload(upload, parts, overwrite=False)
    assert store.content(_NAME) == b"old"
    system.complete_upload(upload, parts)
    assert store.content(_NAME) == b"new"
    assert store.names("dir") == ["large"]


def test_an_upload_that_is_given_up_leaves_nothing(store: Store, system: FileSystem) -> None:
    store.put("dir/kept")
    upload, content = _begun(store, 1)
    parts = _put(system, upload, content, range(2))
    for _ in range(2):
        system.abort_upload(upload)
    assert store.names("dir") == ["kept"]
    with pytest.raises((NotFound, Unreachable)):  # moto's server breaks off where S3 says NoSuchUpload
        system.complete_upload(upload, parts)


def test_uploads_of_a_writer_that_was_killed_are_ended_below_one_directory_alone(
    store: Store, system: FileSystem
) -> None:
    store.put("dir/kept")
    uploads = [system.start_upload(store.at(name), 1) for name in ("dir/one", "dir/two", "dir-other")]
    parts = [system.put_range(upload, 0, [b"x"]) for upload in uploads]
    ended = system.abort_uploads(store.at("dir"))
    # On a disk they are seen in the directory, whose removal takes them along.
    assert ended == (0 if system.capabilities.directories else 2)
    if ended:
        with pytest.raises((NotFound, Unreachable)):  # see above
            system.complete_upload(uploads[0], parts[0])
        assert system.abort_uploads(store.at("dir")) == 0
    system.complete_upload(uploads[2], parts[2])
    assert (store.content("dir-other"), store.content("dir/kept")) == (b"x", b"")


def test_each_step_asks_first(store: Store, system: FileSystem) -> None:
    calls: list[int] = []
    view = store.opened(store.spec, lambda: calls.append(1))
    upload = view.start_upload(store.at(_NAME), 3)
    for step in (
        lambda: view.put_range(upload, 0, [b"new"]),
        lambda: system.complete_upload(upload, view.put_range(upload, 0, [b"new"])),
    ):
        before = len(calls)
        assert before
        step()
        assert len(calls) == before + 1


def test_a_run_that_is_stopped_sends_nothing_more_and_cleans(store: Store, system: FileSystem) -> None:
    class Stopped(Exception):  # noqa: N818 - named for what happened
        pass

    def stop() -> None:
        raise Stopped

    upload = system.start_upload(store.at(_NAME), 3)
    parts, view = system.put_range(upload, 0, [b"new"]), store.opened(store.spec, stop)
    for step in (
        lambda: view.start_upload(store.at(_NAME), 3),
        lambda: view.put_range(upload, 0, [b"old"]),
        lambda: view.complete_upload(upload, parts),
    ):
        with pytest.raises(Stopped):
            step()
    view.abort_upload(upload)
    assert store.names("dir") == []
