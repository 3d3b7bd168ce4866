"""Triggers on SQLite and PostgreSQL (which waits for its disk): nothing new, all due, latency; Airflow's assets.

The graph has as many datasets as consumers, and each consumer waits for three of them. A decision is timed inside the
process, after its start and with the config repo loaded; it includes the compilation of the triggers that it needs.
The peer is what Airflow's scheduler does to find and create the runs of the same graph of assets, on the same
PostgreSQL, see benchmarks/peers/airflow_assets.py. Whatever is compared takes turns within one run.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median

import sqlalchemy as sa

from benchmarks.peers.airflow_peer import AirflowPeer, NoPeer, running_airflow
from tests.databases.ledgers import open_ledger
from tests.databases.postgresql import running_postgres
from toolkit.bootstrap.config import RepoRequest, load_entities, open_config
from toolkit.el import format_instant
from toolkit.ledger import events
from toolkit.ledger.database import Ledger
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs.rows import Origin
from toolkit.ledger.upgrade import upgrade
from toolkit.ledger.vocabulary import EventKind
from toolkit.planning.process_io import ProcessSite
from toolkit.planning.trigger_rules import TriggerRules
from toolkit.triggers.apply import TriggerDecider
from toolkit.triggers.consumer import TriggerConsumer

SIZE, EVENTS, ROUNDS, LATENCIES = 1_000, 100_000, 5, 20
IDLE_GOAL, RATE_GOAL, GROWTH_GOAL = 0.3, 1_000.0, 1.5
OF_EACH = 3
PEER = "Airflow"
START = datetime(2020, 1, 1, tzinfo=UTC)
_PART = 5_000

FEED = """\
kind: feed
name: feed_{number}
frequency: days(1)
locations: {{data: "/feed_{number}/${{YEAR}}-${{MONTH}}-${{DAY}}"}}
clusters: [{{name: primary, validity: {{start: 2020-01-01T00:00Z, end: 2999-01-01T00:00Z}}}}]
"""
PROCESS = """\
kind: process
name: consumer_{number}
clusters: [{{name: primary, validity: {{start: 2020-01-01T00:00Z, end: 2999-01-01T00:00Z}}}}]
frequency: days(1)
inputs:
{inputs}
schedule: never
trigger: {{all: [{names}]}}
workflow: {{engine: command, path: only}}
"""
INPUT = '  in_{name}: {{feed: feed_{number}, start: "today(0,0)", end: "today(0,0)"}}\n'


def write_repo(folder: Path, size: int) -> Path:
    """Write a config repo with so many feeds, and as many processes that wait for three of them each."""
    files = {
        "repo.yaml": "name: bench\n",
        "clusters/primary.yaml": f'kind: cluster\nname: primary\ninterfaces: {{write: {{endpoint: "file://{folder}"}}}}\n',
        "only": "#!/bin/sh\n",
    }
    for number in range(size):
        read = [(number + step) % size for step in range(OF_EACH)]
        inputs = "".join(INPUT.format(name=place, number=feed) for place, feed in enumerate(read))
        names = ", ".join(f"in_{place}" for place in range(OF_EACH))
        files[f"feeds/feed_{number}.yaml"] = FEED.format(number=number)
        files[f"processes/consumer_{number}.yaml"] = PROCESS.format(number=number, inputs=inputs, names=names)
    repo = folder / "repo"
    for name, text in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return repo


@dataclass(kw_only=True)
class Graph:
    """Consumers of a config repo; their triggers are compiled anew for each decision, as each process does."""

    repo: Path
    size: int
    sites: Sequence[ProcessSite] = ()
    days: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        request = RepoRequest(config_repo=str(self.repo), variables=dict(os.environ))
        self.repository = load_entities(open_config(request, for_mutation=False, allow_dirty=True), request)
        cluster = self.repository.cluster("primary")
        self.sites = [
            ProcessSite(process=each, cluster=cluster, feeds=self.repository.feeds)
            for each in self.repository.processes.values()
        ]

    def consumers(self) -> list[TriggerConsumer]:
        """Return the consumers as a new process has them."""
        rules = TriggerRules(self.repository, datetime.now(UTC).replace(second=0, microsecond=0))
        found = []
        for each in self.sites:
            trigger = each.process.trigger
            assert trigger is not None
            found.append(
                TriggerConsumer(
                    process=each.process.name,
                    cluster="primary",
                    trigger=trigger,
                    schedule=each.process.schedule,
                    compile=partial(rules.rule, each, trigger),
                )
            )
        return found

    def decide(self, ledger: Ledger) -> tuple[float, int]:
        """Return the seconds of a decision, and how many runs it created."""
        consumers = self.consumers()
        decider = TriggerDecider(ledger=ledger, now=lambda: datetime.now(UTC), origin_of=lambda _: Origin(who="bench"))
        began = time.perf_counter()
        created = sum(len(each.created) for each in decider.decide(consumers))
        return time.perf_counter() - began, created

    def next_day(self) -> str:
        """Return the key of instances that no event has named yet."""
        return format_instant(START + timedelta(days=next(self.days)))

    def update(self, ledger: Ledger, numbers: Sequence[int], key: str) -> None:
        """Record an update of an instance of some feeds."""
        new = [
            NewEvent(kind=EventKind.AVAILABLE, feed=f"feed_{each}", cluster="primary", instance_key=key, chain=0)
            for each in numbers
        ]
        ledger.write(lambda tx: events.append(tx, new))

    def fill(self, ledger: Ledger, most: int) -> None:
        """Record updates until the ledger has so many, and let all consumers read them."""
        have = ledger.read(events.newest)
        while have < most:
            part = min(_PART, most - have, self.size)
            self.update(ledger, range(part), self.next_day())
            have += part
        self.decide(ledger)


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """Seconds of one database: of a decision with nothing new by history, of one run when all are due, of one event."""

    idle: Mapping[int, float]
    each_due: float
    latency: float


def measured(graph: Graph, ledger: Ledger, history: Sequence[int], rounds: int) -> Figures:
    """Fill the ledger step by step, and measure."""
    graph.decide(ledger)  # the consumers are new: they start from now
    idle = {}
    for size in history:
        graph.fill(ledger, size)
        idle[size] = median(graph.decide(ledger)[0] for _ in range(rounds))
    each_due = []
    for _ in range(rounds):
        graph.update(ledger, range(graph.size), graph.next_day())
        seconds, created = graph.decide(ledger)
        assert created == graph.size, created
        each_due.append(seconds / created)
    return Figures(idle=idle, each_due=median(each_due), latency=median(_latencies(graph, ledger)))


def _latencies(graph: Graph, ledger: Ledger) -> Iterator[float]:
    """Yield the seconds from the commit of the event that satisfies one consumer alone to its run row."""
    for _ in range(LATENCIES):
        key = graph.next_day()
        graph.update(ledger, range(OF_EACH - 1), key)
        graph.decide(ledger)
        graph.update(ledger, [OF_EACH - 1], key)
        seconds, created = graph.decide(ledger)
        assert created == 1, created
        yield seconds


def of_peer(airflow: AirflowPeer, rounds: int) -> tuple[float, float]:
    """Return the peer's seconds for a look with nothing new, and for each run when all are due."""
    idle = median(airflow.seconds("idle")[0] for _ in range(rounds))
    due = []
    for _ in range(rounds):
        seconds, created = airflow.seconds("due")
        due.append(seconds / created)
    return idle, median(due)


