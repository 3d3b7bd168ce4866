"""A unit of which a part changed: only that is copied, and whatever breaks, readers see the old unit or the new one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.unit.actions.fake_action import context
from toolkit.actions.guard import Guard
from toolkit.actions.publication import recover
from toolkit.el import CanonicalPath, parse_instant
from toolkit.replication import publish as module
from toolkit.replication.errors import TargetChanged
from toolkit.replication.planner import ReplicationPlanner
from toolkit.replication.publish import Publisher
from toolkit.replication.targets import CopyRules, ReplicationTarget
from toolkit.runs.stop import NeverStopped
from toolkit.storage import AlreadyExists, NotFound, PermissionDenied, StorageError, StorageFailure, Unreachable
from toolkit.storage.local.file_system import LocalFileSystem

OLD = {
    "same": "same",
    "deep/same": "same",
    "changed": "old",
    "deep/changed": "old",
    "deep/gone": "old",
    "going/one": "old",
    "going/deep/two": "old",
}
NEW = {
    "same": "same",
    "deep/same": "same",
    "changed": "newer",
    "deep/changed": "newer",
    "new": "new",
    "deep/new": "new",
    "coming/deep/three": "new",
}
MOST_EFFECTS = 30
UNCHANGED = ("same", "deep/same")


class Dead(BaseException):
    """The process is not there any more."""


class Breaking(LocalFileSystem):
    """A disk that fails before one effect, or before all later ones too when its process is dead; a reader looks."""

    def __init__(self, effects: int, failure: type[BaseException], look: Callable[[], None]) -> None:
        super().__init__(self._count)
        self.left, self.failure, self.look = effects, failure, look

    def _count(self) -> None:
        self.look()
        self.left -= 1
        if self.failure is Dead and self.left < 0:
            raise Dead
        if self.left == -1:
            raise StorageFailure(path=CanonicalPath.parse("file:///"), detail="broken")


class Forgetful(LocalFileSystem):
    """A disk that does one rename and says that it did not."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.left = number

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        super().rename(source, target)
        self.left -= 1
        if self.left == 0:
            raise Unreachable(path=source, detail="no answer")


class Late(LocalFileSystem):
    """A disk that leaves one rename without an answer, and does it when so many further ones were done."""

    def __init__(self, number: int, after: int) -> None:
        super().__init__()
        self.left, self.after = number, after
        self.waiting: tuple[CanonicalPath, CanonicalPath] | None = None

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        self.left -= 1
        if self.left == 0:
            self.waiting = source, target
            raise Unreachable(path=source, detail="no answer")
        super().rename(source, target)
        if self.left == -self.after:
            self.come()

    def come(self) -> None:
        """Do it now, if it still can be done."""
        waiting, self.waiting = self.waiting, None
        if waiting is not None:
            try:
                super().rename(*waiting)
            except (NotFound, AlreadyExists):
                return


