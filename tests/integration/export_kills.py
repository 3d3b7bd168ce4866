"""Exports that are killed at random moments: no half instance, no double row, and no staging table after the next."""

from __future__ import annotations

import subprocess
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from tests.databases.datasources import PostgresData
from tests.databases.export_repo import T1, ExportRepo
from tests.integration.exchange_kills import after, finished, started, struck
from tests.testbed.spark import SparkStandalone

ROWS = 40_000


def filled(repo: ExportRepo) -> None:
    """Write an instance with many rows, half of which the table has already."""
    place = repo.files / T1[:10]
    place.mkdir(parents=True)
    ids = pa.array(range(1, ROWS + 1), pa.int32())
    days = pa.array(["2026-03-01"] * ROWS).cast(pa.date32())
    table = pa.table({"id": ids, "day": days, "note": pa.array(["new"] * ROWS)})
    for number in range(4):
        part = table.slice(number * ROWS // 4, ROWS // 4)
        pq.write_table(part, place / f"part-{number}.parquet")
    (place / "_SUCCESS").touch()
    repo.data.run("TRUNCATE orders")
    repo.data.run(f"INSERT INTO orders SELECT g, '2026-03-01', 'old' FROM generate_series(1, {ROWS // 2}) g")  # noqa: S608


def _started(repo: ExportRepo, spark: SparkStandalone | None) -> subprocess.Popen[str]:
    chosen = ["--feed", "orders", "--time", T1, "--start", T1]
    return started("db_export", spark, "--config-repo", str(repo.path), "--allow-dirty", *chosen)


def state(repo: ExportRepo) -> str:
    """Return whether the table has none or all of the instance.

    Raises:
        AssertionError: it has a part of it, or a row twice.
    """
    found = [tuple(row) for row in repo.data.rows("SELECT note, count(*) FROM orders GROUP BY note ORDER BY note")]
    assert found in ([("old", ROWS // 2)], [("new", ROWS)]), found
    return str(found[0][0])


def kill_and_finish(
    repo: ExportRepo, data: PostgresData, target: str, pause: float | None = None, spark: SparkStandalone | None = None
) -> bool:
    """Start an export, strike, see that it is none or all, and export until it is done.

    Args:
        repo: with the export.
        data: the database.
        target: what is killed.
        pause: seconds before the strike; None: until there is a staging table.
        spark: the cluster that the export runs on.

    Returns:
        Whether the export failed by that.
    """
    start = partial(_started, repo, spark)
    is_time = after(pause) if pause else lambda: len(repo.tables()) > 2
    has_failed = struck(start, data, target, is_time, spark)
    state(repo)
    finished(start)
    assert state(repo) == "new"
    assert repo.tables() == {"orders", "feedctl_export"}
    return has_failed
