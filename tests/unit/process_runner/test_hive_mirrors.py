"""Mirrors of databases as steps of processes, between two metastores in memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.unit.hive.mirror_site import CLICKS, DAYS, USERS, MirrorSite
from tests.unit.hive.test_table_import import KEY
from tests.unit.process_runner.refusals import RefusedLater
from toolkit.actions.guard import HELD, CalledOff, Condition, Guard
from toolkit.actions.model import TargetPlan
from toolkit.el import parse_instant
from toolkit.entities import Engine
from toolkit.entities.mirror_work import HiveMirror, MirrorSettings
from toolkit.entities.vocabulary import GoneAtSource
from toolkit.hive.mirror_events import EventCursor
from toolkit.hive.mirror_recovery import EarlierRuns
from toolkit.hive.sources import Catalog
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.process_runner.hive_mirrors import HiveMirrors, TablesFailed
from toolkit.process_runner.mirrors import MirrorEngine, MirrorRemovesTooMuch, Mirrors
from toolkit.process_runner.targets import ProcessDetail, ProcessPlan, StepItem
from toolkit.programs.port import StepEnd
from toolkit.rendering.mirror_plan import mirror_document, mirror_lines
from toolkit.runs.stop import NeverStopped

_MIRROR = HiveMirror(
    source_cluster="primary",
    target_cluster="backup",
    source_databases=("Sales",),
    max_events=100,
    on_source_delete=GoneAtSource.DELETE,
)


@dataclass
class _Run:
    """Runs of the mirror `copy`; each finds the cursor of the one before."""

    site: MirrorSite
    settings: HiveMirror = _MIRROR
    limits: DeleteLimits = field(default_factory=DeleteLimits)
    approve: str | None = None
    counters: dict[str, int] = field(default_factory=dict)

    def mirrors(self, *, is_dry_run: bool = False) -> Mirrors:
        def catalog(of: Any) -> Catalog:  # noqa: ANN401 - stands for a cluster
            return self.site.catalog(self.site.source if of.name == "primary" else self.site.target)

        def cluster(name: str) -> Any:  # noqa: ANN401 - stands for a cluster
            registry = SimpleNamespace(endpoint=f"thrift://{name}:9083")
            return SimpleNamespace(name=name, interfaces=SimpleNamespace(registry=registry))

        def earlier(mirror: str, on: str) -> EarlierRuns:
            assert (mirror, on) == ("copy", "backup")
            return EarlierRuns(cursor=EventCursor.of(self.counters))

        by_tables = HiveMirrors(
            cluster=cluster,
            catalog=catalog,
            earlier=earlier,
            limits=self.limits,
            approve=self.approve,
            is_dry_run=is_dry_run,
        )
        return Mirrors(actions={"hive": lambda: by_tables})

    def plan(self) -> ProcessPlan:
        process = SimpleNamespace(workflow=SimpleNamespace(mirror=MirrorSettings(hive=self.settings)))
        target = SimpleNamespace(
            entity="copy",
            cluster="backup",
            instance_key=KEY,
            nominal_time=parse_instant(KEY),
            site=SimpleNamespace(process=process),
        )
        item = StepItem(name="main", engine=Engine.MIRROR, path="", instance_key=KEY)
        return TargetPlan(target=cast("Any", target), detail=ProcessDetail(), items=(item,))

    def planned(self, *, is_dry_run: bool = False) -> ProcessPlan:
        return self.mirrors(is_dry_run=is_dry_run).planned(self.plan(), self.site.work())

    def run(self, conditions: Sequence[Condition] = ()) -> tuple[StepEnd, dict[str, int]]:
        self.site.run += 1
        plan, counted = self.plan(), cast("Any", self.counters)
        guard = Guard(run=NeverStopped(), conditions=conditions)
        work = replace(self.site.work(), write_ledger=lambda _: None, guard=guard)
        engine = MirrorEngine(mirrors=self.mirrors(), plan=plan, work=work)
        log = self.site.root / "log"
        log.touch()
        end = engine.run(cast("Any", SimpleNamespace(log=log)), lambda _: None, lambda: None)
        counted.update(plan.detail.counters)
        return end, {name: plan.detail.counters[name] for name in ("COPY", "DELETES", "EVENTS")}


@pytest.fixture
def ran(tmp_path: Path) -> _Run:
    site = MirrorSite(root=tmp_path)
    site.filled()
    return _Run(site=site)


def test_a_run_compares_what_events_name_and_what_a_side_lacks(ran: _Run) -> None:
    site = ran.site
    assert ran.planned().notes == ("no run of this mirror has read events before: all is compared",)
    assert ran.run() == (StepEnd(exit_code=0), {"COPY": 6, "DELETES": 0, "EVENTS": 0})
    assert ran.planned().notes == ()
    site.write("users", "changed without an event")
    site.add("ds=2026-03-03", "new")
    site.source.drop_partitions(CLICKS, [DAYS[0]])
    assert ran.run()[1] == {"COPY": 2, "DELETES": 1, "EVENTS": 2}
    assert site.rows(site.target)["users"] != site.rows(site.source)["users"]
    ran.counters.clear()  # the ledger was lost
    assert ran.run()[1] == {"COPY": 2, "DELETES": 0, "EVENTS": 0}
    assert site.rows(site.target) == site.rows(site.source)
    site.source.drop_table(USERS)
    site.source.log.clear()
    assert "events behind number 6 are missing" in ran.planned().notes[0]
    assert ran.run()[1] == {"COPY": 0, "DELETES": 1, "EVENTS": 0}
    assert site.rows(site.target) == site.rows(site.source)


def test_a_cursor_drops_nothing(ran: _Run) -> None:
    ran.run()
    before = ran.site.rows(ran.site.target)
    for number in (1, 6, 10_000):
        ran.counters["EVENT"] = number
        assert ran.run()[1]["DELETES"] == 0
    assert ran.site.rows(ran.site.target) == before


def test_without_max_events_each_run_compares_all(ran: _Run) -> None:
    ran.settings = replace(_MIRROR, max_events=None)
    ran.run()
    assert "EVENT" not in ran.counters
    ran.site.write("users", "changed without an event")
    assert ran.run()[1]["COPY"] == 2
    assert ran.planned().notes == ()


def test_a_dry_run_shows_the_changes_and_makes_none(ran: _Run) -> None:
    ran.run()
    site = ran.site
    site.add("ds=2026-03-03", "new")
    site.source.drop_table(USERS)
    before = site.rows(site.target)
    plan = ran.planned(is_dry_run=True)
    assert plan.detail.mirror is not None
    assert list(mirror_lines(plan.detail.mirror)) == [
        "mirror: 2 changes in 2 tables that were compared, 10 bytes to copy",
        "copy sales.clicks/ds=2026-03-03 (10 bytes)",
        "remove sales.users",
    ]
    actions = cast("list[dict[str, object]]", mirror_document(plan.detail.mirror)["actions"])
    assert actions[1] == {"action": "remove", "path": "sales.users", "origin": None, "bytes": None}
    assert (site.rows(site.target), site.target.tables("sales")) == (before, ("clicks", "users"))


def test_a_run_that_drops_too_much_is_refused_before_anything_changes(ran: _Run) -> None:
    ran.run()
    site = ran.site
    site.source.drop_table(USERS)
    site.source.drop_partitions(CLICKS, [DAYS[0]])
    site.add("ds=2026-03-03", "new")
    before = site.rows(site.target)
    for limits in (DeleteLimits(instances=1), DeleteLimits(fraction=0.5), DeleteLimits(bytes=9)):
        ran.limits = limits
        refused = ran.planned(is_dry_run=True).refused
        assert refused is not None
        assert "would remove 2 of 3 partitions and tables without them" in refused.message
        with pytest.raises(MirrorRemovesTooMuch):
            ran.run()
        assert site.rows(site.target) == before
    ran.limits = DeleteLimits(instances=1)
    refused = ran.planned(is_dry_run=True).refused
    found = re.search(r"--approve (\w+)", "" if refused is None else refused.message)
    assert found is not None
    ran.approve = found[1]
    assert ran.planned(is_dry_run=True).refused is None
    ran.approve = None
    ran.limits = DeleteLimits(instances=2, fraction=0.7, bytes=20)
    assert ran.run()[1]["DELETES"] == 2


def test_a_hold_that_is_set_meanwhile_ends_the_run_before_the_next_table_and_the_next_run_goes_on(ran: _Run) -> None:
    ran.run()
    site, cursor = ran.site, ran.counters["EVENT"]
    site.add("ds=2026-03-03", "new")
    site.write("users", "newer")
    site.source.alter_table(site.source.table(USERS))
    site.source.drop_partitions(CLICKS, [DAYS[0]])
    before = site.rows(site.target)
    with pytest.raises(CalledOff, match="a hold was set"):
        ran.run((RefusedLater(HELD),))
    assert (site.rows(site.target), ran.counters["EVENT"]) == (before, cursor)
    looks = 0
    while site.rows(site.target) != site.rows(site.source):
        with suppress(CalledOff):
            ran.run((RefusedLater(HELD, looks),))
        looks += 1
        assert ran.counters["EVENT"] == cursor or site.rows(site.target) == site.rows(site.source)
    assert looks > 3, "each table, its registration and its drop asked"
    assert [each for each in site.left() if ".feedctl-data-" in each or ".feedctl-copy-" in each] == []


def test_an_empty_database_drops_nothing(ran: _Run) -> None:
    ran.run()
    for each in (CLICKS, USERS):
        ran.site.source.drop_table(each)
    plan = ran.planned(is_dry_run=True)
    assert plan.failed is not None
    assert "the source has no table of the mirror in sales" in plan.failed.message
    ran.settings = replace(_MIRROR, on_source_delete=GoneAtSource.KEEP)
    assert ran.run()[1]["DELETES"] == 0
    assert len(ran.site.rows(ran.site.target)) == 3


def test_a_refused_table_ends_the_run_for_good_and_another_failure_is_tried_again(ran: _Run) -> None:
    site = ran.site
    users = site.source.table(USERS)
    site.source.alter_table(replace(users, parameters={"transactional": "true"}))
    end, counted = ran.run()
    assert (end.may_retry, counted["COPY"]) == (False, 0)  # the counters are in the ledger, not in the result
    assert "1 of 2 tables: sales.users: " in end.message
    assert "ACID" in end.message
    assert len(site.rows(site.target)) == 2
    (site.root / f"from/clicks/{DAYS[0]}/a").unlink()
    (site.root / f"from/clicks/{DAYS[0]}/b").unlink()
    (site.root / f"from/clicks/{DAYS[0]}").rmdir()
    with pytest.raises(TablesFailed, match=r"2 of 2 tables: sales\.users: .*; sales\.clicks: ds=2026-03-01"):
        ran.run()


def test_one_metastore_for_both_clusters_is_refused(ran: _Run) -> None:
    ran.settings = replace(_MIRROR, target_cluster="primary")
    plan = ran.planned()
    assert plan.failed is not None
    assert "have one metastore" in plan.failed.message


def test_a_database_that_is_not_there_is_a_failure_of_the_plan(ran: _Run) -> None:
    ran.settings = replace(_MIRROR, source_databases=("web",))
    plan = ran.planned(is_dry_run=True)
    assert plan.failed is not None
    assert (plan.failed.code, plan.items) == ("no_such_database", ())
