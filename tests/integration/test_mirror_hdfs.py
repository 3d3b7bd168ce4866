"""A snapshot mirror between two directories of a real HDFS: equal after each run, and after a run that was killed."""

from __future__ import annotations

import random
from collections.abc import Callable
from uuid import uuid4

import pytest

from tests.testbed.hdfs import HdfsCluster
from tests.unit.mirror.random_changes import KINDS, NAMES, Draw, change
from tests.unit.mirror.site import copier
from toolkit.el import CanonicalPath
from toolkit.errors import StopRequested
from toolkit.mirror.apply import MirrorRun
from toolkit.mirror.model import MirrorRules, MirrorSide
from toolkit.mirror.planner import MirrorPlanner
from toolkit.storage import FileSystem, StorageSpec, open_file_system
from toolkit.storage.local.file_system import no_check
from toolkit.storage.webhdfs.snapshots import open_snapshots
from toolkit.threads import WorkerPool
from toolkit.transfer.trees import below

_RULES = MirrorRules(name="sales")


def _side(hdfs: HdfsCluster, name: str, check: Callable[[], None] = no_check) -> MirrorSide:
    authority = f"127.0.0.1:{hdfs.http}"
    web = StorageSpec(scheme="webhdfs", authority=authority, user=hdfs.superuser)
    root = CanonicalPath("webhdfs", authority, f"/mirrors/{name}")
    snapshots = open_snapshots(web, before_effect=check)
    return MirrorSide(root=root, system=open_file_system(web, before_effect=check), snapshots=snapshots)


def _tree(system: FileSystem, root: CanonicalPath) -> dict[str, tuple[object, ...]]:
    """Read everything below a directory; shares no code with differences."""
    found: dict[str, tuple[object, ...]] = {}
    for entry in system.list_tree(root):
        path = below(root, entry.name)
        status = system.status(path)
        content = b""
        if status.size:
            with system.read(path) as stream:
                content = stream.read()
        found[entry.name] = (status.kind, content, status.modified, status.owner, status.group, status.permission)
    return found


def _drawn(chance: random.Random) -> list[Draw]:
    return [
        Draw(chance.choice(KINDS), chance.randrange(1000), chance.randrange(1000), chance.choice(NAMES))
        for _ in range(chance.randrange(4, 20))
    ]


def _stopping(calls: int) -> Callable[[], None]:
    left = iter(range(calls))

    def check() -> None:
        if next(left, None) is None:
            message = "killed"
            raise StopRequested(message)

    return check


def _rounds(hdfs: HdfsCluster, rounds: int) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201 - pytest shows it with a failure
    chance, key = random.Random(seed), uuid4().hex  # noqa: S311 - no secret
    source, target = _side(hdfs, f"{key}-one"), _side(hdfs, f"{key}-two")
    for side in (source, target):
        side.system.mkdirs(side.root)
        side.snapshots.allow(side.root)
    pool = WorkerPool(8, "look")
    for number in range(rounds):
        change(source.system, source.root, _drawn(chance))
        name = _RULES.snapshot(f"2026-03-01T{number // 60:02}:{number % 60:02}Z")
        for check in (_stopping(chance.randrange(60)), no_check):
            side = _side(hdfs, f"{key}-two", check)
            planner = MirrorPlanner(source=source, target=side, rules=_RULES, pool=pool)
            run = MirrorRun(planner=planner, copy=copier(source.system, side.system))
            try:
                plans = run.run(name)
            except StopRequested:
                continue
            assert [plan.state.problem for plan in plans] == [None] * len(plans)
        wanted = _tree(source.system, source.at(name))
        assert _tree(target.system, target.at(name)) == wanted, number
        assert _tree(target.system, target.root) == wanted, number


def test_trees_are_equal_after_random_changes_and_stopped_runs(hdfs: HdfsCluster) -> None:
    _rounds(hdfs, 4)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_trees_are_equal_after_many_random_changes_and_stopped_runs(hdfs: HdfsCluster) -> None:
    _rounds(hdfs, 200)
