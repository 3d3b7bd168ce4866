"""A process with several connections that commit to the table of a feed as fast as they can."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa

from tests.databases.ledgers import open_ledger
from toolkit.ingest.connection import Connection, connect
from toolkit.ingest.endpoint import CatalogAddress, Endpoint
from toolkit.ingest.iceberg import open_catalog
from toolkit.ingest.strict_json import StrictJson

ROWS = 10
"""Rows of one transaction."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Writers:
    """Work of one process.

    Attributes:
        name: of the process.
        catalog: SQLAlchemy's URL of the catalog.
        ledger: and of the ledger.
        connections: of the process.
        transactions: of each connection.
    """

    name: str
    catalog: str
    ledger: str
    connections: int
    transactions: int


def commit_all(work: Writers) -> list[float]:
    """Commit all transactions, and return the seconds of each commit."""
    address = CatalogAddress(type="sql", uri=work.catalog, warehouse="")
    endpoint = Endpoint(catalog=address, namespace="web", table="clicks")
    with (
        closing(open_ledger(sa.make_url(work.ledger))) as ledger,
        connect(endpoint, ledger=ledger, agent=f"{work.name}-0", open_catalog=open_catalog) as first,
        ThreadPoolExecutor(work.connections) as threads,
    ):
        others = [first.another(f"{work.name}-{number}") for number in range(1, work.connections)]
        found = threads.map(lambda each: _committed(each, work.transactions), [first, *others])
        return [seconds for each in found for seconds in each]


def _committed(connection: Connection, count: int) -> list[float]:
    seconds = []
    timeout = timedelta(minutes=5)
    with connection.transaction_batch(count, StrictJson(), timeout=timeout) as batch:
        for number in range(count):
            hour = f"{number % 4:02}"
            event = {
                "ts": f"2026-03-20T{hour}:30:00Z",
                "word": f"{connection.agent} {number}",
                "ds": f"2026-03-20-{hour}",
            }
            batch.begin()
            batch.write([json.dumps(event).encode()] * ROWS)
            began = time.perf_counter()
            batch.commit()
            seconds.append(time.perf_counter() - began)
    return seconds
