"""The ledger on SQLite and PostgreSQL (which waits for its disk): jobs and leases a second, growth, status; Airflow.

A job is init_job, three steps and halt_job. The peer makes the rows of a DagRun with three TaskInstances, see
benchmarks/peers/airflow_runs.py, on the same PostgreSQL. Whatever is compared takes turns within one run.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import sqlalchemy as sa

from benchmarks import ledger_filling as filling
from benchmarks.instance_status import of_a_month
from benchmarks.ledger_work import job, job_together, lease, seconds
from benchmarks.peers.airflow_peer import NoPeer, running_airflow
from tests.databases.postgresql import PostgresServer, running_postgres
from toolkit.ledger.database import Ledger

ROUNDS, JOBS, LEASES, PEER_RUNS = 7, 15, 40, 15
GROWTH_GOAL, PEER_GOAL, STATUS_GOAL = 1.3, 5.0, 1.0
WAITING = (10, 1_000, 100_000)
PEER = "Airflow"

MakeDatabase = Callable[[str], sa.URL]
Call = Callable[[int], float]
"""Does something so often and tells the seconds that it took each time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """How much is in a ledger before it is measured.

    Args:
        waiting: batches in the queue of each step.
        archived: rows in the archive.
    """

    waiting: int
    archived: int

    def __str__(self) -> str:
        return f"{self.waiting:7,} batches waiting, {self.archived:9,} rows archived"


@contextmanager
def filled(url: sa.URL, size: Size) -> Iterator[Ledger]:
    """A ledger with so much in it."""
    with closing(filling.registered(url)) as ledger:
        filling.archive(ledger, size.archived)
        filling.enqueue(ledger, size.waiting)
        filling.settle(ledger)
        yield ledger


def jobs(ledger: Ledger, work: Callable[[Ledger], None] = job) -> Call:
    """Jobs on a ledger; before each round as many batches are enqueued as it takes.

    The rows of the rounds before are vacuumed and analyzed, as autovacuum does, which this server has off: with the
    statistics of ten rows PostgreSQL read the whole table `batch` 77 times a job.
    """

    def measure(times: int) -> float:
        filling.enqueue(ledger, times)
        filling.settle(ledger)
        return seconds(lambda: work(ledger), times)

    return measure


def in_turns(calls: Mapping[str, tuple[Call, int]]) -> dict[str, float]:
    """Median seconds by name; all take turns, so that a busy machine slows all of them alike.

    Each round begins with another one, so that none always follows the peer.
    """
    names = list(calls)
    rounds: list[dict[str, float]] = []
    for number in range(ROUNDS + 1):
        order = names[number % len(names) :] + names[: number % len(names)]
        rounds.append({name: calls[name][0](calls[name][1]) for name in order})
    rounds = rounds[1:]
    return {name: median(each[name] for each in rounds) for name in calls}


def on_database(name: str, database: MakeDatabase, sizes: list[Size], server: PostgresServer | None) -> list[bool]:
    """Prints rates and growth on one database, and the peer's rate when it can run there; whether goals are met."""
    with ExitStack() as stack:
        ledgers = {str(each): stack.enter_context(filled(database(f"jobs_{n}"), each)) for n, each in enumerate(sizes)}
        calls = {size: (jobs(ledger), JOBS) for size, ledger in ledgers.items()}
        # A ledger of its own: what these write is no load of a size that is compared.
        other = stack.enter_context(filled(database("jobs_other"), sizes[0]))
        calls["together"] = (jobs(other, job_together), JOBS)
        calls["leases"] = (lambda times: seconds(lambda: lease(other), times), LEASES)
        if server is not None:
            calls |= peer(stack, server)
        found = in_turns(calls)
    met = [growth(name, {size: found[size] for size in ledgers})]
    print(f"  {'jobs in five commits rather than eight':45} {1 / found['together']:7.1f} a second")
    print(f"  {'leases taken and given back':45} {1 / found['leases']:7.0f} a second")
    return met + against_peer(found)


def growth(name: str, found: Mapping[str, float]) -> bool:
    """Prints what a job costs where much is in the ledger, against where there is little."""
    print(f"{name}: jobs of three steps, medians of {ROUNDS} rounds")
    first = next(iter(found.values()))
    for size, each in found.items():
        print(f"  {size:45} {1 / each:7.1f} a second  {each * 1000:6.1f} ms  {each / first:5.2f}x")
    print(f"  goal: at most {GROWTH_GOAL}x")
    return max(found.values()) <= GROWTH_GOAL * first


def peer(stack: ExitStack, server: PostgresServer) -> dict[str, tuple[Call, int]]:
    """Airflow, when it is there; says so when it is not."""
    server.create_database("airflow")
    try:
        airflow = stack.enter_context(running_airflow(server.url("airflow")))
    except NoPeer as missing:
        print(f"PEER NOT MEASURED, its goal is neither met nor missed: {missing}")
        return {}

    def measured(kind: str) -> Call:
        return lambda times: airflow.seconds(f"{kind} {times}")[0] / times

    return {f"{PEER}, {kind}": (measured(kind), PEER_RUNS) for kind in ("states", "scheduled")}


def against_peer(found: Mapping[str, float]) -> list[bool]:
    """Prints the peer's rates; whether ours is so many times the faster of them. Nothing when it was not measured."""
    peers = {name: each for name, each in found.items() if name.startswith(PEER)}
    ours = next(iter(found.values()))
    for name, each in peers.items():
        print(f"  {name:45} {1 / each:7.1f} a second  {each * 1000:6.1f} ms  ours {each / ours:5.1f} times its rate")
    if not peers:
        return []
    print(f"  goal: at least {PEER_GOAL:.0f} times the rate of each")
    return [min(peers.values()) >= PEER_GOAL * ours]


def main() -> int:
    """Prints the figures; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archived", type=int, default=1_000_000, help="rows in the larger archive")
    parser.add_argument("--runs", type=int, default=1_000_000, help="runs in the ledger that status is asked of")
    options = parser.parse_args()
    sizes = [*(Size(waiting=each, archived=0) for each in WAITING), Size(waiting=100_000, archived=options.archived)]
    with tempfile.TemporaryDirectory() as name, running_postgres(fsync=True) as server:
        folder = Path(name)

        def sqlite(database: str) -> sa.URL:
            return sa.URL.create("sqlite", database=str(folder / f"{database}.db"))

        def postgresql(database: str) -> sa.URL:
            server.create_database(database)
            return sa.make_url(server.url(database))

        met = on_database("SQLite", sqlite, sizes, None)
        met += on_database("PostgreSQL", postgresql, sizes, server)
        met.append(of_a_month({"SQLite": sqlite, "PostgreSQL": postgresql}, options.runs, STATUS_GOAL))
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
