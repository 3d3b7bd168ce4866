from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.contract.file_system.stores import Store
from toolkit.storage import NotFound, Unsupported

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
