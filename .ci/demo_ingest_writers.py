"""Two connections of one process that commit events to the table of the demo; after a kill they go on where they were.

Each connection is a named writer of its own: the number of its events that the table has is committed with the events.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from toolkit.bootstrap.ledgers import open_ledger_at
from toolkit.ingest.connection import Connection, connect
from toolkit.ingest.endpoint import CatalogAddress, Endpoint
from toolkit.ingest.iceberg import open_catalog
from toolkit.ingest.strict_json import StrictJson
from toolkit.ingest.writer_progress import WriterProgress

EVENTS, A_COMMIT = 2_000, 100


def main(demo: str, seconds: str) -> None:
    """Commit all events that the table lacks.

    Args:
        demo: directory of the demo.
        seconds: to wait after each commit.
    """
    address = CatalogAddress(type="sql", uri=f"sqlite:///{demo}/catalog.db", warehouse=f"file://{demo}/warehouse")
    endpoint = Endpoint(catalog=address, namespace="web", table="clicks")
    with (
        closing(open_ledger_at(f"sqlite:///{demo}/ledger.db", named_by="the demo", variables=os.environ)) as ledger,
        connect(endpoint, ledger=ledger, agent="web-1", open_catalog=open_catalog) as first,
        first.another("web-2") as second,
        ThreadPoolExecutor() as threads,
    ):
        for done in threads.map(write_all, (first, second), (float(seconds),) * 2):
            sys.stdout.write(f"{done}\n")


def write_all(connection: Connection, pause: float) -> str:
    """Commit the events of a connection, and return what was done."""
    begins_at = int((connection.progress(connection.agent) or {}).get("events", 0))
    with connection.transaction_batch((EVENTS - begins_at) // A_COMMIT, StrictJson()) as batch:
        for at in range(begins_at, EVENTS, A_COMMIT):
            batch.begin()
            batch.write(list(events(connection.agent, at)))
            batch.commit(progress=WriterProgress(name=connection.agent, document={"events": at + A_COMMIT}))
            time.sleep(pause)
    return f"{connection.agent} began at event {begins_at:,}, and the table has {EVENTS:,} of it"


def events(agent: str, begins_at: int) -> Iterator[bytes]:
    """Yield the events of one commit; they belong to the instances of four hours."""
    for at in range(begins_at, begins_at + A_COMMIT):
        hour = at % 4
        event = {"ts": f"2026-03-20T{hour:02}:30:00Z", "word": f"{agent} {at}", "ds": f"2026-03-20-{hour:02}"}
        yield json.dumps(event).encode()


if __name__ == "__main__":
    main(*sys.argv[1:])
