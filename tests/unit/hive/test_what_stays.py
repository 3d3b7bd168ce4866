"""Data at a target, and at a source, that an import or a replication must never remove or mix up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.tables.tables import TEXT, partition_of, table_of
from tests.unit.hive.test_table_import import FROM, NAMES, TO, Scene, both, done, files
from toolkit.catalog.model import TableName


def placed(scene: Scene, location: str) -> None:
    """The target's table is there, at a place, without partitions."""
    table = scene.source.table(FROM)
    scene.target.create_table(replace(table, name=TO, storage=replace(TEXT, location=location)))


@pytest.mark.parametrize("place", ["from/clicks", "from", f"from/clicks/{NAMES[0]}/deeper"])
def test_a_table_that_would_be_copied_over_its_source_is_refused(place: str, tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.filled()
    placed(scene, f"file:{tmp_path}/{place}")
    with pytest.raises(AssertionError, match="overlapping"):
        list(scene.ran())


def test_a_table_without_partitions_that_would_be_copied_over_its_source_is_refused(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.made()
    scene.fill("", "old")
    placed(scene, f"file:{tmp_path}/from/clicks")
    with pytest.raises(AssertionError, match="overlapping"):
        list(scene.ran(whole=True))


def test_data_that_feedctl_did_not_set_aside_stay_and_are_named(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.filled()
    assert done(scene.ran())
    place = f"file:{tmp_path}/to/dst.db/clicks/{NAMES[0]}"
    scene.target.create_table(table_of(TableName("dst", "raw"), place))
    scene.fill(NAMES[0], "newer")
    assert done(scene.ran()) == ["replace"]
    assert files(place) == both("old")
    assert scene.rows()[NAMES[0]] == both("newer")
    assert [note for note in scene.plan.notes if NAMES[0] in note and "remove them when no reader needs them" in note]


def test_what_is_in_the_directory_of_a_table_that_is_replaced_stays(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.made()
    scene.fill("", "old")
    placed(scene, f"file:{tmp_path}/to/data")
    history = tmp_path / "to/data/history"
    history.mkdir(parents=True)
    (history / "rows").write_text("of another table")
    assert done(scene.ran(whole=True)) == ["replace"]
    assert (history / "rows").read_text() == "of another table"
    assert scene.rows() == {"": both("old")}


def test_files_that_another_partition_has_are_not_taken_for_ones_that_were_copied(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.filled("same")
    placed(scene, f"file:{tmp_path}/to/clicks")
    table = scene.target.table(TO)
    place = tmp_path / "to/clicks" / NAMES[0]
    place.mkdir(parents=True)
    for each in ("a", "b"):
        (place / each).write_text(f"same {each}")
    scene.target.add_partitions(TO, [partition_of(table, "2026-03-01", "us", location=f"file:{place}")])
    done(scene.ran())
    assert scene.rows() == dict.fromkeys(NAMES, both("same"))
    found = {each.location for each in scene.target.partitions(TO, NAMES)}
    assert len(found) == 2
    assert f"file:{place}" not in found


def test_an_empty_directory_that_another_partition_has_is_not_taken(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.filled("same")
    placed(scene, f"file:{tmp_path}/to/clicks")
    table = scene.target.table(TO)
    place = tmp_path / "to/clicks" / NAMES[0]
    place.mkdir(parents=True)
    scene.target.add_partitions(TO, [partition_of(table, "2026-04-01", "us", location=f"file:{place}")])
    done(scene.ran())
    assert scene.rows()["ds=2026-04-01/region=us"] == {}
    assert scene.rows()[NAMES[0]] == both("same")
