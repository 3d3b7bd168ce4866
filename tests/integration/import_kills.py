"""Imports that are killed at random moments: nothing half is visible, and the next run makes the instance whole."""

from __future__ import annotations

import subprocess
from functools import partial

from tests.databases.datasources import PostgresData
from tests.integration.exchange_kills import after, finished, started, struck
from tests.testbed.spark import SparkStandalone
from tests.unit.exchange.import_site import ImportSite

ROWS = 30_000
NOMINAL = "2026-03-03T00:00Z"


def started_import(site: ImportSite, spark: SparkStandalone | None = None) -> subprocess.Popen[str]:
    """Start the entrypoint."""
    chosen = ["--feed", "customers", "--time", NOMINAL, "--start", NOMINAL]
    return started("db_import", spark, "--config-repo", str(site.root / "repo"), *chosen)


def kill_and_finish(
    site: ImportSite, data: PostgresData, target: str, pause: float | None = None, spark: SparkStandalone | None = None
) -> bool:
    """Start an import, strike, see that nothing half is visible, and import until it is done.

    Args:
        site: of the import.
        data: the database.
        target: what is killed.
        pause: seconds before the strike; None: until data is staged.
        spark: the cluster that the import runs on.

    Returns:
        Whether the import failed by that.
    """
    start = partial(started_import, site, spark)
    is_time = after(pause) if pause else lambda: bool(site.left())
    has_failed = struck(start, data, target, is_time, spark)
    assert is_whole(site)
    finished(start)
    assert site.names("2026-03-03")
    assert is_whole(site)
    assert site.left() == []
    assert site.ledger("select count(*) from item where state = 'intended'") == [(0,)]
    return has_failed


def is_whole(site: ImportSite) -> bool:
    """Return whether the instance is absent, or has each row once."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    if not site.names("2026-03-03"):
        return True
    files = [each for each in site.place("2026-03-03").iterdir() if each.suffix == ".parquet"]
    ids = [value for each in files for value in pq.ParquetFile(each).read(columns=["id"])["id"].to_pylist()]
    return sorted(ids) == list(range(1, ROWS + 1)) and (site.place("2026-03-03") / "_SUCCESS").exists()


def filled(data: PostgresData) -> None:
    """Fill the table."""
    data.run("CREATE TABLE customers AS SELECT g AS id, repeat('x', 100) AS note FROM generate_series(1, 30000) g")
