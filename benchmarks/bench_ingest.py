"""Streaming ingest into an Iceberg table: commits a second, latency, record writers, and Structured Streaming.

Catalog and ledger are databases of one PostgreSQL that waits for the disk. Each part makes a table of its own. The
whole process of the entrypoint and of Spark's stream take 100 files of 1,000 JSON rows, five commits each, into
tables of one definition. Goals of issue 29: ten times on this backlog, 8 processes at least the throughput of one, 500
transactions a second from 64 connections of one process, p99 under 0.3 s after 10,000 commits. A backlog by `--engine
spark` is to have as many rows a second as the stream (goal: 10 GB, `--part backlog --megabytes 10000`).
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles

import sqlalchemy as sa

from benchmarks.timing import SPARK_SUBMIT, spark_environment, timed
from benchmarks.whole_process import ROOT, keep_bytecode
from tests.databases.ledgers import make_ledger, open_ledger
from tests.databases.postgresql import PostgresServer, running_postgres
from tests.testbed.jars import ICEBERG, METASTORE
from toolkit.ingest.connection import Connection, connect
from toolkit.ingest.delimited import Delimited
from toolkit.ingest.endpoint import CatalogAddress, Endpoint
from toolkit.ingest.iceberg import open_catalog
from toolkit.ingest.iceberg_table import IcebergTable
from toolkit.ingest.port import DataFile, IngestColumn, IngestTable, TableSpec
from toolkit.ingest.record_writer import RecordWriter
from toolkit.ingest.strict_json import StrictJson
from toolkit.ingest.strict_regex import StrictRegex

COLUMNS = (IngestColumn(name="id", type="bigint"), IngestColumn(name="word", type="string"))
SPEC = TableSpec(columns=COLUMNS)
CLICKS = TableSpec(
    columns=(
        IngestColumn(name="ts", type="timestamp", is_required=True),
        IngestColumn(name="word", type="string"),
        IngestColumn(name="ds", type="string", is_required=True),
    ),
    partition_columns=("ds",),
)
LINES = [f"{number},word{number}".encode() for number in range(100)]
PROCESSES, CONNECTIONS, ROWS = (1, 2, 4, 8), 64, 200_000
FILES, ROWS_OF_FILE = 100, 1_000
RATE_GOAL, LATENCY_GOAL = 500, 0.3
"""Transactions a second, and seconds of all but one commit in a hundred."""
SERVER = multiprocessing.get_context("forkserver")
FEED = """\
kind: feed
name: clicks
frequency: hours(1)
table: "catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}"
clusters:
  - name: primary
    validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}
    ingest:
      source: {directory: /inbox, pattern: "*.json"}
      format: {type: json}
      columns: [{name: ts, type: timestamp, required: true}, {name: word, type: string}]
      event_time: ts
      commit: {rows: 20000}
      after: keep
