"""Snapshots of an Iceberg table expire, and its manifests are merged."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.contract.ingest_table.tables import ON_SQLITE_AND_HIVE, ROWS, SPEC, commit_one
from tests.unit.ingest_job.scene import INSTANCES
from toolkit.actions.model import TargetPlan
from toolkit.compaction.planner import CompactPlanner
from toolkit.compaction.targets import EXPIRE, CompactDetail, CompactPlan, CompactTarget
from toolkit.el import CanonicalPath, TableUri
from toolkit.ingest.iceberg import IcebergCatalog
from toolkit.ingest.iceberg_table import IcebergTable

HOUR = timedelta(hours=1)


def manifests(table: IcebergTable) -> int:
    """Return the number of manifests of the current snapshot."""
    loaded = table.catalog.load_table(table.identifier)
    snapshot = loaded.current_snapshot()
    return len(snapshot.manifests(loaded.io)) if snapshot else 0


@ON_SQLITE_AND_HIVE
def test_old_snapshots_expire_except_the_last_and_tagged_ones(catalog: IcebergCatalog) -> None:
    table = catalog.create("web", "clicks", SPEC)
    for number in range(1, 7):
        commit_one(table, number)
    loaded = table.catalog.load_table(table.identifier)
    loaded.manage_snapshots().create_tag(loaded.metadata.snapshots[1].snapshot_id, "audit").commit()
    later = datetime.now(tz=UTC) + HOUR
    assert table.expire(older_than=later - 2 * HOUR, keep_since=None, keep_last=1) == 0
    assert table.expire(older_than=later, keep_since=None, keep_last=2) == 3
    assert table.state().snapshots == 3
    assert table.committed(range(10)) == {2, 5, 6}
    assert sum(file.rows for file in table.files()) == 6 * ROWS.num_rows
    assert table.expire(older_than=later, keep_since=None, keep_last=2) == 0


@ON_SQLITE_AND_HIVE
def test_a_transaction_without_a_result_is_found_after_snapshots_expired(catalog: IcebergCatalog) -> None:
    table = catalog.create("web", "clicks", SPEC)
    intended = datetime.now(tz=UTC)
    for number in range(1, 5):
        commit_one(table, number)
    assert table.expire(older_than=intended + HOUR, keep_since=intended, keep_last=1) == 0
    assert table.committed([1, 9]) == {1}
    assert table.expire(older_than=intended + HOUR, keep_since=intended + HOUR, keep_last=1) == 3


@pytest.mark.extended
@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_manifests_stay_bounded_and_their_rows_are_all_there(catalog: IcebergCatalog) -> None:
    merged = {"commit.manifest.min-count-to-merge": "10", "commit.manifest.target-size-bytes": str(8 << 20)}
    spec = replace(SPEC, properties=merged)
    table = catalog.create("web", "clicks", spec)
    counts = []
    for number in range(1, 41):
        commit_one(table, number)
        counts.append(manifests(table))
        if number % 20 == 0:
            table.expire(older_than=datetime.now(tz=UTC), keep_since=None, keep_last=20)
    assert counts[:11] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2]
    assert max(counts) == 9
    assert len(table.files()) == 80
    assert table.state().snapshots == 20


@pytest.mark.extended
@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_merge_of_manifests_rewrites_few_entries_unless_the_table_says_otherwise(catalog: IcebergCatalog) -> None:
    table = catalog.create("web", "clicks", SPEC)
    counts = []
    for number in range(1, 31):
        commit_one(table, number)
        counts.append(manifests(table))
    assert 3 <= max(counts) < 10
    assert len(table.files()) == 60


@ON_SQLITE_AND_HIVE
def test_a_table_may_say_that_its_manifests_are_merged_earlier_or_never(catalog: IcebergCatalog) -> None:
    table = catalog.create("web", "clicks", SPEC)
    loaded = table.catalog.load_table(table.identifier)
    loaded.transaction().set_properties({"commit.manifest.min-count-to-merge": "3"}).commit_transaction()
    for number in range(1, 4):
        commit_one(table, number)
    assert manifests(table) == 1
    loaded = table.catalog.load_table(table.identifier)
    loaded.transaction().set_properties({"commit.manifest-merge.enabled": "false"}).commit_transaction()
    for number in range(4, 8):
        commit_one(table, number)
    assert manifests(table) == 5
    assert sum(file.rows for file in table.files()) == 7 * ROWS.num_rows


@ON_SQLITE_AND_HIVE
def test_snapshots_that_were_not_current_for_long_expire_also_among_the_last(catalog: IcebergCatalog) -> None:
    table = catalog.create("web", "clicks", SPEC)
    assert table.state().oldest_until is None
    for number in range(1, 4):
        commit_one(table, number)
    base = table.state()
    assert base.oldest_until is not None
    table.replace(table.files([("01",)]), (), {}, base)
    now = datetime.now(tz=UTC)
    assert table.expire(older_than=now + HOUR, keep_since=None, keep_last=20, replaced_since=now) == 0
    left = {each.uri for each in table.unreferenced() if each.is_data}
    assert table.expire(older_than=now + HOUR, keep_since=None, keep_last=20, replaced_since=now + HOUR) == 3
    assert len({each.uri for each in table.unreferenced() if each.is_data} - left) == 3
    assert sum(file.rows for file in table.files()) == 3
    assert table.state().oldest_until is None


@ON_SQLITE_AND_HIVE
def test_a_named_snapshot_is_not_the_oldest_that_may_go(catalog: IcebergCatalog) -> None:
    table = catalog.create("web", "clicks", SPEC)
    for number in (1, 2):
        commit_one(table, number)
    loaded = table.catalog.load_table(table.identifier)
    loaded.manage_snapshots().create_tag(loaded.metadata.snapshots[0].snapshot_id, "audit").commit()
    assert table.state().oldest_until is None


@ON_SQLITE_AND_HIVE
def test_compaction_expires_a_snapshot_six_hours_after_it_was_current(catalog: IcebergCatalog) -> None:
    table = catalog.create("web", "clicks", SPEC)
    for number in (1, 2):
        commit_one(table, number)
    target = CompactTarget(
        entity="clicks",
        cluster="primary",
        instance_key="2026-03-20T12:00Z",
        base=CanonicalPath.parse("file:///inbox"),
        name=table.name,
        open_table=lambda: nullcontext(table),
        instances=replace(INSTANCES, table=TableUri.parse("catalog:web:clicks#hour=${YEAR}")),
    )
    plan: CompactPlan = TargetPlan(target=target, detail=CompactDetail())
    now = datetime.now(tz=UTC)

    def kinds(at: datetime) -> list[str]:
        planner = CompactPlanner(plan=plan, table=table, nominal=at, now=at, never_committed=lambda _: ())
        return [each.kind for each in planner.planned().items]

    assert kinds(now + 6 * HOUR) == []
    assert kinds(now + 6.5 * HOUR) == [EXPIRE]
