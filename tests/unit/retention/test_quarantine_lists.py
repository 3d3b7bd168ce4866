"""Lists of manifests in quarantine: one for many instances, written before they move, and gone when they are."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typing_extensions import override

from tests.unit.retention.archiving import Dead
from tests.unit.retention.quarantining import LATER, OLD_ONLY, evict, feed, fill, manifests, own, restore, tree
from toolkit.el import CanonicalPath
from toolkit.entities import LocationType
from toolkit.retention import RetentionResult, batches
from toolkit.retention.quarantine import MOST_BYTES, QuarantineManifest, QuarantinePlace, listed_in, lists_of
from toolkit.retention.restorable import RestoreChoice
from toolkit.storage import FileStatus, LocalFileSystem, PermissionDenied, StorageError

DAYS, YOUNG = [f"2026/02/{day:02}" for day in range(1, 6)], "2026/03/15"
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def outcomes(result: RetentionResult, kind: str = "instance") -> list[str]:
    return [each.code or each.outcome.value for each in result.items if each.item.type == kind]


def test_one_list_is_written_for_a_batch_and_names_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH", 2)
    fill(tmp_path, *DAYS, YOUNG)
    before = tree(tmp_path)
    assert outcomes(evict(feed(tmp_path))) == ["done"] * 5
    counts = [len(json.loads(each.read_text())["instances"]) for each in manifests(tmp_path)]
    assert sorted(counts) == [1, 2, 2]
    assert outcomes(restore(feed(tmp_path)), "restored") == ["done"] * 5
    assert (tree(tmp_path), manifests(tmp_path)) == (before, [])
    evict(feed(tmp_path), run_name="3")
    assert outcomes(evict(feed(tmp_path, limit=OLD_ONLY), nominal=LATER, run_name="4"), "quarantined") == ["done"] * 5
    assert own(tmp_path) == []


def test_a_list_stays_while_one_of_its_instances_is_in_quarantine(tmp_path: Path) -> None:
    fill(tmp_path, *DAYS)
    before = tree(tmp_path)
    evict(feed(tmp_path))
    for number, day in enumerate(DAYS):
        assert len(manifests(tmp_path)) == 1
        key = f"{day.replace('/', '-')}T00:00Z"
        assert outcomes(restore(feed(tmp_path), RestoreChoice(instance_key=key), run_name=str(number + 2)), "restored")
    assert (tree(tmp_path), manifests(tmp_path)) == (before, [])


class _DiesAtRenames(LocalFileSystem):
    """A disk of a run that is killed when it has renamed so many."""

    def __init__(self, left: int = 0) -> None:
        super().__init__()
        self.left = left

    @override
    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        self.left -= 1
        if self.left < 0:
            raise Dead
        super().rename(source, target)


@pytest.mark.parametrize("moved", [0, 2])
def test_a_list_says_nothing_of_instances_that_a_killed_run_did_not_move(tmp_path: Path, moved: int) -> None:
    fill(tmp_path, *DAYS)
    before = tree(tmp_path)
    with pytest.raises(Dead):
        evict(feed(tmp_path), system=_DiesAtRenames(left=moved))
    (only,) = manifests(tmp_path)
    assert len(json.loads(only.read_text())["instances"]) == 5
    kept = feed(tmp_path, limit="months(1200)")
    left = evict(kept, nominal=LATER, run_name="2")
    assert ([*left.items], len([day for day in DAYS if (tmp_path / "data" / day).exists()])) == ([], 5 - moved)
    assert outcomes(restore(kept, run_name="3"), "restored") == ["done"] * moved
    assert tree(tmp_path) == before
    evict(feed(tmp_path), run_name="4")
    evict(feed(tmp_path, limit=OLD_ONLY), nominal=LATER, run_name="5")
    assert own(tmp_path) == []


def test_a_list_without_data_is_purged_once_although_other_files_are_beside_it(tmp_path: Path) -> None:
    fill(tmp_path, *DAYS)
    with pytest.raises(Dead):
        evict(feed(tmp_path), system=_DiesAtRenames())
    (only,) = manifests(tmp_path)
    (only.parent / ".feedctl-writing-1").write_text("cut")
    shutil.rmtree(tmp_path / "data/2026")
    by_then = feed(tmp_path, limit=OLD_ONLY)
    assert [*evict(by_then, run_name="2").items] == []
    assert outcomes(evict(by_then, nominal=LATER, run_name="3"), "quarantined") == ["done"]
    assert (manifests(tmp_path), [*evict(by_then, nominal=LATER, run_name="4").items]) == ([], [])


def test_an_unreadable_list_spoils_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH", 3)
    fill(tmp_path, *DAYS)
    evict(feed(tmp_path))
    first, second = manifests(tmp_path)
    content = first.read_text()
    first.write_text(content[:100])
    result = restore(feed(tmp_path))
    assert outcomes(result, "restored") == ["done"] * len(json.loads(second.read_text())["instances"]) == ["done"] * 2
    assert "is no list of manifests" in " ".join(result.targets[0].plan.notes)
    assert len(manifests(tmp_path)) == 2, "instances of the other list are still there"
    first.write_text(content)
    assert outcomes(restore(feed(tmp_path), run_name="3"), "restored") == ["done"] * 3


class _Guarded(LocalFileSystem):
    """A disk on which directories of one name tell nothing about themselves."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    @override
    def status(self, path: CanonicalPath) -> FileStatus:
        if path.name == self.name:
            raise PermissionDenied(path=path)
        return super().status(path)


