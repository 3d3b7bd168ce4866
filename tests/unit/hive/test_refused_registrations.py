"""Tests of what a metastore refuses leaves nothing behind that nobody reads, and takes nothing that somebody does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of
from tests.unit.hive.test_table_import import FROM, NAMES, Life, Scene, both
from toolkit.actions.action import RunContext
from toolkit.actions.guard import HELD, STOPPED, Condition, Guard, Refusal
from toolkit.actions.model import ItemResult
from toolkit.catalog.errors import CatalogAlreadyExists, MetastoreUnreachable, NoSuchPartition
from toolkit.catalog.model import Partition, TableName
from toolkit.el import CanonicalPath
from toolkit.hive.targets import TableItem, TablePlan
from toolkit.runs.errors import Stopped
from toolkit.storage.local.file_system import LocalFileSystem

ADDED = "ds=2026-03-01/region=zz"


class Refusing(MemoryMetastore):
    """Refuses to alter partitions."""

    error: type[NoSuchPartition | MetastoreUnreachable] | None = None

    def alter_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        if self.error is not None:
            raise self.error(about="x")
        super().alter_partitions(name, partitions)


class WithoutRenames(LocalFileSystem):
    """A disk that is used like an object store."""

    capabilities = replace(LocalFileSystem.capabilities, atomic_rename=False)


class SceneWithoutRenames(Scene):
    """A scene on such a disk."""

    def work(self, life: Life, conditions: Sequence[Condition] = ()) -> RunContext:
        system = WithoutRenames(life.count)
        return replace(super().work(life, conditions), stores=lambda _: system)


def changed(root: Path) -> tuple[Scene, Refusing]:
    """A partition is to be replaced, and another one added, in one batch."""
    scene = Scene(root=root)
    target = Refusing(("dst",), warehouse=f"file:{root}/to")
    scene.target = target
    scene.filled()
    assert [each.code for each in scene.ran()] == ["", "", ""]
    scene.fill(NAMES[0], "newer")
    scene.fill(ADDED, "old")
    location = f"file:{root}/from/clicks/{ADDED}"
    scene.source.add_partitions(FROM, [partition_of(scene.source.table(FROM), "2026-03-01", "zz", location=location)])
    return scene, target


def outcomes(results: Iterator[ItemResult[TableItem]]) -> dict[str, str]:
    """The code of each partition."""
    return {each.item.name: each.code for each in results}


def test_what_is_refused_leaves_no_copy_and_what_was_added_before_stays_and_is_told_so(tmp_path: Path) -> None:
    scene, target = changed(tmp_path)
    target.error = NoSuchPartition
    assert outcomes(scene.ran()) == {NAMES[0]: "no_such_partition", ADDED: ""}
    assert scene.orphans() == []
    assert scene.rows() == {NAMES[0]: both("old"), NAMES[1]: both("old"), ADDED: both("old")}
    target.error = None
    assert [each.code for each in scene.ran()] == [""]
    assert scene.rows()[NAMES[0]] == both("newer")


def test_what_may_have_been_done_stays_for_the_next_run(tmp_path: Path) -> None:
    scene, target = changed(tmp_path)
    target.error = MetastoreUnreachable
    assert outcomes(scene.ran()) == {NAMES[0]: "unreachable", ADDED: ""}
    assert [each for each in scene.orphans() if "/.feedctl-data-2/" in each]


def held_after_the_copy(scene: Scene, refusal: Refusal | None, stopped: Stopped | None) -> dict[str, str]:
    """Return what a run tells when nothing may be registered of what it has copied."""
    scene.run += 1
    conditions = list[Condition]()
    work = scene.work(Life(), conditions)
    system = LocalFileSystem(work.guard.check)
    work = replace(work, stores=lambda _: system)
    action, target = scene.action()
    plan: TablePlan = action.plan(target, work)
    conditions.append(After(guard=work.guard, root=scene.root, looks=[], answer=refusal, stopped=stopped))
    results = [each for batch in action.batches(plan, work) for each in batch.apply(lambda _: None).results]
    return outcomes(iter(results))


@dataclass
class After:
    """Says no, or stops the run, when copies are there."""

    guard: Guard
    root: Path
    looks: list[CanonicalPath]
    answer: Refusal | None
    stopped: Stopped | None

    def refusal(self, base: CanonicalPath, *, items: int, must_look: bool) -> Refusal | None:
        del items, must_look
        self.looks.append(base)
        if len(self.looks) == 1:
            return None
        if self.stopped is not None:
            self.guard.stop(self.stopped)
            return STOPPED
        return self.answer


def test_what_was_copied_when_a_hold_came_goes(tmp_path: Path) -> None:
    scene, _ = changed(tmp_path)
    assert held_after_the_copy(scene, HELD, None) == {NAMES[0]: "held", ADDED: "held"}
    assert scene.orphans() == []
    assert scene.rows() == dict.fromkeys(NAMES, both("old"))


def test_what_was_copied_when_the_run_was_stopped_is_left_to_the_next(tmp_path: Path) -> None:
    scene, _ = changed(tmp_path)
    found = held_after_the_copy(scene, None, Stopped(reason="the lease is lost"))
    assert found == {NAMES[0]: "interrupted", ADDED: "interrupted"}


def test_a_copy_that_failed_stays_nowhere_without_renames_either(tmp_path: Path) -> None:
    scene = SceneWithoutRenames(root=tmp_path)
    scene.filled()
    run = scene.ran()
    assert next(run).item.kind == "table"
    (tmp_path / "from/clicks" / NAMES[0] / "a").write_text("grown since the plan")
    assert sorted(each.code for each in run) == ["", "files_failed"]
    assert scene.orphans() == []
    assert scene.rows() == {NAMES[1]: both("old")}
    assert [each.code for each in scene.ran()] == [""]


class Full(MemoryMetastore):
    """Has one partition by the time that it is added, as by another program."""

    def add_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        if any(each.values[1] == "zz" for each in partitions):
            raise CatalogAlreadyExists(about=f"{name}/{ADDED}")
        super().add_partitions(name, partitions)


def test_a_call_that_is_refused_fails_its_partitions_by_name_and_those_of_other_calls_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolkit.hive.table_import.OF_CALL", 1)
    scene = Scene(root=tmp_path)
    scene.target = Full(("dst",), warehouse=f"file:{tmp_path}/to")
    scene.filled()
    scene.fill(ADDED, "old")
    location = f"file:{tmp_path}/from/clicks/{ADDED}"
    scene.source.add_partitions(FROM, [partition_of(scene.source.table(FROM), "2026-03-01", "zz", location=location)])
    results = list(scene.ran())
    assert outcomes(iter(results)) == {"": "", NAMES[0]: "", NAMES[1]: "", ADDED: "already_exists"}
    assert [ADDED in each.message for each in results if each.code] == [True]
    assert scene.rows() == dict.fromkeys(NAMES, both("old"))
    assert scene.orphans() == []
