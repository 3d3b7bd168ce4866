"""A config repo with the one feed of a benchmark, and its ledger."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks.replication.clusters import Clusters
from benchmarks.replication.shapes import ROOT, START, TEMPLATE, Shape
from benchmarks.whole_process import PROGRAMS

FEED = "clicks"
_REPO = """\
name: benchmark
owners: [data@example.com]
ledger: sqlite:///{ledger}
max_copy: {{instances: 100000}}
"""
_CLUSTER = """\
kind: cluster
name: {name}
interfaces: {{write: {{endpoint: "{store}"}}}}
"""
_FEED = """\
kind: feed
name: {feed}
frequency: hours(1)
locations: {{data: "{source}{template}"}}
clusters:
  - name: primary
    type: source
    validity: {{start: {start:%Y-%m-%dT%H:%MZ}, end: 2099-01-01T00:00Z}}
  - name: backup
    type: target
    validity: {{start: {start:%Y-%m-%dT%H:%MZ}, end: 2099-01-01T00:00Z}}
    locations: {{data: "{target}{template}"}}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class OurRepo:
    """Config repo and tree of the instances.

    Args:
        path: of the config repo.
        ledger: a SQLite file.
        fresh: a ledger with its tables and nothing in them.
        shape: whose instances are copied.
    """

    path: Path
    ledger: Path
    fresh: Path
    shape: Shape

    @classmethod
    def make(cls, folder: Path, clusters: Clusters, target: str, shape: Shape) -> OurRepo:
        """Both, in a folder of their own, for copies into a directory of the target."""
        repo = cls(path=folder / "repo", ledger=folder / "ledger.db", fresh=folder / "fresh.db", shape=shape)
        texts = {
            "repo.yaml": _REPO.format(ledger=repo.ledger),
            "clusters/primary.yaml": _CLUSTER.format(name="primary", store=clusters.source),
            "clusters/backup.yaml": _CLUSTER.format(name="backup", store=clusters.target),
            "feeds/clicks.yaml": _FEED.format(feed=FEED, source=ROOT, target=target, template=TEMPLATE, start=START),
        }
        for name, text in texts.items():
            (repo.path / name).parent.mkdir(parents=True, exist_ok=True)
            (repo.path / name).write_text(text)
        subprocess.run(
            [str(PROGRAMS / "feedctl"), "ledger", "upgrade", "--config-repo", str(repo.path)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        repo.ledger.rename(repo.fresh)
        return repo

    def empty_the_ledger(self) -> None:
        """No run before the next one is remembered."""
        for old in self.ledger.parent.glob(f"{self.ledger.stem}*"):
            old.unlink()
        shutil.copy(self.fresh, self.ledger)

    @property
    def due(self) -> tuple[str, ...]:
        """Options for what is due and was not copied yet, by the ledger."""
        time = f"{self.shape.nominal:%Y-%m-%dT%H:%MZ}"
        return ("--config-repo", str(self.path), "--feed", FEED, "--time", time)

    @property
    def listed(self) -> tuple[str, ...]:
        """Options for all instances, copied before or not: both sides are listed."""
        return (*self.due, "--start", f"{START:%Y-%m-%dT%H:%MZ}", "--end", "2099-01-01T00:00Z")
