"""Tables at the gate: a metastore in memory, a real disk, and a gate that finds the word ``bad``."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.tables.tables import TEXT, partition_of, table_of
from tests.unit.hive.exports import exported, imported
from tests.unit.hive.test_refused_registrations import Refusing
from tests.unit.hive.test_table_import import FROM, KEY, NAMES, TO, Dead, Life, Scene, both, done
from tests.unit.quality.validators import CopyingStore, nothing
from toolkit.actions.staged_unit import STAGING_DIRECTORY, StagedUnit
from toolkit.actions.validation import QUALITY_FAILED, QUALITY_UNKNOWN, Publishable, QualityFailed, Written
from toolkit.catalog.errors import NoSuchPartition
from toolkit.catalog.model import Column, Serde, TableKind
from toolkit.el import CanonicalPath
from toolkit.hive.import_plan import STAGED_REGISTERED
from toolkit.quality.data import print_of
from toolkit.result import Outcome
from toolkit.storage.local.file_system import LocalFileSystem
from toolkit.transfer.copier import SourceChanged
from toolkit.transfer.errors import CopyDiffers


@dataclass
class WordValidator:
    """Blocks what has the word ``bad`` in it, unless exactly that was released."""

    released: set[str] = field(default_factory=set)
    requested: list[Written] = field(default_factory=list)
    permitted: set[str] = field(default_factory=set)
    digest: str = ""
    after: Callable[[], object] = nothing

    def validate(self, written: Written, check: Callable[[], None]) -> Publishable:
        check()
        self.requested.append(written)
        self.digest = print_of(written, lambda _: LocalFileSystem()).data_digest
        texts = [file.read_text() for each in written.parts for file in Path(each.place.path).iterdir()]
        if self.digest not in self.released and any("bad" in text for text in texts):
            raise QualityFailed(unit=written.unit, why="a bad row", digest=self.digest)
        self.permitted.add(self.digest)
        self.after()
        return Publishable(digest=self.digest, notes=("validated",))

    def may_publish(self, written: Written, *, is_copy: bool = False, by: Collection[int] | None = None) -> bool:
        raise AssertionError(written, is_copy, by)


def staged_scene(
    root: Path, text: str = "old", store: type[LocalFileSystem] = LocalFileSystem
) -> tuple[Scene, WordValidator]:
    """Two partitions at the source, of a feed that is judged at the target."""
    validator = WordValidator()
    scene = Scene(root=root, validator=validator, store=store)
    scene.filled(text)
    flatten(scene)
    return scene, validator


def flatten(scene: Scene) -> None:
    """Have the source's table hold nothing that a field of text cannot."""
    table = scene.source.table(FROM)
    scene.source.alter_table(
        replace(table, storage=replace(table.storage, columns=(Column(name="id", type="bigint"),)))
    )


def waiting(scene: Scene) -> list[str]:
    """The files at the gate, by their names below it."""
    return sorted(
        str(each).partition(f"{STAGING_DIRECTORY}/")[2]
        for each in (scene.root / "to").rglob("*")
        if each.is_file() and STAGING_DIRECTORY in each.parts
    )


def blocked(scene: Scene, *, whole: bool = False) -> list[str]:
    """The codes of a run of which nothing is done but the table."""
    found = list(scene.ran(whole=whole))
    return [each.code for each in found if each.item.kind != "table"]


STORES = pytest.mark.parametrize("store", [LocalFileSystem, CopyingStore])


@STORES
def test_what_passes_is_judged_once_as_a_whole_and_then_registered(
    tmp_path: Path, store: type[LocalFileSystem]
) -> None:
    scene, validator = staged_scene(tmp_path, store=store)
    assert done(scene.ran()) == ["table", "add", "add"]
    assert scene.rows() == dict.fromkeys(NAMES, both("old"))
    assert scene.notes == ["validated"]
    assert waiting(scene) == []
    (requested,) = validator.requested
    assert requested.unit == f"{TO}@{KEY}"
    assert [each.keys for each in requested.parts] == [{"ds": "2026-03-01", "region": each} for each in ("in", "us")]
    assert requested.table is not None
    assert (requested.table.format, list(requested.table.keys)) == ("text", ["ds", "region"])
    assert list(scene.ran()) == []
    assert len(validator.requested) == 1


