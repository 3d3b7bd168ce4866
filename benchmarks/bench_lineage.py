"""Lineage of one instance in a large ledger: five levels up and down, on SQLite and PostgreSQL.

The ledger has 1,000,000 edges: layers of feeds, each made by a process that reads three feeds of the layer before, with
many instances of each. A level is a run and the instances beyond it. The figures are calls in this process, with the
config repo of 10,000 entities loaded: what a command adds to its start. The peers are a recursive query by hand,
which returns the same edges without versions, states and inferred runs, and a walk in networkx after a full load.
"""

from __future__ import annotations

import argparse
import importlib
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import sqlalchemy as sa

from benchmarks.ledger_filling import settle
from tests.databases.ledgers import open_ledger
from tests.databases.postgresql import running_postgres
from tests.unit.entities.config_repo import repository
from toolkit.el import format_instant
from toolkit.el.dataset_uri import feed_uri
from toolkit.entities import Repository
from toolkit.ledger.database import Ledger
from toolkit.ledger.tables import event, event_counter, lineage_edge, run
from toolkit.ledger.upgrade import upgrade
from toolkit.ledger.vocabulary import EventKind, LifeCycle, LineageDirection, RunStatus
from toolkit.lineage.graph import LineageGraph
from toolkit.lineage.impact import impact
from toolkit.lineage.instance_lineage import InstanceId, instance_graph

GOAL = 0.2
"""Seconds of both directions together."""
LEVELS, ROUNDS = 5, 9
LAYERS, WIDTH, READS = 50, 100, 3
CLUSTER = "primary"
START = datetime(2026, 1, 1, tzinfo=UTC)
_CHUNK = 20_000
FEED = """\
kind: feed
name: {name}
frequency: hours(1)
locations: {{data: "/data/{name}/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}"}}
clusters: [{{name: primary, validity: {{start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}}}]
"""
PROCESS = """\
kind: process
name: {name}
frequency: hours(1)
clusters: [{{name: primary, validity: {{start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}}}]
inputs: {{{inputs}}}
outputs: {{out: {{feed: {output}, instance: "now(0,0)"}}}}
workflow: {{engine: spark_sql, path: workflows/all.sql}}
"""


def feed_of(layer: int, place: int) -> str:
    """Return the name of a feed; its process has the same with another first letter."""
    return f"f{layer:02}_{place:02}"


def graph_of_feeds() -> dict[str, list[str]]:
    """Return the feeds that are read to make each feed; always the same."""
    chance = random.Random(33)  # noqa: S311 - a graph that is the same in each run
    return {
        feed_of(layer, place): [feed_of(layer - 1, each) for each in chance.sample(range(WIDTH), READS)]
        if layer
        else []
        for layer in range(LAYERS)
        for place in range(WIDTH)
    }


def config_repo(reads: dict[str, list[str]]) -> Repository:
    """Return the entities, twice as many as feeds."""
    texts: dict[str, str | None] = {"processes/clicks_hourly.yaml": None, "workflows/all.sql": "SELECT 1"}
    for name, inputs in reads.items():
        texts[f"feeds/{name}.yaml"] = FEED.format(name=name)
        read = ", ".join(
            f'i{at}: {{feed: {each}, start: "now(0,0)", end: "now(0,0)"}}' for at, each in enumerate(inputs)
        )
        texts[f"processes/p{name}.yaml"] = PROCESS.format(name=f"p{name}", inputs=read, output=name)
    return repository(texts)


