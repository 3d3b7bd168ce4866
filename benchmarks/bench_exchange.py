"""Rows of a PostgreSQL table to files and back, against pandas, psycopg with CSV, and copying by psql, the floor.

Each contender is a process of its own; they take turns. Three times are shown: the whole process with one transfer, the
first transfer, and the transfer alone. Spark's first job in a JVM also loads and compiles Spark: 8 seconds of a
processor, whatever the number of rows. So its transfer alone is a second one; the others move the rows once. Goals: the
transfer alone takes at most half of pandas' both ways, and at most 4 times the floor on import; the driver's Python
stays below 300 MiB, and the peak of its JVM is shown. An import has one connection and 1,000 rows in an answer here, as
a feed has unless it says otherwise. An incremental import with nothing to do takes at most 2 seconds beyond its
start-up, which is that of a Python that loads the same modules. `--rows 5000000` is the larger size.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from benchmarks.timing import timed
from tests.databases.postgresql import PostgresServer, running_postgres
from tests.testbed import java
from tests.testbed.jars import JDBC
from tests.unit.exchange.import_site import NOMINAL, ImportSite
from toolkit.entities.vocabulary import DatasourceType
from toolkit.exchange.rows import ReadRequest, StageRequest, StoredFormat
from toolkit.jdbc.port import JdbcAccess, RelationName

CHUNK, CONNECTIONS, FETCHED = 50_000, 2, 1000
OURS, PANDAS, LOOP, FLOOR = "feedctl", "pandas", "psycopg, CSV", "psql \\copy"
AGAINST_PANDAS, AGAINST_FLOOR, MOST_MIB, IDLE_SECONDS = 0.5, 4.0, 300, 2.0
COLUMNS = {
    "id": "bigint",
    "customer": "int",
    "amount": "decimal(12,2)",
    "note": "string",
    "day": "date",
    "at": "timestamp",
}
_TABLE = """
CREATE TABLE t (id bigint PRIMARY KEY, customer int, amount numeric(12,2), note text, day date, at timestamptz);
INSERT INTO t SELECT id, id % 1000, id / 7.0, 'note of row ' || id, date '2026-01-01' + (id % 365)::int,
  timestamptz '2026-01-01 00:00+00' + id * interval '1 second' FROM generate_series(1, {rows}) AS id;
