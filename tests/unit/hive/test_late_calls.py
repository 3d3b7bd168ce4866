"""A metastore that executes a call of a dead run after the next run has recovered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from tests.unit.hive.test_refused_registrations import SceneWithoutRenames
from tests.unit.hive.test_table_import import NAMES, Dead, Scene, both, done, open_item
from toolkit.catalog.errors import MetastoreUnreachable
from toolkit.catalog.model import Partition, TableName


class Late(MemoryMetastore):
    """Executes the call at which a client died, or that had no answer, when `execute` says so."""

    is_slow = False
    is_overtaken = False
    is_silent = False
    _call: Callable[[], None] | None = None

    def add_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        self._do(lambda: super(Late, self).add_partitions(name, partitions))

    def alter_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        self._do(lambda: super(Late, self).alter_partitions(name, partitions))

    def _do(self, call: Callable[[], None]) -> None:
        if self.is_silent:
            self.is_silent, self._call = False, call
            raise MetastoreUnreachable(about="dst.clicks", detail="no answer")
        if not self.is_slow:
            if self.is_overtaken and self._call is not None:
                self.execute()
            call()
            return
        self._call = call
        raise Dead

    def execute(self) -> None:
        """Do what the dead client asked for."""
        assert self._call is not None
        call, self._call = self._call, None
        call()


def scene_of(root: Path, kind: type[Scene] = Scene) -> tuple[Scene, Late]:
    scene, target = kind(root=root), Late(("dst",), warehouse=f"file:{root}/to")
    scene.target = target
    scene.filled()
    return scene, target


def dies(scene: Scene, target: Late) -> None:
    """A run dies while the metastore has its call."""
    target.is_slow = True
    with pytest.raises(Dead):
        list(scene.ran())
    target.is_slow = False


def test_a_late_call_of_a_dead_run_finds_its_data_and_what_it_left_goes_when_none_can_come_any_more(
    tmp_path: Path,
) -> None:
    scene, target = scene_of(tmp_path)
    assert done(scene.ran()) == ["table", "add", "add"]
    scene.stays = [tmp_path / "to/dst.db/clicks" / NAMES[0]]
    scene.fill(NAMES[0], "newer")
    dies(scene, target)
    assert done(scene.ran()) == ["replace"]
    assert [note for note in scene.recovery.notes if "1 partition" in note and "240 s" in note]
    target.execute()
    assert scene.rows() == {NAMES[0]: both("newer"), NAMES[1]: both("old")}
    assert list(scene.ran()) == []
    assert scene.left == []


def test_what_a_dead_run_left_and_no_late_call_registered_goes_after_the_time_limit(tmp_path: Path) -> None:
    scene, target = scene_of(tmp_path)
    assert done(scene.ran())
    scene.stays = [tmp_path / "to/dst.db/clicks" / NAMES[0]]
    scene.fill(NAMES[0], "newer")
    dies(scene, target)
    assert done(scene.ran()) == ["replace"]
    assert list(scene.ran()) == []
    assert [each for each in scene.orphans() if "/.feedctl-data-2/" in each]
    scene.wait()
    assert list(scene.ran()) == []
    assert (scene.orphans(), scene.left) == ([], [])
    assert [each.event for each in scene.recovery.settled if each.event] == []  # the second run told consumers
    assert list((tmp_path / "to").rglob(".feedctl-*")) == [tmp_path / "to/dst.db/clicks/.feedctl-data-3"]


def test_a_run_that_died_long_ago_leaves_nothing_to_a_second_one(tmp_path: Path) -> None:
    scene, target = scene_of(tmp_path)
    assert done(scene.ran())
    scene.stays = [tmp_path / "to/dst.db/clicks" / NAMES[0]]
    scene.fill(NAMES[0], "newer")
    dies(scene, target)
    scene.wait()
    assert done(scene.ran()) == ["replace"]
    assert (scene.orphans(), scene.left) == ([], [])


def test_a_late_call_on_an_object_store_that_comes_first_finds_its_data_too(tmp_path: Path) -> None:
    scene, target = scene_of(tmp_path, SceneWithoutRenames)
    dies(scene, target)
    target.is_overtaken = True
    assert [each.code for each in scene.ran()] == ["already_exists", "already_exists"]
    assert scene.rows() == dict.fromkeys(NAMES, both("old"))
    assert list(scene.ran()) == []
    assert (scene.orphans(), scene.left) == ([], [])


@pytest.mark.parametrize("kind", [Scene, SceneWithoutRenames])
def test_a_call_without_an_answer_is_still_awaited_after_later_batches_of_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Scene]
) -> None:
    monkeypatch.setattr("toolkit.hive.batches._PARTS", 1)
    scene, target = scene_of(tmp_path, kind)
    assert done(scene.ran()) == ["table", "add", "add"]
    for name in NAMES:
        scene.fill(name, "newer")
    target.is_silent = True
    assert {each.item.name: each.code for each in scene.ran() if each.item.kind == "replace"} == {
        NAMES[0]: "unreachable",
        NAMES[1]: "",
    }
    scene.left = [open_item(2, at, each) for at, each in enumerate(scene.plan.items) if each.name == NAMES[0]]
    scene.stays = [tmp_path / "to/dst.db/clicks" / name for name in NAMES]
    assert done(scene.ran())[0] == "replace"
    assert [note for note in scene.recovery.notes if "1 partition" in note and "240 s" in note]
    target.execute()
    assert scene.rows() == dict.fromkeys(NAMES, both("newer"))
    scene.wait()
    assert list(scene.ran()) == []
    assert list((tmp_path / "to").rglob(".feedctl-copy-*")) == []
