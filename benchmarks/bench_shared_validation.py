"""A validated `spark_sql` step in a session that is up, beside Great Expectations in a session that is up.

Ours is what validation adds to a whole run of an instance: the run of a process whose output is validated, less the run
of one that makes the same output and has no suite. Both share an application, by `shared_sessions`. So the staging of
the output, its results in the ledger, its page and its publication count. The peer is Great Expectations the usual way,
in one application, on the same rows with the same expectations.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.bench_quality import PLAIN, program_of, suite
from benchmarks.timing import spark_environment
from benchmarks.whole_process import run
from tests.integration.process_runs import FEED, KEYS
from toolkit.actions.progress import NoProgress
from toolkit.actions.selection import NO_FEED
from toolkit.bootstrap.action_context import ActionOptions
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.process import ProcessOptions, run_processes
from toolkit.clock import SystemClock
from toolkit.el import parse_instant
from toolkit.process_runner.selection import ProcessSelection
from toolkit.programs.opening import opened_engines
from toolkit.quality.documents import Question, RequestedPart, write_question
from toolkit.result import ExitCode
from toolkit.runs.stop import NeverStopped

if TYPE_CHECKING:
    from toolkit.entities import Engine
    from toolkit.programs.port import StepEngine

GOAL_SECONDS = 3.0
PROCESS = """kind: process
name: {name}
clusters: [{{name: primary, validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}}}]
frequency: hours(1)
outputs: {{out: {{feed: {name}_rows, instance: "now(0,0)"}}}}
workflow:
  engine: spark_sql
  path: workflows/copy.sql
  spark: {{master: "local[2]", conf: {{spark.ui.enabled: false, spark.driver.memory: 2g}}}}
"""
CLUSTER = """kind: cluster
name: primary
interfaces: {{write: {{endpoint: "{endpoint}"}}}}
"""
SQL = "INSERT OVERWRITE DIRECTORY '${{out}}' USING parquet SELECT * FROM parquet.`{rows}`"


@dataclass(frozen=True, kw_only=True)
class Site:
    """A config repo with a process whose output is validated, and one whose output is not.

    Attributes:
        folder: of everything.
        engines: have the application that both share.
    """

    folder: Path
    engines: Mapping[Engine, StepEngine]

    def write(self, rows: Path) -> None:
        """Write the repo; both processes copy the rows."""
        expectations = [{"type": each.type, "kwargs": dict(each.kwargs)} for each in suite(failing=False)]
        texts = {
            "repo.yaml": f"ledger: sqlite:///{self.folder}/ledger.db\nshared_sessions: [[plain, checked]]\n",
            "clusters/primary.yaml": CLUSTER.format(endpoint=f"file://{self.folder}/data"),
            "workflows/copy.sql": SQL.format(rows=rows),
            "expectations/rows.yaml": json.dumps({"expectations": expectations}),
        }
        for name in ("plain", "checked"):
            quality = "quality: {suites: [rows], format: parquet}\n" if name == "checked" else ""
            texts[f"feeds/{name}_rows.yaml"] = FEED.format(name=f"{name}_rows", flag="") + quality
            texts[f"processes/{name}.yaml"] = PROCESS.format(name=name)
        for name, text in texts.items():
            file = self.folder / "repo" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def seconds(self, process: str, key: str) -> float:
        """Return how long the run of an instance takes, which must succeed."""
        options = ActionOptions(
            selection=NO_FEED,
            repo=RepoRequest(config_repo=str(self.folder / "repo"), variables=os.environ),
            nominal_time=parse_instant(key),
            dry_run=False,
            allow_dirty=False,
        )
        own = ProcessOptions(selection=ProcessSelection(name=process, cluster=None))
        begin = time.monotonic()
        result = run_processes(own, options, SystemClock(), NeverStopped(), NoProgress(), self.engines)
        assert result.exit_code is ExitCode.DONE, result
        return time.monotonic() - begin


def ours(folder: Path, rows: Path, rounds: int) -> list[float]:
    """Return the seconds that validation adds to the runs of instances; the first loads the library."""
    os.environ["FEEDCTL_LOG_DIR"] = str(folder / "logs")
    with opened_engines() as engines:
        site = Site(folder=folder, engines=engines)
        site.write(rows)
        site.seconds("plain", KEYS[-1])  # the session is up
        found = [(site.seconds("checked", key), site.seconds("plain", key)) for key in KEYS[:rounds]]
    assert len(list(folder.glob("logs/*/plain/primary/session/*"))) == 1
    for checked, plain in found:
        print(f"validated {checked:6.2f} s, the step alone {plain:6.2f} s", flush=True)
    return [checked - plain for checked, plain in found]


def peers(folder: Path, rows: Path, rounds: int) -> list[float]:
    """Return the seconds of the peer in one session; the first loads the library."""
    question, reported = folder / "question.json", folder / "reported"
    whole, expectations = (RequestedPart(uri=str(rows)),), suite(failing=False)
    write_question(question, Question(parts=whole, format="parquet", expectations=expectations, shows_values=True))
    run([*program_of(PLAIN, rows, question, str(reported)), str(rounds)])
    loading, first, *others = map(float, reported.read_text().split())
    return [loading + first, *others]


def report(found: Sequence[float], peer: Sequence[float], rows: int) -> bool:
    """Print the figures side by side; return whether the goal is met."""
    print(f"20 expectations on {rows:,} rows of 30 columns in a session that is up; load {os.getloadavg()[0]:.0f}")
    first, later = found[0] - peer[0], median(found[1:]) - median(peer[1:])
    for name, of, difference in (
        ("the first", (found[0], peer[0]), first),
        (f"later ones, medians of {len(found) - 1}", (median(found[1:]), median(peer[1:])), later),
    ):
        print(f"  {name:26} {of[0]:6.2f} s, {PLAIN} {of[1]:6.2f} s: {difference:+.2f} s (goal {GOAL_SECONDS:+g} s)")
    return max(first, later) <= GOAL_SECONDS


def main() -> int:
    """Print the figures; 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=6, choices=range(2, 24), help="of which all but the first count")
    options = parser.parse_args()
    os.environ.update(spark_environment() | {"PYSPARK_PYTHON": sys.executable, "GX_ANALYTICS_ENABLED": "False"})
    with tempfile.TemporaryDirectory(prefix="feedctl-bench-") as name:
        folder, rows = Path(name), Path(name) / "rows"
        run(program_of("make", rows, Path("-"), str(options.rows)))
        peer = peers(folder, rows, options.rounds)
        found = ours(folder, rows, options.rounds)
    return 0 if report(found, peer, options.rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
