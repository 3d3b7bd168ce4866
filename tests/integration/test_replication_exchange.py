"""An instance on HDFS of which a part changed, and a run that dies after each of its effects."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import hdfs_native
import pytest

from tests.integration.replications import End
from tests.testbed.hdfs import HdfsCluster
from tests.unit.actions.fake_action import context
from toolkit.actions.guard import Guard
from toolkit.actions.publication import recover
from toolkit.el import parse_instant
from toolkit.replication.planner import ReplicationPlanner
from toolkit.replication.publish import Publisher
from toolkit.replication.targets import CopyRules, ReplicationTarget
from toolkit.runs.stop import NeverStopped
from toolkit.storage.hdfs.file_system import HdfsFileSystem, opened

pytestmark = [pytest.mark.slow, pytest.mark.soak]
OLD = {"x/changed": b"old", "x/deep/same": b"same", "x/gone/one": b"old"}
NEW = {"x/changed": b"newer", "x/deep/same": b"same", "x/deep/new": b"new"}
_MOST_EFFECTS = 40


class Dead(BaseException):
    """The process is not there any more."""


class Life:
    """So many effects, then the process is dead."""

    def __init__(self, effects: int) -> None:
        self.left = effects

    def __call__(self) -> None:
        """Begin an effect."""
        self.left -= 1
        if self.left < 0:
            raise Dead


def publish(source: End, target: End, plain: HdfsFileSystem, life: Life) -> None:
    """Publish what changed, by a run with the name 1."""
    unit = ReplicationTarget(
        feed="clicks",
        cluster="backup",
        counterpart="primary",
        instance_key="2026-03-01T00:00Z",
        source=source.at("x"),
        target=target.at("x"),
        target_base=target.root,
        rules=CopyRules(at_once=1),
    )
    nominal = parse_instant("2026-03-02T00:00Z")
    (item,) = ReplicationPlanner(storage=lambda _: plain, check=lambda: None, nominal=nominal).plan(unit).items
    assert item.copied.keys() == {"changed", "deep/new"}
    dying = plain.bound(life)
    work = replace(context(NeverStopped()), guard=Guard(run=NeverStopped(), conditions=()), run_name="1")
    Publisher(target=unit, item=item, work=replace(work, stores=lambda _: dying)).publish(is_last=True)


def test_whichever_effect_on_hdfs_is_the_last_one_the_instance_is_old_or_new(hdfs: HdfsCluster) -> None:
    results: list[bool] = []
    while not results or not results[-1]:
        path = f"/exchanged/{uuid4().hex}"
        client = hdfs_native.Client(hdfs.uri)
        for name in ("from", "to"):
            client.mkdirs(f"{path}/{name}", create_parent=True)
        source, target = (End(uri=f"{hdfs.uri}{path}/{name}") for name in ("from", "to"))
        source.fill(NEW)
        target.fill(OLD)
        plain = opened(source.spec, lambda: None)
        life = Life(len(results))
        try:
            publish(source, target, plain, life)
        except Dead:
            recover(plain, target.at("x"), "1", target.root)
        found = target.files("", hidden=True)
        is_done = life.left >= 0
        assert found in ((NEW,) if is_done else (OLD, NEW)), len(results)
        results.append(is_done)
        assert len(results) < _MOST_EFFECTS
