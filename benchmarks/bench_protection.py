"""Cost of protections in a whole run of retention: 100,000 instances (`--instances`) on this disk, a tenth of them go.

Every instance that goes is at a target, has been read by an instance of a process, and is in no batch, so that each of
the three protections looks at all of them and keeps none. A run without protections and one with all take turns; their
processor seconds are compared. Goal: at most 20 % more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from benchmarks.ledger_filling import record_runs
from benchmarks.whole_process import ROOT, keep_bytecode, run
from tests.databases.ledgers import open_ledger, sqlite_url
from toolkit.ledger.upgrade import upgrade

MOST = 1.20
END = datetime(2026, 3, 1, tzinfo=UTC)
ALL = ", protect: [" + ", ".join(
    f"{{name: {name}, max_age: months(2400)}}" for name in ("unread_batches", "unreplicated", "unread_consumers")
) + "]"  # fmt: skip
_ON = "validity: {{start: {start:%Y-%m-%dT%H:%MZ}, end: 2099-01-01T00:00Z}}"
_FEED = """\
kind: feed
name: clicks
frequency: hours(1)
external: true
availability_flag: _SUCCESS
locations: {{data: "/clicks/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}"}}
clusters:
  - {{name: primary, type: source, {on}, retention: {{limit: hours({limit}){protect}}}}}
  - {{name: backup, type: target, {on}}}
"""
_PROCESS = """\
kind: process
name: count
frequency: hours(1)
clusters: [{{name: primary, {on}}}]
inputs: {{clicks: {{feed: clicks, start: "now(0,0)", end: "now(0,0)"}}}}
workflow: {{engine: command, path: count.sh}}
"""


class Site:
    """A config repo with its data and ledger.

    Args:
        root: an empty directory.
        instances: how many the feed has.
    """

    def __init__(self, root: Path, instances: int) -> None:
        self.root, self.instances, self.old = root, instances, instances // 10
        self.start = END - timedelta(hours=instances - 1)
        on = _ON.format(start=self.start)
        self._put(
            "repo.yaml", f"name: bench\nledger: sqlite:///{root}/ledger.db\nmax_delete: {{instances: {instances}}}\n"
        )
        for name in ("primary", "backup"):
            endpoint = f'interfaces: {{write: {{endpoint: "file://{root}/{name}"}}}}'
            self._put(f"clusters/{name}.yaml", f"kind: cluster\nname: {name}\n{endpoint}\n")
        self._put("processes/count.yaml", _PROCESS.format(on=on))
        self._put("count.sh", "#!/bin/sh\n").chmod(0o755)
        ledger = open_ledger(sqlite_url(root / "ledger.db"))
        upgrade(ledger)
        record_runs(ledger, "count", instances, self.start - timedelta(hours=1), minutes=60, cluster="primary")
        self._fill("primary", instances)
        self._fill("backup", self.old)

    def _put(self, name: str, text: str) -> Path:
        path = self.root / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def _fill(self, cluster: str, count: int) -> None:
        for number in range(count):
            at = self.start + timedelta(hours=number)
            place = self.root / cluster / f"clicks/{at:%Y/%m/%d/%H}"
            place.mkdir(parents=True, exist_ok=True)
            (place / "_SUCCESS").touch()

    def seconds(self, protect: str) -> float:
        """Return the processor seconds of one run, after which exactly the old instances are gone."""
        limit = self.instances - 1 - self.old
        text = _FEED.format(on=_ON.format(start=self.start), limit=limit, protect=protect)
        self._put("feeds/clicks.yaml", text)
        self._fill("primary", self.old)
        options = ["--config-repo", str(self.root / "repo"), "--feed", "clicks", "--cluster", "primary", "--quiet"]
        moment = ["--time", f"{END:%Y-%m-%dT%H:%MZ}"]
        found, _ = run([sys.executable, str(ROOT / "entrypoints/retention.py"), *options, *moment])
        left = sum(1 for _ in (self.root / "primary/clicks").glob("*/*/*/*"))
        if left != self.instances - self.old:
            message = f"{left:,} instances are left, expected {self.instances - self.old:,}"
            raise SystemExit(message)
        return found


def main() -> int:
    """Print the figures; 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    requested = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        keep_bytecode(Path(folder) / "bytecode")
        site = Site(Path(folder), requested.instances)
        site.seconds(ALL)  # compiles what is measured
        pairs = [(site.seconds(""), site.seconds(ALL)) for _ in range(requested.rounds)]
    plain, protected = (median(each) for each in zip(*pairs, strict=True))
    ratio = median(own / other for other, own in pairs)
    print(f"{requested.instances:,} instances, {requested.instances // 10:,} go; medians of {requested.rounds} rounds")
    print(f"without protections {plain:.2f} s, with all {protected:.2f} s of processor time: {ratio:.2f} times")
    print(f"goal: at most {MOST:.2f} times: {'met' if ratio <= MOST else 'MISSED'}")
    return 0 if ratio <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
