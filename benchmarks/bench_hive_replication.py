"""Replicating a table between two HDFS, with a metastore on PostgreSQL each: feedctl, and Spark SQL with DistCp.

Many small partitions, few large ones. The peer is what Spark SQL offers: in one run `CREATE TABLE LIKE` (of an empty
table that the target has already, as one session knows one metastore), DistCp, and `MSCK REPAIR TABLE`. feedctl writes
its ledger, makes a digest of each file, and copies instance by instance: 20 a table. Contestants take turns, each into
a new table, whose partitions are counted and whose files are read afterwards: what is not the source byte by byte makes
the figure void. Seconds are those of the clock: of the whole process (both: spark-submit), and of the call alone
(feedctl: in a Python of its own; the peer: in a session that is up, and without the start of DistCp's JVM). Processor
seconds are those of the process and of what it starts; servers have the same machine, and are not counted.

DistCp runs in Hadoop's local runner, one map at a time as that does; "20 maps at once" is as many as DistCp asks for.
Goals are against DistCp as it is. A peer that takes longer than --longest seconds is ended: it takes at least that.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.hive_replication.race import CONTESTANTS, OUR_CALL, OURS, PEER, Figures, Race
from benchmarks.hive_replication.shapes import TableShape
from benchmarks.hive_replication.site import running_site
from benchmarks.replication.goals import Verdict
from benchmarks.whole_process import keep_bytecode
from tests.testbed.missing import Missing

MANY, LARGE = 2_000, 20
MANY_BYTES, LARGE_BYTES = 100_000, 100_000_000
MANY_GOAL, LARGE_GOAL = 2.0, 1.0
MANY_DAYS, LARGE_DAYS = 20, 2
ROUNDS, LONGEST = 3, 900.0
_MEGABYTE = 1_000_000


def shapes(requested: argparse.Namespace) -> Iterator[tuple[TableShape, float]]:
    """What is copied, and how many times as fast as the peer."""
    for count, size, days, goal in (
        (requested.many, MANY_BYTES, MANY_DAYS, MANY_GOAL),
        (requested.large, LARGE_BYTES, LARGE_DAYS, LARGE_GOAL),
    ):
        if count:
            name = f"{count:,} partitions of {size:,} bytes"
            instances = min(days, count)
            yield (
                TableShape(name=name, instances=instances, files=count // instances, size=size, changed=0),
                goal,
            )


def verdicts(
    shape: TableShape, goal: float, found: Mapping[str, Figures], requested: Collection[str]
) -> Iterator[Verdict]:
    """The goals of a shape, of the whole process and of the call alone; a figure that is void reaches none."""
    peer = found.get(PEER)
    if peer is None:
        return
    whole, call = found.get(OURS), found.get(OUR_CALL)
    if OURS in requested:
        ratio = peer.whole / whole.whole if whole else 0.0
        yield Verdict(what=f"{shape.name}, whole process", found=ratio, wanted=goal, is_least=peer.is_over, peer=PEER)
    if OUR_CALL in requested:
        ratio = (peer.inside or 0) / call.inside if call and call.inside else 0.0
        yield Verdict(what=f"{shape.name}, the call", found=ratio, wanted=goal, is_least=peer.is_over, peer=PEER)


def table(shape: TableShape, found: Mapping[str, Figures]) -> Iterator[str]:
    """A line for each contestant; rates are those of the whole process."""
    width = max((len(name) for name in found), default=0)
    for name, each in found.items():
        inside = "-" if each.inside is None else f"{each.inside:.2f} s"
        rates = f"{shape.partitions / each.whole:7.1f} partitions/s {shape.bytes / each.whole / _MEGABYTE:7.1f} MB/s"
        worked = "" if each.processor is None else f"  {each.processor:7.2f} s of processors"
        over = "  ENDED, it takes longer" if each.is_over else ""
        yield f"  {name:{width}}  {each.whole:7.2f} s  the call {inside:>9}  {rates}{worked}{over}"


def measured(requested: argparse.Namespace) -> Iterator[Verdict]:
    """Runs all shapes one after the other, on the same site, and prints their figures.

    Raises:
        Missing: no Java, or neither the jars nor Maven.
    """
    with tempfile.TemporaryDirectory() as folder, running_site() as site:
        keep_bytecode(Path(folder))
        print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
        for number, (shape, goal) in enumerate(shapes(requested)):
            race = Race(site=site, shape=shape, longest=requested.longest)
            found = race.run(requested.contestants, requested.rounds, f"clicks_{number}")
            print(f"{shape.name} in {shape.instances} instances; medians, rounds: {requested.rounds}")
            for line in table(shape, found):
                print(line, flush=True)
            for name, why in race.void.items():
                print(f"    {name}: NO FIGURE: {why}", flush=True)
            yield from verdicts(shape, goal, found, requested.contestants)


def reported(found: Sequence[Verdict]) -> int:
    """Prints all goals, those that are missed first; 1 when there is one."""
    for verdict in sorted(found, key=lambda each: each.is_met):
        print(f"  {verdict}")
    return 0 if found and all(each.is_met for each in found) else 1


def main() -> int:
    """Prints the figures; 1 when a goal is missed, or nothing can be measured here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--many", type=int, default=MANY, metavar="PARTITIONS", help="small ones; 0: none")
    parser.add_argument("--large", type=int, default=LARGE, metavar="PARTITIONS", help="large ones; 0: none")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--longest", type=float, default=LONGEST, metavar="SECONDS")
    parser.add_argument(
        "--contestants",
        nargs="+",
        choices=CONTESTANTS,
        default=list(CONTESTANTS),
        metavar="NAME",
        help=", ".join(CONTESTANTS),
    )
    try:
        return reported(list(measured(parser.parse_args())))
    except Missing as why:
        print(f"NOT MEASURED: {why}")
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
