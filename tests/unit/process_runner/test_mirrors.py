"""Snapshot mirrors as steps of processes, on two HDFS in memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.unit.actions.fake_action import context
from tests.unit.mirror.memory_hdfs import MemorySnapshots
from tests.unit.mirror.site import SOURCE, TARGET, Site
from tests.unit.process_runner.refusals import RefusedLater
from toolkit.actions.action import RunContext
from toolkit.actions.guard import HELD, CalledOff, Condition, Guard, Refusal
from toolkit.actions.hold_watch import HoldCheckFailed
from toolkit.actions.model import Problem, TargetPlan
from toolkit.el import CanonicalPath, Frequency, Unit
from toolkit.entities import Engine
from toolkit.entities.mirror_work import MirrorSettings, SnapshotMirror, SnapshotRetention
from toolkit.entities.vocabulary import OnMissingSnapshot
from toolkit.errors import StopRequested
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.process_runner.mirrors import MirrorEngine, MirrorRemovesTooMuch, Mirrors
from toolkit.process_runner.snapshot_mirrors import SnapshotMirrors
from toolkit.process_runner.targets import ProcessDetail, ProcessPlan, StepItem
from toolkit.programs.port import NOTHING_CHANGED, StepEnd
from toolkit.rendering.mirror_plan import mirror_document, mirror_lines
from toolkit.storage import FileSystem
from toolkit.transfer.trees import below

_KEEP = SnapshotRetention(limit=Frequency(unit=Unit.DAYS, count=1), number=1)
_MIRROR = SnapshotMirror(
    source_cluster="one",
    target_cluster="two",
    source_snapshot_dir=SOURCE.path,
    target_snapshot_dir=TARGET.path,
    source_snapshot_retention=_KEEP,
    target_snapshot_retention=_KEEP,
)


_COUNTED = ("COPY", "BYTESCOPIED", "COPYREUSED", "BYTESREUSED", "RENAMES", "DELETES", "SNAPSHOTSPRUNED")
_NOTHING = dict.fromkeys(_COUNTED, 0)


@dataclass
class _Run:
    """Runs of the mirror `sales` between the HDFS of a site."""

    log: Path
    approve: str | None = None
    mirror: SnapshotMirror = _MIRROR
    limits: DeleteLimits = field(default_factory=DeleteLimits)
    site: Site = field(default_factory=Site)
    conditions: Sequence[Condition] = ()
    held: Callable[..., Problem | None] = lambda *_: None
    written: list[object] = field(default_factory=list)

    def work(self) -> RunContext:
        stores: dict[str, FileSystem] = {"one": self.site.one, "two": self.site.two}
        stop = cast("Any", SimpleNamespace(check=lambda: None))
        guard = Guard(run=stop, conditions=self.conditions)
        found = replace(context(stop), write_ledger=self.written.append, guard=guard)
        return replace(found, stores=lambda path: stores[path.authority])

    def mirrors(self, *, is_dry_run: bool = False) -> Mirrors:
        stores = {"one": self.site.one, "two": self.site.two}

        def cluster(name: str) -> Any:  # noqa: ANN401 - stands for a cluster
            return SimpleNamespace(name=name, place=lambda text: CanonicalPath("hdfs", name, text))

        by_snapshots = SnapshotMirrors(
            cluster=cluster,
            snapshots=lambda of, _root, _hook: MemorySnapshots(stores[of.name]),
            limits=self.limits,
            now=lambda: datetime(2027, 1, 1, tzinfo=UTC),
            approve=self.approve,
            is_dry_run=is_dry_run,
        )
        return Mirrors(actions={"hdfs_snapshot": lambda: by_snapshots}, held=self.held)

    def plan(self, hour: int) -> ProcessPlan:
        process = SimpleNamespace(workflow=SimpleNamespace(mirror=MirrorSettings(hdfs_snapshot=self.mirror)))
        key = f"2026-03-01T{hour:02}:00Z"
        target = cast("Any", SimpleNamespace(entity="sales", instance_key=key, site=SimpleNamespace(process=process)))
        item = StepItem(name="main", engine=Engine.MIRROR, path="", instance_key=key)
        return TargetPlan(target=target, detail=ProcessDetail(), items=(item,))

    def planned(self, hour: int, *, is_dry_run: bool = False) -> ProcessPlan:
        return self.mirrors(is_dry_run=is_dry_run).planned(self.plan(hour), self.work())

    def run(self, hour: int) -> tuple[StepEnd, dict[str, int]]:
        plan = self.plan(hour)
        engine = MirrorEngine(mirrors=self.mirrors(), plan=plan, work=self.work())
        end = engine.run(cast("Any", SimpleNamespace(log=self.log)), lambda _: None, lambda: None)
        return end, {name: value for name, value in plan.detail.counters.items() if name != "TIMETAKEN"}


@pytest.fixture
def ran(tmp_path: Path) -> _Run:
    found = _Run(log=tmp_path / "logs" / "main.log")
    for name in ("a/f", "a/g", "deep/in/h", "stays"):
        found.site.one.mkdirs(below(SOURCE, name).parent)
        found.site.one.write(below(SOURCE, name), [name.encode()])
    return found


def _change(site: Site) -> None:
    site.one.rename(below(SOURCE, "deep"), below(SOURCE, "moved"))
    site.one.delete(below(SOURCE, "a"), below=SOURCE)
    site.one.append(below(SOURCE, "stays"), b" longer")
    site.one.mkdirs(below(SOURCE, "new"))
    site.one.write(below(SOURCE, "new/x"), [b"fresh"])


def test_a_run_mirrors_counts_and_prunes(ran: _Run) -> None:
    assert ran.planned(0).failed is None
    assert ran.run(0) == (
        StepEnd(exit_code=0),
        _NOTHING | {"COPY": 4, "BYTESCOPIED": 20, "SNAPSHOTSPRUNED": 1},
    )
    _change(ran.site)
    changed = {"COPY": 2, "BYTESCOPIED": 17, "RENAMES": 1, "DELETES": 1, "SNAPSHOTSPRUNED": 2}
    assert ran.run(1)[1] == _NOTHING | changed
    assert len(ran.written) == 2
    assert ran.site.one.tree(SOURCE) == ran.site.two.tree(TARGET)


def test_a_dry_run_shows_the_changes_and_makes_nothing(ran: _Run) -> None:
    ran.run(0)
    _change(ran.site)
    before, snapshots = ran.site.two.tree(TARGET), ran.site.names()
    plan = ran.planned(1, is_dry_run=True)
    assert plan.detail.mirror is not None
    title, *lines = mirror_lines(plan.detail.mirror)
    assert title == "mirror: 5 changes since feedctl.sales.2026-03-01T0000Z, 17 bytes to copy (begin)"
    assert sorted(lines) == [
        "copy new/x (5 bytes)",
        "mkdir new",
        "remove a",
        "rename deep to moved",
        "replace stays (12 bytes)",
    ]
    actions = cast("list[dict[str, object]]", mirror_document(plan.detail.mirror)["actions"])
    assert {"action": "rename", "path": "moved", "origin": "deep", "bytes": None} in actions
    assert (ran.site.two.tree(TARGET), ran.site.names()) == (before, snapshots)


def test_a_run_that_removes_too_much_is_refused_before_the_target_changes(ran: _Run) -> None:
    ran.run(0)
    _change(ran.site)
    ran.limits = DeleteLimits(instances=2)  # a, a/f and a/g go
    refused = ran.planned(1, is_dry_run=True).refused
    assert refused is not None
    assert "would remove 3 of 8 files and directories (6 bytes), and max_delete.instances" in refused.message
    before = ran.site.two.tree(TARGET)
    with pytest.raises(MirrorRemovesTooMuch, match="allows 2"):
        ran.run(1)
    assert ran.site.two.tree(TARGET) == before
    for limits in (DeleteLimits(bytes=5), DeleteLimits(fraction=0.3)):
        ran.limits = limits
        with pytest.raises(MirrorRemovesTooMuch):
            ran.run(1)
    ran.limits = DeleteLimits(instances=3, fraction=0.5, bytes=6)
    assert ran.run(1)[0].succeeded


def test_a_file_written_anew_is_not_removed_and_a_directory_made_anew_loses_its_content(ran: _Run) -> None:
    ran.run(0)
    one = ran.site.one
    one.delete(below(SOURCE, "stays"), below=SOURCE)
    one.write(below(SOURCE, "stays"), [b"anew"])
    one.delete(below(SOURCE, "a"), below=SOURCE)
    one.mkdirs(below(SOURCE, "a"))
    ran.limits = DeleteLimits(instances=2)
    with pytest.raises(MirrorRemovesTooMuch, match="would remove 3 of"):
        ran.run(1)
    ran.limits = DeleteLimits(instances=3)
    assert ran.run(1)[0].succeeded


def test_a_changed_target_is_a_failure_of_the_plan(ran: _Run) -> None:
    ran.run(0)
    ran.site.two.write(below(TARGET, "foreign"), [b""])
    plan = ran.planned(1)
    assert plan.failed is not None
    assert (plan.failed.code, plan.items) == ("mirror_target_changed", ())


def test_a_directory_without_snapshots_is_a_failure_with_the_command_of_the_administrator(ran: _Run) -> None:
    del ran.site.two.taken[TARGET.path]
    plan = ran.planned(0)
    assert plan.failed is not None
    assert plan.failed.code == "not_snapshottable"
    assert f"hdfs dfsadmin -allowSnapshot {TARGET.path}" in plan.failed.message


def test_an_approval_lets_exactly_the_removal_that_it_names_go(ran: _Run) -> None:
    ran.run(0)
    _change(ran.site)
    ran.limits = DeleteLimits(instances=2)
    shown = ran.planned(1, is_dry_run=True).refused
    assert shown is not None
    ran.approve = re.findall(r"--approve ([0-9a-f]{64})", shown.message)[0]
    ran.site.one.write(below(SOURCE, "more"), [b"what is only copied needs no approval"])
    assert ran.planned(1, is_dry_run=True).refused is None
    ran.site.one.delete(below(SOURCE, "stays"), below=SOURCE)
    with pytest.raises(MirrorRemovesTooMuch, match=f"allows 2; {ran.approve} was approved. Look at --dry-run"):
        ran.run(1)
    ran.approve = None
    with pytest.raises(MirrorRemovesTooMuch) as refused:
        ran.run(1)
    ran.approve = re.findall(r"--approve ([0-9a-f]{64})", str(refused.value))[0]
    assert ran.run(1)[0].succeeded


def test_an_approval_of_a_full_compare_is_good_for_the_base_that_its_run_makes(ran: _Run) -> None:
    ran.site.two.write(below(TARGET, "old"), [b"old"])
    ran.site.two.write(below(TARGET, "older"), [b"older"])
    ran.mirror, ran.limits = replace(_MIRROR, on_missing=OnMissingSnapshot.FULL), DeleteLimits(instances=1)
    shown = ran.planned(0, is_dry_run=True).refused
    assert shown is not None
    ran.approve = re.findall(r"--approve ([0-9a-f]{64})", shown.message)[0]
    assert ran.run(0)[0].succeeded
    assert ran.site.one.tree(SOURCE) == ran.site.two.tree(TARGET)


def test_the_log_of_the_step_says_what_was_done(ran: _Run) -> None:
    ran.run(0)
    _change(ran.site)
    ran.log = ran.log.with_name("second.log")
    ran.run(1)
    first = "feedctl.sales.2026-03-01T0000Z"
    *lines, counted = ran.log.read_text().splitlines()
    assert lines == [
        f"feedctl: {TARGET} becomes feedctl.sales.2026-03-01T0100Z: 5 changes since {first}, 17 bytes to copy (begin)",
        f"feedctl: deleted {SOURCE}/.snapshot/{first}",
        f"feedctl: deleted {TARGET}/.snapshot/{first}",
    ]
    assert counted.startswith("feedctl: COPY 2, BYTESCOPIED 17, COPYREUSED 0, BYTESREUSED 0, RENAMES 1, DELETES 1,")
    assert ran.log.stat().st_mode & 0o777 == 0o600
    ran.limits, ran.log = DeleteLimits(instances=0), ran.log.with_name("third.log")
    ran.site.one.delete(below(SOURCE, "new"), below=SOURCE)
    with pytest.raises(MirrorRemovesTooMuch):
        ran.run(2)
    assert ran.log.read_text().startswith("feedctl: failed: hdfs://two/dst/data: nothing was changed (the mirror would")


def test_an_equal_target_is_unchanged_and_a_finished_one_is_not(ran: _Run) -> None:
    assert ran.run(0)[0] == StepEnd(exit_code=0)
    assert ran.run(1)[0] == StepEnd(exit_code=NOTHING_CHANGED)
    assert ran.run(1)[0] == StepEnd(exit_code=NOTHING_CHANGED)
    ran.site.one.set_permission(below(SOURCE, "a"), 0o700)
    assert ran.run(2)[0] == StepEnd(exit_code=0)
    ran.site.one.write(below(SOURCE, "x"), [b"x"])
    last = "create feedctl.sales.2026-03-01T0300Z"

    def killed(what: str) -> None:
        if what == last:
            raise StopRequested(what)

    ran.site.two.before_effect = killed
    with pytest.raises(StopRequested):
        ran.run(3)
    ran.site.two.before_effect = lambda _: None
    assert ran.run(3) == (StepEnd(exit_code=0), {**_NOTHING, "SNAPSHOTSPRUNED": 2})


@pytest.mark.parametrize(
    ("killed_at", "counted"),
    [
        ("rename ", {"COPYREUSED": 2, "BYTESREUSED": 17, "RENAMES": 1, "DELETES": 1}),
        ("create ", {"COPYREUSED": 2, "BYTESREUSED": 17}),
    ],
)
def test_the_rerun_of_a_killed_run_counts_what_it_did_and_apart_what_it_found(
    ran: _Run, killed_at: str, counted: dict[str, int]
) -> None:
    ran.run(0)
    _change(ran.site)

    def killed(what: str) -> None:
        if what.startswith(killed_at):
            raise StopRequested(what)

    ran.site.two.before_effect = killed
    with pytest.raises(StopRequested):
        ran.run(1)
    ran.site.two.before_effect = lambda _: None
    assert ran.run(1)[1] == _NOTHING | counted | {"SNAPSHOTSPRUNED": 2}


@pytest.mark.parametrize("answer", [HELD, Refusal("ledger_unavailable", "a hold could not be looked for")])
def test_no_snapshot_goes_while_a_hold_is_set_or_cannot_be_looked_for(ran: _Run, answer: Refusal) -> None:
    ran.run(0)
    _change(ran.site)
    ran.conditions = (RefusedLater(answer, looks=1),)
    assert ran.run(1)[1]["SNAPSHOTSPRUNED"] == 0
    assert ran.site.one.tree(SOURCE) == ran.site.two.tree(TARGET)
    ran.conditions = ()
    assert ran.run(2)[1]["SNAPSHOTSPRUNED"] > 0


def test_a_hold_that_was_seen_stops_a_mirror_also_where_its_words_cannot_be_read(ran: _Run) -> None:
    def unreadable(*_: object) -> Problem | None:
        raise HoldCheckFailed(code="ledger_unavailable", why="it is down")

    ran.held, ran.conditions = unreadable, (RefusedLater(HELD),)
    with pytest.raises(CalledOff) as stopped:
        ran.run(0)
    assert (stopped.value.refusal.code, "a hold was set on a feed" in stopped.value.refusal.why) == ("held", True)
    assert "feedctl: stopped: a hold was set" in ran.log.read_text()
