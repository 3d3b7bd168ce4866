"""Tests of writers of a source instance, and of evictions that block a write."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.unit.actions.fake_action import context
from tests.unit.replication.test_staging import Copying
from tests.unit.retention.test_writers import RUN
from tests.unit.runs.fakes import THEN, left_item
from toolkit.actions.output_leases import eviction_of_partition, eviction_of_table_data, writer_of
from toolkit.actions.publication import aside_of, staging_of
from toolkit.catalog.errors import NoSuchTable
from toolkit.catalog.model import TableName
from toolkit.catalog.written_places import WrittenPlaces
from toolkit.el import CanonicalPath
from toolkit.ledger.runs.errors import LeaseHeld
from toolkit.ledger.runs.items import NewItem
from toolkit.ledger.runs.outputs import HeldOutput, OpenEviction
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import LeaseMode, LifeCycle
from toolkit.runs.output_use import OutputUse
from toolkit.runs.stop import NeverStopped
from toolkit.storage import Entry, FileKind
from toolkit.storage.local.file_system import LocalFileSystem

KEY = "2026-03-01T01:00Z"


@dataclass(frozen=True, kw_only=True)
class _Held(OutputUse):
    found: HeldOutput

    def held(
        self, places: Collection[tuple[str, str]], also: Collection[str] = (), *, instance_key: str = ""
    ) -> list[HeldOutput]:
        del also, instance_key
        return [self.found] if (self.found.feed, self.found.cluster) in places else []


@dataclass(frozen=True, kw_only=True)
class _Evicting(OutputUse):
    path: str
    run: Run = RUN

    def evictions(self) -> list[OpenEviction]:
        return [OpenEviction(path=self.path, run=self.run)]


@pytest.mark.parametrize(
    ("life_cycle", "mode", "key", "is_writer"),
    [
        (LifeCycle.EXECUTION, LeaseMode.SHARED, KEY, True),
        (LifeCycle.REPLICATION, LeaseMode.EXCLUSIVE, KEY, True),
        (LifeCycle.REPLICATION, LeaseMode.SHARED, KEY, False),
        (LifeCycle.EXECUTION, LeaseMode.SHARED, "2026-03-01T02:00Z", False),
    ],
)
def test_a_run_and_a_table_import_write_an_instance(
    life_cycle: LifeCycle, mode: LeaseMode, key: str, *, is_writer: bool
) -> None:
    held = LeaseHeld(resource="r", holder=replace(RUN, life_cycle=life_cycle), since=THEN, until=THEN)
    found = HeldOutput(feed="clicks", cluster="primary", instance_key=key, held=held, mode=mode)
    work = replace(context(NeverStopped()), outputs=_Held(found=found))
    assert bool(writer_of("clicks", "primary", KEY, work)) is is_writer


@pytest.mark.parametrize(("name", "waits"), [("ds=1", True), ("ds=2", False), ("nonsense", True)])
def test_a_row_that_names_no_partition_ends_no_run(name: str, *, waits: bool) -> None:
    work = replace(context(NeverStopped()), outputs=_Evicting(path=f"catalog:web:clicks#{name}"))
    assert bool(eviction_of_partition(TableName("web", "clicks"), {"ds": "1"}, work.outputs.evictions())) is waits


def test_an_eviction_on_another_cluster_may_be_of_the_same_metastore() -> None:
    run = replace(RUN, cluster="backup")
    work = replace(context(NeverStopped()), outputs=_Evicting(path="catalog:web:clicks#ds=1", run=run))
    assert eviction_of_partition(TableName("web", "clicks"), {"ds": "1"}, work.outputs.evictions())


@pytest.mark.parametrize("is_evicted", [False, True])
def test_a_killed_copy_gets_its_place_only_when_no_eviction_is_under_way(tmp_path: Path, *, is_evicted: bool) -> None:
    """Also when the source is not there, so that the plan itself has nothing to ask for."""
    copying = Copying(tmp_path)
    unit = copying.target.target
    for own in (staging_of(unit, "7"), aside_of(unit, "7")):
        Path(own.path).mkdir(parents=True)
        (Path(own.path) / "a").write_text("new")
    left = left_item(NewItem(position=0, kind="copy", path=str(unit), instance_key=copying.target.instance_key))
    outputs = _Evicting(path=str(unit)) if is_evicted else OutputUse()
    work = replace(context(NeverStopped()), stores=lambda _: LocalFileSystem(), outputs=outputs)
    action = copying.action()
    plan = action.plan(copying.target, work)
    assert plan.waiting is not None
    action.recover(plan, [left], work)
    assert copying.seen() == ({} if is_evicted else {"a": "new"})


TABLE = TableName("web", "clicks")
PLACES = WrittenPlaces(
    base=CanonicalPath.parse("file:///wh/clicks"), places=(CanonicalPath.parse("file:///wh/clicks/ds=1"),)
)


@pytest.mark.parametrize(
    ("path", "waits"),
    [
        ("file:///wh/clicks/ds=1", True),
        ("file:///wh/clicks/ds=1/region=us", True),
        ("file:///wh/clicks/ds=2", False),
        ("hdfs://nn/wh/clicks/ds=1", False),
        ("nonsense", True),
    ],
)
def test_a_table_waits_for_an_eviction_of_a_path_feed_by_location(path: str, *, waits: bool) -> None:
    disk = replace(context(NeverStopped()), outputs=_Evicting(path=path), stores=lambda _: Full())
    assert bool(eviction_of_table_data(TABLE, lambda: PLACES, disk.outputs.evictions(), disk)) is waits


def test_a_table_that_does_not_exist_yet_waits_for_any_eviction_of_directories() -> None:
    def absent() -> WrittenPlaces:
        raise NoSuchTable(about=str(TABLE))

    work = replace(context(NeverStopped()), outputs=_Evicting(path="file:///other"))
    assert "is not known" in eviction_of_table_data(TABLE, absent, work.outputs.evictions(), work)
    at_rest = replace(work, outputs=_Evicting(path="catalog:web:views#ds=1"))
    assert eviction_of_table_data(TABLE, absent, at_rest.outputs.evictions(), at_rest) == ""


@dataclass
class Full(LocalFileSystem):
    """A disk on which each directory holds a file that stays."""

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        del path, start_from
        yield Entry(name="stays", kind=FileKind.FILE, size=1, modified=None)
