"""All benchmarks one after the other (`make bench`), with a table of goals at the end.

A goal that is missed and known is in `known_misses.json`, with the figure and the reason: it is printed, and does not
fail the suite. The suite exits with 1 when a benchmark misses a goal that is not in that file, or breaks off. Most run
one round here, which scatters: who misses a goal that is not known is measured a second time, and both figures are
printed. A known miss that is met now is named, so that its line is removed.

The suite takes hours. `--continue` runs what the last one of the same commit did not end or missed anew, and its table
has both. `--small` takes minutes: next to nothing is measured, no goal counts, and it fails when a benchmark breaks
off. So one that no longer fits the product is found before somebody has waited for it.
"""

from __future__ import annotations

import argparse
import json
import runpy
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

FOLDER = Path(__file__).parent
KNOWN = FOLDER / "known_misses.json"
ENDED = FOLDER.parent / "build" / "benchmarks.json"
"""Benchmarks that ended, by commit and name, for `--continue`."""
OPTIONS = {
    "bench_eviction": ("--sizes", "100000", "--rounds", "1"),
    "bench_growth": ("--tenth",),
    "bench_hive_replication": ("--rounds", "1", "--longest", "300"),
    "bench_ingest": ("--rounds", "1"),
    "bench_mirror": ("--files", "20000", "--rounds", "1", "--longest", "300"),
    "bench_process": ("--rounds", "1"),
    "bench_quality": ("--rounds", "1"),
    "bench_quarantine": ("--objects", "10000"),
    "bench_replication": ("--rounds", "1", "--longest", "300"),
    "bench_shared_sql": ("--rounds", "1"),
    "bench_table_eviction": ("--rounds", "1"),
    "bench_triggers": ("--rounds", "1"),
}
"""Options of long benchmarks in the suite, which then ends in an afternoon; by hand they take several rounds."""
SMALL: dict[str, tuple[str, ...]] = {
    "bench_eviction": ("--sizes", "200", "--rounds", "1"),
    "bench_growth": ("--tenth", "--only", "Status"),
    "bench_hive_replication": ("--many", "20", "--large", "0", "--rounds", "1"),
    "bench_ingest": ("--rounds", "1", "--commits", "10", "--megabytes", "1"),
    "bench_ledger": ("--archived", "1000", "--runs", "1000"),
    "bench_lineage": ("--edges", "2000"),
    "bench_lint": ("--entities", "100"),
    "bench_load": ("--entities", "100"),
    "bench_migration": ("--entities", "20"),
    "bench_mirror": ("--files", "200", "--rounds", "1"),
    "bench_monitoring": ("--feeds", "20", "--pending", "5", "--changes", "10", "--rounds", "1"),
    "bench_monitoring_io": ("--mails", "10", "--no-hdfs"),
    "bench_page": ("--entities", "100", "--instances", "5000"),
    "bench_process": ("--due", "5", "--rounds", "1"),
    "bench_protection": ("--instances", "200", "--rounds", "1"),
    "bench_quality": ("--rows", "1000", "--rounds", "1"),
    "bench_quarantine": ("--directories", "200", "--objects", "200"),
    "bench_replication": ("--quick",),
    "bench_replication_s3": ("--quick",),
    "bench_schedules": ("--entities", "100"),
    "bench_sequence": (),
    "bench_shared_sql": ("--instances", "2", "--rounds", "1"),
    "bench_shared_validation": ("--rows", "1000", "--rounds", "2"),
    "bench_startup": (),
    "bench_table_eviction": ("--partitions", "200", "--evicted", "40", "--rounds", "1"),
    "bench_tables": ("--partitions", "50"),
    "bench_triggers": ("--size", "20", "--events", "200", "--rounds", "1"),
}
"""Options of a small run; what is not here has no small size."""
MET, MISSED, BROKEN = 0, 1, 70
"""Exit codes of a benchmark in a process of this suite."""


class Goal(StrEnum):
    """Result of a benchmark beside its goals."""

    MET = "met"
    """All goals are met."""
    MET_LATER = "met the second time"
    """All goals are met by a second measurement, and one was missed by the first."""
    MET_AGAIN = "met; remove it from known_misses.json"
    """All goals are met, and one is still listed as missed."""
    KNOWN = "missed, known"
    """A goal is missed, and the file of known misses says why."""
    MISSED = "MISSED"
    """A goal is missed."""
    BROKEN = "BROKE OFF"
    """There is no figure."""


