"""A NameNode that falls silent in the middle of an eviction: the run ends soon, and what it says stays true."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace

import pytest

from tests.testbed.hdfs import HdfsCluster
from tests.unit.retention.acting import Acted, act, item, subtree
from toolkit.el import CanonicalPath
from toolkit.ledger.vocabulary import ItemState
from toolkit.result import Outcome
from toolkit.retention.plan import PlanItem, Subtree
from toolkit.storage import FileSystem, Look, NotFound, StorageSpec, open_file_system
from toolkit.storage.calls import BoundedCalls
from toolkit.storage.hdfs.client import HdfsClient
from toolkit.storage.hdfs.file_system import HdfsFileSystem
from toolkit.storage.local.file_system import no_check
from toolkit.storage.patient import PatientFileSystem

pytestmark = [pytest.mark.slow, pytest.mark.extended]

_CALL_SECONDS, _PATIENCE, _SOON = 1.0, 2.0, 60
_DAYS = [f"2025/{month:02d}/{day:02d}" for month in range(1, 9) for day in range(1, 29)]


def _items(base: CanonicalPath) -> list[PlanItem]:
    made = [item(day) for day in _DAYS]
    paths = [CanonicalPath(base.scheme, base.authority, f"{base.path}/{day}") for day in _DAYS]
    return [replace(each, path=path, base=base) for each, path in zip(made, paths, strict=True)]


def _is_there(system: FileSystem, each: PlanItem) -> bool:
    try:
        system.status(each.path)
    except NotFound:
        return False
    return True


@dataclass
class FreezesAt:
    """A hook before each change that freezes the NameNode at the given one."""

    cluster: HdfsCluster
    change: int
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self) -> None:
        with self.lock:
            self.change -= 1
            if not self.change:
                self.cluster.freeze_namenode()


class _Freezing(HdfsFileSystem):
    """Asks the hook also before a removal that relies on a look, which asks the run alone."""

    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        if look is not None:
            self._before_effect()
        super().delete(path, below=below, look=look)


def _acted(cluster: HdfsCluster, items: list[PlanItem], roots: list[Subtree], change: int) -> Acted:
    spec = StorageSpec(scheme="hdfs", authority=f"127.0.0.1:{cluster.rpc}")
    client = HdfsClient(spec, BoundedCalls(seconds=_CALL_SECONDS))
    bounded = _Freezing(client, FreezesAt(cluster, change))
    system = PatientFileSystem(inner=bounded, check=no_check, patience=_PATIENCE)
    began = time.monotonic()
    try:
        acted = act(system, items, roots)
    finally:
        cluster.thaw_namenode()
    assert time.monotonic() - began < _SOON
    return acted


@pytest.mark.parametrize("in_months", [False, True])
def test_what_a_silent_name_node_was_asked_for_stays_open_and_the_rest_fails_soon(
    restartable_hdfs: HdfsCluster, *, in_months: bool
) -> None:
    spec = StorageSpec(scheme="hdfs", authority=f"127.0.0.1:{restartable_hdfs.rpc}")
    base = CanonicalPath("hdfs", spec.authority, f"/silence-{in_months}")
    items, plain = _items(base), open_file_system(spec)
    for each in items:
        plain.mkdirs(each.path.child("part"))
    acted = _acted(restartable_hdfs, items, _months(base, items) if in_months else [], 3 if in_months else 30)
    results = dict(enumerate(each for each in acted.result.items if each.item.type == "instance"))
    assert [each.item for each in results.values()] == items
    settled = {each.position: each.state for step in acted.recorder.steps for each in step.settled}
    left_open = results.keys() - settled.keys()
    assert {results[position].code for position in left_open} == {"unreachable"}
    _wait_until_quiet(plain, base)
    for position, state in settled.items():
        assert _is_there(plain, items[position]) is (state is ItemState.FAILED), results[position]
    assert {each.outcome for each in results.values()} <= {Outcome.DONE, Outcome.FAILED}


def _months(base: CanonicalPath, items: list[PlanItem]) -> list[Subtree]:
    names = dict.fromkeys(each.path.parent.name for each in items)
    return [
        replace(subtree([item(day) for day in _DAYS], f"2025/{name}"), root=base.child("2025").child(name))
        for name in names
    ]


def _wait_until_quiet(system: FileSystem, base: CanonicalPath) -> None:
    """What was asked for while it was frozen happens now."""
    before = -1
    while (now := system.content_summary(base).directories) != before:
        before = now
        time.sleep(1)