@STORES
def test_one_bad_partition_blocks_the_instance_which_waits_until_it_is_released(
    tmp_path: Path, store: type[LocalFileSystem]
) -> None:
    scene, validator = staged_scene(tmp_path, store=store)
    scene.fill(NAMES[1], "bad")
    assert blocked(scene) == [QUALITY_FAILED] * 2
    assert scene.rows() == {}
    inside = "ds=2026-03-01"
    expected = [f"{name}/{file}" for name in NAMES for file in ("a", "b")]
    beside = [
        f"{inside}/{own}"
        for name in ("in", "us")
        for own in (f".feedctl-whole-region={name}", f"region={name}.blocked.json")
    ]
    assert waiting(scene) == sorted([*expected, *beside])
    manifest = next((tmp_path / "to").rglob("region=us.blocked.json"))
    assert json.loads(manifest.read_text())["why"] == "a bad row"
    copies = {each: each.stat().st_mtime_ns for each in (tmp_path / "to").rglob("region=*/*")}
    assert blocked(scene) == [QUALITY_FAILED] * 2
    assert {each: each.stat().st_mtime_ns for each in (tmp_path / "to").rglob("region=*/*")} == copies
    validator.released.add(validator.digest)
    assert done(scene.ran()) == ["add", "add"]
    assert scene.rows() == {NAMES[0]: both("old"), NAMES[1]: both("bad")}
    assert waiting(scene) == []


def test_what_is_blocked_and_changes_at_the_source_is_copied_and_judged_anew(tmp_path: Path) -> None:
    scene, validator = staged_scene(tmp_path)
    scene.fill(NAMES[1], "bad")
    assert blocked(scene) == [QUALITY_FAILED] * 2
    validator.released.add(validator.digest)
    scene.fill(NAMES[1], "bad again")
    assert blocked(scene) == [QUALITY_FAILED] * 2
    scene.fill(NAMES[1], "good")
    assert done(scene.ran()) == ["add", "add"]
    assert scene.rows() == {NAMES[0]: both("old"), NAMES[1]: both("good")}
    assert waiting(scene) == []


def test_what_changes_is_judged_with_what_stays_and_readers_keep_the_old_while_it_is_blocked(tmp_path: Path) -> None:
    scene, validator = staged_scene(tmp_path)
    done(scene.ran())
    scene.fill(NAMES[0], "newer, and bad")
    assert blocked(scene) == [QUALITY_FAILED]
    assert scene.rows() == dict.fromkeys(NAMES, both("old"))
    scene.fill(NAMES[0], "newer")
    assert done(scene.ran()) == ["replace"]
    assert scene.rows() == {NAMES[0]: both("newer"), NAMES[1]: both("old")}
    assert [len(each.parts) for each in validator.requested] == [2, 2, 2]


def test_an_instance_of_which_a_part_is_not_whole_is_not_judged(tmp_path: Path) -> None:
    scene, validator = staged_scene(tmp_path)
    (scene.root / "from/clicks" / NAMES[1] / "a").unlink()
    (scene.root / "from/clicks" / NAMES[1] / "a").symlink_to("b")
    assert blocked(scene) == [QUALITY_UNKNOWN]
    assert (validator.requested, scene.rows()) == ([], {})


