from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.contract.file_system.stores import ACL, Store
from toolkit.storage import (
    AlreadyExists,
    BlockLayout,
    Checksum,
    NotFound,
    PermissionDenied,
    StorageFailure,
    Unsupported,
    WrongKind,
    raw_path,
)

_MOMENT = datetime(2020, 2, 29, 12, 30, 15, 123000, tzinfo=UTC)


def test_owner_and_permission_are_told_where_the_store_has_them(store: Store) -> None:
    status = store.system.status(store.put("file"))
    assert (status.permission is not None) is store.system.capabilities.permissions
    assert (status.owner is not None) is store.system.capabilities.permissions


def test_permission_bits_are_set(store: Store) -> None:
    path = store.put("file")
    if not store.system.capabilities.permissions:
        with pytest.raises(Unsupported):
            store.system.set_permission(path, 0o600)
        return
    for permission in (0o600, 0o644, 0o777):
        store.system.set_permission(path, permission)
        assert store.system.status(path).permission == permission


def test_a_directory_can_be_made_sticky(store: Store) -> None:
    if not store.system.capabilities.permissions:
        pytest.skip("the store has no permissions")
    store.put("dir/file")
    store.system.set_permission(store.at("dir"), 0o1777)
    assert store.system.status(store.at("dir")).permission == 0o1777


def test_owner_and_group_are_set_one_by_one(store: Store) -> None:
    path = store.put("file")
    if not store.system.capabilities.permissions:
        with pytest.raises(Unsupported):
            store.system.set_owner(path, owner="daemon")
        return
    group = store.system.status(path).group
    store.system.set_owner(path, owner="daemon")
    assert (store.system.status(path).owner, store.system.status(path).group) == ("daemon", group)
    store.system.set_owner(path, group="users")
    assert (store.system.status(path).owner, store.system.status(path).group) == ("daemon", "users")


def test_the_time_of_the_last_change_is_set(store: Store) -> None:
    store.put("dir/file")
    for path in (store.at("dir/file"), store.at("dir")):
        if store.system.capabilities.times:
            store.system.set_modified(path, _MOMENT)
            assert store.system.status(path).modified == _MOMENT
        else:
            with pytest.raises(Unsupported):
                store.system.set_modified(path, _MOMENT)


def test_what_is_not_there_cannot_be_changed(store: Store) -> None:
    can, path = store.system.capabilities, store.at("none")
    with pytest.raises(NotFound if can.permissions else (NotFound, Unsupported)):
        store.system.set_permission(path, 0o600)
    with pytest.raises(NotFound if can.permissions else (NotFound, Unsupported)):
        store.system.set_owner(path, group="users")
    with pytest.raises(NotFound if can.times else (NotFound, Unsupported)):
        store.system.set_modified(path, _MOMENT)


def test_an_access_control_list_is_set_told_and_taken_away(store: Store) -> None:
    system, path = store.system, store.put("dir/file").parent
    if not system.capabilities.acls:
        for calls in (lambda: system.acl(path), lambda: system.set_acl(path, ACL)):
            with pytest.raises(Unsupported):
                calls()
        return
    system.set_permission(path, 0o750)
    assert system.acl(path) == ()
    defaults = ("default:user::rwx", "default:group::r-x", "default:other::---")
    for entries in (ACL, (*ACL, *defaults), defaults, ()):
        system.set_acl(path, entries)
        assert system.acl(path) == entries
        assert system.status(path).permission == 0o750


def test_what_is_no_entry_of_an_access_control_list_is_refused_before_anything_changes(store: Store) -> None:
    if not store.system.capabilities.acls:
        pytest.skip("the store has no access control lists")
    path = store.put("dir/file").parent
    store.system.set_acl(path, ACL)
    for entry in ("user:daemon", "user:daemon:rx", "usr::r-x", "user:a,b:r-x", "user::rwx,user:eve:rwx"):
        with pytest.raises(StorageFailure, match="no entry of an access control list"):
            store.system.set_acl(path, (*ACL, entry))
    assert store.system.acl(path) == ACL


