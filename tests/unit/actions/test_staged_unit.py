"""Tests of what waits at the gate: whenever a run dies, readers see what was there or all of what was admitted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.actions.fake_action import context
from tests.unit.actions.fake_validator import FakeValidator
from tests.unit.planning.entities import cluster, path_feed
from toolkit.actions.staged_unit import StagedUnit, manifest_of, staging_place
from toolkit.actions.staging import InstanceStaging
from toolkit.actions.validation import FeedValidation, QualityFailed
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities.quality import Quality
from toolkit.runs.stop import NeverStopped
from toolkit.storage import Look
from toolkit.storage.local.file_system import LocalFileSystem

NOW = parse_instant("2026-03-20T12:00Z")
OLD, NEW = {"a": "old", "b": "old", "_SUCCESS": ""}, {"a": "new1", "c/d": "new2", "_SUCCESS": ""}


class Dead(BaseException):
    """The process is not there any more."""


class Disk(LocalFileSystem):
    """A disk whose process dies before so many effects, and which may have no atomic rename."""

    def __init__(self, effects: int = 1_000, *, renames: bool = True) -> None:
        super().__init__(self._count)
        self.left = effects
        self.capabilities = replace(LocalFileSystem.capabilities, atomic_rename=renames)

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Dead

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        """As the disk does it, where it does."""
        assert self.capabilities.atomic_rename
        super().rename(source, target)


def put(root: Path, files: dict[str, str]) -> None:
    """Write files."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def seen(root: Path) -> dict[str, str]:
    """Return all files of a directory."""
    return {str(each.relative_to(root)): each.read_text() for each in sorted(root.rglob("*")) if each.is_file()}


def unit_on(disk: Disk, base: Path, validator: FakeValidator | None = None) -> StagedUnit:
    """The unit ``01`` of a run."""
    place = CanonicalPath.parse(f"file://{base}")
    work = replace(context(NeverStopped()), stores=lambda _: disk, run_name="7", validator=validator or FakeValidator())
    return StagedUnit(work=work, unit=place.child("01"), base=place)


@pytest.fixture(params=[True, False], ids=["renamed", "copied"])
def on(request: pytest.FixtureRequest) -> Callable[[int], Disk]:
    """A disk for so many effects."""
    return lambda effects: Disk(effects, renames=request.param)


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    """The base of a unit of which something new waits."""
    put(tmp_path / ".feedctl-staging/01", NEW)
    return tmp_path


@pytest.mark.parametrize("old", [OLD, {}], ids=["over what was there", "for the first time"])
def test_whenever_a_run_dies_readers_see_all_or_what_was_there_and_the_next_one_ends_it(
    waiting: Path, on: Callable[[int], Disk], old: dict[str, str]
) -> None:
    put(waiting / "01", old)
    effects = 0
    while True:
        disk = on(effects)
        try:
            unit_on(disk, waiting).publish("_SUCCESS")
        except Dead:
            found = seen(waiting / "01")
            assert "_SUCCESS" not in found or found in (NEW, old)
            unit = unit_on(on(1_000), waiting)
            unit.settle()
            found = seen(Path(unit.place.path))
            assert found in (NEW, {}), "half of it is never judged"
            if found:
                unit.publish("_SUCCESS")
        assert seen(waiting / "01") == NEW
        assert not list((waiting / ".feedctl-staging").iterdir())
        if disk.left >= 0:
            break
        put(waiting / ".feedctl-staging/01", NEW)
        effects += 1
    assert effects > 1


def test_whenever_a_clearing_dies_half_of_it_is_never_judged(waiting: Path, on: Callable[[int], Disk]) -> None:
    for effects in range(20):
        disk = on(effects)
        try:
            unit_on(disk, waiting).clear()
        except Dead:
            unit = unit_on(on(1_000), waiting)
            unit.settle()
            assert seen(Path(unit.place.path)) in (NEW, {})
        else:
            assert not list((waiting / ".feedctl-staging").iterdir())
            return
        put(waiting / ".feedctl-staging/01", NEW)
    pytest.fail("it never ended")


def test_what_was_put_aside_by_a_run_that_died_comes_back(waiting: Path) -> None:
    put(waiting / ".feedctl-staging/.feedctl-old-01", OLD)
    unit_on(Disk(), waiting).clear()
    assert seen(waiting) == {f"01/{name}": text for name, text in OLD.items()}


def test_a_single_file_is_published_too(tmp_path: Path, on: Callable[[int], Disk]) -> None:
    put(tmp_path / ".feedctl-staging", {"01": "new"})
    unit_on(on(1_000), tmp_path).publish("")
    assert seen(tmp_path) == {"01": "new"}


def test_what_is_blocked_stays_with_a_manifest_until_it_is_published(waiting: Path, on: Callable[[int], Disk]) -> None:
    (waiting / ".feedctl-staging/01/a").write_text("bad")
    validator = FakeValidator()
    unit = unit_on(on(1_000), waiting, validator)
    validation = FeedValidation(
        feed=path_feed("counts", "/counts/${DAY}"), cluster=cluster(), quality=Quality(suites=("counts",))
    )
    staging = InstanceStaging(
        validation=validation, instance_key="2026-03-01T00:00Z", base=unit.base, work=unit.work, now=lambda: NOW
    )
    with pytest.raises(QualityFailed):
        staging.validate_unit(unit.unit, unit.place)
    assert not staging.may_publish(unit.unit)
    reported = json.loads(Path(manifest_of(unit.unit).path).read_text())
    assert (reported["feed"], reported["cluster"], reported["instance"]) == ("counts", "primary", "2026-03-01T00:00Z")
    assert (reported["unit"], reported["why"], reported["run"]) == (str(unit.unit), "it is bad", "7")
    assert (reported["time"], reported["code"]) == ("2026-03-20T12:00:00Z", "quality_failed")
    assert staging_place(unit.unit) == unit.place
    assert not (waiting / "01").exists()
    validator.release()
    assert not staging.validate_unit(unit.unit, unit.place)
    unit.publish("_SUCCESS")
    assert not list((waiting / ".feedctl-staging").iterdir())


class LateRename(Disk):
    """A disk on which a rename that a dead run sent happens just before the first removal."""

    aside: Path

    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        unit = Path(below.path) / "01"
        if unit.exists():
            self.aside.parent.mkdir(exist_ok=True)
            unit.rename(self.aside)
        super().delete(path, below=below, look=look)


def test_a_unit_that_a_late_rename_puts_aside_is_not_removed(tmp_path: Path) -> None:
    put(tmp_path / "01", OLD)
    disk = LateRename()
    unit = unit_on(disk, tmp_path)
    disk.aside = Path(unit._aside.path)  # noqa: SLF001 - there is no other name of it
    unit.settle()
    assert seen(disk.aside) == OLD
    unit_on(Disk(), tmp_path).settle()
    assert seen(tmp_path / "01") == OLD
