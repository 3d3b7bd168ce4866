"""A source that is dropped, made anew or altered between the plan and the end of the copy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of
from tests.unit.hive.exports import exported, imported
from tests.unit.hive.test_table_import import FROM, NAMES, TO, Scene, both
from toolkit.catalog.model import Column, Table


def again(scene: Scene, change: Callable[[Table], Table] = lambda table: table, *, partitions: bool = True) -> None:
    """The source's table is dropped and made anew, over the same files."""
    table = scene.source.table(FROM)
    found = scene.source.partitions(FROM, NAMES)
    scene.source = MemoryMetastore(("src",), warehouse=scene.source.warehouse)
    scene.source.create_table(change(table))
    if partitions:
        scene.source.add_partitions(FROM, found)


def wider(table: Table) -> Table:
    """With another column."""
    columns = (*table.storage.columns, Column(name="more", type="string"))
    return replace(table, storage=replace(table.storage, columns=columns))


def skipping(table: Table) -> Table:
    """Without the first line of each file."""
    return replace(table, parameters={**table.parameters, "skip.header.line.count": "1"})


def elsewhere(scene: Scene) -> None:
    """A partition gets another directory."""
    (first,) = scene.source.partitions(FROM, NAMES[:1])
    place = f"file:{scene.root}/from/other"
    scene.source.alter_partitions(FROM, [partition_of(scene.source.table(FROM), *first.values, location=place)])


def changed_after_the_plan(scene: Scene, change: Callable[[], None]) -> dict[str, str]:
    """The code of each partition when the source changes after the first of the items, that of the table."""
    run = scene.ran()
    assert next(run).item.kind == "table"
    before = scene.source
    change()
    before.__dict__.update(scene.source.__dict__)  # the client stays, and the metastore is another one
    return {each.item.name: each.code for each in run}


@pytest.mark.parametrize("change", [wider, skipping])
def test_what_was_copied_of_a_table_that_was_made_anew_otherwise_comes_to_nobody(
    change: Callable[[Table], Table], tmp_path: Path
) -> None:
    scene = Scene(root=tmp_path)
    scene.filled()
    found = changed_after_the_plan(scene, lambda: again(scene, change))
    assert found == dict.fromkeys(NAMES, "source_changed")
    assert (scene.rows(), scene.orphans()) == ({}, [])


def test_partitions_that_a_new_table_does_not_have_come_to_nobody(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.filled()
    found = changed_after_the_plan(scene, lambda: again(scene, partitions=False))
    assert found == dict.fromkeys(NAMES, "source_changed")


def test_a_table_that_was_made_anew_as_it_was_is_copied(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.filled()
    assert changed_after_the_plan(scene, lambda: again(scene)) == dict.fromkeys(NAMES, "")
    assert scene.rows() == dict.fromkeys(NAMES, both("old"))


def test_a_partition_that_got_another_directory_waits_for_the_next_run(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.filled()
    assert changed_after_the_plan(scene, lambda: elsewhere(scene)) == {NAMES[0]: "source_changed", NAMES[1]: ""}
    assert scene.target.partition_names(TO) == NAMES[1:]


def test_an_export_of_a_table_that_was_made_anew_meanwhile_is_none(tmp_path: Path) -> None:
    scene, export = Scene(root=tmp_path), tmp_path / "export"
    scene.filled()

    def change() -> None:
        before = scene.source
        again(scene, wider)
        before.__dict__.update(scene.source.__dict__)

    (failed,) = exported(scene, export, change)
    assert failed.code == "no_export"
    assert "made anew meanwhile" in failed.message
    assert [each.code for each in imported(scene, export)] == ["no_export"]
