"""Retention of a feed that is ingested: what goes of its Iceberg table, what stays, and what a killed run left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from tests.databases.ledgers import START, open_ledger
from tests.unit.retention.feeds import FeedText
from tests.unit.retention.iceberg import NAME, IcebergSite
from tests.unit.retention.tables import BASE, done, kept, not_done
from toolkit.el import parse_instant
from toolkit.entities import Hold
from toolkit.ingest.errors import CatalogUnreachable, CommitConflict, CommitUnknown
from toolkit.ingest.slot import SLOT_PROPERTY
from toolkit.ledger import ingest
from toolkit.ledger.database import Ledger
from toolkit.ledger.events import NewEvent
from toolkit.ledger.ingest import IntendedTransaction
from toolkit.ledger.runs.items import Item
from toolkit.ledger.vocabulary import EventKind, IngestTransactionState, ItemState
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.result import ExitCode

ADDRESS = "catalog:logs:clicks#ds="


@pytest.fixture
def ledger(sqlite_ledger_url: sa.URL) -> Iterator[Ledger]:
    """Yield a ledger of the test's own."""
    opened = open_ledger(sqlite_ledger_url)
    yield opened
    opened.close()


@pytest.fixture
def site(ledger: Ledger) -> IcebergSite:
    """Return a table with two partitions that are older than the limit, and one that is not."""
    made = IcebergSite(ledger=ledger)
    for day in ("01", "02", "20"):
        made.rows.add(f"2026-03-{day}")
    return made


def announced(site: IcebergSite) -> list[NewEvent]:
    """Return the events of the last run."""
    settled = (each.event for each in site.recorder.settled_left if each.event is not None)
    return [*(event for step in site.recorder.steps for event in step.events), *settled]


def test_old_partitions_go_in_one_commit_and_each_is_announced(site: IcebergSite) -> None:
    site.rows.add("2026-03-01", name="b")
    dry = site.run(dry_run=True)
    assert (done(dry), site.rows.replaced) == ([f"{ADDRESS}2026-03-01", f"{ADDRESS}2026-03-02"], 0)
    assert "compact.py" in dry.targets[0].plan.notes[-1]
    assert done(site.run()) == done(dry)
    assert (site.rows.partitions, site.rows.replaced) == (["2026-03-20"], 1)
    assert int(site.rows.properties[SLOT_PROPERTY]) > 0
    assert [(each.kind, each.instance_key, each.uri) for each in announced(site)] == [
        (EventKind.EVICTED, "2026-03-01T00:00Z", f"{NAME}/ds=2026-03-01"),
        (EventKind.EVICTED, "2026-03-02T00:00Z", f"{NAME}/ds=2026-03-02"),
    ]
    assert not list(site.run().items)


def test_keep_last_the_late_window_and_holds_keep_partitions(ledger: Ledger) -> None:
    site = IcebergSite(ledger=ledger, text=FeedText(keep_last=1, cut_off="days(12)"))
    for day in ("01", "02", "09", "10"):
        site.rows.add(f"2026-03-{day}")
    hold = Hold(feed="clicks", end=parse_instant("2026-03-02T00:00Z"), reason="case 7")
    assert kept(site.run(holds=[hold])) == {
        "ds=2026-03-01": ("hold", "case 7"),
        "ds=2026-03-09": ("late_window", "cut-off days(12)"),
        "ds=2026-03-10": ("keep_last", "the newest 1"),
    }
    assert site.rows.partitions == ["2026-03-01", "2026-03-09", "2026-03-10"]


def test_a_hold_file_in_the_directory_of_the_table_keeps_everything(site: IcebergSite) -> None:
    site.system.files[f"{BASE}/.feedctl-hold"] = b"audit"
    result = site.run()
    assert site.rows.replaced == 0
    (note,) = result.targets[0].plan.notes
    assert note == f"2 instances would go but are held by file hold file://{BASE}/.feedctl-hold: audit"


def test_a_hold_that_comes_while_the_slot_is_waited_for_keeps_everything(site: IcebergSite) -> None:
    def hold() -> None:
        site.system.files[f"{BASE}/.feedctl-hold"] = b""
        site.rows.version += 1
        site.rows.on_replace = lambda: None
        raise CommitConflict(table=NAME)

    site.rows.on_replace = hold
    assert {code for _, _, code in not_done(site.run())} == {"held"}
    assert site.rows.replaced == 0


@pytest.mark.parametrize(
    ("limits", "what"),
    [
        (DeleteLimits(instances=1), "2 instances"),
        (DeleteLimits(fraction=0.5), "2 of 3 instances"),
        (DeleteLimits(instances=10, bytes=5), "at least 6 bytes"),
    ],
)
def test_limits_count_partitions_and_the_bytes_of_their_files(
    site: IcebergSite, limits: DeleteLimits, what: str
) -> None:
    refused = site.run(limits=limits)
    assert refused.exit_code is ExitCode.REFUSED
    assert what in str(refused.refusal)
    site.rows.add("2026-03-01", name="late")
    assert site.run(limits=limits, approve=refused.digest).exit_code is ExitCode.REFUSED
    assert site.rows.replaced == 0
    approved = site.run(limits=limits, dry_run=True).digest
    site.run(limits=limits, approve=approved)
    assert site.rows.partitions == ["2026-03-20"]


