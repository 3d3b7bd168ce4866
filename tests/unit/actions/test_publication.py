"""Publication of a unit: whichever step a run dies after, the next one finds all of the old unit or of the new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pytest

from tests.unit.actions.fake_action import context
from toolkit.actions import publication as module
from toolkit.actions.attempt import UNKNOWN
from toolkit.actions.file_copies import FileCopies
from toolkit.actions.guard import Guard
from toolkit.actions.publication import Publication, aside_of, recover, staging_of
from toolkit.el import CanonicalPath
from toolkit.errors import StopRequested
from toolkit.runs.errors import Stopped
from toolkit.runs.stop import NeverStopped
from toolkit.storage import PermissionDenied, StorageError, StorageFailure, aside_name
from toolkit.storage.local.file_system import LocalFileSystem
from toolkit.transfer.copier import SourceChanged
from toolkit.transfer.errors import CopyDiffers, NotSettled
from toolkit.transfer.plan import Copied, FileCopy
from toolkit.transfer.trees import Tree

OLD, NEW = {"a": "old", "gone": "old", "_SUCCESS": ""}, {"a": "new", "b/c": "more", "_SUCCESS": ""}


class Dead(BaseException):
    """The process is not there any more."""


class Disk(LocalFileSystem):
    """A disk whose process dies before so many effects, with atomic renames or without."""

    def __init__(self, effects: int = 1_000, *, renames: bool = True) -> None:
        super().__init__(self._count)
        self.left = effects
        self.capabilities = replace(LocalFileSystem.capabilities, atomic_rename=renames, directories=renames)

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Dead


class Refusing(LocalFileSystem):
    """A disk that does not let a certain name be given to a staged copy."""

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        if source.name.startswith(".feedctl-copy") and target.name == "unit":
            raise PermissionDenied(path=target)
        super().rename(source, target)


class Ended(NeverStopped):
    """A run that was stopped."""

    def check(self) -> None:
        message = "stopped"
        raise StopRequested(message)


def fill(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def seen(root: Path) -> dict[str, str]:
    return {str(each.relative_to(root)): each.read_text() for each in root.rglob("*") if each.is_file()}


@dataclass
class Site:
    """A source with NEW, and a unit with OLD."""

    root: Path
    parts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        fill(self.root / "from", NEW)
        fill(self.root / "to/unit", OLD)

    @property
    def base(self) -> CanonicalPath:
        return CanonicalPath.parse(f"file://{self.root}/to")

    def publication(self, disk: LocalFileSystem | None = None, **settings: bool) -> Publication:
        """Return the publication of run 7."""
        guard = Guard(run=NeverStopped(), conditions=())
        work = replace(context(guard.run), guard=guard, stores=lambda _: disk or LocalFileSystem(), run_name="7")
        files = _Counting(work=work, parts=self.parts)
        source = CanonicalPath.parse(f"file://{self.root}/from")
        unit = self.base.child("unit")
        return Publication(
            work=work, files=files, source=source, unit=unit, base=self.base, flag="_SUCCESS", **settings
        )

    @property
    def unit(self) -> dict[str, str]:
        return seen(self.root / "to/unit")

    @property
    def names(self) -> list[str]:
        return sorted(each.name for each in (self.root / "to").iterdir())


@dataclass(frozen=True, kw_only=True)
class _Counting(FileCopies):
    """Notes how many files each call copies."""

    parts: list[int]

    def copy(
        self,
        source: CanonicalPath,
        target: CanonicalPath,
        files: Sequence[FileCopy],
        *,
        is_progress: bool = True,
        overwrite: bool = True,
    ) -> list[Copied]:
        self.parts.append(len(files))
        return super().copy(source, target, files, is_progress=is_progress, overwrite=overwrite)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def tree(publication: Publication) -> Tree:
    found = publication.tree(publication.source)
    assert found is not None
    return found


def rename_in(publication: Publication, change: Callable[[], None] = lambda: None) -> None:
    """Publish by renames; something happens between the copying and the comparison."""
    wanted, staging = tree(publication), staging_of(publication.unit, "7")
    with ExitStack() as unless_published:
        publication.begin_staging(staging, wanted, unless_published)
        publication.copy(wanted, wanted, staging)
        change()
        publication.verify(staging, wanted, wanted)
        publication.swap_in(staging, aside=aside_of(publication.unit, "7"))
        unless_published.pop_all()


def write_in_place(publication: Publication, change: Callable[[], None] = lambda: None) -> None:
    """Publish file by file."""
    wanted = tree(publication)
    with publication.in_place(wanted, publication.tree(publication.unit) or {}) as data:
        publication.copy(data, data, publication.unit)
        change()


def test_a_copy_is_staged_and_gets_the_name_of_the_unit(site: Site) -> None:
    fill(site.root / "to/.feedctl-copy-7-unit", {"left": "by an earlier try"})
    rename_in(site.publication())
    assert (site.unit, site.names) == (NEW, ["unit"])


def test_whichever_effect_is_the_last_one_the_unit_is_old_or_new_after_the_recovery(tmp_path: Path) -> None:
    results = []
    for effects in range(40):
        site = Site(tmp_path / str(effects))
        try:
            rename_in(site.publication(Disk(effects)))
        except Dead:
            recover(LocalFileSystem(), site.base.child("unit"), "7", site.base)
        results.append(site.unit)
        assert site.unit in (OLD, NEW), effects
        assert site.names == ["unit"], effects
    assert (OLD in results, NEW in results) == (True, True)


@pytest.mark.parametrize(
    ("left", "unit", "was_published"),
    [
        ({".feedctl-copy-7-unit": NEW, "unit": OLD}, OLD, False),
        ({".feedctl-copy-7-unit": NEW, ".feedctl-old-7-unit": OLD}, NEW, True),
        ({".feedctl-old-7-unit": OLD}, OLD, False),
        ({".feedctl-old-7-unit": OLD, "unit": NEW}, NEW, True),
        ({aside_name(".feedctl-old-7-unit"): OLD, "unit": NEW}, NEW, False),
    ],
    ids=["a copy", "no unit and a copy", "no unit", "the old unit aside", "a removal in its middle"],
)
def test_recover_mends_what_a_kill_leaves(
    tmp_path: Path, left: dict[str, dict[str, str]], unit: dict[str, str], *, was_published: bool
) -> None:
    for name, files in left.items():
        fill(tmp_path / name, files)
    base = CanonicalPath.parse(f"file://{tmp_path}")
    assert recover(LocalFileSystem(), base.child("unit"), "7", base) is was_published
    assert (seen(tmp_path / "unit"), [each.name for each in tmp_path.iterdir()]) == (unit, ["unit"])


def test_a_verified_copy_elsewhere_becomes_the_unit_that_is_missing(tmp_path: Path) -> None:
    fill(tmp_path / ".feedctl-old-7-unit", OLD)
    fill(tmp_path / "staged", NEW)
    base = CanonicalPath.parse(f"file://{tmp_path}")
    assert recover(LocalFileSystem(), base.child("unit"), "7", base, lambda: base.child("staged"))
    assert (seen(tmp_path / "unit"), [each.name for each in tmp_path.iterdir()]) == (NEW, ["unit"])


def test_file_by_file_readers_never_see_the_flag_beside_a_mixture(tmp_path: Path) -> None:
    results = []
    for effects in range(40):
        site = Site(tmp_path / str(effects))
        try:
            write_in_place(site.publication(Disk(effects, renames=False)))
        except Dead:
            assert "_SUCCESS" not in site.unit or site.unit in (OLD, NEW), effects
        results.append(site.unit)
    assert (OLD in results, NEW in results) == (True, True)


@pytest.mark.parametrize("publish", [rename_in, write_in_place])
def test_a_source_that_somebody_wrote_to_is_not_published(
    site: Site, publish: Callable[[Publication, Callable[[], None]], None]
) -> None:
    with pytest.raises(SourceChanged):
        publish(site.publication(), lambda: fill(site.root / "from", {"late": "late"}))
    assert "late" not in site.unit
    assert site.unit == OLD or "_SUCCESS" not in site.unit


def test_a_copy_that_lost_a_file_is_not_published(site: Site) -> None:
    with pytest.raises(CopyDiffers):
        rename_in(site.publication(), (site.root / "to/.feedctl-copy-7-unit/a").unlink)
    assert (site.unit, site.names) == (OLD, ["unit"])


def test_files_are_copied_in_parts(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FILES_AT_ONCE", 2)
    publication = site.publication()
    wanted = {name: entry for name, entry in tree(publication).items() if name != "b"}
    digests = publication.copy(wanted, wanted, site.base.child("copy"))
    assert (site.parts, digests.keys(), seen(site.root / "to/copy")) == ([2, 1], NEW.keys(), NEW)
    monkeypatch.setattr(module, "FILES_AT_ONCE", 1)
    assert publication.digests(site.base.child("copy"), wanted, wanted) == digests


def test_a_single_file_is_a_unit(tmp_path: Path) -> None:
    (tmp_path / "from").write_text("alone")
    (tmp_path / "to").mkdir()
    publication = Site.publication(_Empty(tmp_path), is_only_copy=True)
    wanted = tree(publication)
    publication.copy(wanted, wanted, publication.unit)
    publication.verify(publication.unit, wanted, wanted)
    assert (tmp_path / "to/unit").read_text() == "alone"


class _Empty(Site):
    """A site without data."""

    def __post_init__(self) -> None:
        """Make nothing."""


def test_a_copy_that_cannot_get_the_name_leaves_the_unit(site: Site) -> None:
    with pytest.raises(PermissionDenied):
        rename_in(site.publication(Refusing()))
    assert (site.unit, site.names) == (OLD, ["unit"])


def test_a_run_that_is_stopped_before_the_renames_leaves_the_unit(site: Site) -> None:
    publication = site.publication()
    fill(site.root / "to/ready", NEW)
    stopped = replace(publication, work=replace(publication.work, guard=Guard(run=Ended(), conditions=())))
    with pytest.raises(StopRequested):
        stopped.swap_in(site.base.child("ready"), aside=site.base.child("aside"))
    assert (site.unit, site.names) == (OLD, ["ready", "unit"])


@pytest.mark.parametrize(("refused", "error", "unit"), [((2,), StorageFailure, OLD), ((2, 3), NotSettled, {})])
def test_a_stop_between_the_renames_does_not_keep_the_unit_away(
    site: Site, refused: Sequence[int], error: type[StorageError], unit: dict[str, str]
) -> None:
    publication = site.publication()
    guard, renames = publication.work.guard, count(1)

    class Stopping(LocalFileSystem):
        def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
            if next(renames) in refused:
                guard.stop(Stopped(reason="SIGTERM"))
                raise StorageFailure(path=target)
            super().rename(source, target)

    disk = Stopping(guard.check)
    fill(site.root / "to/ready", NEW)
    with pytest.raises(error) as raised:
        replace(publication, work=replace(publication.work, stores=lambda _: disk)).swap_in(
            site.base.child("ready"), aside=site.base.child("aside")
        )
    assert site.unit == unit
    assert (raised.value.code in UNKNOWN) == (not unit)
