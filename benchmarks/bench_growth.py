"""How the cost of each action grows: time and memory of the whole process at 1, 10 and 100 times, peers beside it.

All on this machine's disks, with a ledger in SQLite, started as plain Python; validations by spark-submit. What is
compared takes turns in one run. The first size of each is next to nothing: the start of the program. `--store` keeps
the figures, from which `benchmarks.performance_page` makes docs/performance.md. Goal: time and memory grow no faster
than what there is to do.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.growth import LINEAR, Growth, measured, stored
from benchmarks.growth_cases import LOCAL, OURS
from benchmarks.growth_quality import validations
from benchmarks.whole_process import keep_bytecode


def told(found: Growth) -> str:
    """Return the figures of a contestant as a line."""
    figures = "  ".join(f"{each.size:>9,}: {each.wall:7.2f} s {each.memory:5.0f} MiB" for each in found.figures)
    powers = " ".join("  -  " if each is None else f"{each:5.2f}" for each in (found.exponent, found.memory_exponent))
    return f"  {found.name:40} {figures}  time and memory ^ {powers}"


def main() -> int:
    """Print the figures; 1 when something of ours grows faster than what there is to do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="actions that have this in their name")
    parser.add_argument("--tenth", action="store_true", help="without the largest size")
    parser.add_argument("--store", action="store_true", help="keep the figures for docs/performance.md")
    parser.add_argument("--rounds", type=int, default=1, help="of which the quickest counts; small sizes take more")
    options = parser.parse_args()
    is_met = True
    with tempfile.TemporaryDirectory(prefix="feedctl-bench-") as name:
        keep_bytecode(Path(name, "bytecode"))
        for case in (*LOCAL, validations(Path(name, "rows"))):
            if options.only not in case.action:
                continue
            sizes = case.sizes[:-1] if options.tenth else case.sizes
            found = measured(replace(case, sizes=sizes), options.rounds)
            print(f"{case.action}, by {case.unit}", *map(told, found), sep="\n", flush=True)
            powers = (found[0].exponent, found[0].memory_exponent)
            is_met &= all(each is None or each <= LINEAR for each in powers)
            if options.store:
                stored(found)
    print(f"goal: exponents of {OURS} up to {LINEAR}: linear, as figures of one run scatter")
    return 0 if is_met else 1


if __name__ == "__main__":
    raise SystemExit(main())
