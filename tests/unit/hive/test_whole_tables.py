"""Whole tables: a run that dies at any point is finished by one for another time."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from tests.unit.hive.test_table_import import NAMES, Dead, Life, Scene, both, done

LATER = "2026-03-02T06:00Z"


@pytest.mark.parametrize("number", range(30))
def test_after_whichever_effect_a_run_dies_an_unpartitioned_table_is_made_whole_at_another_time(
    tmp_path: Path, number: int
) -> None:
    scene = Scene(root=tmp_path)
    scene.made()
    for text in ("old", "older than that"):
        scene.fill("", text)
        assert done(scene.ran(whole=True))
    scene.stays = [tmp_path / "to/dst.db/clicks"]
    scene.fill("", "newer")
    try:
        list(scene.ran(Life(left=number), whole=True))
    except Dead:
        assert scene.rows()[""] in (both("older than that"), both("newer"), {})
        scene.wait()
        scene.key = LATER
        done(scene.ran(whole=True))
    assert scene.rows() == {"": both("newer")}
    assert scene.orphans() == []


@pytest.mark.parametrize("number", range(12))
def test_a_first_run_that_dies_is_finished_at_another_time(tmp_path: Path, number: int) -> None:
    scene = Scene(root=tmp_path)
    scene.made()
    scene.fill("", "old")
    with suppress(Dead):
        list(scene.ran(Life(left=number), whole=True))
    scene.wait()
    scene.key = LATER
    done(scene.ran(whole=True))
    assert scene.rows() == {"": both("old")}
    assert scene.orphans() == []


@pytest.mark.parametrize("number", range(16))
def test_a_whole_table_with_partitions_is_finished_at_another_time(tmp_path: Path, number: int) -> None:
    scene = Scene(root=tmp_path)
    scene.filled()
    for text in ("old", "older than that"):
        scene.fill(NAMES[0], text)
        assert done(scene.ran(whole=True))
    scene.stays = [scene.root / "to/dst.db/clicks" / NAMES[0]]
    scene.fill(NAMES[0], "newer")
    with suppress(Dead):
        list(scene.ran(Life(left=number), whole=True))
    scene.wait()
    scene.key = LATER
    done(scene.ran(whole=True))
    assert scene.rows() == {NAMES[0]: both("newer"), NAMES[1]: both("old")}
    assert scene.orphans() == []


def test_what_a_run_of_another_ledger_copies_into_the_same_database_stays(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.made()
    scene.fill("", "old")
    other = tmp_path / "to/dst.db/.feedctl-copy-1/views"
    other.mkdir(parents=True)
    (other / "part").write_text("half of another table")
    assert done(scene.ran(whole=True))
    assert (other / "part").exists()
    (other / "part").unlink()
    scene.fill("", "newer")
    with suppress(Dead):
        list(scene.ran(Life(left=3), whole=True))
    for each in (tmp_path / "to/dst.db").glob(".feedctl-copy-2"):
        (each / "views").mkdir()
        (each / "views/part").write_text("half")
    done(scene.ran(whole=True))
    assert list((tmp_path / "to/dst.db").glob(".feedctl-copy-2/*")) == [tmp_path / "to/dst.db/.feedctl-copy-2/views"]
