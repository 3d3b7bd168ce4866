from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.contract.file_system.stores import Store
from toolkit.storage import AlreadyExists, NotFound
from toolkit.storage.local.file_system import no_check

_THREADS = 16


def test_one_adapter_serves_many_threads(store: Store) -> None:
    def work(number: int) -> bytes:
        path = store.put(f"{number % 4}/{number}", b"%d" % number if number % 8 == 0 else b"")
        assert str(number) in [entry.name for entry in store.system.list(path.parent)]
        with store.system.read(path) as stream:
            found = stream.read()
        store.system.delete(path, below=store.base)
        return found

    with ThreadPoolExecutor(_THREADS) as pool:
        found = list(pool.map(work, range(64)))
    assert found == [b"%d" % number if number % 8 == 0 else b"" for number in range(64)]
    assert not store.system.capabilities.directories or store.system.content_summary(store.base).files == 0


def test_of_two_writers_that_must_not_overwrite_one_wins(store: Store) -> None:
    if not store.system.capabilities.conditional_put:
        pytest.skip("the store cannot make a write fail when something is there")
    for round_number in range(5):
        path, barrier = store.at(f"flag-{round_number}"), threading.Barrier(2)

        def write(content: bytes, wait: Callable[[], int] = barrier.wait) -> bool:
            wait()
            try:
                store.system.write(path, [content], overwrite=False)  # noqa: B023 - used up in this round
            except AlreadyExists:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            won = list(pool.map(write, [b"0", b"1"]))
        assert sorted(won) == [False, True]
        assert store.content(f"flag-{round_number}") == b"%d" % won.index(True)
    assert len(store.names()) == 5


def test_of_many_that_delete_the_same_one_does(store: Store) -> None:
    if not store.system.capabilities.atomic_delete:
        pytest.skip("the store removes one by one")
    path, barrier = store.put("goes/file").parent, threading.Barrier(_THREADS)

    def delete(_: int) -> bool:
        barrier.wait()
        try:
            store.system.delete(path, below=store.base)
        except NotFound:
            return False
        return True

    with ThreadPoolExecutor(_THREADS) as pool:
        assert sum(pool.map(delete, range(_THREADS))) == 1


def test_a_spec_that_travelled_opens_the_same_store(store: Store) -> None:
    store.put("file", b"1")
    travelled = pickle.loads(pickle.dumps(store.spec))  # noqa: S301 - our own
    with store.opened(travelled, no_check).read(store.at("file")) as stream:
        assert stream.read() == b"1"


def test_every_single_change_asks_first(store: Store) -> None:
    store.put("kept/file")
    store.put("kept/empty/gone")
    if store.system.capabilities.directories:
        store.system.delete(store.at("kept/empty/gone"), below=store.base)
    before = store.tree()

    class Stopped(Exception):  # noqa: N818 - named for what happened
        pass

    def stop() -> None:
        raise Stopped

    system, can, file = store.opened(store.spec, stop), store.system.capabilities, store.at("kept/file")
    changes: list[Callable[[], object]] = [
        lambda: system.write(store.at("new"), [b"x"]),
        lambda: system.write(file, [b"x"]),
        lambda: system.delete(store.at("kept"), below=store.base),
        lambda: system.delete(file, below=store.base),
        lambda: list(system.delete_all([store.at("kept")], below=store.base, first="file")),
    ]
    if can.directories:
        changes += [
            lambda: system.mkdirs(store.at("dir")),
            lambda: system.remove_if_empty(store.at("kept/empty"), below=store.base),
        ]
    changes += [lambda: system.rename(file, store.at("new"))] if can.atomic_rename else []
    changes += [lambda: system.set_permission(file, 0o600)] if can.permissions else []
    changes += [lambda: system.set_owner(file, group="users")] if can.permissions else []
    changes += [lambda: system.set_modified(file, store.system.status(file).modified)] if can.times else []
    for change in changes:
        with pytest.raises(Stopped):
            change()
    assert store.tree() == before