@pytest.mark.parametrize("store", [LocalFileSystem, CopyingStore])
@pytest.mark.parametrize("changes", [False, True])
def test_after_whichever_effect_a_run_dies_nothing_is_seen_that_was_not_judged(
    tmp_path: Path, store: type[LocalFileSystem], *, changes: bool
) -> None:
    deaths = 0
    for number in range(300):
        scene, validator = staged_scene(tmp_path / str(number), store=store)
        if changes:
            done(scene.ran())
            scene.stays = [scene.root / "to/dst.db/clicks" / NAMES[0]]
            scene.fill(NAMES[0], "newer")
            if store is CopyingStore:
                scene.stays = list((scene.root / "to/dst.db/clicks").glob(".feedctl-data-*"))
        validator.permitted.clear()
        try:
            list(scene.ran(Life(left=number)))
        except Dead:
            deaths += 1
            if scene.rows() != (dict.fromkeys(NAMES, both("old")) if changes else {}):
                assert validator.permitted, number
            done(scene.ran())
        else:
            assert deaths > 4
            return
        assert scene.rows() == {NAMES[0]: both("newer" if changes else "old"), NAMES[1]: both("old")}, number
        assert waiting(scene) == [], number
        assert list(scene.ran()) == [], number
    pytest.fail("the run never came to its end")


@STORES
def test_after_whichever_effect_a_rejection_dies_only_whole_data_that_passed_are_registered(
    tmp_path: Path, store: type[LocalFileSystem]
) -> None:
    for number in range(40):
        scene, validator = staged_scene(tmp_path / str(number), store=store)
        scene.fill(NAMES[1], "bad")
        blocked(scene)
        table = scene.root / "to/dst.db/clicks"
        root, unit = (CanonicalPath.parse(f"file://{each}") for each in (table, table / NAMES[1]))
        try:
            StagedUnit(work=scene.work(Life(left=number)), unit=unit, base=root, top=root).clear()
        except Dead:
            assert blocked(scene) == [QUALITY_FAILED] * 2
            validator.released.add(validator.digest)
            assert done(scene.ran()) == ["add", "add"]
            assert scene.rows() == {NAMES[0]: both("old"), NAMES[1]: both("bad")}, number
            assert (waiting(scene), scene.orphans()) == ([], []), number
        else:
            assert number > 3
            return
    pytest.fail("the rejection never came to its end")


def test_a_table_without_partitions_waits_beside_itself(tmp_path: Path) -> None:
    validator = WordValidator()
    scene = Scene(root=tmp_path, validator=validator)
    scene.made()
    flatten(scene)
    for text, codes in (("good", []), ("bad", [QUALITY_FAILED]), ("better", []), ("bad again", [QUALITY_FAILED])):
        scene.fill("", text)
        assert [each.code for each in scene.ran(whole=True) if each.outcome is Outcome.FAILED] == codes
        assert not any("bad" in each for each in scene.rows()[""].values())
    assert scene.rows() == {"": both("better")}
    assert "dst.db/.feedctl-whole-clicks" in waiting(scene)
    validator.released.add(validator.digest)
    list(scene.ran(whole=True))
    assert scene.rows()[""] == both("bad again")
    assert waiting(scene) == []


def test_an_import_is_judged_as_a_whole(tmp_path: Path) -> None:
    scene, validator = staged_scene(tmp_path)
    scene.fill(NAMES[1], "bad")
    assert exported(scene, tmp_path / "export") == []
    assert [each.code for each in imported(scene, tmp_path / "export")] == [QUALITY_FAILED] * 2
    assert scene.rows() == {}
    validator.released.add(validator.digest)
    assert imported(scene, tmp_path / "export") == []
    assert scene.rows() == {NAMES[0]: both("old"), NAMES[1]: both("bad")}


def test_a_view_cannot_be_judged(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path, validator=WordValidator())
    view = replace(table_of(FROM, ""), kind=TableKind.VIEW, view_original="SELECT 1", view_expanded="SELECT 1")
    scene.source.create_table(replace(view, storage=replace(TEXT, location=None)))
    with pytest.raises(AssertionError, match="has no data to validate"):
        list(scene.ran(whole=True))


@STORES
def test_what_comes_to_the_gate_after_the_verdict_is_not_registered(
    tmp_path: Path, store: type[LocalFileSystem]
) -> None:
    scene, validator = staged_scene(tmp_path, store=store)
    validator.after = lambda: (
        next((tmp_path / "to").rglob(f"{STAGING_DIRECTORY}/{NAMES[0]}")).joinpath("c").write_text("bad")
    )
    assert blocked(scene) == [CopyDiffers.code, QUALITY_UNKNOWN]
    assert scene.rows() == {}
    validator.after = nothing
    assert done(scene.ran()) == ["add", "add"]
    assert scene.rows() == dict.fromkeys(NAMES, both("old"))
    assert waiting(scene) == []


