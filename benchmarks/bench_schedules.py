"""Exporting the schedules of a large repo for each scheduler: whole processes, processor seconds and peak memory.

The quickest of three rounds counts. The repo is loaded anew each time, as in CI; `entity list` shows what that alone
costs. A crontab has room for 10,000 lines, so for cron some clusters are exported. No peer makes schedules from
descriptions of feeds.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from benchmarks.whole_process import PROGRAMS, generated, keep_bytecode, run

SECONDS_GOAL, MEMORY_GOAL, GROWTH_GOAL = 30.0, 300.0, 1.5
ROUNDS = 3
LOADING = "entity list"
FEEDCTL = str(PROGRAMS / "feedctl")
CRON_CLUSTERS = ("cluster_00", "cluster_01", "cluster_02", "cluster_03")
ENVIRONMENT = "schedules: {entrypoints: /opt/feedctl/entrypoints, config_repo: /srv/feeds, master: yarn}\n"


def made(folder: Path, entities: int) -> Path:
    """A repo of that many entities, with an environment that says how actions are started."""
    generated(folder, entities)
    with (folder / "repo.yaml").open("a") as stream:
        stream.write("environments: [prod]\ndefault_environment: prod\n")
    (folder / "environments").mkdir()
    (folder / "environments" / "prod.yaml").write_text(ENVIRONMENT)
    return folder


def commands(repo: Path, out: Path) -> dict[str, list[str]]:
    """What is measured, by what it is called."""
    some = [option for name in CRON_CLUSTERS for option in ("--cluster", name)]
    export = [FEEDCTL, "export"]
    at = ["--config-repo", str(repo)]
    return {
        LOADING: [FEEDCTL, "entity", "list", *at],
        f"cron, {len(CRON_CLUSTERS)} clusters": [*export, "cron", *at, *some, "--into", str(out / "crontab")],
        "oozie": [*export, "oozie", *at, "--into", str(out / "oozie")],
        "airflow": [*export, "airflow", *at, "--into", str(out / "airflow")],
        "airflow --check": [*export, "airflow", *at, "--into", str(out / "airflow"), "--check"],
    }


def main() -> int:
    """Prints the figures; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=5_000)
    largest = parser.parse_args().entities
    os.environ["FEEDCTL_NO_CACHE"] = "1"
    found: dict[str, list[tuple[float, float]]] = {}
    sizes = [largest // 10, largest // 2, largest]
    with tempfile.TemporaryDirectory() as name:
        keep_bytecode(Path(name) / "bytecode")
        for size in sizes:
            repo, out = made(Path(name) / str(size), size), Path(name) / f"out-{size}"
            rounds = [commands(repo, out / str(number)) for number in range(ROUNDS)]
            for what in rounds[0]:
                # The first round compiles Python's modules, which is no part of the growth.
                figures = [run(each[what]) for each in rounds]
                found.setdefault(what, []).append((min(each for each, _ in figures), max(peak for _, peak in figures)))
        written = sum(each.is_file() for each in (Path(name) / f"out-{largest}" / "0").rglob("*"))
    print(f"export of schedules; with {largest} entities {written} files")
    is_met = True
    for what, figures in found.items():
        (first, _), (middle, _), (last, peak) = figures
        growth = (last - middle) / (sizes[2] - sizes[1]) / ((middle - first) / (sizes[1] - sizes[0]))
        shown = "  ".join(f"{size}: {each:6.2f} s" for size, (each, _) in zip(sizes, figures, strict=True))
        print(f"  {what:18} {shown}  peak {peak:4.0f} MiB  growth {growth:.2f}")
        if what != LOADING:
            is_met = is_met and last <= SECONDS_GOAL and peak <= MEMORY_GOAL and growth <= GROWTH_GOAL
    goals = f"{SECONDS_GOAL:.0f} s, {MEMORY_GOAL:.0f} MiB, and {GROWTH_GOAL} times for each further entity"
    print(f"  goals of exports: at most {goals}")
    return 0 if is_met else 1


if __name__ == "__main__":
    raise SystemExit(main())