def test_extended_attributes_of_users_are_set_and_told(store: Store) -> None:
    system, path = store.system, store.put("file")
    if not system.capabilities.xattrs:
        for calls in (lambda: system.xattrs(path), lambda: system.set_xattr(path, "user.a", b"")):
            with pytest.raises(Unsupported):
                calls()
        return
    assert system.xattrs(path) == {}
    values = {"user.source": bytes(range(256)), "user.empty": b"", "user.\u00fcber": b"\n"}
    for name, value in values.items():
        system.set_xattr(path, name, b"another")
        system.set_xattr(path, name, value)
    assert system.xattrs(path) == values
    with pytest.raises(PermissionDenied):
        system.set_xattr(path, "trusted.a", b"")
    with pytest.raises(NotFound):
        system.xattrs(store.at("none"))


def test_a_checksum_is_that_of_the_bytes_or_none(store: Store) -> None:
    system = store.system
    one, same, other = (store.put(name, bytes_) for name, bytes_ in [("a", b"xy"), ("b", b"xy"), ("c", b"xz")])
    found = system.checksum(one)
    if not system.capabilities.checksums:
        assert found is None
        return
    assert isinstance(found, Checksum)
    assert found == system.checksum(same)
    different = system.checksum(other)
    assert different is not None
    assert (different.algorithm, different != found) == (found.algorithm, True)
    with pytest.raises(NotFound):
        system.checksum(store.at("none"))
    store.put("dir/file")
    with pytest.raises(WrongKind if system.capabilities.directories else (WrongKind, NotFound)):
        system.checksum(store.at("dir"))


def test_a_file_is_written_with_a_layout_where_the_store_has_blocks(store: Store) -> None:
    system, path, layout = store.system, store.at("file"), BlockLayout(3 << 20, 2)
    if not system.capabilities.blocks:
        with pytest.raises(Unsupported):
            system.write_in_blocks(path, [b"x"], layout)
        assert system.status(store.put("other")).layout == BlockLayout()
        return
    system.write_in_blocks(path, [b"x", b"y"], layout)
    assert (system.status(path).layout, store.content("file")) == (layout, b"xy")
    with pytest.raises(AlreadyExists):
        system.write_in_blocks(path, [b"z"], BlockLayout(), overwrite=False)
    with pytest.raises(StorageFailure):
        system.write_in_blocks(path, [b"z"], BlockLayout(block_size=512))  # HDFS allows none so small
    assert (store.names(), store.content("file")) == (["file"], b"xy")
    system.write_in_blocks(path, [b"z"], BlockLayout(replication=3))
    found = system.status(path).layout
    assert (found.replication, found.block_size) == (3, system.status(store.put("other")).layout.block_size)
    assert system.status(store.base).layout == BlockLayout()


def test_raw_attributes_are_set_and_told_below_the_raw_directory_alone(store: Store) -> None:
    system, path = store.system, store.put("file", b"xy")
    if not system.capabilities.raw:
        for call in (lambda: system.may_use_raw(path), lambda: system.set_xattr(raw_path(path), "raw.b", b"")):
            with pytest.raises((NotFound, PermissionDenied, Unsupported)):
                call()
        return
    other = store.opened(replace(store.spec, user="eve"), lambda: None)
    assert [each.may_use_raw(path) for each in (system, other)] == [True, False]
    with pytest.raises(NotFound):
        system.may_use_raw(store.at("none"))
    system.set_xattr(path, "user.a", b"1")
    system.set_xattr(raw_path(path), "raw.b", b"\x00key")
    assert system.xattrs(raw_path(path)) == {"user.a": b"1", "raw.b": b"\x00key"}
    assert system.xattrs(path) == {"user.a": b"1"}
    with pytest.raises(PermissionDenied):
        system.set_xattr(path, "raw.b", b"")
    system.write(raw_path(store.at("other")), [b"z"])
    assert (store.names(), store.content("other")) == (["file", "other"], b"z")
    assert system.status(raw_path(path)).size == 2