def test_partitions_that_are_no_instances_stay_and_are_reported(site: IcebergSite) -> None:
    for value in ("2026-02-30", "__HIVE_DEFAULT_PARTITION__", "673"):
        site.rows.add(value)
    site.rows.add("2026-03-01", "us")  # of an earlier partition spec
    result = site.run()
    assert result.targets[0].plan.detail.unrecognized.count == 4
    assert len(site.rows.partitions) == 5


def test_a_table_with_other_partition_columns_is_left_alone(site: IcebergSite) -> None:
    site.rows.keys = ("day",)
    failed = site.run().targets[0].plan.failed
    assert failed is not None
    assert failed.code == "other_partition_columns"
    assert site.rows.replaced == 0


def test_a_table_that_does_not_exist_has_nothing_to_evict(ledger: Ledger) -> None:
    result = IcebergSite(ledger=ledger, iceberg=None).run()
    assert result.exit_code is ExitCode.DONE
    assert result.targets[0].plan.notes == (f"the table {NAME} is not there: nothing was ingested yet",)


def test_partitions_that_changed_since_the_plan_stay(site: IcebergSite) -> None:
    def meanwhile() -> None:
        site.rows.on_replace = lambda: None
        site.rows.add("2026-03-01", name="late")
        site.rows.add("2026-03-03", name="new")

    site.rows.on_replace = meanwhile
    assert not_done(site.run()) == [(f"{ADDRESS}2026-03-01", "skipped", "files_changed")]
    assert site.rows.partitions == ["2026-03-01", "2026-03-03", "2026-03-20"]
    assert [each.instance_key for each in announced(site)] == ["2026-03-02T00:00Z"]


def test_partitions_that_another_engine_deleted_since_the_plan_are_not_announced(site: IcebergSite) -> None:
    def meanwhile() -> None:
        site.rows.on_replace = lambda: None
        site.rows.there = [each for each in site.rows.there if each.partition != ("2026-03-01",)]
        site.rows.version += 1

    site.rows.on_replace = meanwhile
    assert not_done(site.run()) == [(f"{ADDRESS}2026-03-01", "skipped", "already_gone")]
    assert [each.instance_key for each in announced(site)] == ["2026-03-02T00:00Z"]


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_commit_without_an_answer_is_looked_up(site: IcebergSite, *, is_committed: bool) -> None:
    def lost() -> None:
        site.rows.on_replace = site.rows.after_replace = lambda: None
        raise CommitUnknown(table=NAME, cause="Timeout")

    if is_committed:
        site.rows.after_replace = lost
    else:
        site.rows.on_replace = lost
    assert site.run().exit_code is ExitCode.DONE
    assert (site.rows.partitions, site.rows.replaced) == (["2026-03-20"], 1)
    assert len(announced(site)) == 2


def test_a_table_that_lacks_commits_which_the_ledger_knows_is_left_alone(site: IcebergSite, ledger: Ledger) -> None:
    one = ledger.write(lambda tx: ingest.open_batch(tx, NAME, "test", 1, timedelta(hours=1))).transactions[0]
    intended = IntendedTransaction(transaction_id=one, partitions=(), rows=1, bytes=1, files=1)
    ledger.write(lambda tx: ingest.intend(tx, [intended], 3))
    ledger.write(lambda tx: ingest.settle(tx, [one], IngestTransactionState.COMMITTED))
    failed = site.run().targets[0].plan.failed
    assert failed is not None
    assert failed.code == "table_is_behind"
    assert len(site.rows.partitions) == 3


def test_a_catalog_that_does_not_answer_fails_the_feed(site: IcebergSite) -> None:
    def away() -> None:
        raise CatalogUnreachable(place="db1", cause="refused")

    site.rows.on_look = away
    failed = site.run().targets[0].plan.failed
    assert failed is not None
    assert "db1" in failed.message


def left_by(position: int, day: str, run_id: int = 7) -> Item:
    """Return what the ledger has of a partition that a run was at when it died."""
    return Item(
        run_id=run_id,
        position=position,
        kind="partition:data",
        path=f"{ADDRESS}2026-03-{day}",
        instance_key=f"2026-03-{day}T00:00Z",
        state=ItemState.INTENDED,
        code=None,
        message=None,
        intended_at=START,
        settled_at=None,
    )


def test_what_a_killed_run_took_out_of_the_table_is_announced_once(site: IcebergSite) -> None:
    hive = replace(left_by(4, "05"), kind="partition_data:data", path="file:///wh/logs.db/clicks/ds=2026-03-05")
    other = replace(left_by(5, "06"), path="catalog:logs:views#ds=2026-03-06")
    left = [left_by(0, "01"), left_by(1, "03"), left_by(2, "04"), left_by(3, "04", run_id=8), hive, other]
    site.run(left=left)
    settled = [(each.left.path[-2:], each.item.state, each.item.code) for each in site.recorder.settled_left]
    assert settled == [
        ("01", ItemState.FAILED, "not_done"),
        ("03", ItemState.DONE, "found_gone"),
        ("04", ItemState.DONE, "found_gone"),
        ("04", ItemState.DONE, "found_gone"),
    ]
    assert sorted(each.instance_key for each in announced(site)) == [
        f"2026-03-{day}T00:00Z" for day in ("01", "02", "03", "04")
    ]