"""


@dataclass(frozen=True, kw_only=True)
class Bed:
    """A catalog and a ledger of their own, and a warehouse in a directory."""

    root: Path
    catalog: str
    ledger: str

    @classmethod
    def make(cls, server: PostgresServer, root: Path, name: str) -> Bed:
        """Make both databases."""
        for each in (f"{name}_catalog", f"{name}_ledger"):
            server.create_database(each)
        bed = cls(root=root / name, catalog=server.url(f"{name}_catalog"), ledger=server.url(f"{name}_ledger"))
        bed.root.mkdir()
        make_ledger(sa.make_url(bed.ledger))
        return bed

    @property
    def address(self) -> CatalogAddress:
        """Return the address of the catalog."""
        return CatalogAddress(type="sql", uri=self.catalog, warehouse=f"file://{self.root}/warehouse")

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """Yield a connection to the table, which is made when it is missing."""
        endpoint = Endpoint(catalog=self.address, namespace="web", table="rows")
        with (
            closing(open_ledger(sa.make_url(self.ledger))) as ledger,
            closing(connect(endpoint, ledger=ledger, agent="bench", open_catalog=open_catalog, create=SPEC)) as found,
        ):
            yield found


def committed(connection: Connection, count: int) -> list[float]:
    """Commit so many transactions of 100 rows; return the seconds of each commit."""
    seconds = []
    with connection.transaction_batch(count, Delimited()) as batch:
        for _ in range(count):
            batch.begin()
            batch.write(LINES)
            began = time.perf_counter()
            batch.commit()
            seconds.append(time.perf_counter() - began)
    return seconds


def in_process(given: tuple[Bed, int, float]) -> tuple[float, list[float]]:
    """Commit from a given moment on; return when it was over, and the seconds of each commit."""
    bed, count, starts_at = given
    with bed.connected() as connection:
        connection.table.state()
        time.sleep(max(0.0, starts_at - time.time()))
        return time.time(), committed(connection, count)


def described(seconds: Sequence[float]) -> str:
    """Return the usual and the worst latency."""
    return f"p50 {median(seconds) * 1000:5.0f} ms  p99 {quantiles(seconds, n=100)[98] * 1000:5.0f} ms"


def by_processes(make: Callable[[str], Bed], commits: int) -> bool:
    """Print commits a second of 1, 2, 4 and 8 processes, in all the same number; True: 8 are no slower than one."""
    alone = rate = 0.0
    for count in PROCESSES:
        bed = make(f"processes{count}")
        with bed.connected():
            pass
        with SERVER.Pool(count) as pool:
            pool.map(_warmed, range(count), chunksize=1)
            found = pool.map(in_process, [(bed, commits // count, time.time() + 5)] * count, chunksize=1)
        seconds = [each for _, one in found for each in one]
        wall = max(began + sum(one) for began, one in found) - min(began for began, _ in found)
        rate = len(seconds) / wall
        alone = alone or rate
        print(f"{count} processes: {rate:6.1f} commits/s ({rate / alone:.2f} of one)  {described(seconds)}")
    return rate >= alone


def _warmed(_: int) -> None:
    time.sleep(0.2)


def by_connections(make: Callable[[str], Bed], transactions: int) -> bool:
    """Print transactions a second of 64 connections of one process; True: the goal is met."""
    with make("connections").connected() as first, ThreadPoolExecutor(CONNECTIONS) as pool:
        every = [first, *(first.another(f"bench-{number}") for number in range(1, CONNECTIONS))]
        began = time.perf_counter()
        found = list(pool.map(lambda each: committed(each, transactions), every))
        rate = CONNECTIONS * transactions / (time.perf_counter() - began)
    latency = described([each for one in found for each in one])
    print(f"{CONNECTIONS} connections: {rate:6.1f} transactions/s ({rate / RATE_GOAL:.2f} of the goal)  {latency}")
    return rate >= RATE_GOAL


def by_length(make: Callable[[str], Bed], commits: int) -> bool:
    """Print the latency of each tenth of many commits; True: the last tenth meets the goal.

    No garbage collection looks at what the program imported.
    """
    with make("length").connected() as connection:
        connection.table.state()
        gc.collect()
        gc.freeze()
        first, found = list[float](), list[float]()
        for part in range(10):
            found = committed(connection, commits // 10)
            first = first or found
            growth = median(found) / median(first)
            print(f"{(part + 1) * commits // 10:6} commits: {described(found)} ({growth:.2f} of the first tenth)")
        return quantiles(found, n=100)[98] < LATENCY_GOAL


def by_hour(make: Callable[[str], Bed], commits: int) -> bool:
    """Print files, bytes and the time of a read before and after the files of so many commits are merged."""
    with make("hour").connected() as connection:
        for _ in range(commits // 100):
            committed(connection, 100)
        table = connection.table
        old = table.files()
        before = _described_read(table, old)
        began = time.perf_counter()
        (merge,) = table.merges([old], "feedctl-merged-1")
        new = merge.written()
        table.replace(old, [new], {}, table.state())
        seconds = time.perf_counter() - began
        after = _described_read(table, table.files())
        print(f"{commits} commits: merged in {seconds:.1f} s; a read takes {after / before:.3f} of the time before")
        return after < before


def _described_read(table: IngestTable, files: Sequence[DataFile]) -> float:
    if not isinstance(table, IcebergTable):
        raise TypeError(table.name)
    began = time.perf_counter()
    rows = table.catalog.load_table(table.identifier).scan().to_arrow().num_rows
    seconds = time.perf_counter() - began
    print(
        f"{len(files):6} files, {sum(each.bytes for each in files) / 1e6:.2f} MB: {rows} rows read in {seconds:.2f} s"
    )
    return seconds


def writers() -> Mapping[str, tuple[RecordWriter, list[bytes]]]:
    """Return each record writer with its records."""
    numbers = range(ROWS)
    return {
        "delimited": (Delimited(), [f"{each},word{each}".encode() for each in numbers]),
        "json": (StrictJson(), [json.dumps({"id": each, "word": f"word{each}"}).encode() for each in numbers]),
        "regex": (
            StrictRegex(pattern=r"(?P<id>\d+) (?P<word>\w+)"),
            [f"{each} word{each}".encode() for each in numbers],
        ),
    }


def by_writer(make: Callable[[str], Bed]) -> bool:
    """Print rows a second of one connection, 10,000 records a write and all in one transaction; there is no goal."""
    fastest = 0.0
    for name, (writer, records) in writers().items():
        with make(name).connected() as connection, connection.transaction_batch(1, writer) as batch:
            began = time.perf_counter()
            batch.begin()
            for at in range(0, ROWS, 10_000):
                batch.write(records[at : at + 10_000])
            batch.commit()
            rate = ROWS / (time.perf_counter() - began)
        fastest = fastest or rate
        print(f"{name:10} {rate:9,.0f} rows/s ({rate / fastest:.2f} of delimited)")
    return True


def beside_spark(make: Callable[[str], Bed], rounds: int) -> bool:
    """Print the seconds of both whole processes over the same files; they take turns. True: the goal is met."""
    found: dict[str, list[float]] = {"entrypoints/ingest.py": [], "Spark availableNow": []}
    for number in range(rounds):
        for name, run in zip(found, (_ours, _spark), strict=True):
            bed = make(f"{run.__name__.strip('_')}{number}")
            _fill(bed.root / "inbox", FILES, ROWS_OF_FILE)
            with closing(open_catalog(bed.address)) as catalog:
                catalog.create("web", "clicks", CLICKS)
            found[name].append(run(bed))
            with closing(open_catalog(bed.address)) as catalog:
                rows = sum(each.rows for each in catalog.open("web", "clicks").files())
            assert rows == FILES * ROWS_OF_FILE, f"{name} made {rows} rows"
    ours, spark = (median(each) for each in found.values())
    for name, seconds in found.items():
        print(f"{name:22} {median(seconds):6.2f} s  {FILES * ROWS_OF_FILE / median(seconds):9,.0f} rows/s")
    print(f"Spark takes {spark / ours:.1f} times as long (goal: 10)")
    return spark >= 10 * ours


def backlog(make: Callable[[str], Bed], megabytes: int) -> bool:
    """Print the rows a second of executors and of the stream over the same files; True: executors have as many."""
    files, row = max(2, megabytes // 8), len(_row(0, 0))
    rows = megabytes * 1_000_000 // (files * row)
    rates: dict[str, float] = {}
    for name, run in (("--engine spark", partial(_ours, on_executors=True)), ("Spark availableNow", _spark)):
        bed = make(f"backlog{len(rates)}")
        _fill(bed.root / "inbox", files, rows)
        with closing(open_catalog(bed.address)) as catalog:
            catalog.create("web", "clicks", CLICKS)
        seconds = run(bed)
        with closing(open_catalog(bed.address)) as catalog:
            found = catalog.open("web", "clicks").files()
        assert sum(each.rows for each in found) == files * rows, f"{name} made {sum(each.rows for each in found)} rows"
        rates[name] = files * rows / seconds
        print(f"{name:22} {seconds:6.1f} s  {rates[name]:9,.0f} rows/s  {len(found):4} data files")
        shutil.rmtree(bed.root)
    ours, spark = rates.values()
    print(f"{files} files of {rows:,} rows: executors have {ours / spark:.2f} of the stream's rows/s (goal: 1)")
    return ours >= spark


def _row(number: int, at: int) -> str:
    return f'{{"ts": "2026-03-20T0{at % 4}:30:00Z", "word": "{number:05}-{at:09}"}}\n'


def _fill(inbox: Path, files: int, rows: int) -> None:
    inbox.mkdir(parents=True)
    for number in range(files):
        path = inbox / f"{number:05}.json"
        with path.open("w") as file:
            file.writelines(_row(number, at) for at in range(rows))
        os.utime(path, (time.time() - 3600,) * 2)


def _ours(bed: Bed, *, on_executors: bool = False) -> float:
    url = sa.make_url(bed.catalog)
    uri = f'"postgresql://{url.host}:{url.port}/{url.database}", user: {url.username}'
    documents = {
        "repo.yaml": "name: bench\n",
        "clusters/primary.yaml": (
            f"kind: cluster\nname: primary\nlocations: {{working: /working}}\ninterfaces:\n"
            f'  write: {{endpoint: "file://{bed.root}"}}\n'
            f"  iceberg: {{type: sql, uri: {uri}, warehouse: /warehouse}}\n"
        ),
        "feeds/clicks.yaml": FEED,
    }
    for name, text in documents.items():
        path = bed.root / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    start, engine = ([SPARK_SUBMIT, "--master", "local[2]"], "spark") if on_executors else ([sys.executable], "local")
    command = [*start, str(ROOT / "entrypoints/ingest.py"), "--config-repo", str(bed.root / "repo"), "--engine", engine]
    options = ["--feed", "clicks", "--time", "2026-03-20T12:00Z", "--output", "json"]
    environment = spark_environment() if on_executors else {}
    return timed([*command, *options], {"FEEDCTL_LEDGER": bed.ledger, **environment})[0]


def _spark(bed: Bed) -> float:
    jars = [*ICEBERG.fetched().glob("*.jar"), *METASTORE.fetched().glob("postgresql-*.jar")]
    url = sa.make_url(bed.catalog)
    database = f"postgresql://{url.host}:{url.port}/{url.database}?user={url.username}"
    script = ROOT / "benchmarks" / "peers" / "spark_stream.py"
    places = (f"file://{bed.root}/warehouse", f"file://{bed.root}/inbox", f"file://{bed.root}/checkpoint")
    command = [sys.executable, str(script), ",".join(map(str, jars)), database, *places]
    return timed(command, spark_environment())[0]


def main() -> int:
    """Measure the parts that were asked for; 1 when a goal is missed."""
    parts = ("processes", "connections", "length", "hour", "writers", "spark", "backlog")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=parts, help="all by default")
    parser.add_argument("--commits", type=int, default=1_000, help="for the latency over many commits")
    parser.add_argument("--rounds", type=int, default=3, help="beside Spark")
    parser.add_argument("--megabytes", type=int, default=300, help="of the backlog; each process has its own files")
    options = parser.parse_args()
    with running_postgres(fsync=True, max_connections=150) as server, tempfile.TemporaryDirectory() as folder:
        keep_bytecode(Path(folder, "bytecode"))

        def make(name: str) -> Bed:
            return Bed.make(server, Path(folder), name)

        measured = {
            "processes": lambda: by_processes(make, 160),
            "connections": lambda: by_connections(make, 20),
            "length": lambda: by_length(make, options.commits),
            "hour": lambda: by_hour(make, 3_600),  # one a second
            "writers": lambda: by_writer(make),
            "spark": lambda: beside_spark(make, options.rounds),
            "backlog": lambda: backlog(make, options.megabytes),
        }
        met = [measured[part]() for part in options.part or parts]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
