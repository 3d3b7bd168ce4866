"""Many writers of one Iceberg table, with a reader and merges meanwhile."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from statistics import quantiles
from uuid import uuid4

import pytest
import sqlalchemy as sa

from tests.databases.ledgers import make_ledger
from tests.databases.postgresql import PostgresServer
from tests.soak.ingest_writers import ROWS, Writers, commit_all
from tests.soak.test_ingest_iceberg_killed import CatalogRepo

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(0)]
PROCESSES, CONNECTIONS = 8, 4
TRANSACTIONS = int(os.environ.get("FEEDCTL_ROUNDS") or 32)
"""Each connection commits so many; by default all of them commit about a thousand."""
SERVER = multiprocessing.get_context("forkserver")


def made(root: Path, server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> CatalogRepo:
    """Return a repo whose catalog and ledger are on a PostgreSQL; open hours are merged at five files."""
    catalog, ledger = (f"{kind}_{uuid4().hex}" for kind in ("catalog", "ledger"))
    for each in (catalog, ledger):
        server.create_database(each)
    make_ledger(sa.make_url(server.url(ledger)))
    repo = CatalogRepo.at(root, server.url(catalog))
    monkeypatch.setenv("FEEDCTL_LEDGER", server.url(ledger))
    feed = root / "repo/feeds/clicks.yaml"
    feed.write_text(feed.read_text() + "      compact_when: {files: 5}\n")
    return repo


def test_writers_of_many_processes_see_no_conflict_while_files_are_merged(
    tmp_path: Path, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = made(tmp_path, postgres_server, monkeypatch)
    repo.put("a.json", ["first"] * ROWS)
    first = repo.run()
    assert first["exit"] == 0, str(first)
    work = [
        Writers(
            name=f"w{number}",
            catalog=repo.catalog_at,
            ledger=os.environ["FEEDCTL_LEDGER"],
            connections=CONNECTIONS,
            transactions=TRANSACTIONS,
        )
        for number in range(PROCESSES)
    ]
    looks, merges, before = 0, Counter[str](), Counter[str]()
    with ProcessPoolExecutor(PROCESSES, mp_context=SERVER) as processes, ThreadPoolExecutor(1) as threads:
        done = [processes.submit(commit_all, each) for each in work]
        compaction = threads.submit(repo.run, action="compact", at="2026-03-20T00:15Z")
        while not all(each.done() for each in done):
            found = repo.words
            assert set(found.values()) <= {ROWS}, "a part of a transaction"
            assert not before - found, "rows are gone"
            looks, before = looks + 1, found
            if compaction.done():
                result = compaction.result()
                merges.update(each["kind"] for each in result["items"] if each["outcome"] == "done")
                compaction = threads.submit(repo.run, action="compact", at="2026-03-20T00:15Z")
        seconds = [each for one in done for each in one.result()]
        assert compaction.result()["exit"] == 0
    expected = {
        f"w{process}-{each} {number}": ROWS
        for process in range(PROCESSES)
        for each in range(CONNECTIONS)
        for number in range(TRANSACTIONS)
    }
    assert repo.words == Counter({"first": ROWS, **expected})
    cut = quantiles(seconds, n=100)
    text = f"p50 {cut[49]:.2f} s, p99 {cut[98]:.2f} s, most {max(seconds):.2f} s; {looks} looks; {dict(merges)}"
    print(f"{len(seconds)} transactions: {text}")  # noqa: T201
    assert merges["merge"]
