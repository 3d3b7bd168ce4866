"""The overview as rows and lines."""

from __future__ import annotations

from dataclasses import replace

from tests.contract.ledger.samples import begun, changed
from tests.databases.ledgers import START
from toolkit.ledger.database import Ledger
from toolkit.ledger.state.start_check import SafeMode
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.management.entities import EntityStatus
from toolkit.management.overview import Overview, OverviewRow
from toolkit.rendering.overview import OVERVIEW_COLUMNS, overview_rows, stale_lines

QUIET = OverviewRow(
    entity="clicks",
    life_cycle=LifeCycle.EVICTION,
    cluster="primary",
    status=EntityStatus.RUNNING,
    last_success=None,
    oldest_running=None,
    running=0,
    failed=0,
    backlog=None,
    unread=0,
    suspension=None,
    holds=0,
    stale_since=None,
)


def overview(*rows: OverviewRow) -> Overview:
    rest = SafeMode(is_on=False, reason=None, changed_by=None, changed_at=None)
    return Overview(at=START, safe_mode=rest, rows=rows)


def cells(row: OverviewRow) -> dict[str, str]:
    (found,) = overview_rows(overview(row))
    return dict(zip(OVERVIEW_COLUMNS, found, strict=True))


def test_where_there_is_nothing_a_dash_stands() -> None:
    found = cells(QUIET)
    assert (found["state"], found["last-success"], found["since"], found["backlog"]) == ("ok", "-", "-", "-")
    assert cells(replace(QUIET, running=1))["state"] == "running"
    assert cells(replace(QUIET, status=EntityStatus.SUBMITTED))["state"] == "submitted"


def test_what_is_stale_says_so_in_its_state_and_in_a_line(sqlite_ledger: Ledger) -> None:
    last = replace(changed(sqlite_ledger, begun(sqlite_ledger), RunStatus.SUCCEEDED), ended_at=START)
    stale = replace(QUIET, stale_since=START, last_success=last)
    assert (cells(stale)["state"], cells(stale)["last-success"]) == ("stale", "2026-03-20T12:00:00Z")
    (line,) = stale_lines(overview(QUIET, stale))
    assert line == (
        "eviction of clicks on primary is stale since 2026-03-20T12:00:00Z: "
        "it succeeded last at 2026-03-20T12:00:00Z, for 2026-03-20T12:00Z"
    )


def test_a_replication_is_named_with_its_source() -> None:
    stale = replace(QUIET, life_cycle=LifeCycle.REPLICATION, cluster="backup", counterpart="primary", stale_since=START)
    assert cells(stale)["cluster"] == "backup from primary"
    (line,) = stale_lines(overview(stale))
    assert line == (
        "replication of clicks on backup from primary is stale since 2026-03-20T12:00:00Z: it has never succeeded"
    )
