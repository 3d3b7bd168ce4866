"""A snapshot mirror between two directories of a real HDFS: equal after each run, and after a run that was killed."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from uuid import uuid4

import pytest
from hdfs import InsecureClient

from tests.soak.chance import seeded
from tests.testbed.hdfs import HdfsCluster
from tests.unit.mirror.random_changes import KINDS, NAMES, Draw, change
from tests.unit.mirror.site import copier
from toolkit.el import CanonicalPath
from toolkit.errors import StopRequested
from toolkit.mirror.apply import MirrorRun
from toolkit.mirror.model import MirrorRules, MirrorSide
from toolkit.mirror.planner import MirrorPlanner
from toolkit.storage import FileKind, FileSystem, StorageSpec, open_file_system
from toolkit.storage.local.file_system import no_check
from toolkit.storage.webhdfs.snapshots import open_snapshots
from toolkit.threads import WorkerPool
from toolkit.transfer.trees import below

_OFTEN = (*KINDS, "write", "write", "mkdir", "mkdir")
_RULES = MirrorRules(name="sales")


def _side(hdfs: HdfsCluster, name: str, check: Callable[[], None] = no_check, *, native: bool = False) -> MirrorSide:
    """Return one side, reached by WebHDFS or by Hadoop's own protocol; snapshots are made by WebHDFS anyhow."""
    web = StorageSpec(scheme="webhdfs", authority=f"127.0.0.1:{hdfs.http}", user=hdfs.superuser)
    spec = StorageSpec(scheme="hdfs", authority=f"127.0.0.1:{hdfs.rpc}", user=hdfs.superuser) if native else web
    return MirrorSide(
        root=CanonicalPath(spec.scheme, spec.authority, f"/mirrors/{name}"),
        system=open_file_system(spec, before_effect=check),
        snapshots=open_snapshots(web, before_effect=check),
    )


def _append(hdfs: HdfsCluster, path: CanonicalPath, content: bytes) -> None:
    """Append to a file, which no port of feedctl does."""
    InsecureClient(f"http://127.0.0.1:{hdfs.http}", user=hdfs.superuser).write(path.path, content, append=True)


def _tree(system: FileSystem, root: CanonicalPath) -> dict[str, tuple[object, ...]]:
    """Read everything below a directory; shares no code with differences, which leave out times of directories."""
    found: dict[str, tuple[object, ...]] = {}
    for entry in system.list_tree(root):
        path = below(root, entry.name)
        status = system.status(path)
        content = b""
        if status.size:
            with system.read(path) as stream:
                content = stream.read()
        time = status.modified if status.kind is FileKind.FILE else None
        found[entry.name] = (status.kind, content, time, status.owner, status.group, status.permission)
    return found


def _drawn(chance: random.Random) -> list[Draw]:
    return [
        Draw(chance.choice(_OFTEN), chance.randrange(1000), chance.randrange(1000), chance.choice(NAMES))
        for _ in range(chance.randrange(4, 40))
    ]


def _stopping(calls: int) -> Callable[[], None]:
    left = iter(range(calls))

    def check() -> None:
        if next(left, None) is None:
            message = "killed"
            raise StopRequested(message)

    return check


def _rounds(one: HdfsCluster, two: HdfsCluster, rounds: int) -> None:
    chance, key = seeded(), uuid4().hex
    native = one is not two
    source, target = _side(one, f"{key}-one"), _side(two, f"{key}-two", native=native)
    for side in (source, target):
        side.system.mkdirs(side.root)
        side.snapshots.allow(side.root)
    pool, stopped, wanted = WorkerPool(8, "look"), 0, dict[str, tuple[object, ...]]()
    for number in range(rounds):
        change(source.system, source.root, _drawn(chance), partial(_append, one))
        name = _RULES.snapshot(f"2026-03-01T{number // 60:02}:{number % 60:02}Z")
        for check in (_stopping(chance.randrange(60)), no_check):
            side = _side(two, f"{key}-two", check, native=native)
            planner = MirrorPlanner(source=source, target=side, rules=_RULES, pool=pool)
            run = MirrorRun(planner=planner, copy=copier(source.system, side.system))
            try:
                plans = run.run(name)
            except StopRequested:
                stopped += 1
                continue
            assert [plan.state.problem for plan in plans] == [None] * len(plans)
        wanted = _tree(source.system, source.at(name))
        assert _tree(target.system, target.at(name)) == wanted, number
        assert _tree(target.system, target.root) == wanted, number
    print(f"{rounds} rounds, {stopped} of them stopped midway, {len(wanted)} paths at the end")  # noqa: T201


def test_trees_are_equal_after_random_changes_and_stopped_runs(hdfs: HdfsCluster) -> None:
    _rounds(hdfs, hdfs, 4)


@pytest.mark.extended
@pytest.mark.timeout(300)
def test_trees_on_two_clusters_are_equal_after_random_changes(hdfs: HdfsCluster, restartable_hdfs: HdfsCluster) -> None:
    _rounds(hdfs, restartable_hdfs, 4)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_trees_on_two_clusters_are_equal_after_many_random_changes(
    hdfs: HdfsCluster, restartable_hdfs: HdfsCluster
) -> None:
    _rounds(hdfs, restartable_hdfs, 200)
