"""Parts of an instance that are replaced one after the other: no reader finds the flag beside a mixture of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.actions.fake_action import context
from toolkit.actions.guard import Guard
from toolkit.actions.publication import recover
from toolkit.el import CanonicalPath, parse_instant
from toolkit.ledger.manifests import Manifest, ManifestFile
from toolkit.planning.instance_storage import PartitionExpression
from toolkit.replication.completeness import Completeness, mark_of
from toolkit.replication.planner import ReplicationPlanner
from toolkit.replication.publish import Published, Publisher
from toolkit.replication.targets import REMOVE, CopyRules, ReplicationPlan, ReplicationTarget
from toolkit.runs.stop import NeverStopped
from toolkit.storage.local.file_system import LocalFileSystem
from toolkit.transfer.copier import SourceChanged

PARTS = ("de", "fr")
FLAG = "_SUCCESS"


class Dead(BaseException):
    """The process is not there any more."""


class Watched(LocalFileSystem):
    """A disk on which a reader looks after every effect, and which dies before one of them.

    Attributes:
        look: the reader.
        lives: so many effects happen; None: all.
    """

    def __init__(self, look: Callable[[], None], lives: int | None = None) -> None:
        super().__init__(self._count)
        self.look, self.lives, self.effects = look, lives, 0

    def _count(self) -> None:
        self.look()
        if self.lives is not None and self.effects >= self.lives:
            raise Dead
        self.effects += 1

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        super().rename(source, target)
        self.look()


class Instance:
    """An instance in two parts on two disks; each file has the generation that it belongs to."""

    def __init__(self, directory: Path, others: tuple[str, ...] = ()) -> None:
        self.source, self.place = directory / "from/x", directory / "to/x"
        for part in PARTS:
            self.write(self.source / part, "newer")
            self.write(self.place / part, "old")
        for flag in (self.source / FLAG, self.place / FLAG):
            flag.touch()
        base = CanonicalPath.parse(f"file://{directory}").child("to")
        self.target = ReplicationTarget(
            feed="clicks",
            cluster="backup",
            counterpart="primary",
            instance_key="2026-03-01T00:00Z",
            source=CanonicalPath.parse(f"file://{self.source}"),
            target=base.child("x"),
            target_base=base,
            parts=PartitionExpression("*").bind({}),
            flag=FLAG,
            others=others,
            rules=CopyRules(at_once=1, overwrite=True),
        )
        for name in ("primary", *others) if others else ():
            Path(mark_of(self.target.target, name).path).touch()
        self.mixed = 0

    @staticmethod
    def write(part: Path, text: str) -> None:
        """Write one file of a part."""
        part.mkdir(parents=True, exist_ok=True)
        (part / "data").write_text(text)

    def generations(self) -> set[str]:
        """Return what a reader finds in the parts; a missing part counts as a value."""
        files = [self.place / part / "data" for part in PARTS]
        return {each.read_text() if each.exists() else "" for each in files}

    @property
    def is_announced(self) -> bool:
        """True if the flag says that the instance is complete."""
        return (self.place / FLAG).exists()

    def look(self) -> None:
        """Count a reader that finds the flag, and parts of different generations."""
        self.mixed += self.is_announced and len(self.generations()) > 1

    def plan(self, recorded: Mapping[str, Manifest] | None = None, **rules: bool) -> ReplicationPlan:
        """Return the plan of a run."""
        plain = LocalFileSystem()
        target = replace(self.target, rules=replace(self.target.rules, **rules))  # type: ignore[arg-type]
        planner = ReplicationPlanner(
            storage=lambda _: plain,
            check=lambda: None,
            nominal=parse_instant("2026-03-02T00:00Z"),
            recorded=lambda _: recorded or {},
        )
        return planner.plan(target)

    def publish(self, system: LocalFileSystem, run: str, plan: ReplicationPlan) -> list[Published]:
        """Do what a plan says."""
        guard = Guard(run=NeverStopped(), conditions=())
        work = replace(context(guard.run), guard=guard, stores=lambda _: system, run_name=run)
        return [
            Publisher(target=plan.target, item=item, work=work).publish(is_last=item is plan.items[-1])
            for item in plan.items
        ]


def test_the_flag_is_away_while_parts_are_replaced_and_comes_back_when_all_are(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    published = instance.publish(Watched(instance.look), "1", instance.plan())
    assert instance.mixed == 0
    assert ([each.is_complete for each in published], instance.is_announced) == ([False, True], True)
    assert instance.generations() == {"newer"}


def test_whichever_effect_is_the_last_one_no_reader_finds_a_mixture_and_a_rerun_completes_it(tmp_path: Path) -> None:
    died_without_flag = 0
    for lives in range(60):
        (tmp_path / str(lives)).mkdir()
        instance = Instance(tmp_path / str(lives))
        try:
            instance.publish(Watched(instance.look, lives), "1", instance.plan())
        except Dead:
            instance.look()
            died_without_flag += not instance.is_announced
        plan = instance.plan(overwrite=False)
        for part in PARTS:
            recover(LocalFileSystem(), instance.target.target.child(part), "1", instance.target.target_base)
        instance.publish(Watched(instance.look), "2", plan)
        assert (instance.mixed, instance.generations()) == (0, {"newer"}), lives
        assert instance.is_announced, lives
    assert died_without_flag > 1


def test_the_only_part_that_is_replaced_is_never_missing_beside_the_flag(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    plan = instance.plan()
    missing: list[bool] = []

    def look() -> None:
        missing.append(instance.is_announced and not (instance.place / "de").exists())

    instance.publish(Watched(look), "1", replace(plan, items=plan.items[:1]))
    assert (True in missing, instance.is_announced) == (False, True)


def test_nothing_to_replace_leaves_the_flag_untouched(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    instance.publish(Watched(instance.look), "1", instance.plan())
    before = (instance.place / FLAG).stat().st_mtime_ns
    plan = instance.plan(overwrite=False)
    assert (plan.items, plan.detail.is_complete) == ((), True)
    assert (instance.place / FLAG).stat().st_mtime_ns == before


def test_the_part_of_one_of_several_sources_takes_flag_and_mark_away_and_brings_both_back(tmp_path: Path) -> None:
    instance = Instance(tmp_path, others=("other",))
    marks: list[bool] = []

    def look() -> None:
        instance.look()
        marks.append(Path(mark_of(instance.target.target, "primary").path).exists())

    published = instance.publish(Watched(look), "1", instance.plan())
    assert (instance.mixed, instance.is_announced, published[-1].is_complete) == (0, True, True)
    assert (marks[0], False in marks) == (True, True)


class Steps(LocalFileSystem):
    """A disk on which something happens just before one effect, and a reader looks after each."""

    def __init__(self, at: int, happens: Callable[[], None], look: Callable[[], None]) -> None:
        super().__init__(self._count)
        self.at, self.happens, self.look, self.effects = at, happens, look, 0

    def _count(self) -> None:
        self.look()
        self.effects += 1
        if self.effects == self.at:
            self.happens()


@pytest.mark.parametrize("at", range(1, 9))
def test_a_source_that_begins_anew_is_not_announced_by_another_one_that_ends(tmp_path: Path, at: int) -> None:
    instance, plain = Instance(tmp_path, others=("other",)), LocalFileSystem()
    (instance.place / FLAG).unlink()
    other = replace(instance.target, counterpart="other", others=("primary",))
    withdrawn = Completeness(target=other, source_system=plain, system=plain)
    has_begun: list[bool] = []

    def begin() -> None:
        withdrawn.withdraw()
        has_begun.append(True)

    def look() -> None:
        assert not (has_begun and instance.is_announced)

    system = Steps(at, begin, look)
    is_whole = Completeness(target=instance.target, source_system=plain, system=system).announce()
    look()
    assert is_whole is not bool(has_begun)
    assert sorted(each.name for each in instance.place.iterdir() if "flag" in each.name) == []


def test_a_part_that_the_source_dropped_never_goes_beside_the_flag_and_a_rerun_completes_it(tmp_path: Path) -> None:
    for lives in range(20):
        (tmp_path / str(lives)).mkdir()
        instance = Instance(tmp_path / str(lives))
        for part in PARTS:
            instance.write(instance.place / part, "newer")
        instance.target = replace(instance.target, removes_dropped=True)
        (instance.source / "fr/data").unlink()
        (instance.source / "fr").rmdir()
        recorded = {str(instance.target.target.child("fr")): {"data": ManifestFile(5)}}
        missing: list[bool] = []

        def look(at: Path = instance.place, missing: list[bool] = missing) -> None:
            flags = list(at.glob(FLAG))
            missing.append(bool(flags) and (at / "fr").exists() and not (at / "fr/data").exists())

        plan = instance.plan(recorded, overwrite=False)
        assert [item.kind for item in plan.items] == [REMOVE]
        with contextlib.suppress(Dead):
            instance.publish(Watched(look, lives), "1", plan)
        again = instance.plan(recorded, overwrite=False)
        instance.publish(Watched(look), "2", again)
        assert (True in missing, (instance.place / "fr").exists(), instance.is_announced) == (False, False, True), lives


def test_a_part_that_came_back_at_the_source_is_not_removed(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    instance.target = replace(instance.target, removes_dropped=True)
    (instance.source / "fr").rename(instance.source / ".fr")
    plan = instance.plan({str(instance.target.target.child("fr")): {"data": ManifestFile(5)}})
    (instance.source / ".fr").rename(instance.source / "fr")
    (removal,) = [item for item in plan.items if item.kind == REMOVE]
    with pytest.raises(SourceChanged):
        instance.publish(LocalFileSystem(), "1", replace(plan, items=(removal,)))
    assert (instance.place / "fr/data").exists()
