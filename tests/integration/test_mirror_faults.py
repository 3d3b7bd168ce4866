"""Faults of HDFS during a run of a snapshot mirror: a clear error, no data lost, and then a run that ends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from uuid import uuid4

import pytest

from tests.integration.hdfs_admin import dfsadmin
from tests.integration.mirror_sides import side, tree_of
from tests.testbed.hdfs import HdfsCluster
from tests.unit.mirror.site import copier
from toolkit.el import CanonicalPath
from toolkit.mirror.apply import MirrorRun
from toolkit.mirror.model import ARRANGED, MirrorRules, MirrorSide
from toolkit.mirror.planner import MirrorPlanner
from toolkit.storage import PermissionDenied, StorageError
from toolkit.threads import WorkerPool
from toolkit.transfer.errors import FilesFailed
from toolkit.transfer.plan import Copied, FileCopy
from toolkit.transfer.trees import below

pytestmark = [pytest.mark.extended, pytest.mark.timeout(300)]

_RULES = MirrorRules(name="sales")
_FILES = ("a/f", "a/g", "b/h", "c/i", "old")


@dataclass
class _Mirrored:
    """A mirror that has run once, whose source has changed since.

    Attributes:
        before: the target.
    """

    source: MirrorSide
    target: MirrorSide
    before: dict[str, tuple[object, ...]]
    hour: int = 1

    @property
    def name(self) -> str:
        return _RULES.snapshot(f"2026-03-01T{self.hour:02}:00Z")

    def run(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Run; between the plan and the first copy something else happens."""
        copy = copier(self.source.system, self.target.system)

        def later(origin: CanonicalPath, into: CanonicalPath, files: Sequence[FileCopy]) -> Sequence[Copied]:
            meanwhile()
            return copy(origin, into, files)

        planner = MirrorPlanner(source=self.source, target=self.target, rules=_RULES, pool=WorkerPool(8, "look"))
        plans = MirrorRun(planner=planner, copy=later).run(self.name)
        assert [plan.state.problem for plan in plans] == [None] * len(plans)

    def require_nothing_lost(self) -> None:
        """Check that the last snapshot has all that the target had, and so has the target."""
        last = _RULES.snapshot("2026-03-01T00:00Z")
        assert tree_of(self.target.system, self.target.at(last)) == self.before
        there = {name for name in tree_of(self.target.system, self.target.root) if not name.startswith(".feedctl")}
        assert there == self.before.keys()

    def require_equal(self) -> None:
        """Run again, then both sides are equal, and nothing is left over."""
        self.run()
        wanted = tree_of(self.source.system, self.source.at(self.name))
        assert tree_of(self.target.system, self.target.at(self.name)) == wanted
        assert tree_of(self.target.system, self.target.root) == wanted
        names = [each.name for each in self.target.snapshots.list(self.target.root)]
        assert [name for name in names if name.endswith(ARRANGED)] == []
        assert not any(entry.name.startswith(".feedctl") for entry in self.target.system.list(self.target.root))


@contextmanager
def _mirrored(one: HdfsCluster, two: HdfsCluster, *, user: str = "") -> Iterator[_Mirrored]:
    key = uuid4().hex
    source, target = side(one, f"{key}-one"), side(two, f"{key}-two")
    for each in (source, target):
        each.system.mkdirs(each.root)
        each.snapshots.allow(each.root)
    for name in _FILES:
        source.system.mkdirs(below(source.root, name).parent)
        source.system.write(below(source.root, name), [name.encode()])
    run = _Mirrored(source, target, {}, hour=0)
    run.run()
    run.before, run.hour = tree_of(target.system, target.root), 1
    for name in ("new/x", "new/y", "a/f"):
        source.system.mkdirs(below(source.root, name).parent)
        source.system.write(below(source.root, name), [name.encode() * 100])
    source.system.delete(below(source.root, "old"), below=source.root)
    if user:
        run.source, run.target = side(one, f"{key}-one", user=user), side(two, f"{key}-two", user=user)
    yield run


def test_a_snapshot_that_is_deleted_between_difference_and_copy(hdfs: HdfsCluster) -> None:
    with _mirrored(hdfs, hdfs) as run:
        with pytest.raises(FilesFailed, match="3"):
            run.run(lambda: run.source.snapshots.delete(run.source.root, run.name))
        run.require_nothing_lost()
        run.require_equal()


def test_a_quota_that_is_reached(hdfs: HdfsCluster) -> None:
    with _mirrored(hdfs, hdfs) as run:
        used = len(run.before) + 1
        dfsadmin(hdfs, "-setQuota", str(used + 6), run.target.root.path)
        with pytest.raises(StorageError, match=r"(?i)quota"):
            run.run()
        run.require_nothing_lost()
        dfsadmin(hdfs, "-clrQuota", run.target.root.path)
        run.require_equal()


def test_a_target_that_the_account_may_not_change(hdfs: HdfsCluster) -> None:
    with _mirrored(hdfs, hdfs, user="ann") as run:
        admin = side(hdfs, run.source.root.name)
        admin.system.set_owner(run.source.root, owner="ann", group=None)
        with pytest.raises(PermissionDenied, match="ann"):
            run.run()
        run.require_nothing_lost()
        run.source, run.target = admin, side(hdfs, run.target.root.name)
        run.require_equal()


def test_a_name_node_in_safe_mode(hdfs: HdfsCluster, restartable_hdfs: HdfsCluster) -> None:
    with _mirrored(hdfs, restartable_hdfs) as run:
        patient, run.target = run.target, side(restartable_hdfs, run.target.root.name, patience=3)
        try:
            with pytest.raises(StorageError, match=r"(?i)safe mode"):
                run.run(lambda: dfsadmin(restartable_hdfs, "-safemode", "enter"))
            run.target = patient
            run.require_nothing_lost()
        finally:
            dfsadmin(restartable_hdfs, "-safemode", "leave")
        run.require_equal()


def test_a_name_node_that_is_restarted(hdfs: HdfsCluster, restartable_hdfs: HdfsCluster) -> None:
    with _mirrored(hdfs, restartable_hdfs) as run:

        def restart() -> None:
            restartable_hdfs.stop_namenode(9)
            restartable_hdfs.start_namenode()
            restartable_hdfs.wait_ready()

        with suppress(StorageError):
            run.run(restart)
        run.require_equal()


def test_a_cyclic_rename(hdfs: HdfsCluster) -> None:
    with _mirrored(hdfs, hdfs) as run:
        system, root = run.source.system, run.source.root
        for origin, place in (("a", "t"), ("c", "a"), ("b", "c"), ("t", "b")):  # a to b, b to c, c to a
            system.rename(below(root, origin), below(root, place))
        system.rename(below(root, "b"), below(root, "c/b"))  # into its neighbour
        run.require_equal()
        assert {"c/b/f", "c/b/g", "c/h", "a/i"} <= tree_of(run.target.system, run.target.root).keys()
