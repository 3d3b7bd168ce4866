"""Units that are judged between their copying and their announcement, on disks with and without atomic renames."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.unit.actions.fake_action import context, in_order
from tests.unit.actions.fake_validator import FakeValidator
from tests.unit.quality.validators import BLOCKS, CLUSTER, CopyingStore
from tests.unit.replication.test_publish import Breaking, Dead
from toolkit.actions.action import Applied
from toolkit.actions.copy_limits import CopyLimits
from toolkit.actions.guard import Guard
from toolkit.actions.validation import QUALITY_FAILED, FeedValidation
from toolkit.el import CanonicalPath, Frequency, parse_instant
from toolkit.entities import Feed
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.planning.instance_storage import PartitionExpression
from toolkit.replication.action import ReplicationAction
from toolkit.replication.publish import finish
from toolkit.replication.targets import ReplicationTarget, UnitItem
from toolkit.result import Outcome
from toolkit.runs.stop import NeverStopped
from toolkit.storage import LocalFileSystem

FEED = Feed(name="clicks", frequency=Frequency.parse("hours(1)"), clusters=(), availability_flag="_SUCCESS")


@dataclass
class Copying:
    """An instance that is judged where it is copied to, and runs that copy it."""

    root: Path
    store: LocalFileSystem = field(default_factory=LocalFileSystem)
    validator: FakeValidator = field(default_factory=FakeValidator)
    parts: str = ""
    runs: int = 0

    @property
    def base(self) -> CanonicalPath:
        return CanonicalPath.parse(f"file://{self.root}")

    @property
    def target(self) -> ReplicationTarget:
        return ReplicationTarget(
            feed="clicks",
            cluster="backup",
            counterpart="primary",
            instance_key="2026-03-01T00:00Z",
            source=self.base.child("from").child("x"),
            target=self.base.child("to").child("x"),
            target_base=self.base.child("to"),
            parts=PartitionExpression(self.parts).bind({}) if self.parts else (),
            flag="_SUCCESS",
            validation=FeedValidation(feed=FEED, cluster=CLUSTER, quality=BLOCKS),
        )

    def fill(self, **files: str) -> None:
        for name, text in {**files, "_SUCCESS": ""}.items():
            file = self.root / "from/x" / name.replace("_in_", "/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def action(self) -> ReplicationAction:
        return ReplicationAction(
            nominal=parse_instant("2026-03-02T00:00Z"),
            limits=CopyLimits(instances=10),
            max_delete=DeleteLimits(),
        )

    def run(self) -> list[Applied[UnitItem]]:
        self.runs += 1
        guard = Guard(run=NeverStopped(), conditions=())
        work = replace(
            context(guard.run),
            guard=guard,
            stores=lambda _: self.store,
            validator=self.validator,
            run_name=str(self.runs),
        )
        action = self.action()
        plan = action.plan(self.target, replace(work, stores=lambda _: LocalFileSystem()))
        assert plan.failed is None
        return in_order(action.batches(plan, work))

    def codes(self) -> list[str]:
        return [each.code for applied in self.run() for each in applied.results]

    def finish(self) -> bool:
        """Return what the next run does first with what the last has left."""
        target, plain = self.target, LocalFileSystem()
        work = replace(context(NeverStopped()), stores=lambda _: plain, validator=self.validator)
        return finish(target, target.target, str(self.runs), work)

    def seen(self) -> dict[str, str]:
        """Return what readers find."""
        root = self.root / "to/x"
        files = (each for each in root.rglob("*") if each.is_file() and ".feedctl" not in str(each))
        return {str(each.relative_to(root)): each.read_text() for each in files}

    @property
    def waiting(self) -> Path:
        return self.root / "to/.feedctl-staging/x"


@pytest.mark.parametrize("store", [LocalFileSystem(), CopyingStore()])
def test_what_is_blocked_is_not_announced_until_somebody_releases_it(tmp_path: Path, store: LocalFileSystem) -> None:
    copying = Copying(tmp_path, store)
    copying.fill(a="bad", b="good")
    (applied,) = copying.run()
    assert [(each.outcome, each.code) for each in applied.results] == [(Outcome.FAILED, QUALITY_FAILED)]
    assert applied.events == ()
    assert "_SUCCESS" not in copying.seen()
    assert (copying.seen() == {}) is store.capabilities.atomic_rename
    manifest = tmp_path / "to/.feedctl-staging/x.blocked.json"
    assert "it is bad" in manifest.read_text()
    assert copying.codes() == [QUALITY_FAILED]
    assert len(copying.validator.validated) == 1, "nothing was copied again, so that nothing had to be judged again"
    copying.validator.release()
    (applied,) = copying.run()
    assert [each.outcome for each in applied.results] == [Outcome.DONE]
    assert len(applied.events) == 1
    assert copying.seen() == {"a": "bad", "b": "good", "_SUCCESS": ""}
    assert not manifest.exists()
    assert not copying.waiting.exists()
    assert copying.run() == []


@pytest.mark.parametrize("store", [LocalFileSystem(), CopyingStore()])
def test_a_source_that_was_mended_is_copied_anew_and_announced(tmp_path: Path, store: LocalFileSystem) -> None:
    copying = Copying(tmp_path, store)
    copying.fill(a="bad")
    assert copying.codes() == [QUALITY_FAILED]
    copying.fill(a="now")  # as many bytes
    assert copying.codes() == [""]
    assert copying.seen() == {"a": "now", "_SUCCESS": ""}
    copying.fill(a="bad")
    assert copying.codes() == [QUALITY_FAILED]
    if store.capabilities.atomic_rename:
        assert copying.seen() == {"a": "now", "_SUCCESS": ""}, "readers have what was announced before"
    else:
        assert "_SUCCESS" not in copying.seen()


@pytest.mark.parametrize("store", [LocalFileSystem(), CopyingStore()])
def test_each_part_is_judged_by_itself_and_the_flag_waits_for_all(tmp_path: Path, store: LocalFileSystem) -> None:
    copying = Copying(tmp_path, store, parts="*")
    copying.fill(eu_in_a="good", us_in_a="bad")
    assert sorted(copying.codes()) == ["", QUALITY_FAILED]
    assert "eu/a" in copying.seen()
    assert "_SUCCESS" not in copying.seen()
    assert copying.codes() == [QUALITY_FAILED], "also where all of it is there, and only the flag is missing"
    copying.fill(eu_in_a="more")
    assert QUALITY_FAILED in copying.codes() + copying.codes(), "when the part that is good comes last, too"
    assert "_SUCCESS" not in copying.seen()
    copying.validator.release()
    assert copying.codes() == [""]
    assert copying.seen() == {"eu/a": "more", "us/a": "bad", "_SUCCESS": ""}


@pytest.mark.parametrize("store", [LocalFileSystem(), CopyingStore()])
def test_a_part_that_was_there_before_anybody_judged_is_judged_before_the_flag(
    tmp_path: Path, store: LocalFileSystem
) -> None:
    copying = Copying(tmp_path, store, parts="*")
    copying.fill(eu_in_a="good", us_in_a="bad")
    (tmp_path / "to/x").mkdir(parents=True)
    shutil.copytree(tmp_path / "from/x/us", tmp_path / "to/x/us")
    assert copying.codes() == [QUALITY_FAILED]
    assert "_SUCCESS" not in copying.seen()


def test_wherever_a_run_dies_nothing_is_announced_that_nobody_admitted(tmp_path: Path) -> None:
    for number in range(1, 20):
        place = tmp_path / str(number)
        copying = Copying(place)
        copying.fill(a="older")
        copying.run()
        copying.fill(a="bad")
        copying.store = Breaking(number, Dead)
        try:
            copying.run()
        except Dead:
            copying.finish()
        assert copying.seen()["a"] == "older", number
        copying.store = LocalFileSystem()
        assert copying.codes() == [QUALITY_FAILED]
        copying.validator.release()
        copying.store = Breaking(number, Dead)
        try:
            copying.run()
        except Dead:
            copying.finish()
        assert copying.seen()["a"] in {"older", "bad"}, number
        copying.store = LocalFileSystem()
        assert set(copying.codes()) <= {""}
        assert copying.seen()["a"] == "bad", number
        assert not copying.waiting.exists()
        assert [each.name for each in (place / "to").iterdir() if each.name != ".feedctl-staging"] == ["x"]
