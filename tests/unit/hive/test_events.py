"""Who reads an instance is told of it when it is whole, and not before."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.unit.hive.test_table_import import KEY, NAMES, TO, Dead, Life, Scene
from tests.unit.retention.test_writers import RUN
from toolkit.hive.targets import TablePlan
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs.outputs import OpenEviction
from toolkit.ledger.vocabulary import EventKind
from toolkit.runs.output_use import OutputUse


def reported(scene: Scene) -> tuple[Sequence[NewEvent], TablePlan]:
    """Return what a run tells others, with its plan."""
    work = scene.work(Life())
    action, target = scene.action()
    plan: TablePlan = action.plan(target, work)
    found = [event for batch in action.batches(plan, work) for event in batch.apply(lambda _: None).events]
    return found, plan


@dataclass(frozen=True, kw_only=True)
class _Removing(OutputUse):
    """A ledger in which retention removes something, the first partition unless it is said."""

    path: str = f"catalog:dst:clicks#{NAMES[0]}"

    def evictions(self) -> list[OpenEviction]:
        return [OpenEviction(path=self.path, run=replace(RUN, cluster="backup"))]


def recovered(scene: Scene, outputs: OutputUse | None = None) -> list[NewEvent]:
    """Return what is told of a run that died after it had finished all."""
    work = replace(scene.work(Life()), outputs=outputs or OutputUse())
    action, target = scene.action()
    plan: TablePlan = action.plan(target, work)
    assert not plan.items
    found = action.recover(plan, scene.left, work).settled
    return [each.event for each in found if each.event is not None]


def killed_after_its_last_effect(root: Path) -> Scene:
    """Leave a run that was killed after its last effect: all data is there, and the ledger does not know it."""
    for number in range(100):
        scene = Scene(root=root / str(number))
        scene.filled()
        try:
            list(scene.ran(Life(left=number)))
        except Dead:
            if len(scene.rows()) == len(NAMES) and scene.left:
                return scene
    raise AssertionError


def test_an_instance_that_is_whole_is_told_of(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.filled()
    found, _ = reported(scene)
    assert [(each.kind, each.uri) for each in found] == [(EventKind.AVAILABLE, f"dst.clicks@{KEY}")]


def test_nobody_is_told_of_an_instance_with_a_partition_that_cannot_be_read(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.filled()
    shutil.rmtree(tmp_path / "from/clicks" / NAMES[1])
    found, plan = reported(scene)
    assert [each.code for each in plan.unreadable] == ["data_missing"]
    assert found == []
    assert list(scene.rows()) == [NAMES[0]]


def test_nobody_is_told_of_an_instance_that_retention_removes_when_a_dead_run_is_settled(tmp_path: Path) -> None:
    scene = killed_after_its_last_effect(tmp_path)
    scene.target.drop_partitions(TO, list(NAMES))
    assert recovered(scene, _Removing()) == []


def test_nobody_is_told_of_a_part_when_a_dead_run_is_settled(tmp_path: Path) -> None:
    scene = killed_after_its_last_effect(tmp_path)
    assert [each.kind for each in recovered(scene)] == [EventKind.AVAILABLE]
    shutil.rmtree(scene.root / "from/clicks" / NAMES[1])
    assert recovered(scene) == []


@pytest.mark.parametrize(
    ("path", "waits"),
    [(NAMES[0], True), (f"{NAMES[1]}/part", True), ("ds=2026-03-02", False), (f"../other/{NAMES[0]}", False)],
)
def test_an_import_waits_for_retention_of_a_path_feed_in_its_partition(
    tmp_path: Path, path: str, *, waits: bool
) -> None:
    scene = Scene(root=tmp_path)
    scene.filled()
    list(scene.ran())
    scene.target.drop_partitions(TO, list(NAMES))
    place = Path(os.path.normpath(tmp_path / "to/dst.db/clicks" / path))
    work = replace(scene.work(Life()), outputs=_Removing(path=f"file://{place}"))
    action, target = scene.action()
    plan: TablePlan = action.plan(target, work)
    assert (plan.waiting is not None and plan.waiting.code == "eviction_under_way") is waits
