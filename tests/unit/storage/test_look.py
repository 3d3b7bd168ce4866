"""A removal that relies on a look that is too old is not sent."""

from __future__ import annotations

import pytest

from tests.unit.storage.silent_store import BASE, Clock, SilentStore
from toolkit.el import CanonicalPath
from toolkit.storage import FileKind, Look, LookTooOld, StorageSpec, Unreachable, open_file_system
from toolkit.storage.local.file_system import no_check
from toolkit.storage.look import LOOK_SECONDS
from toolkit.storage.patient import PatientFileSystem


@pytest.mark.parametrize("scheme", ["hdfs", "webhdfs"])
def test_every_store_that_drops_directories_asks_for_the_age_of_the_look_before_it_sends(scheme: str) -> None:
    """Nothing listens there, so that a request would be an error of another kind."""
    base = CanonicalPath(scheme, "127.0.0.1:9", "/base")
    system = open_file_system(StorageSpec(scheme=scheme, authority=base.authority), patience=0)
    assert system.capabilities.atomic_delete
    times = iter([0.0, LOOK_SECONDS + 1])
    look = Look(before_effect=no_check, now=lambda: next(times))
    look.begin()
    with pytest.raises(LookTooOld):
        system.delete(base.child("a"), below=base, look=look)


@pytest.mark.parametrize(("age", "is_sent"), [(0, True), (LOOK_SECONDS, True), (LOOK_SECONDS + 0.1, False)])
def test_a_look_is_good_for_so_long(age: float, *, is_sent: bool) -> None:
    times, calls = iter([10.0, 10.0 + age]), list[int]()
    look = Look(before_effect=lambda: calls.append(1), now=lambda: next(times))
    look.begin()
    if is_sent:
        look.let_through()
    else:
        with pytest.raises(LookTooOld):
            look.let_through()
    assert calls == [1]


def test_a_look_that_did_not_begin_is_too_old() -> None:
    with pytest.raises(LookTooOld):
        Look(before_effect=no_check).let_through()


def test_a_removal_that_relies_on_a_look_is_sent_once() -> None:
    store = SilentStore(clock=Clock(), names={"a": FileKind.FILE}, silent=1, takes=0)
    system = PatientFileSystem(inner=store, check=no_check, now=store.clock.now, sleep=store.clock.sleep)
    look = Look(before_effect=no_check, now=store.clock.now)
    look.begin()
    with pytest.raises(Unreachable):
        system.delete(BASE.child("a"), below=BASE, look=look)
    assert store.calls == ["delete"]
