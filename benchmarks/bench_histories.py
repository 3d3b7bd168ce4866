"""Time and memory that a long history costs a run with nothing to do: `process.py --due`, `replication.py`.

Each is the whole process on a ledger in SQLite that has one successful run for each minute, less the same process with
a history of one instance: that is the start of the program. A second feed was copied for the newest instances only, and
its source has nothing that is older. Memory is the peak of the process.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from sqlalchemy.engine import make_url

from benchmarks.ledger_filling import record_runs
from benchmarks.whole_process import ROOT, keep_bytecode, run
from tests.databases.ledgers import open_ledger
from toolkit.ledger.upgrade import upgrade
from toolkit.ledger.vocabulary import LifeCycle

LENGTHS = (10_000, 1_000_000)
ROUNDS = 3
YOUNG = 500
"""So many instances of the second feed were copied."""
GOAL = 0.5
"""Seconds beyond the start, for the longest history."""
END = datetime(2026, 11, 20, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
COMMANDS = {
    "process.py --due": ("process.py", "--process", "job", "--due", "--cluster", "backup"),
    "replication.py": ("replication.py", "--feed", "clicks"),
    "replication.py, old ones are absent": ("replication.py", "--feed", "young"),
}
COPIED: Mapping[str, object] = {
    "life_cycle": LifeCycle.REPLICATION,
    "cluster": "backup",
    "counterpart": "primary",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """Cost of a whole process: seconds by the clock, seconds of CPU, and peak memory in MiB."""

    wall: float
    processor: float
    memory: float


def made(folder: Path, instances: int) -> None:
    """Make a repo, and a ledger in which each instance until `END` succeeded."""
    start = END - (instances - 1) * MINUTE
    validity = f"validity: {{start: {start:%Y-%m-%dT%H:%MZ}, end: 2099-01-01T00:00Z}}"
    texts = {
        "repo.yaml": f"name: bench\nledger: sqlite:///{folder}/ledger.db\n",
        "processes/job.yaml": "kind: process\nname: job\nfrequency: minutes(1)\n"
        f"workflow: {{engine: command, path: job.sh}}\nclusters: [{{name: backup, {validity}}}]\n",
        "job.sh": "#!/bin/sh\n",
    }
    for name in ("clicks", "young"):
        texts[f"feeds/{name}.yaml"] = (
            f"kind: feed\nname: {name}\nfrequency: minutes(1)\n"
            f'locations: {{data: "/{name}/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}${{MINUTE}}"}}\n'
            f"clusters: [{{name: primary, type: source, {validity}}}, {{name: backup, type: target, {validity}}}]\n"
        )
    for name, place in {"primary": "from", "backup": "to"}.items():
        (folder / place).mkdir()
        texts[f"clusters/{name}.yaml"] = (
            f'kind: cluster\nname: {name}\ninterfaces: {{write: {{endpoint: "file://{folder / place}"}}}}\n'
        )
    for name, text in texts.items():
        (folder / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "repo" / name).write_text(text)
    ledger = open_ledger(make_url(f"sqlite:///{folder}/ledger.db"))
    upgrade(ledger)
    record_runs(ledger, "job", instances, start, 1, cluster="backup")
    record_runs(ledger, "clicks", instances, start, 1, **COPIED)
    young = min(instances, YOUNG)
    record_runs(ledger, "young", young, END - (young - 1) * MINUTE, 1, **COPIED)
    ledger.close()


def measured(instances: int) -> dict[str, Cost]:
    """The median costs of each command with a history of so many instances."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made(folder, instances)
        os.environ["FEEDCTL_LOG_DIR"] = str(folder / "logs")
        return {what: _median([_cost(folder, command) for _ in range(ROUNDS)]) for what, command in COMMANDS.items()}


def _cost(folder: Path, command: tuple[str, ...]) -> Cost:
    entrypoint, *options = command
    at = ["--time", f"{END:%Y-%m-%dT%H:%MZ}", "--config-repo", str(folder / "repo")]
    began = time.perf_counter()
    processor, memory = run([sys.executable, str(ROOT / "entrypoints" / entrypoint), *options, *at])
    return Cost(wall=time.perf_counter() - began, processor=processor, memory=memory)


def _median(costs: list[Cost]) -> Cost:
    return Cost(
        wall=median(each.wall for each in costs),
        processor=median(each.processor for each in costs),
        memory=median(each.memory for each in costs),
    )


def main() -> int:
    """Print the figures; 1 when the longest history takes longer than it may."""
    with tempfile.TemporaryDirectory() as bytecode:
        keep_bytecode(Path(bytecode))
        measured(1)
        start = measured(1)
        found = {instances: measured(instances) for instances in LENGTHS}
    is_met = True
    for what, alone in start.items():
        print(f"{what}, start: {alone.wall:.2f} s, {alone.processor:.2f} s of CPU, {alone.memory:.0f} MiB")
        for instances, costs in found.items():
            own = costs[what]
            wall, processor, memory = own.wall - alone.wall, own.processor - alone.processor, own.memory - alone.memory
            print(
                f"{what}, {instances:,} instances: {wall:.2f} s, {processor:.2f} s of CPU and "
                f"{memory:.0f} MiB more (goal: {GOAL} s)"
            )
            is_met &= wall <= GOAL
    return 0 if is_met else 1


if __name__ == "__main__":
    raise SystemExit(main())