ANALYZE t; CREATE TABLE s (LIKE t)"""


def timed_transfers(url: str, transfer: Callable[[int], object], *, is_import: bool, times: int = 1) -> list[float]:
    """Return the seconds of each transfer, which gets its number; the table is empty before an export."""
    seconds = []
    for number in range(times):
        if not is_import:
            subprocess.run(["psql", "-q", "-X", url.replace("+psycopg", ""), "-c", "TRUNCATE s"], check=True)
        began = time.perf_counter()
        transfer(number)
        seconds.append(time.perf_counter() - began)
    return seconds


def spark(url: str, folder: Path, *, is_import: bool) -> list[float]:
    """Move the rows as the actions do."""
    from toolkit.exchange.spark_rows import SparkRows  # noqa: PLC0415 - others don't load Spark

    access = JdbcAccess(
        name="bench",
        type=DatasourceType.POSTGRES,
        url=f"jdbc:postgresql://{url.rpartition('@')[2]}",
        driver_class="org.postgresql.Driver",
        jars=(str(JDBC.fetched() / "postgresql-42.7.7.jar"),),
        user=url.partition("//")[2].partition("@")[0].partition(":")[0],
        properties={"reWriteBatchedInserts": "true", "stringtype": "unspecified"},
    )
    rows, stored = SparkRows(), StoredFormat()
    read = ReadRequest(
        access=access,
        init_statement=None,
        selects=(f"SELECT {', '.join(COLUMNS)} FROM t",),  # noqa: S608
        columns=COLUMNS,
        fetch_size=FETCHED,
        stored=stored,
        target="",
    )
    stage = StageRequest(
        access=access,
        table=RelationName(("s",)),
        files=(f"file://{folder}/spark-0",),
        stored=stored,
        columns=COLUMNS,
        connections=CONNECTIONS,
    )

    def transfer(number: int) -> None:
        rows.read(replace(read, target=f"file://{folder}/spark-{number}")) if is_import else rows.stage(stage)

    (folder / "empty").mkdir(exist_ok=True)
    rows.columns((f"file://{folder}/empty",), stored)  # the session starts
    return timed_transfers(url, transfer, is_import=is_import, times=2)


def pandas(url: str, folder: Path, *, is_import: bool) -> list[float]:
    """Move the rows in chunks, as its documentation shows."""
    pd = import_module("pandas")  # without types
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415
    import sqlalchemy as sa  # noqa: PLC0415

    engine = sa.create_engine(url)
    file = folder / "pandas.parquet"

    def transfer(_: int) -> None:
        with engine.connect().execution_options(stream_results=is_import) as connection:
            if is_import:
                writer = None
                for chunk in pd.read_sql("SELECT * FROM t", connection, chunksize=CHUNK):
                    table = pa.Table.from_pandas(chunk, writer.schema if writer else None)
                    writer = writer or pq.ParquetWriter(file, table.schema)
                    writer.write_table(table)
                if writer:
                    writer.close()
            else:
                for batch in pq.ParquetFile(file).iter_batches(CHUNK):
                    batch.to_pandas().to_sql(
                        "s", connection, if_exists="append", index=False, method="multi", chunksize=1000
                    )
                connection.commit()

    return timed_transfers(url, transfer, is_import=is_import)


def loop(url: str, folder: Path, *, is_import: bool) -> list[float]:
    """Move the rows as Sqoop does: a connection a split, text files, batches of inserts."""
    import psycopg  # noqa: PLC0415

    plain = url.replace("+psycopg", "")

    def part(number: int) -> None:
        file = folder / f"loop-{number}.csv"
        with psycopg.connect(plain) as connection, file.open("w" if is_import else "r", newline="") as lines:
            if is_import:
                with connection.cursor("rows") as cursor:
                    cursor.itersize = 10_000
                    cursor.execute(f"SELECT * FROM t WHERE id % {CONNECTIONS} = {number}".encode())  # noqa: S608
                    csv.writer(lines).writerows(cursor)
            else:
                connection.cursor().executemany(b"INSERT INTO s VALUES (%s, %s, %s, %s, %s, %s)", csv.reader(lines))

    def transfer(_: int) -> None:
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(part, range(CONNECTIONS)))

    return timed_transfers(url, transfer, is_import=is_import)


def floor(url: str, folder: Path, *, is_import: bool) -> list[float]:
    """Move the rows by PostgreSQL's own client."""
    what = f"\\copy t TO '{folder}/floor.csv' CSV" if is_import else f"\\copy s FROM '{folder}/floor.csv' CSV"
    command = ["psql", "-q", "-X", url.replace("+psycopg", ""), "-c", what]
    return timed_transfers(url, lambda _: subprocess.run(command, check=True), is_import=is_import)


def peak_of_children() -> float:
    """Return the MiB that the processes of this one had at most: the JVM."""
    found = 0
    for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        status = Path(f"/proc/{child}/status").read_text()
        found += next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)
    return found / 1024


CONTENDERS: Mapping[str, Callable[..., list[float]]] = {OURS: spark, PANDAS: pandas, LOOP: loop, FLOOR: floor}


def measured(
    server: PostgresServer, database: str, folder: Path, rows: int
) -> dict[tuple[str, bool], dict[str, float]]:
    """Return seconds and peaks of memory, by contender and direction."""
    found = {}
    psql = ["psql", "-q", "-X", server.url(database).replace("+psycopg", ""), "-Atc"]
    for is_import in (True, False):
        for name in CONTENDERS:
            child = [
                "-m",
                "benchmarks.bench_exchange",
                "--child",
                name,
                "--url",
                server.url(database),
                "--to",
                str(folder),
            ]
            direction = ["--import"] if is_import else []
            environment = {**os.environ, **java.environment(), "SPARK_LOCAL_IP": "127.0.0.1"}
            whole, output = timed([sys.executable, *child, *direction], environment)
            inside = json.loads(output.splitlines()[-1])
            found[name, is_import] = {"whole": whole - inside["again"], **inside}
            if not is_import:
                counted = subprocess.run([*psql, "SELECT count(*) FROM s"], check=True, capture_output=True, text=True)
                assert int(counted.stdout) == rows, (name, counted.stdout)
    return found


