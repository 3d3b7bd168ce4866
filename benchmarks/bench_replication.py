"""Copying a feed from one HDFS to another: feedctl, DistCp, and a loop that does nothing but copy.

Many small files, few large ones; then again with nothing to do, and with 1 % changed. Both clusters are the test bed's,
a NameNode and a DataNode each. All take turns, each into a directory of its own, which is read after each run: what is
not the source byte by byte makes the figure void. Seconds are those of the clock: of the whole process (of feedctl:
spark-submit), and of the call alone (of feedctl: in a Python of its own, with config repo, connections and ledger in
it). feedctl makes a digest of each file on its way; DistCp compares checksums, has -update and -bandwidth 2000.

Closing a file on HDFS waits for the DataNode to report its block. A client that asks too early sleeps, 400 ms at first:
Hadoop's default, which DistCp has here, and the only one that hdfs-native has. "asks after 10 ms" is DistCp with this
set to 10; "20 maps at once" is DistCp with as many maps as it asks for, in one process, where Hadoop's local runner has
one; "20 maps and 10 ms" has both. "started by python" is feedctl without spark-submit. Goals are against DistCp as it
is, of small files also against the tuned one and the bare loop. A peer that takes longer than --longest seconds is
ended: its figure is at least that, and the ratio too. So each shape takes a quarter of an hour in full size, by its
name: --shapes small.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hdfs_native import Client

from benchmarks.replication.clusters import Clusters, running_clusters
from benchmarks.replication.contestants import Contestant, contestants
from benchmarks.replication.goals import Verdict, table, verdicts
from benchmarks.replication.race import Race
from benchmarks.replication.shapes import Shape
from benchmarks.timing import spark_submit_seconds
from benchmarks.whole_process import keep_bytecode
from tests.testbed.missing import Missing

SMALL = Shape(name="5,000 files of 10 KB in 500 instances", instances=500, files=10, size=10_000, changed=50)
LARGE = Shape(name="10 files of 200 MB in 2 instances", instances=2, files=5, size=200_000_000, changed=1)
QUICK_SMALL = Shape(name="500 files of 10 KB in 50 instances", instances=50, files=10, size=10_000, changed=5)
QUICK_LARGE = Shape(name="2 files of 200 MB in 2 instances", instances=2, files=1, size=200_000_000, changed=1)
WARM_UP = Shape(name="warm-up", instances=2, files=2, size=1_000, changed=1)
"""Programs are compiled and on their way from the disk once before they are measured."""
SHAPES = {"small": (SMALL, QUICK_SMALL), "large": (LARGE, QUICK_LARGE)}
ROUNDS, LONGEST = 1, 300.0
_MEGABYTE = 1_000_000


def measured(clusters: Clusters, shape: Shape, who: Sequence[Contestant], rounds: int, longest: float) -> list[Verdict]:
    """Runs all over one shape, prints their figures, and returns the goals."""
    with tempfile.TemporaryDirectory() as folder:
        race = Race(clusters=clusters, shape=shape, folder=Path(folder), longest=longest)
        found = race.run(who, rounds)
    print(f"\n{shape.name}; medians, rounds: {rounds}; whole process, the call, ratios to ours", flush=True)
    for line in table(found):
        print(line)
    tell_void(race)
    return list(verdicts(shape, found))


def tell_void(race: Race) -> None:
    """Who is out, and why."""
    for name, why in race.void.items():
        print(f"    {name}: NO FIGURE: {why}")


def limits(clusters: Clusters, folder: Path) -> Iterator[str]:
    """What the machine can do at most: a file of 200 MB by `cp`, and into HDFS by one stream."""
    content = os.urandom(LARGE.size)
    here = folder / "limit"
    here.write_bytes(content)
    yield f"cp of a file of 200 MB: {_rate(lambda: shutil.copy(here, folder / 'copy')):.0f} MB/s"
    client = clusters.at_target
    yield f"one stream of hdfs-native into HDFS: {_rate(lambda: _written(client, content)):.0f} MB/s"
    client.delete("/limit", recursive=False)


def _written(client: Client, content: bytes) -> None:
    with client.create("/limit") as file:
        file.write(content)


def _rate(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return LARGE.size / _MEGABYTE / (time.perf_counter() - began)


def reported(found: Sequence[Verdict]) -> int:
    """Prints all goals, those that are missed first; 1 when there is one."""
    print("\ngoals")
    for verdict in sorted(found, key=lambda each: each.is_met):
        print(f"  {verdict}")
    return 0 if found and all(each.is_met for each in found) else 1


def options() -> argparse.Namespace:
    """What was asked for."""
    names = [each.name for each in contestants()]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--contestants", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--longest", type=float, default=LONGEST, metavar="SECONDS")
    parser.add_argument("--quick", action="store_true", help="a tenth of the files, one round")
    return parser.parse_args()


def main() -> int:
    """Prints the figures; 1 when a goal is missed, or nothing can be measured here."""
    requested = options()
    try:
        return reported(list(everything(requested)))
    except Missing as why:
        print(f"NOT MEASURED: {why}")
        return 1


def everything(requested: argparse.Namespace) -> Iterator[Verdict]:
    """Measures all shapes one after the other, on the same clusters.

    Raises:
        Missing: no Java, or neither Hadoop's jars nor Maven.
    """
    rounds = 1 if requested.quick else requested.rounds
    who = [each for each in contestants() if each.name in requested.contestants]
    with tempfile.TemporaryDirectory() as folder, running_clusters() as clusters:
        keep_bytecode(Path(folder) / "bytecode")
        print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        warm_up = Race(clusters=clusters, shape=WARM_UP, folder=Path(folder) / "warm-up", longest=LONGEST)
        warm_up.run(who, 1)
        tell_void(warm_up)
        print(f"spark-submit of an empty script: {spark_submit_seconds(Path(folder)):.2f} s")
        for line in limits(clusters, Path(folder)):
            print(line)
        for name in requested.shapes:
            yield from measured(clusters, SHAPES[name][requested.quick], who, rounds, requested.longest)


if __name__ == "__main__":
    raise SystemExit(main())