def test_an_instance_without_a_manifest_fails_alone_and_is_not_moved(tmp_path: Path) -> None:
    fill(tmp_path, "2026/01/03", "2026/02/04")
    assert sorted(outcomes(evict(feed(tmp_path), system=_Guarded("01")))) == ["done", "permission_denied"]
    assert (tmp_path / "data/2026/01/03/part-0").exists()
    assert outcomes(restore(feed(tmp_path)), "restored") == ["done"]


class _Full(LocalFileSystem):
    """A disk on which so many writes fail; nothing may move before one did not."""

    def __init__(self, failing: int) -> None:
        super().__init__()
        self.failing, self.written = failing, 0

    @override
    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        self.failing -= 1
        if self.failing >= 0:
            raise StorageError(path=path, detail="no space is left")
        super().write(path, chunks, overwrite=overwrite)
        self.written += 1

    @override
    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        assert self.written, "it moves without a manifest"
        super().rename(source, target)


def test_nothing_moves_while_its_list_cannot_be_written(tmp_path: Path) -> None:
    fill(tmp_path, *DAYS)
    disk = _Full(failing=2)
    assert sorted(outcomes(evict(feed(tmp_path), system=disk))) == ["done"] * 3 + ["storage_failure"] * 2
    assert disk.written == 1
    assert len([day for day in DAYS if (tmp_path / "data" / day).exists()]) == 2


def _manifest(number: int, padding: int) -> tuple[str, QuarantineManifest]:
    path = CanonicalPath.parse(f"file:///data/{number:04}{'x' * padding}")
    place = QuarantinePlace.of(CanonicalPath.parse("file:///q"), "1", f"2026-03-01T00:{number % 60:02}Z", path)
    return place.key, QuarantineManifest(
        feed="clicks",
        cluster="primary",
        location=LocationType.DATA,
        instance_key="2026-03-01T00:00Z",
        path=path,
        run="1",
        quarantined_at=NOW,
        purge_at=NOW + timedelta(days=3),
    )


def test_a_list_that_would_be_too_large_to_be_read_is_divided() -> None:
    whole = [_manifest(number, 0) for number in range(100)]
    assert [key for key, _ in lists_of(whole)] == [whole[0][0]]
    large = [_manifest(number, MOST_BYTES // 10) for number in range(30)]
    found = list(lists_of(large))
    assert len(found) > 2
    assert [key for _, content in found for key in listed_in(content)] == [key for key, _ in large]
    assert all(next(iter(listed_in(content))) == first for first, content in found)
    assert list(lists_of([])) == []