def fill(ledger: Ledger, reads: dict[str, list[str]], edges: int) -> int:
    """Write the runs, edges and events of a history, and return the number of edges."""
    keys = max(1, edges // ((READS + 1) * (LAYERS - 1) * WIDTH))
    tables = {run: list[dict[str, object]](), lineage_edge: [], event: []}
    number = written = 0
    with ledger.engine.begin() as connection:
        for hour in range(keys):
            key = format_instant(START + timedelta(hours=hour))
            for name, inputs in reads.items():
                number += 1
                for table, rows in _rows(number, name, inputs, key):
                    tables[table] += rows
                if len(tables[run]) >= _CHUNK:
                    written += _flush(connection, tables)
        written += _flush(connection, tables)
        connection.execute(sa.update(event_counter).values(last_sequence=number))
    settle(ledger)
    return written


def _rows(number: int, name: str, inputs: list[str], key: str) -> Iterator[tuple[sa.Table, list[dict[str, object]]]]:
    at = START + timedelta(seconds=number)
    of_run = {"entity": f"p{name}", "cluster": CLUSTER, "counterpart": "", "instance_key": key}
    times = dict.fromkeys(("created_at", "started_at", "ended_at"), at)
    status = {"life_cycle": LifeCycle.EXECUTION, "attempt": 1, "status": RunStatus.SUCCEEDED, "is_forced": False}
    yield run, [{"run_id": number, **of_run, **status, **times, "who": "bench"}]
    of_edge = {"run_id": number, "cluster": CLUSTER, "instance_key": key, "at": at, "uri": f"/data/{name}/{key}"}
    read = [
        {**of_edge, "direction": LineageDirection.INPUT, "feed": each, "name": f"i{place}"}
        for place, each in enumerate(inputs)
    ]
    written = {**of_edge, "direction": LineageDirection.OUTPUT, "feed": name, "name": ""}
    yield lineage_edge, [*read, written]
    happened = {"kind": EventKind.AVAILABLE, "dataset": feed_uri(name, CLUSTER), "feed": name, "cluster": CLUSTER}
    yield event, [{"sequence": number, **happened, "instance_key": key, "run_id": number, "recorded_at": at}]


def _flush(connection: sa.Connection, tables: dict[sa.Table, list[dict[str, object]]]) -> int:
    written = len(tables[lineage_edge])
    for table, rows in tables.items():
        if rows:
            connection.execute(sa.insert(table), rows)
            rows.clear()
    return written


_BY_HAND = """
WITH RECURSIVE found(feed, cluster, instance_key, run_id, level) AS (
    SELECT feed, cluster, instance_key, run_id, 0 FROM lineage_edge
    WHERE feed = :feed AND cluster = :cluster AND instance_key = :key AND direction = '{here}'
  UNION
    SELECT far.feed, far.cluster, far.instance_key, beyond.run_id, found.level + 1
    FROM found
    JOIN lineage_edge far ON far.run_id = found.run_id AND far.direction = '{there}'
    JOIN lineage_edge beyond ON beyond.feed = far.feed AND beyond.cluster = far.cluster
      AND beyond.instance_key = far.instance_key AND beyond.direction = '{here}'
    WHERE found.level < :levels - 1
)
SELECT DISTINCT edge.run_id, edge.direction, edge.feed, edge.instance_key
FROM found JOIN lineage_edge edge ON edge.run_id = found.run_id
"""


def by_hand(ledger: Ledger, start: InstanceId) -> int:
    """Return how many edges the recursive query finds in both directions."""
    values = {"feed": start.feed, "cluster": start.cluster, "key": start.key, "levels": LEVELS}
    found = set[tuple[object, ...]]()
    with ledger.engine.connect() as connection:
        for here, there in (("output", "input"), ("input", "output")):
            rows = connection.execute(sa.text(_BY_HAND.format(here=here, there=there)), values)
            found |= {tuple(row) for row in rows}
    return len(found)


def in_networkx(ledger: Ledger, start: InstanceId) -> int:
    """Return how many edges a walk finds after all of them were loaded."""
    nx = importlib.import_module("networkx")  # it has no types
    graph = nx.DiGraph()
    with ledger.engine.connect() as connection:
        for row in connection.execute(sa.select(lineage_edge)):
            instance = (row.feed, row.cluster, row.instance_key)
            pair = (row.run_id, instance) if row.direction is LineageDirection.OUTPUT else (instance, row.run_id)
            graph.add_edge(*pair)
    begun = (start.feed, start.cluster, start.key)
    around = [nx.ego_graph(each, begun, radius=2 * LEVELS) for each in (graph, graph.reverse(copy=False))]
    return sum(each.number_of_edges() for each in around)


def seconds(work: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float, float]:
    """Return the first time, the median of the others, and the median of their time on a processor of this process."""
    times, processor = [], []
    for _ in range(rounds + 1):
        began, began_processor = time.perf_counter(), time.process_time()
        work()
        times.append(time.perf_counter() - began)
        processor.append(time.process_time() - began_processor)
    return times[0], median(times[1:]), median(processor[1:])


def measure(what: str, url: sa.URL, entities: Repository, reads: dict[str, list[str]], edges: int) -> bool:
    """Print the figures of a database; return whether the goal is met."""
    ledger = open_ledger(url)
    upgrade(ledger)
    began = time.perf_counter()
    written = fill(ledger, reads, edges)
    print(f"{what}: {written:,} edges in {time.perf_counter() - began:.0f} s")
    start = InstanceId(feed=feed_of(LAYERS // 2, 1), cluster=CLUSTER, key=format_instant(START))

    def ours() -> LineageGraph:
        return ledger.read(lambda tx: instance_graph(tx, entities, start, depth=2 * LEVELS))

    graph = ours()
    first, usual, processor = seconds(ours)
    took = f"{usual:.3f} s, {processor:.3f} s on the processor, first {first:.3f} s (goal: {GOAL} s)"
    size = f"{len(graph.vertices)} vertices, {len(graph.edges)} edges"
    print(f"{what}: up and down {LEVELS} levels: {took}; {size}")
    _, recursive, _ = seconds(lambda: by_hand(ledger, start))
    print(f"{what}: a recursive query by hand: {recursive:.3f} s; {by_hand(ledger, start)} edges")
    _, of_impact, _ = seconds(lambda: ledger.read(lambda tx: impact(tx, entities, start, limit=20_000)), 3)
    print(f"{what}: impact, all levels: {of_impact:.3f} s")
    began = time.perf_counter()
    found = in_networkx(ledger, start)
    print(f"{what}: networkx after a full load: {time.perf_counter() - began:.1f} s; {found} edges")
    ledger.close()
    return usual <= GOAL


def main() -> int:
    """Print the figures; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, default=1_000_000)
    options = parser.parse_args()
    reads = graph_of_feeds()
    began = time.perf_counter()
    entities = config_repo(reads)
    print(f"config repo: {2 * len(reads):,} entities in {time.perf_counter() - began:.0f} s")
    with tempfile.TemporaryDirectory() as folder, running_postgres(fsync=True) as server:
        sqlite = sa.URL.create("sqlite", database=str(Path(folder) / "ledger.db"))
        met = measure("SQLite", sqlite, entities, reads, options.edges)
        server.create_database("lineage")
        met &= measure("PostgreSQL", sa.make_url(server.url("lineage")), entities, reads, options.edges)
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(main())