def reported(name: str, found: Figures, peer: tuple[float, float] | None) -> bool:
    """Print the figures of one database; whether the goals are met."""
    sizes = sorted(found.idle)
    rate = 1 / found.each_due
    print(f"{name}; load {os.getloadavg()[0]:.0f}")
    for size in sizes:
        print(
            f"  nothing new, {size:9,} events          {found.idle[size] * 1000:9.1f} ms   goal: {IDLE_GOAL * 1000:.0f}"
        )
    growth = found.idle[sizes[-1]] / found.idle[sizes[0]]
    print(f"  growth with the history               {growth:9.2f}      goal: at most {GROWTH_GOAL}")
    print(f"  all due                               {rate:9.0f} decisions a second   goal: {RATE_GOAL:.0f}")
    print(f"  latency from event to run row         {found.latency * 1000:9.1f} ms")
    if peer is not None:
        rates = f"{1 / peer[1]:9.0f} runs a second; ours {peer[1] * rate:.1f} times as fast"
        print(f"  {PEER}: nothing new                  {peer[0] * 1000:9.1f} ms")
        print(f"  {PEER}: all due                      {rates}")
    is_quick = rate >= RATE_GOAL or name != "PostgreSQL"
    return max(found.idle.values()) <= IDLE_GOAL and growth <= GROWTH_GOAL and is_quick


def main() -> int:
    """Print the figures; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE, help="datasets, and consumers")
    parser.add_argument("--events", type=int, default=EVENTS, help="events in the history")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of which the median counts")
    parser.add_argument("--no-peer", action="store_true", help="leave Airflow out")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="feedctl-bench-")))
        graph_of: Callable[[], Graph] = lambda: Graph(repo=folder / "repo", size=options.size)  # noqa: E731
        write_repo(folder, options.size)
        server = stack.enter_context(running_postgres(fsync=True))
        peer = None
        if not options.no_peer:
            try:
                server.create_database("airflow")
                size = {"FEEDCTL_BENCH_ASSETS": str(options.size)}
                found_peer = running_airflow(server.url("airflow"), "airflow_assets.py", "asset_dags", size)
                airflow = stack.enter_context(found_peer)
                peer = of_peer(airflow, options.rounds)
            except NoPeer as error:
                print(f"{PEER} was not measured: {error}")
        server.create_database("ledger")
        urls = {
            "SQLite": sa.URL.create("sqlite", database=str(folder / "ledger.db")),
            "PostgreSQL": sa.make_url(server.url("ledger")),
        }
        met = []
        print(f"{options.size:,} datasets, {options.size:,} consumers of {OF_EACH} each")
        for name, url in urls.items():
            with closing(open_ledger(url)) as ledger:
                upgrade(ledger)
                found = measured(graph_of(), ledger, (options.events // 10, options.events), options.rounds)
            met.append(reported(name, found, peer if name == "PostgreSQL" else None))
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
