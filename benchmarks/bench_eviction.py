"""Evicting the oldest instances of a feed on HDFS: feedctl, Falcon, Gobblin, and loops that do nothing but delete.

An instance is a directory with one zero-byte file, an hour each; all are on one NameNode with Hadoop's own settings.
The tree is looked at before and after each run: exactly the right instances are gone, else the figure is void. All take
turns. Seconds are those of the clock: of the whole process (of feedctl: spark-submit), and of the call alone, where
programs and connections are up (of feedctl: in a Python of its own, config repo, connection and ledger in the call).
"quick JVM" is the same with the options of Java that the guide names for a short run, for feedctl and its peers alike.
The bare loop deletes exactly what goes, one by one, and lists nothing; the floor drops whole years, months, days and
hours, and lists nothing: it would delete whatever else lies there. What a run asks of the NameNode is counted: that
does not depend on the machine.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.eviction.contestants import OUR_CALL, OURS, Contestant, contestants
from benchmarks.eviction.figures import Figures, table
from benchmarks.eviction.goals import Verdict, verdicts
from benchmarks.eviction.namenode import NameNode, running_namenode
from benchmarks.eviction.race import Race
from benchmarks.eviction.trees import Layout, Tree
from benchmarks.timing import spark_submit_seconds
from benchmarks.whole_process import keep_bytecode
from tests.testbed.missing import Missing

SIZES, QUICK_SIZES, MILLION = (10_000, 100_000), (10_000,), 1_000_000
ROUNDS = 3
HEAP, LARGE_HEAP = "2g", "4g"
LARGE = 500_000
WARM_UP = Tree(layout=Layout.TREE, instances=100, expired=10)
"""Programs are compiled and on their way from the disk once before they are measured."""


def trees(sizes: Sequence[int], layouts: Sequence[Layout]) -> Iterator[Tree]:
    """The oldest tenth of each goes; of a million the oldest hundredth."""
    for size in sizes:
        for layout in layouts:
            yield Tree(layout=layout, instances=size, expired=size // (100 if size >= MILLION else 10))


def measured(node: NameNode, tree: Tree, who: Sequence[Contestant], rounds: int) -> list[Verdict]:
    """Runs all over one tree, prints their figures, and returns the goals."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Race(node=node, tree=tree, folder=Path(folder) / "race").run(who, rounds)
    print(f"\n{tree.instances:,} instances, {tree.layout}, the oldest {tree.expired:,} go; medians, rounds: {rounds}")
    for line in table(figures, OURS, OUR_CALL):
        print(line)
    imports = figures.get(OUR_CALL, Figures(runs=())).imports
    if imports is not None:
        print(f"  imports of {OUR_CALL}: {imports:.2f} s")
    return list(verdicts(tree, figures))


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
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="instances in a tree")
    parser.add_argument(
        "--layouts", nargs="+", choices=[each.name for each in Layout], default=list(Layout.__members__)
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--contestants", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_SIZES[0]:,} instances, one round")
    parser.add_argument(
        "--million", action="store_true", help="a million instances as well, one round: about 15 minutes more"
    )
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
    """Measures all trees one after the other, on one store.

    Raises:
        Missing: no Java, or neither Hadoop's jars nor Maven.
    """
    sizes, rounds = (QUICK_SIZES, 1) if requested.quick else (requested.sizes, requested.rounds)
    layouts = [Layout[name] for name in requested.layouts]
    who = [each for each in contestants() if each.name in requested.contestants]
    races = [(tree, rounds) for tree in trees(sizes, layouts)]
    races += [(tree, 1) for tree in trees([MILLION] if requested.million else [], layouts)]
    heap = LARGE_HEAP if max(tree.instances for tree, _ in races) > LARGE else HEAP
    with tempfile.TemporaryDirectory() as folder, running_namenode(heap) as node:
        keep_bytecode(Path(folder) / "bytecode")
        print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        Race(node=node, tree=WARM_UP, folder=Path(folder) / "warm-up").run(who, 1)
        for label, quick in (("", False), (", quick JVM", True)):
            print(f"spark-submit of an empty script{label}: {spark_submit_seconds(Path(folder), quick=quick):.2f} s")
        for tree, times in races:
            yield from measured(node, tree, who, times)


if __name__ == "__main__":
    raise SystemExit(main())
