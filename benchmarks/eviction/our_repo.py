"""A config repo with the one feed of a benchmark, and its ledger."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks.eviction.trees import END, HOUR, Tree
from benchmarks.whole_process import PROGRAMS

FEED = "hours"
TIME = f"{END:%Y-%m-%dT%H:%MZ}"
_REPO = """\
name: benchmark
owners: [data@example.com]
ledger: sqlite:///{ledger}
max_delete: {{instances: {expired}}}
"""
_CLUSTER = """\
kind: cluster
name: bench
interfaces: {{write: {{endpoint: "{store}"}}}}
"""
_FEED = """\
kind: feed
name: {feed}
frequency: hours(1)
locations: {{data: "{template}"}}
clusters:
  - name: bench
    validity: {{start: 1900-01-01T00:00Z, end: 2099-01-01T00:00Z}}
    retention: {{limit: hours({limit})}}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class OurRepo:
    """Config repo and tree of the instances.

    Args:
        path: of the config repo.
        ledger: a SQLite file; beside it is the audit file.
        fresh: a ledger with its tables and nothing in them.
    """

    path: Path
    ledger: Path
    fresh: Path

    @classmethod
    def make(cls, folder: Path, tree: Tree, store: str) -> OurRepo:
        """Both, in a folder of their own, with the limit that divides the tree."""
        repo = cls(path=folder / "repo", ledger=folder / "ledger.db", fresh=folder / "fresh.db")
        limit = (END - tree.oldest_kept) // HOUR
        texts = {
            "repo.yaml": _REPO.format(ledger=repo.ledger, expired=tree.expired),
            "clusters/bench.yaml": _CLUSTER.format(store=store),
            "feeds/hours.yaml": _FEED.format(feed=FEED, template=tree.template, limit=limit),
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
