"""Exports that are written again, and imports of them."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tables.tables import partition_of
from tests.unit.hive.exports import exported, imported
from tests.unit.hive.test_table_import import FROM, NAMES, Dead, Life, Scene, both
from toolkit.el import CanonicalPath
from toolkit.ledger.vocabulary import LeaseMode
from toolkit.storage import aside_name

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


@pytest.mark.parametrize("number", range(24))
def test_after_whichever_effect_an_export_dies_the_next_writes_it_whole(number: int, tmp_path: Path) -> None:
    scene, export = Scene(root=tmp_path), tmp_path / "export"
    scene.filled()
    assert exported(scene, export) == []
    scene.fill(NAMES[0], "newer")
    with suppress(Dead):
        exported(scene, export, life=Life(left=number))
    if not (export / "_metadata").exists():
        assert [each.code for each in imported(scene, export)] == ["no_export"]
    (export / ".feedctl-writing-1").write_text("half of a manifest")
    (export / "ds=2026-03-01" / aside_name("region=in")).mkdir(parents=True, exist_ok=True)
    scene.fill(NAMES[0], "newest")
    assert exported(scene, export) == []
    assert [each.name for each in export.rglob(".feedctl*")] == [".feedctl-export"]
    assert imported(scene, export) == []
    assert scene.rows() == {NAMES[0]: both("newest"), NAMES[1]: both("old")}


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


def spoilt(export: Path, how: str) -> None:
    """Something happens to an export."""
    metadata, text = export / "_metadata", (export / "_metadata").read_bytes()
    if how.startswith("no "):
        (export / how.removeprefix("no ")).unlink()
    elif how == "fewer":
        document = json.loads(text)
        metadata.write_text(json.dumps({**document, "partitions": document["partitions"][:1]}))
    elif how == "cut manifest":
        (export / "_manifest.json").write_bytes((export / "_manifest.json").read_bytes()[:-2])
    else:
        metadata.write_bytes(text[: int(how) if int(how) >= 0 else len(text) + int(how)])


@pytest.mark.parametrize("how", ["0", "100", "-1", "fewer", "no _metadata", "no _manifest.json", "cut manifest"])
def test_an_export_of_which_something_is_missing_is_none_until_it_is_written_again(how: str, tmp_path: Path) -> None:
    scene, export = Scene(root=tmp_path), tmp_path / "export"
    scene.filled()
    assert exported(scene, export) == []
    spoilt(export, how)
    assert [each.code for each in imported(scene, export)] == ["no_export"]
    assert scene.target.tables("dst") == ()
    assert exported(scene, export) == []
    assert imported(scene, export) == []
    assert scene.rows() == dict.fromkeys(NAMES, both("old"))


@pytest.mark.parametrize("link", ["", NAMES[0], "ds=2026-03-01", "_metadata"])
def test_nothing_is_written_or_removed_through_a_symbolic_link_in_an_export(link: str, tmp_path: Path) -> None:
    scene, export, other = Scene(root=tmp_path), tmp_path / "export", tmp_path / "other"
    scene.filled()
    assert exported(scene, export) == []
    (export / link).rename(other)
    (export / link).symlink_to(other)
    before = {each: each.read_bytes() for each in other.rglob("*") if each.is_file()}
    scene.fill(NAMES[0], "newer")
    assert [each.code for each in exported(scene, export)] == ["symlink_refused"]
    assert {each: each.read_bytes() for each in other.rglob("*") if each.is_file()} == before


def test_an_export_in_another_one_is_refused(tmp_path: Path) -> None:
    scene, export = Scene(root=tmp_path), tmp_path / "export"
    scene.filled()
    assert exported(scene, export) == []
    assert [each.code for each in exported(scene, export / "2026-03-01T0000Z")] == ["not_ours"]


def leases(scene: Scene, directory: Path, *, feed: str = "clicks", is_export: bool = True) -> dict[str, LeaseMode]:
    """Return what an export to a directory, or an import from there, has to hold."""
    action, target = scene.action()
    place = CanonicalPath.parse(f"file://{directory}")
    wanted = action.leases(replace(target, feed=feed, directory=place, is_export=is_export))
    return {each.resource: each.mode for each in wanted}


def test_one_directory_is_written_by_one_export_at_a_time_and_by_none_that_is_read(tmp_path: Path) -> None:
    scene, export = Scene(root=tmp_path), tmp_path / "export"
    export.mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    resource = f"directory/file://{export}"
    assert leases(scene, export)[resource] is LeaseMode.EXCLUSIVE
    assert leases(scene, tmp_path / "link/export", feed="others")[resource] is LeaseMode.EXCLUSIVE
    assert leases(scene, export, is_export=False)[resource] is LeaseMode.SHARED
    for is_export in (True, False):
        assert leases(scene, export / "instance", is_export=is_export)[resource] is LeaseMode.SHARED


def test_long_directories_have_leases_of_their_own_that_the_ledger_has_room_for(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    names = [tmp_path.joinpath(*["x" * 200] * 3, each) for each in ("one", "other")]
    one, other = (frozenset(leases(scene, each)) for each in names)
    assert one != other
    assert all(len(each) <= 400 for each in one | other)


def test_an_export_that_somebody_wrote_to_meanwhile_is_none(tmp_path: Path) -> None:
    scene, export = Scene(root=tmp_path), tmp_path / "export"
    scene.filled()
    assert exported(scene, export) == []
    added(scene)
    (failed,) = exported(scene, export, lambda: (export / NAMES[0] / "a").unlink(missing_ok=True))
    assert failed.code == "no_export"
    assert f"{NAMES[0]}/a has no bytes" in failed.message
    assert not (export / "_metadata").exists()


def test_what_an_import_brought_is_what_a_replication_from_the_source_would_bring(tmp_path: Path) -> None:
    scene, export = Scene(root=tmp_path), tmp_path / "export"
    scene.filled()
    assert exported(scene, export) == []
    assert imported(scene, export) == []
    assert imported(scene, export) == []
    assert list(scene.ran()) == []
    scene.fill(NAMES[0], "new")
    assert [each.item.name for each in scene.ran() if each.item.copies] == [NAMES[0]]
