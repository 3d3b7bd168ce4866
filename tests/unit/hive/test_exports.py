"""Exports that are written again, and imports of them."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.tables.tables import partition_of
from tests.unit.hive.exports import exported, imported
from tests.unit.hive.test_landing import FROM, NAMES, Scene, both

ADDED = "ds=2026-03-02/region=us"


def added(scene: Scene) -> None:
    """The source gets another partition."""
    scene.fill(ADDED, "old")
    location = f"file:{scene.root}/from/clicks/{ADDED}"
    partition = partition_of(scene.source.table(FROM), "2026-03-02", "us", location=location)
    scene.source.add_partitions(FROM, [partition])


def test_a_stray_file_beside_partitions_goes_and_they_stay(tmp_path: Path) -> None:
    scene, export = Scene(root=tmp_path), tmp_path / "export"
    scene.filled()
    assert exported(scene, export) == []
    (export / "ds=2026-03-01/README").write_text("a stray file")
    (export / "ds=2026-02-01/region=in").mkdir(parents=True)
    (export / "ds=2026-02-01/region=in/x").write_text("of a partition that is gone")
    added(scene)
    assert exported(scene, export) == []
    found = {str(each.relative_to(export)) for each in export.glob("ds=*/**/*") if each.is_file()}
    assert found == {f"{name}/{each}" for name in (*NAMES, ADDED) for each in ("a", "b")}
    assert imported(scene, export) == []
    assert scene.rows() == dict.fromkeys((*NAMES, ADDED), both("old"))


def test_a_table_that_got_another_key_is_exported_whole(tmp_path: Path) -> None:
    scene, export = Scene(root=tmp_path), tmp_path / "export"
    table = scene.made(ds="string")
    scene.fill("ds=2026-03-01", "old")
    location = f"file:{tmp_path}/from/clicks/ds=2026-03-01"
    scene.source.add_partitions(FROM, [partition_of(table, "2026-03-01", location=location)])
    assert exported(scene, export) == []
    shutil.rmtree(tmp_path / "from")
    other = Scene(root=tmp_path)
    other.filled()
    assert exported(other, export) == []
    assert imported(other, export) == []
    assert other.rows() == dict.fromkeys(NAMES, both("old"))


def test_an_export_that_somebody_wrote_to_meanwhile_is_none(tmp_path: Path) -> None:
    scene, export = Scene(root=tmp_path), tmp_path / "export"
    scene.filled()
    assert exported(scene, export) == []
    added(scene)
    (failed,) = exported(scene, export, lambda: (export / NAMES[0] / "a").unlink(missing_ok=True))
    assert failed.code == "no_export"
    assert f"{NAMES[0]}/a has no bytes" in failed.message
    assert not (export / "_metadata").exists()