FAILED = frozenset({Goal.MISSED, Goal.BROKEN})
"""These fail the suite."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """A benchmark that is over.

    Attributes:
        name: of the module.
        goal: what became of its goals.
        seconds: of the whole benchmark.
    """

    name: str
    goal: Goal
    seconds: float


def goal_of(code: int, *, is_known: bool) -> Goal:
    """Return the result that an exit code of `run_one` means."""
    if code == MET:
        return Goal.MET_AGAIN if is_known else Goal.MET
    if code == MISSED:
        return Goal.KNOWN if is_known else Goal.MISSED
    return Goal.BROKEN


def run_one(name: str, arguments: Sequence[str]) -> int:
    """Run one benchmark in this process; an error is told from a missed goal by the exit code."""
    sys.argv = [name, *arguments]
    try:
        runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except Exception:  # noqa: BLE001 - whatever it is, the suite goes on
        sys.excepthook(*sys.exc_info())
        return BROKEN
    return MET


def run(name: str, known: Mapping[str, str], *more: str) -> Finished:
    """Run one benchmark in a process of its own."""
    print(f"== {name}", flush=True)
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "benchmarks.suite", "--one", name, *more], check=False)
    goal = goal_of(done.returncode, is_known=name in known)
    return Finished(name=name, goal=goal, seconds=time.monotonic() - began)


def run_again_if_missed(name: str, known: Mapping[str, str]) -> Finished:
    """Run one benchmark, and a second time if it misses a goal that is not known."""
    first = run(name, known)
    if first.goal is not Goal.MISSED:
        return first
    print(f"{name} misses a goal that is not known: measured a second time", flush=True)
    second = run(name, known)
    goal = Goal.MET_LATER if second.goal is Goal.MET else second.goal
    return Finished(name=name, goal=goal, seconds=first.seconds + second.seconds)


def print_table(finished: Sequence[Finished], known: Mapping[str, str]) -> None:
    """Print a line for each benchmark, and the reason below each known miss."""
    print(f"\n{'benchmark':<26} {'seconds':>8}  goals")
    for each in finished:
        print(f"{each.name:<26} {each.seconds:8.0f}  {each.goal}")
        if each.goal is Goal.KNOWN:
            print(f"{'':<26} {'':>8}  {known[each.name]}")


def run_small(names: Sequence[str], known: Mapping[str, str]) -> int:
    """Return 1 when a benchmark breaks off."""
    broken = [name for name in names if run(name, known, "--small").goal is Goal.BROKEN]
    print(f"{len(names)} benchmarks, broke off: {', '.join(broken) or 'none'}")
    return int(bool(broken))


def commit() -> str:
    """Return the commit that is measured."""
    asked = ["git", "-C", str(FOLDER), "rev-parse", "HEAD"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


def ended_before(measured: str) -> list[Finished]:
    """Return what has ended at this commit; what broke off or missed a goal anew is run again."""
    kept = json.loads(ENDED.read_text()) if ENDED.exists() else {}
    found = [
        Finished(name=each["name"], goal=Goal(each["goal"]), seconds=each["seconds"]) for each in kept.get(measured, ())
    ]
    return [each for each in found if each.goal not in FAILED]


def keep(finished: Sequence[Finished], measured: str) -> None:
    """Keep what has ended, so that a suite that is killed can go on."""
    ENDED.parent.mkdir(exist_ok=True)
    ENDED.write_text(json.dumps({measured: [asdict(each) for each in finished]}, indent=1))


def main() -> int:
    """Return 1 when a goal is missed that was not known, or a benchmark broke off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="absent: all")
    parser.add_argument(
        "--continue", dest="goes_on", action="store_true", help="without what ended here, but for what missed anew"
    )
    parser.add_argument("--small", action="store_true", help="whether each runs to its end; measures next to nothing")
    parser.add_argument("--one", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        return run_one(options.one, (SMALL if options.small else OPTIONS).get(options.one, ()))
    known = json.loads(KNOWN.read_text())
    if options.small:
        return run_small(options.names or list(SMALL), known)
    names = options.names or sorted(each.stem for each in FOLDER.glob("bench_*.py"))
    measured = commit()
    finished = ended_before(measured) if options.goes_on else []
    for name in names:
        if name not in {each.name for each in finished}:
            finished.append(run_again_if_missed(name, known))
            keep(finished, measured)
    print_table(finished, known)
    return int(any(each.goal in FAILED for each in finished))


if __name__ == "__main__":
    raise SystemExit(main())
