"""Pages of 1,000 entities with 100,000 instances: all of them, again with 10 changes, their size, and first paint.

Pages are timed inside the process, with the config repo loaded and the ledger open, and as a whole command. The ledger
has a run of each instance, and the columns of 200 tables. A change is a run that failed. First paint is that of
Chromium without a screen, from the disk, where it is installed. No other tool makes such pages from files, so nothing
is compared.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import sqlalchemy as sa

from benchmarks.generate_repo import generate
from benchmarks.ledger_filling import record_runs
from benchmarks.whole_process import PROGRAMS
from tests.databases.ledgers import open_ledger
from toolkit.bootstrap.config import RepoRequest, load_entities, open_config
from toolkit.entities.repository import Repository
from toolkit.ledger.column_lineage import ColumnRelation, LineageNode, StatementLineage, record
from toolkit.ledger.database import Ledger
from toolkit.ledger.upgrade import upgrade
from toolkit.ledger.vocabulary import LineageRelationKind, RunStatus
from toolkit.pages.build import BuiltPages, build_pages

ENTITIES, INSTANCES, TABLES, CHANGES, ROUNDS = 1_000, 100_000, 200, 10, 3
FULL_GOAL, CHANGED_GOAL = 10.0, 1.0
"""Seconds."""
START = datetime(2026, 3, 1, tzinfo=UTC)
ROOT = Path(__file__).parents[1]


def statement(number: int) -> StatementLineage:
    """Return the columns of a table, each made from one of the table before and grouped by another."""
    before, here = f"db.t{number // 2}", f"db.t{number}"
    relations = [
        ColumnRelation(
            source=LineageNode(table=before, column=f"c{(column + more) % 10}"),
            target=LineageNode(table=here, column=f"c{column}"),
            kind=kind,
        )
        for column in range(10)
        for more, kind in ((0, LineageRelationKind.DIRECT), (1, LineageRelationKind.AGGREGATE))
    ]
    return StatementLineage.of("spark_sql", f"INSERT INTO {here}", relations)


def fill(ledger: Ledger, repository: Repository, instances: int) -> None:
    """Record runs of all processes, and the columns of tables."""
    processes = repository.processes
    for name, process in processes.items():
        record_runs(ledger, name, instances // len(processes), START, cluster=process.clusters[0].name)
    statements = [statement(number) for number in range(1, TABLES)]
    ledger.write(lambda tx: record(tx, statements, run_id=1))


def change(ledger: Ledger, repository: Repository, at: int) -> None:
    """Record a run of ten processes that failed."""
    for name in list(repository.processes)[:CHANGES]:
        start = START.replace(day=2 + at, second=30)
        cluster = repository.processes[name].clusters[0].name
        record_runs(ledger, name, 1, start.replace(minute=1 + at), status=RunStatus.FAILED, cluster=cluster)


def load(root: Path) -> tuple[Repository, dict[str, bytes]]:
    """Load the config repo as a command does."""
    request = RepoRequest(config_repo=str(root), variables=dict(os.environ))
    snapshot = open_config(request, for_mutation=False, allow_dirty=True)
    return load_entities(snapshot, request), dict(snapshot.files)


def first_paint(pages: Path) -> None:
    """Print when Chromium has painted the overview and the graph of all."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("no chromium: first paint is not measured")
        return
    tools = [subprocess.check_output([ROOT / ".ci/toolchain", "node"], text=True).strip()]
    tools += [
        str(ROOT / ".ci/site/pages.mjs"),
        subprocess.check_output([ROOT / ".ci/site/node-modules"], text=True).strip(),
    ]
    environment = {**os.environ, "FEEDCTL_PAGES_PAINT": "1"}
    subprocess.run([*tools, str(pages), str(pages.parent / "shots"), chromium], env=environment, check=False)


def measure(folder: Path, entities: int, instances: int) -> bool:
    """Print the figures, and return whether the goals are met."""
    generate(folder / "repo", entities)
    url = f"sqlite:///{folder / 'ledger.db'}"
    with (folder / "repo/repo.yaml").open("a") as file:
        file.write(f"ledger: {url}\n")
    repository, files = load(folder / "repo")
    out, seconds, processor = folder / "pages", dict[str, list[float]](), dict[str, list[float]]()

    def build(what: str) -> BuiltPages:
        began, worked = time.perf_counter(), time.process_time()
        built = build_pages(ledger, repository, files, out, site="bench", snapshot="bench")
        seconds.setdefault(what, []).append(time.perf_counter() - began)
        processor.setdefault(what, []).append(time.process_time() - worked)
        return built

    with closing(open_ledger(sa.make_url(url))) as ledger:
        upgrade(ledger)
        fill(ledger, repository, instances)
        for _ in range(ROUNDS):
            shutil.rmtree(out, ignore_errors=True)
            build("full")
        for number in range(ROUNDS):
            build("nothing changed")
            change(ledger, repository, number)
            print(f"with 10 changes: {build('10 changes')}")
    for what, found in seconds.items():
        print(f"{what:16} {median(found):6.2f} s, {median(processor[what]):6.2f} s of processor   {sorted(found)}")
    size = sum(each.stat().st_size for each in out.rglob("*") if each.is_file())
    print(f"{size / 1e6:.1f} MB on disk")
    for what in ("again, whole command", "full, whole command"):
        began = time.perf_counter()
        subprocess.run(
            [PROGRAMS / "feedctl", "page", "--config-repo", str(folder / "repo"), "--out", str(out)], check=True
        )
        print(f"{what}: {time.perf_counter() - began:.2f} s")
        shutil.rmtree(out)
        out.mkdir()
    build("for Chromium")
    first_paint(out)
    met = median(seconds["full"]) <= FULL_GOAL and median(seconds["10 changes"]) <= CHANGED_GOAL
    print(f"goals: full {FULL_GOAL:g} s, with 10 changes {CHANGED_GOAL:g} s: {'met' if met else 'missed'}")
    return met


def main() -> int:
    """Return 0 if the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=ENTITIES)
    parser.add_argument("--instances", type=int, default=INSTANCES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="feedctl-bench-") as name:
        return 0 if measure(Path(name), options.entities, options.instances) else 1


if __name__ == "__main__":
    sys.exit(main())