def fill(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def seen(root: Path) -> dict[str, str] | None:
    if not root.exists():
        return None
    return {str(each.relative_to(root)): each.read_text() for each in root.rglob("*") if each.is_file()}


@dataclass
class Site:
    """A source with the new files, and a target with the old ones."""

    root: Path
    rules: CopyRules = field(default_factory=lambda: CopyRules(at_once=1))
    new: dict[str, str] = field(default_factory=lambda: dict(NEW))

    def __post_init__(self) -> None:
        fill(self.root / "from/x", self.new)
        fill(self.root / "to/x", OLD)

    @property
    def base(self) -> CanonicalPath:
        return CanonicalPath.parse(f"file://{self.root}/to")

    @property
    def unit(self) -> dict[str, str] | None:
        return seen(self.root / "to/x")

    @property
    def names(self) -> list[str]:
        return sorted(each.name for each in (self.root / "to").iterdir())

    def inodes(self) -> dict[str, int]:
        """Return what tells an unchanged file from a copy of it."""
        return {name: (self.root / "to/x" / name).stat().st_ino for name in UNCHANGED}

    def publish(
        self, system: LocalFileSystem, guard: Guard | None = None, source: LocalFileSystem | None = None
    ) -> None:
        """Publish what changed, by a run with the name 1."""
        target = ReplicationTarget(
            feed="clicks",
            cluster="backup",
            counterpart="primary",
            instance_key="2026-03-01T00:00Z",
            source=CanonicalPath.parse(f"file://{self.root}/from/x"),
            target=self.base.child("x"),
            target_base=self.base,
            rules=self.rules,
        )
        plain, nominal = LocalFileSystem(), parse_instant("2026-03-02T00:00Z")

        def of_source(path: CanonicalPath, other: LocalFileSystem) -> LocalFileSystem:
            return source if source is not None and path.is_within(target.source.parent) else other

        planner = ReplicationPlanner(storage=lambda path: of_source(path, plain), check=lambda: None, nominal=nominal)
        (item,) = planner.plan(target).items
        guard = guard or Guard(run=NeverStopped(), conditions=())
        work = replace(context(NeverStopped()), guard=guard, run_name="1", stores=lambda path: of_source(path, system))
        Publisher(target=target, item=item, work=work).publish(is_last=True)

    def recover(self) -> bool:
        """Recover as the next run does."""
        return recover(LocalFileSystem(), self.base.child("x"), "1", self.base)


@pytest.fixture(autouse=True)
def older(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of one size are the same, whichever was written first."""
    monkeypatch.setattr("toolkit.replication.listing._reason_by_time", lambda *_: None)


def test_only_what_changed_is_copied_and_the_rest_stays_the_same_file(tmp_path: Path) -> None:
    site = Site(tmp_path)
    before = site.inodes()
    site.publish(LocalFileSystem())
    assert (site.unit, site.names, site.inodes()) == (NEW, ["x"], before)
    assert not (tmp_path / "to/x/going").exists()


def test_what_only_the_target_has_stays_where_the_feed_says_so(tmp_path: Path) -> None:
    site = Site(tmp_path, CopyRules(at_once=1, remove_deleted=False))
    before = site.inodes()
    site.publish(LocalFileSystem())
    assert (site.unit, site.names, site.inodes()) == (OLD | NEW, ["x"], before)


@pytest.mark.parametrize("failure", [Dead, StorageFailure])
def test_whichever_effect_fails_or_is_the_last_one_readers_see_old_or_new_and_nothing_is_left(
    tmp_path: Path, failure: type[BaseException]
) -> None:
    results = []
    for effects in range(MOST_EFFECTS):
        site = Site(tmp_path / str(effects))

        def look(site: Site = site) -> None:
            assert site.unit in (None, OLD, NEW)

        try:
            site.publish(Breaking(effects, failure, look))
        except (Dead, StorageError):
            was_published = site.recover()
            assert (not was_published or site.unit == NEW, site.names) == (True, ["x"]), effects
        assert site.unit in (OLD, NEW), effects
        results.append(site.unit == NEW)
    assert (results[0], results[-1]) == (False, True)


@pytest.mark.extended
def test_a_second_run_that_dies_while_it_recovers_loses_nothing_either(tmp_path: Path) -> None:
    for effects in range(10, MOST_EFFECTS, 2):
        for more in range(0, 12, 2):
            site = Site(tmp_path / f"{effects}-{more}")
            with suppress(Dead):
                site.publish(Breaking(effects, Dead, lambda: None))
            with suppress(Dead):
                recover(Breaking(more, Dead, lambda: None), site.base.child("x"), "1", site.base)
            site.recover()
            assert (site.unit in (OLD, NEW), site.names) == (True, ["x"]), (effects, more)


@pytest.mark.parametrize("number", range(1, 14))
def test_a_rename_that_happened_although_it_was_not_answered_takes_nothing_away(tmp_path: Path, number: int) -> None:
    site = Site(tmp_path)
    try:
        site.publish(Forgetful(number))
    except Unreachable:
        site.recover()
    else:
        assert site.unit == NEW
    assert (site.unit in (OLD, NEW), site.names) == (True, ["x"])


@pytest.mark.extended
@pytest.mark.parametrize("after", range(12))
def test_a_rename_that_happens_after_all_takes_nothing_away(tmp_path: Path, after: int) -> None:
    for number in range(1, 14):
        site = Site(tmp_path / str(number))
        disk = Late(number, after)
        with suppress(Unreachable):
            site.publish(disk)
        disk.come()
        site.recover()
        assert (site.unit in (OLD, NEW), site.names) == (True, ["x"]), number


class Refusing(LocalFileSystem):
    """A disk on which nothing inside of the unit may be renamed, by whoever may rename it as a whole."""

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        if source.parent.name.startswith(".feedctl-old-"):
            raise PermissionDenied(path=source)
        super().rename(source, target)


def test_a_unit_in_which_nothing_may_be_renamed_is_replaced_as_a_whole(tmp_path: Path) -> None:
    site = Site(tmp_path)
    before = site.inodes()
    site.publish(Refusing())
    assert (site.unit, site.names) == (NEW, ["x"])
    assert before.items().isdisjoint(site.inodes().items())


@pytest.mark.parametrize(
    ("rules", "new"),
    [
        (CopyRules(at_once=1, overwrite=True), NEW),
        (CopyRules(at_once=1, permission=True), NEW),
        (CopyRules(at_once=1), NEW | {"going": "a file now"}),
        (CopyRules(at_once=1), NEW | {f"{number}": "" for number in range(module.MOST_EXCHANGED)}),
    ],
    ids=["overwrite", "permission", "a file for a directory", "too many"],
)
def test_what_cannot_be_exchanged_is_replaced_as_a_whole(tmp_path: Path, rules: CopyRules, new: dict[str, str]) -> None:
    site = Site(tmp_path, rules, new)
    before = site.inodes()
    site.publish(LocalFileSystem())
    assert (site.unit, site.names) == (new, ["x"])
    assert before.items().isdisjoint(site.inodes().items())


def test_what_came_to_the_target_meanwhile_is_not_thrown_away(tmp_path: Path) -> None:
    site = Site(tmp_path)

    def come() -> None:
        (tmp_path / "to/x/theirs").write_text("theirs")

    with pytest.raises(TargetChanged):
        site.publish(Breaking(1_000, Dead, come))
    assert (site.unit, site.names) == (OLD | {"theirs": "theirs"}, ["x"])


def test_a_unit_that_was_made_anew_since_is_kept_by_the_recovery(tmp_path: Path) -> None:
    site = Site(tmp_path)
    with pytest.raises(Dead):
        site.publish(Breaking(16, Dead, lambda: None))
    assert not (tmp_path / "to/x").exists()
    fill(tmp_path / "to/x", NEW)
    site.recover()
    assert (site.unit, site.names) == (NEW, ["x"])