@STORES
def test_of_an_instance_of_which_a_part_changes_at_the_source_after_the_verdict_nothing_is_registered(
    tmp_path: Path, store: type[LocalFileSystem]
) -> None:
    scene, validator = staged_scene(tmp_path, store=store)

    was = scene.source.partitions(FROM, NAMES[:1])
    serde = Serde(library=TEXT.serde.library, parameters={"field.delim": ";"})

    def altered() -> None:
        changed = [replace(each, storage=replace(each.storage, serde=serde)) for each in was]
        scene.source.alter_partitions(FROM, changed)

    validator.after = altered
    assert blocked(scene) == [SourceChanged.code, QUALITY_UNKNOWN]
    assert scene.rows() == {}
    validator.after = nothing
    scene.source.alter_partitions(FROM, was)
    assert done(scene.ran()) == ["add", "add"]
    assert waiting(scene) == []


def test_tables_of_one_name_in_one_directory_do_not_wait_in_one_place(tmp_path: Path) -> None:
    validator = WordValidator()
    scene = Scene(root=tmp_path, validator=validator)
    scene.made()
    flatten(scene)
    scene.fill("", "bad")
    assert blocked(scene, whole=True) == [QUALITY_FAILED]
    (place,) = validator.requested[-1].parts
    assert place.place.path.endswith(f"{STAGING_DIRECTORY}/{TO.database}.db/{TO.table}")


def test_what_was_released_and_refused_by_the_metastore_waits_with_its_release(tmp_path: Path) -> None:
    scene, validator = staged_scene(tmp_path)
    target = Refusing(("dst",), warehouse=f"file:{tmp_path}/to")
    scene.target = target
    done(scene.ran())
    scene.fill(NAMES[0], "bad")
    assert blocked(scene) == [QUALITY_FAILED]
    validator.released.add(validator.digest)
    target.error = NoSuchPartition
    assert blocked(scene) == [NoSuchPartition.code]
    assert scene.rows() == dict.fromkeys(NAMES, both("old"))
    target.error = None
    assert done(scene.ran()) == ["replace"]
    assert scene.rows() == {NAMES[0]: both("bad"), NAMES[1]: both("old")}
    assert waiting(scene) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '"x"', "7", '{"identity": 1}', "\ufffd"])
def test_what_somebody_wrote_about_a_copy_is_no_copy(tmp_path: Path, text: str) -> None:
    scene, validator = staged_scene(tmp_path)
    scene.fill(NAMES[1], "bad")
    assert blocked(scene) == [QUALITY_FAILED] * 2
    for each in (tmp_path / "to").rglob(".feedctl-whole-*"):
        each.write_text(text)
    scene.fill(NAMES[1], "good")
    assert done(scene.ran()) == ["add", "add"]
    assert waiting(scene) == []
    assert len(validator.requested) == 2


def test_what_somebody_registered_where_it_waits_is_not_removed_for_what_comes(tmp_path: Path) -> None:
    scene, _ = staged_scene(tmp_path)
    scene.fill(NAMES[1], "bad")
    assert blocked(scene) == [QUALITY_FAILED] * 2
    place = tmp_path / "to/dst.db/clicks" / STAGING_DIRECTORY / NAMES[1]
    by_hand = partition_of(scene.target.table(TO), "2026-03-01", "us", location=f"file:{place}")
    scene.target.add_partitions(TO, [by_hand])
    scene.fill(NAMES[1], "good")
    assert blocked(scene) == [QUALITY_UNKNOWN]
    assert scene.plan.unreadable[0].code == STAGED_REGISTERED
    assert scene.rows() == {NAMES[1]: both("bad")}
    scene.target.drop_partitions(TO, NAMES[1:])
    assert done(scene.ran()) == ["add", "add"]
    assert scene.rows() == {NAMES[0]: both("old"), NAMES[1]: both("good")}
