"""Loading 10,000 entities, references included: the first time, from the cache, by jsonschema alone, and before.

All are whole processes that print one entity, in one run; prints processor seconds, peak memory and the ratios.
check-jsonschema on the same files checks the shape of each file only: no formats of ours, no references between files.
`--before REF` measures a commit of this repo beside them, with the packages that are installed now.

Besides, a plan of retention for one feed of them, from the cache, which has to know who shares its data: its clusters
are local disks, all of whose directories it resolves. Goal: 1 second.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.whole_process import ROOT, check_jsonschema, generated, keep_bytecode, run

SHOWN, CLUSTER, PLANNED = "feed_00005", "cluster_05", "plan of retention"
COMMAND = "from toolkit.cli.main import run; run()"
ONLY_JSONSCHEMA = f"from toolkit.entities import validation; validation.is_valid = lambda *_: False; {COMMAND}"
GOALS = {
    ("check-jsonschema", "without cache"): 3.0,
    ("only jsonschema", "without cache"): 2.0,
    ("without cache", "from the cache"): 3.0,
    ("before", "without cache"): 3.0,
    ("before", "from the cache"): 10.0,
}
"""How many times the first takes what the second takes, at least."""
MOST_SECONDS = 1.0
"""So long a plan of retention for one feed may take."""


def show(root: Path, *, code: str = COMMAND, cache: Path | None = None, source: Path = ROOT) -> tuple[float, float]:
    """Seconds and peak MiB of `feedctl entity show` on one entity."""
    return _feedctl(root, "entity", "show", SHOWN, code=code, cache=cache, source=source)


def plan(root: Path, cache: Path, source: Path = ROOT) -> tuple[float, float]:
    """Seconds and peak MiB of a plan of retention for that entity."""
    options = ("--feed", SHOWN, "--cluster", CLUSTER, "--time", "2026-03-01T00:00Z")
    return _feedctl(root, "retention", "plan", *options, cache=cache, source=source)


def _feedctl(
    root: Path, *words: str, code: str = COMMAND, cache: Path | None, source: Path = ROOT
) -> tuple[float, float]:
    os.environ |= {"PYTHONPATH": str(source), "XDG_CACHE_HOME": str(cache), "FEEDCTL_NO_CACHE": "" if cache else "1"}
    return run([sys.executable, "-P", "-c", code, *words, "--config-repo", str(root)])


def put_on_disk(clusters: Iterable[Path], disk: Path) -> None:
    """Have clusters store their data in directories of this machine."""
    for cluster in clusters:
        place = disk / cluster.stem
        (place / "data" / SHOWN).mkdir(parents=True)
        cluster.write_text(re.sub(r"hdfs://nn\d+:8020", f"file://{place}", cluster.read_text()))


def source_of(ref: str, folder: Path) -> Path:
    """The files of a commit of this repo."""
    archive = subprocess.run(["git", "archive", ref, "toolkit"], cwd=ROOT, check=True, capture_output=True).stdout
    folder.mkdir()
    subprocess.run(["tar", "--extract"], cwd=folder, input=archive, check=True)
    return folder


def main() -> int:
    """Prints the figures; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--before", metavar="REF")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keep_bytecode(folder / "bytecode")
        root, cache = folder / "repo", folder / "cache"
        files = generated(root, options.entities)
        put_on_disk(files["cluster"], folder / "disk")
        before = None if options.before is None else source_of(options.before, folder / "before")
        caches = {ROOT: cache, **({} if before is None else {before: folder / "cache before"})}
        for source, each in caches.items():
            show(root, cache=each, source=source)  # fills the cache
            plan(root, each, source)  # compiles its modules
        rounds: list[Mapping[str, tuple[float, float]]] = []
        for _ in range(options.rounds):
            found = {} if before is None else {"before": show(root, source=before)}
            found |= {
                "only jsonschema": show(root, code=ONLY_JSONSCHEMA),
                "without cache": show(root),
                "from the cache": show(root, cache=cache),
                "check-jsonschema": check_jsonschema(files),
                PLANNED: plan(root, cache),
            }
            if before is not None:
                found[f"{PLANNED}, before"] = plan(root, caches[before], before)
            rounds.append(found)
    return report(options.entities, rounds)


def report(entities: int, rounds: list[Mapping[str, tuple[float, float]]]) -> int:
    """Prints the medians and their ratios."""
    seconds = {name: statistics.median(each[name][0] for each in rounds) for name in rounds[0]}
    print(f"one entity of {entities}, whole processes, medians of {len(rounds)} rounds")
    for name, each in seconds.items():
        peak = max(one[name][1] for one in rounds)
        print(f"  {name:25} {each:7.2f} s  {each / entities * 1e6:7.0f} us an entity  peak {peak:5.0f} MiB")
    met = seconds[PLANNED] <= MOST_SECONDS
    print(f"  {PLANNED}: {seconds[PLANNED]:.2f} s (goal: at most {MOST_SECONDS:g})")
    for (slow, fast), goal in GOALS.items():
        if slow in seconds:
            ratio = seconds[slow] / seconds[fast]
            met = met and ratio >= goal
            print(f"  {slow} : {fast}  {ratio:.1f} (goal: at least {goal:.0f})")
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(main())
