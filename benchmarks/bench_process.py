"""What an instance of a process costs beyond its command, which is `true`; a thousand that are due at once; Airflow.

Ours is the whole entrypoint, `process.py --due` with eight instances at once, less what it takes for a single one: the
start of the program. The peer is what `airflow dags test` does for each instance of a like DAG, in one process that has
started before, on PostgreSQL; its scheduler and workers, which do more, are left out. Processor time is that of all
processes but the database's server. Whatever is compared takes turns within one run. `bench_resolution.py` measures the
resolution of instances alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median

import sqlalchemy as sa

from benchmarks.peers.airflow_peer import AirflowPeer, NoPeer, running_airflow
from benchmarks.whole_process import ROOT, run
from tests.databases.ledgers import open_ledger
from tests.databases.postgresql import PostgresServer, running_postgres
from toolkit.ledger.upgrade import upgrade

ROUNDS, DUE, PEER_RUNS, AT_ONCE = 3, 1_000, 20, 8
GOAL = 5.0
COMMAND = "/bin/true"
START = datetime(2020, 1, 1, tzinfo=UTC)
PEER = "Airflow, dags test on PostgreSQL"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """Of one instance, in seconds.

    Args:
        wall: by the clock.
        processor: of all processes, the command's too.
    """

    wall: float
    processor: float


MakeLedger = Callable[[], str]
"""The URL of a new ledger."""


def due_instances(folder: Path, ledger: str, instances: int) -> Cost:
    """Run an entrypoint in which so many instances are due."""
    repo, end = folder / "repo", START + timedelta(hours=instances)
    validity = f"{{start: {START:%Y-%m-%dT%H:%MZ}, end: {end:%Y-%m-%dT%H:%MZ}}}"
    interfaces = f'interfaces: {{write: {{endpoint: "file://{folder}"}}}}'
    files = {
        "repo.yaml": "name: bench\n",
        "clusters/primary.yaml": f"kind: cluster\nname: primary\n{interfaces}\n",
        "processes/only.yaml": "kind: process\nname: only\nfrequency: hours(1)\n"
        "workflow: {engine: command, path: only}\n"
        f"parallel: {AT_ONCE}\nclusters: [{{name: primary, validity: {validity}}}]\n",
    }
    for name, text in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copy(COMMAND, repo / "only")
    os.environ |= {"FEEDCTL_LOG_DIR": str(folder / "logs"), "FEEDCTL_LEDGER": ledger}
    which = ["--process", "only", "--due", "--time", f"{end:%Y-%m-%dT%H:%MZ}", "--config-repo", str(repo)]
    began = time.perf_counter()
    processor, _ = run([sys.executable, str(ROOT / "entrypoints" / "process.py"), *which])
    return Cost(wall=time.perf_counter() - began, processor=processor)


def each_of(make_ledger: MakeLedger, instances: int) -> Cost:
    """What one of so many due instances costs, without the start of the program."""
    with tempfile.TemporaryDirectory(prefix="feedctl-bench-") as name:
        few = due_instances(Path(name) / "few", make_ledger(), 1)
        many = due_instances(Path(name) / "many", make_ledger(), instances)
    more = instances - 1
    return Cost(wall=(many.wall - few.wall) / more, processor=(many.processor - few.processor) / more)


def of_peer(airflow: AirflowPeer) -> Cost:
    """What one instance costs the peer."""
    wall, processor = airflow.seconds(str(PEER_RUNS))
    return Cost(wall=wall / PEER_RUNS, processor=processor / PEER_RUNS)


def child_alone() -> float:
    """Processor seconds of the command itself."""
    return median(run([COMMAND])[0] for _ in range(20))


def reported(found: Mapping[str, list[Cost]], child: float) -> bool:
    """Prints the figures side by side; whether ours cost so many times less than the peer's. True without a peer."""
    rounds, load = len(next(iter(found.values()))), os.getloadavg()[0]
    print(f"an instance beyond its command ({child * 1000:.1f} ms of CPU), medians of {rounds} rounds; load {load:.0f}")
    costs = {name: median(each.processor for each in of) - child for name, of in found.items()}
    for name, of in found.items():
        ratio = f"  {costs[PEER] / costs[name]:5.1f} times less" if PEER in costs and name != PEER else ""
        rate = 1 / median(each.wall for each in of)
        print(f"  {name:35} {costs[name] * 1000:7.1f} ms of CPU  {rate:7.1f} instances a second{ratio}")
    if PEER not in costs:
        return True
    print(f"  goal: at least {GOAL:.0f} times less CPU")
    return all(costs[PEER] >= GOAL * each for name, each in costs.items() if name != PEER)


def ledgers(folder: Path, server: PostgresServer) -> dict[str, MakeLedger]:
    """New ledgers on each database."""
    number = count(1)

    def on_postgresql() -> str:
        name = f"ledger_{next(number)}"
        server.create_database(name)
        url: str = server.url(name)
        with closing(open_ledger(sa.make_url(url))) as ledger:
            upgrade(ledger)
        return url

    return {"SQLite": lambda: f"sqlite:///{folder}/ledger_{next(number)}.db", "PostgreSQL": on_postgresql}


def main() -> int:
    """Prints the figures; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--due", type=int, default=DUE, help="instances that are due at once")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of which the median counts")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="feedctl-bench-")))
        server = stack.enter_context(running_postgres(fsync=True))
        makes = ledgers(folder, server)
        contestants: dict[str, Callable[[], Cost]] = {
            name: partial(each_of, make, options.due) for name, make in makes.items()
        }
        try:
            server.create_database("airflow")
            airflow = stack.enter_context(running_airflow(server.url("airflow"), "airflow_instances.py"))
            of_peer(airflow)
            contestants[PEER] = lambda: of_peer(airflow)
        except NoPeer as missing:
            print(f"PEER NOT MEASURED, its goal is neither met nor missed: {missing}")
        found: dict[str, list[Cost]] = {name: [] for name in contestants}
        for _ in range(options.rounds):
            for name, measured in contestants.items():
                found[name].append(measured())
        return 0 if reported(found, child_alone()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