def idle(server: PostgresServer, folder: Path) -> tuple[float, float]:
    """Return the seconds of an incremental import that has nothing to do, and those of its start-up; the least of 5."""
    address = server.url("bench").rpartition("@")[2]
    jar = JDBC.fetched() / "postgresql-42.7.7.jar"
    site = ImportSite(
        folder,
        extract="{type: incremental, delta_column: id, merge_policy: append}",
        datasource=f"""kind: datasource
name: crm
type: postgres
interfaces: {{readonly: {{endpoint: "jdbc:postgresql://{address}"}}}}
credential: {{user: feedctl, env: FEEDCTL_DATASOURCE_BENCH}}
driver: {{class: org.postgresql.Driver, jars: ["{jar}"]}}
""",
    )
    own = {"SPARK_LOCAL_IP": "127.0.0.1", "FEEDCTL_DATASOURCE_BENCH": "any"}
    environment = {**os.environ, **java.environment(), **own}
    chosen = ["--config-repo", str(site.root / "repo"), "--feed", "customers", "--time", NOMINAL]
    modules = "import entrypoints.db_import, toolkit.bootstrap.db_import, toolkit.rendering.db_import"
    run, start = [sys.executable, "-m", "entrypoints.db_import", *chosen], [sys.executable, "-c", modules]
    timed(run, environment)
    assert site.ledger("select rows from exchange_mark") == [(1000,)]
    return min(timed(run, environment)[0] for _ in range(5)), min(timed(start, environment)[0] for _ in range(5))


def main() -> int:
    """Print seconds and ratios; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--child", choices=CONTENDERS, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--to", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--import", dest="is_import", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        first, *again = CONTENDERS[asked.child](asked.url, asked.to, is_import=asked.is_import)
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        measures = {"first": first, "alone": again[0] if again else first, "again": sum(again), "mib": own}
        print(json.dumps({**measures, "jvm": peak_of_children()}))
        return 0
    with running_postgres() as server, tempfile.TemporaryDirectory() as folder:
        server.create_database("bench")
        psql = ["psql", "-q", "-X", server.url("bench").replace("+psycopg", "")]
        subprocess.run([*psql, "-c", _TABLE.format(rows=asked.rows)], check=True)
        found = measured(server, "bench", Path(folder), asked.rows)
        subprocess.run([*psql, "-c", "CREATE TABLE customers AS SELECT id, note FROM t LIMIT 1000"], check=True)
        (Path(folder) / "idle").mkdir()
        took, start = idle(server, Path(folder) / "idle")
    print(f"incremental import with nothing to do: {took:.2f} s, of which start-up {start:.2f} s")
    missed = took - start > IDLE_SECONDS
    for is_import in (True, False):
        print(f"{'import' if is_import else 'export'} of {asked.rows:,} rows")
        for name in CONTENDERS:
            each = found[name, is_import]
            seconds = f"whole {each['whole']:6.1f} s  first {each['first']:6.1f} s  alone {each['alone']:6.1f} s"
            print(f"{name:<14} {seconds}  Python {each['mib']:4.0f} MiB  JVM {each['jvm']:5.0f} MiB")
        for kind in ("whole", "first", "alone"):
            ours, peer, least = (found[name, is_import][kind] for name in (OURS, PANDAS, FLOOR))
            print(f"{kind}: {peer / ours:.1f} times as fast as pandas, {ours / least:.1f} times the floor")
            if kind == "alone":
                missed |= ours > AGAINST_PANDAS * peer or (is_import and ours > AGAINST_FLOOR * least)
        missed |= found[OURS, is_import]["mib"] > MOST_MIB
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
