"""Passes of the monitor over 5,000 feeds with 500,000 pending instances, metrics of 5,000 entities, 1,000 mails.

Feeds are written by processes of the config repo, so that the ledger alone says what is there. A pass is timed inside
the process, with the config repo loaded. Peers in the same run, on the same database: the SQL that a team writes by
hand, which compares all expected instances with all events, and `dbt source freshness` on as many sources where the
variable FEEDCTL_BENCH_DBT names a dbt with its adapter for PostgreSQL. Airflow is not compared: it has no check of
data that is not there, and its deadlines are those of DAG runs that its scheduler created.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median

import sqlalchemy as sa

from tests.databases.ledgers import open_ledger
from tests.databases.postgresql import running_postgres
from toolkit.availability import DataAccess
from toolkit.bootstrap.config import RepoRequest, load_entities, open_config
from toolkit.el import format_instant
from toolkit.entities.repository import Repository
from toolkit.ledger import events
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.events import NewEvent
from toolkit.ledger.tables import sla_instance
from toolkit.ledger.upgrade import upgrade
from toolkit.ledger.vocabulary import EventKind
from toolkit.metrics.collection import collect
from toolkit.metrics.exposition import ExpositionFormat, exposed
from toolkit.monitoring.monitor import Monitor, MonitorResult
from toolkit.monitoring.series import FeedSeries

FEEDS, PENDING, CHANGES, ROUNDS = 5_000, 100, 10_000, 5
IDLE_GOAL, METRICS_GOAL = 1.0, 1.0
_METRICS_ROUNDS = 3
DBT = "FEEDCTL_BENCH_DBT"
_PROCESS_OUTPUTS = 100
_PART = 5_000

FEED = """\
kind: feed
name: {name}
frequency: hours(1)
locations: {{data: "/{name}/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}"}}
sla: {{low: hours({pending}), high: hours({pending})}}
clusters: [{{name: primary, validity: {{start: 2026-01-01T00:00Z, end: 2999-01-01T00:00Z}}}}]
"""
PROCESS = """\
kind: process
name: {name}
clusters: [{{name: primary, validity: {{start: 2026-01-01T00:00Z, end: 2999-01-01T00:00Z}}}}]
frequency: hours(1)
outputs:
{outputs}workflow: {{engine: command, path: only}}
"""
OUTPUT = '  out_{name}: {{feed: {name}, instance: "now(0,0)"}}\n'

SCAN_SQLITE = """
WITH RECURSIVE hour(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM hour WHERE n < :pending),
expected AS (
  SELECT name, strftime('%Y-%m-%dT%H:00Z', :first, '+' || n || ' hours') AS instance_key FROM bench_feed CROSS JOIN hour
)
SELECT count(*) FROM expected WHERE NOT EXISTS (
  SELECT 1 FROM event WHERE event.feed = name AND event.cluster = 'primary'
  AND event.instance_key = expected.instance_key AND event.kind = 'available'
)
"""
SCAN_POSTGRESQL = """
WITH expected AS (
  SELECT name, to_char(:first ::timestamp + make_interval(hours => n), 'YYYY-MM-DD"T"HH24:MI"Z"') AS instance_key
  FROM bench_feed CROSS JOIN generate_series(0, :pending) AS n
)
SELECT count(*) FROM expected LEFT JOIN event ON event.feed = name AND event.cluster = 'primary'
  AND event.instance_key = expected.instance_key AND event.kind = 'available'
