"""A snapshot mirror between two directories of a real HDFS: equal after each run, and after a run that was killed."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from uuid import uuid4

import pytest
from hdfs import InsecureClient

from tests.integration.mirror_sides import side, tree_of
from tests.soak.chance import seeded
from tests.testbed.hdfs import HdfsCluster
from tests.unit.mirror.random_changes import KINDS, NAMES, Draw, change
from tests.unit.mirror.site import copier
from toolkit.el import CanonicalPath
from toolkit.errors import StopRequested
from toolkit.mirror.apply import MirrorRun
from toolkit.mirror.model import MirrorRules
from toolkit.mirror.planner import MirrorPlanner
from toolkit.storage.local.file_system import no_check
from toolkit.threads import WorkerPool

_OFTEN = (*KINDS, "write", "write", "mkdir", "mkdir")
_RULES = MirrorRules(name="sales")


def _append(hdfs: HdfsCluster, path: CanonicalPath, content: bytes) -> None:
    """Append to a file, which no port of feedctl does."""
    InsecureClient(f"http://127.0.0.1:{hdfs.http}", user=hdfs.superuser).write(path.path, content, append=True)


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
    source, target = side(one, f"{key}-one"), side(two, f"{key}-two", native=native)
    for each in (source, target):
        each.system.mkdirs(each.root)
        each.snapshots.allow(each.root)
    pool, stopped, wanted = WorkerPool(8, "look"), 0, dict[str, tuple[object, ...]]()
    for number in range(rounds):
        change(source.system, source.root, _drawn(chance), partial(_append, one))
        name = _RULES.snapshot(f"2026-03-01T{number // 60:02}:{number % 60:02}Z")
        for check in (_stopping(chance.randrange(60)), no_check):
            checked = side(two, f"{key}-two", check, native=native)
            planner = MirrorPlanner(source=source, target=checked, rules=_RULES, pool=pool)
            run = MirrorRun(planner=planner, copy=copier(source.system, checked.system))
            try:
                plans = run.run(name)
            except StopRequested:
                stopped += 1
                continue
            assert [plan.state.problem for plan in plans] == [None] * len(plans)
        wanted = tree_of(source.system, source.at(name))
        assert tree_of(target.system, target.at(name)) == wanted, number
        assert tree_of(target.system, target.root) == wanted, number
    print(f"{rounds} rounds, {stopped} of them stopped midway, {len(wanted)} paths at the end")  # noqa: T201


def test_trees_are_equal_after_random_changes_and_stopped_runs(hdfs: HdfsCluster) -> None:
    _rounds(hdfs, hdfs, 4)


@pytest.mark.extended
@pytest.mark.timeout(300)
def test_trees_on_two_clusters_are_equal_after_random_changes(hdfs: HdfsCluster, other_hdfs: HdfsCluster) -> None:
    _rounds(hdfs, other_hdfs, 4)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_trees_on_two_clusters_are_equal_after_many_random_changes(hdfs: HdfsCluster, other_hdfs: HdfsCluster) -> None:
    _rounds(hdfs, other_hdfs, 200)
