"""The proof that a dry run cannot write: it gets its storage wrapped so, whatever the store (issue 6)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from tests.contract.file_system.stores import ACL, Store
from toolkit.storage import (
    BlockLayout,
    FileSystem,
    MultipartUpload,
    ReadOnlyFileSystem,
    ReadOnlyStorage,
    Unsupported,
    UploadedPart,
)

_READING = {
    *("capabilities", "status", "list", "list_tree", "read", "content_summary"),
    *("checksum", "acl", "xattrs", "may_use_raw", "close"),
}
_CHANGES: dict[str, Callable[[FileSystem, Store], object]] = {
    "write": lambda system, store: system.write(store.at("new"), [b"x"]),
    "write_in_blocks": lambda system, store: system.write_in_blocks(store.at("new"), [b"x"], BlockLayout()),
    "mkdirs": lambda system, store: system.mkdirs(store.at("new")),
    "rename": lambda system, store: system.rename(store.at("kept"), store.at("new")),
    "set_permission": lambda system, store: system.set_permission(store.at("kept"), 0o777),
    "set_owner": lambda system, store: system.set_owner(store.at("kept"), group="users"),
    "set_modified": lambda system, store: system.set_modified(store.at("kept"), datetime(2020, 1, 1, tzinfo=UTC)),
    "set_acl": lambda system, store: system.set_acl(store.at("kept"), ACL),
    "set_xattr": lambda system, store: system.set_xattr(store.at("kept"), "user.source", b"x"),
    "start_upload": lambda system, store: system.start_upload(store.at("new"), 1),
    "put_range": lambda system, store: system.put_range(_upload(store), 0, [b"x"]),
    "complete_upload": lambda system, store: system.complete_upload(_upload(store), [UploadedPart(0, 1, "")]),
    "abort_upload": lambda system, store: system.abort_upload(_upload(store)),
    "abort_uploads": lambda system, store: system.abort_uploads(store.base),
    "delete": lambda system, store: system.delete(store.at("kept"), below=store.base),
    "delete_all": lambda system, store: list(system.delete_all([store.at("kept")], below=store.base)),
    "remove_if_empty": lambda system, store: system.remove_if_empty(store.at("empty"), below=store.base),
}


def test_no_method_of_the_port_is_forgotten() -> None:
    port = {name for part in FileSystem.__mro__ for name in vars(part) if not name.startswith("_")}
    assert port == _READING | set(_CHANGES)
    own = {name for name in vars(ReadOnlyFileSystem) if not name.startswith("_")}
    assert own > _READING  # what it has not, its base refuses; no reading may be one of these
    assert {name for name in dir(ReadOnlyFileSystem) if not name.startswith("_")} - {"inner"} == port


def test_whatever_would_change_is_refused_and_nothing_changes(store: Store) -> None:
    store.put("kept/file")
    store.system.mkdirs(store.at("empty"))
    before, system = store.tree(), ReadOnlyFileSystem(store.system)
    for change in _CHANGES.values():
        with pytest.raises(ReadOnlyStorage):
            change(system, store)
    assert store.tree() == before


def test_each_of_these_changes_is_one_without_the_wrapper(store: Store) -> None:
    """Else the test above could pass because its calls do nothing at all."""
    can = store.system.capabilities
    works = {"write", "delete", "delete_all"}
    works |= {"write_in_blocks"} if can.blocks else set()
    works |= {"mkdirs", "remove_if_empty"} if can.directories else set()
    works |= {"rename"} if can.atomic_rename else set()
    works |= {"set_permission", "set_owner"} if can.permissions else set()
    works |= {"set_modified"} if can.times else set()
    for name in works:
        store.put("kept/file")
        store.system.mkdirs(store.at("empty"))
        before = store.tree()
        _CHANGES[name](store.system, store)
        assert name == "set_owner" or store.tree() != before
        _remove_all(store)


def test_reading_goes_through_the_wrapper(store: Store) -> None:
    path, system = store.put("kept/file", b"12"), ReadOnlyFileSystem(store.system)
    assert system.status(path) == store.system.status(path)
    assert list(system.list(store.base, start_from="kept")) == list(store.system.list(store.base))
    assert system.content_summary(store.base) == store.system.content_summary(store.base)
    assert system.capabilities == store.system.capabilities
    with system.read(path, offset=1, length=1) as stream:
        assert stream.read() == b"2"
    assert list(system.list_tree(store.base)) == list(store.system.list_tree(store.base))
    assert system.checksum(path) == store.system.checksum(path)
    for calls in (lambda each: each.acl(path), lambda each: each.xattrs(path), lambda each: each.may_use_raw(path)):
        assert _answer(system, calls) == _answer(store.system, calls)
    system.close()


def _upload(store: Store) -> MultipartUpload:
    """Return the upload of a file for which nobody has sent anything."""
    return MultipartUpload(path=store.at("new"), size=1, part_bytes=1, token="a b")  # noqa: S106 - of no secret


def _answer(system: FileSystem, calls: Callable[[FileSystem], object]) -> object:
    try:
        return calls(system)
    except Unsupported:
        return Unsupported


def _remove_all(store: Store) -> None:
    for name in store.names():
        store.system.delete(store.at(name), below=store.base)