WHERE event.sequence IS NULL
"""


def feed_name(number: int) -> str:
    """Return the name of a feed."""
    return f"feed_{number:05}"


def write_repo(folder: Path, size: int, pending: int) -> Path:
    """Write a config repo with so many hourly feeds, each with so many instances that are not missed yet."""
    files = {
        "repo.yaml": "name: bench\n",
        "clusters/primary.yaml": f'kind: cluster\nname: primary\ninterfaces: {{write: {{endpoint: "file://{folder}"}}}}\n',
        "only": "#!/bin/sh\n",
    }
    for number in range(size):
        files[f"feeds/{feed_name(number)}.yaml"] = FEED.format(name=feed_name(number), pending=pending)
    for first in range(0, size, _PROCESS_OUTPUTS):
        numbers = range(first, min(first + _PROCESS_OUTPUTS, size))
        outputs = "".join(OUTPUT.format(name=feed_name(each)) for each in numbers)
        files[f"processes/make_{first}.yaml"] = PROCESS.format(name=f"make_{first}", outputs=outputs)
    repo = folder / "repo"
    for name, text in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return repo


def load(repo: Path) -> Repository:
    """Load the config repo as a command does."""
    request = RepoRequest(config_repo=str(repo), variables=dict(os.environ))
    return load_entities(open_config(request, for_mutation=False, allow_dirty=True), request)


def timed(work: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


@dataclass(frozen=True, kw_only=True)
class MonitorBench:
    """Passes over one ledger.

    Attributes:
        start: a whole hour of the day before; times of passes count from it, since no pass may be ahead of the clock.
    """

    ledger: Ledger
    repository: Repository
    pending: int
    start: datetime

    def run(self, minutes: float) -> MonitorResult:
        """Run a pass."""
        now = self.start + timedelta(minutes=minutes)
        monitor = Monitor(
            ledger=self.ledger,
            repository=self.repository,
            data=_no_data,
            check=lambda: None,
            wall_clock=lambda: datetime.now(UTC),
        )
        return monitor.run(now)

    def waiting(self) -> int:
        """Return how many instances are expected."""
        counted = sa.select(sa.func.count()).select_from(sla_instance)
        return self.ledger.read(lambda tx: int(tx.execute(counted).scalar_one()))

    def arrive(self, hours_ago: int, number: int) -> None:
        """Record that instances came, the oldest first of as many feeds as are needed."""
        names = sorted(self.repository.feeds)
        keys = [
            format_instant(self.start - timedelta(hours=hours_ago - step)) for step in range(number // len(names) + 1)
        ]
        new = [_available(name, key) for key in keys for name in names][:number]
        that_day = replace(self.ledger, clock=lambda _: self.start + timedelta(minutes=15))
        for first in range(0, number, _PART):
            that_day.write(partial(events.append, events=new[first : first + _PART]))


def _available(feed: str, key: str) -> NewEvent:
    return NewEvent(kind=EventKind.AVAILABLE, feed=feed, cluster="primary", instance_key=key, chain=0)


def _no_data(series: Sequence[FeedSeries]) -> DataAccess:
    message = f"a pass looks at {len(series)} feeds, and the ledger knows all"
    raise AssertionError(message)


@dataclass(frozen=True, kw_only=True, slots=True)
class PassFigures:
    """Seconds of passes.

    Attributes:
        first: that expects all instances.
        idle: with nothing new.
        came: in which so many instances came.
        missed: in which an instance of each feed is missed, and three new ones of each are expected.
        scan: of the statement that a team would write by hand.
    """

    first: float
    idle: float
    came: float
    missed: float
    scan: float


def measured(bench: MonitorBench, rounds: int, changes: int) -> PassFigures:
    """Run the passes."""
    first = timed(partial(bench.run, 1))
    analyze(bench.ledger)
    waiting = bench.waiting()
    assert waiting == len(bench.repository.feeds) * bench.pending, waiting
    idle = median(timed(partial(bench.run, at)) for at in range(2, 2 + rounds))
    bench.arrive(bench.pending - 1, changes)
    came = timed(lambda: bench.run(20))
    assert bench.waiting() == waiting - changes, bench.waiting()
    scan = median(timed(partial(bench.ledger.read, partial(scanned, bench=bench))) for _ in range(rounds))
    found: list[MonitorResult] = []
    missed = timed(lambda: found.append(bench.run(3 * 60 + 1)))
    assert len(found[0].recorded.opened) == len(bench.repository.feeds), len(found[0].recorded.opened)
    return PassFigures(first=first, idle=idle, came=came, missed=missed, scan=scan)


def scanned(tx: Transaction, bench: MonitorBench) -> int:
    """Count the missing instances by one statement; the names of the feeds are a table, as a team would have one."""
    is_sqlite = tx.connection.dialect.name == "sqlite"
    first = bench.start - timedelta(hours=bench.pending - 1)
    values = {"first": first.strftime("%Y-%m-%d %H:%M:%S"), "pending": bench.pending - 1}
    text = sa.text(SCAN_SQLITE if is_sqlite else SCAN_POSTGRESQL)
    return int(tx.connection.execute(text, values).scalar_one())


def analyze(ledger: Ledger) -> None:
    """Let PostgreSQL count its rows, as it does by itself in production; SQLite does not."""
    if ledger.engine.dialect.name == "postgresql":
        ledger.write(lambda tx: tx.connection.exec_driver_sql("ANALYZE"))


def add_feed_table(ledger: Ledger, names: list[str]) -> None:
    """Add the table of the peer."""

    def add(tx: Transaction) -> None:
        tx.connection.exec_driver_sql("CREATE TABLE bench_feed (name VARCHAR(255) PRIMARY KEY)")
        tx.connection.execute(sa.text("INSERT INTO bench_feed VALUES (:name)"), [{"name": each} for each in names])

    ledger.write(add)


def metrics_seconds(bench: MonitorBench) -> tuple[float, float, int]:
    """Return the seconds of metrics of all entities as text, the first time and the median of more, and its bytes.

    A process that is called every minute has the first time only, in which statements are compiled.
    """
    most, times, text = bench.repository.settings.monitoring.metrics.max_series, list[float](), b""
    for _ in range(1 + _METRICS_ROUNDS):
        began = time.perf_counter()
        text = exposed(collect(bench.ledger, bench.repository, None, most).samples, ExpositionFormat.TEXT)
        times.append(time.perf_counter() - began)
    return times[0], median(times[1:]), len(text)


def dbt_freshness(folder: Path, url: sa.URL, size: int) -> str:
    """Return what `dbt source freshness` takes for as many sources, each a table with one row, or why not."""
    dbt = os.environ.get(DBT)
    if dbt is None:
        return f"was not measured: the variable {DBT} names no dbt"
    names = [feed_name(each) for each in range(size)]
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        for name in names:
            connection.exec_driver_sql(f"CREATE TABLE {name} AS SELECT now() AS loaded_at")
    engine.dispose()
    (folder / "models").mkdir(parents=True)
    freshness = {"warn_after": {"count": 1, "period": "hour"}, "error_after": {"count": 2, "period": "hour"}}
    source = {"name": "bench", "schema": "public", "config": {"freshness": freshness, "loaded_at_field": "loaded_at"}}
    sources = [{**source, "tables": [{"name": each} for each in names]}]
    target = {
        "type": "postgres",
        "host": url.host,
        "port": url.port,
        "user": url.username,
        "pass": url.password or "",
        "dbname": url.database,
        "schema": "public",
        "threads": 4,
    }
    documents = {
        "dbt_project.yml": {"name": "bench", "version": "1.0", "profile": "bench"},
        "profiles.yml": {"bench": {"target": "bench", "outputs": {"bench": target}}},
        "models/sources.yml": {"version": 2, "sources": sources},
    }
    for name, document in documents.items():
        (folder / name).write_text(json.dumps(document))  # which is YAML as well
    command = [dbt, "--quiet", "source", "freshness", "--project-dir", str(folder), "--profiles-dir", str(folder)]
    began = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "0"}
    )
    seconds = time.perf_counter() - began
    return f"{seconds:.1f} s, start included" if done.returncode == 0 else f"failed: {done.stdout[-500:]}"


def report(name: str, found: PassFigures, metrics: tuple[float, float, int]) -> bool:
    """Print the figures of one database; whether the goals are met."""
    seconds, again, size = metrics
    print(f"{name}; load {os.getloadavg()[0]:.0f}")
    print(f"  first pass, all instances are new       {found.first:8.2f} s")
    print(f"  pass with nothing new                   {found.idle:8.2f} s   goal: {IDLE_GOAL:.0f}")
    print(f"  pass after instances came               {found.came:8.2f} s")
    print(f"  pass three hours later, one of each missed {found.missed:5.2f} s")
    times = f"ours with nothing new: {found.scan / found.idle:.1f} times as fast"
    print(f"  peer: SQL by hand over all instances    {found.scan:8.2f} s   {times}")
    print(f"  metrics as text, the first time         {seconds:8.2f} s   goal: {METRICS_GOAL:.0f}; {size / 1e6:.1f} MB")
    print(f"  metrics as text, once more              {again:8.2f} s")
    return found.idle <= IDLE_GOAL and seconds <= METRICS_GOAL


def main() -> int:
    """Print the figures; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--feeds", type=int, default=FEEDS, help="feeds")
    parser.add_argument("--pending", type=int, default=PENDING, help="pending instances of each")
    parser.add_argument("--changes", type=int, default=CHANGES, help="instances that come")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of which the median counts")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="feedctl-bench-")))
        repository = load(write_repo(folder, options.feeds, options.pending))
        server = stack.enter_context(running_postgres(fsync=True))
        server.create_database("ledger")
        urls = {
            "SQLite": sa.URL.create("sqlite", database=str(folder / "ledger.db")),
            "PostgreSQL": sa.make_url(server.url("ledger")),
        }
        print(
            f"{options.feeds:,} feeds, {options.feeds * options.pending:,} instances, {options.changes:,} of them come"
        )
        met = []
        for name, url in urls.items():
            with closing(open_ledger(url)) as ledger:
                upgrade(ledger)
                add_feed_table(ledger, sorted(repository.feeds))
                start = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=1)
                bench = MonitorBench(ledger=ledger, repository=repository, pending=options.pending, start=start)
                found = measured(bench, options.rounds, options.changes)
                met.append(report(name, found, metrics_seconds(bench)))
        server.create_database("dbt")
        freshness = dbt_freshness(folder / "dbt", sa.make_url(server.url("dbt")), options.feeds)
        print(f"peer: dbt source freshness, {options.feeds:,} sources  {freshness}")
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
