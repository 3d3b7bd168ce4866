"""A feed on a real HDFS, what must become of it, and what must never go, told without the product."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import hdfs_native

NOMINAL = datetime(2026, 3, 20, 12, tzinfo=UTC)
HORIZON = NOMINAL - timedelta(days=10)
_THREADS = 16

_REPO = """\
name: crashes
ledger: sqlite:///{ledger}
delete_rate: {rate}
"""
_CLUSTER = """\
kind: cluster
name: primary
interfaces: {{write: {{endpoint: "{place}"}}}}
"""
_FEED = """\
kind: feed
name: clicks
frequency: hours(1)
locations: {{data: "/clicks/{template}"}}
clusters:
  - name: primary
    validity: {{start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}
    retention: {{limit: days(10)}}
"""
LAYOUTS = {
    "${YEAR}/${MONTH}/${DAY}/${HOUR}": "%Y/%m/%d/%H",
    "${YEAR}-${MONTH}-${DAY}-${HOUR}": "%Y-%m-%d-%H",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class HdfsFeed:
    """A config repo of one hourly feed on HDFS.

    Args:
        directory: of the repo and its ledger, on this machine.
        client: looks at HDFS, past the product.
        root: the directory on HDFS that is this feed's own.
        layout: how instances are named, for `strftime`.
        repo: the config repo.
    """

    directory: Path
    client: hdfs_native.Client
    root: str
    layout: str
    repo: Path

    @classmethod
    def make(cls, directory: Path, place: str, template: str, rate: int) -> HdfsFeed:
        """Write the repo; `place` is the URI of an empty directory on HDFS, `rate` the deletes a second."""
        repo = directory / "repo"
        for folder in ("clusters", "feeds"):
            (repo / folder).mkdir(parents=True)
        (repo / "repo.yaml").write_text(_REPO.format(ledger=directory / "ledger.db", rate=rate))
        (repo / "clusters" / "primary.yaml").write_text(_CLUSTER.format(place=place))
        (repo / "feeds" / "clicks.yaml").write_text(_FEED.format(template=template))
        root = "/" + place.partition("//")[2].partition("/")[2]
        feed = cls(
            directory=directory, client=hdfs_native.Client(place), root=root, layout=LAYOUTS[template], repo=repo
        )
        feed.client.mkdirs(f"{root}/clicks", create_parent=True)
        return feed

    def fill(self, chance: random.Random, hours: int) -> set[str]:
        """Instances of the hours up to the nominal time, some with files, and names that are none; the old ones."""
        made = {}
        for back in range(hours):
            at = NOMINAL - timedelta(hours=back)
            made[f"{self.root}/clicks/{at.strftime(self.layout)}"] = at
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(lambda path: self._make(path, files=chance.randrange(2)), made))
        for path in chance.sample(sorted(made), 5):
            self._make(f"{path.rpartition('/')[0]}/{chance.choice(['_tmp', '2026-13-01', '99', 'notes'])}", files=1)
        return {path for path, at in made.items() if at < HORIZON}

    def _make(self, path: str, *, files: int) -> None:
        self.client.mkdirs(path, create_parent=True)
        for number in range(files):
            with self.client.create(
                f"{path}/part-{number}", hdfs_native.WriteOptions(create_parent=True, overwrite=True)
            ):
                pass

    def tree(self) -> dict[str, bool]:
        """Everything below the root, and whether it is a directory."""
        return {each.path: each.isdir for each in self.client.list_status(self.root, recursive=True)}

    def expected(self, before: dict[str, bool], old: set[str]) -> dict[str, bool]:
        """The tree without what is old, and without the parents that only old instances were in."""
        left = {path: kind for path, kind in before.items() if not _is_in(path, old)}
        emptied = {parent for path in old for parent in _parents(path, f"{self.root}/clicks")}
        for parent in sorted(emptied, key=len, reverse=True):
            if not any(path.startswith(parent + "/") for path in left):
                left.pop(parent, None)
        return left

    def reported(self) -> Counter[str]:
        """How often the ledger says that an instance was evicted."""
        with sqlite3.connect(self.directory / "ledger.db") as ledger:
            rows = ledger.execute("SELECT instance_key FROM event WHERE kind = 'evicted'")
            return Counter(key for (key,) in rows)

    def keys(self, paths: set[str]) -> Counter[str]:
        """The instance keys of paths."""
        names = (path.removeprefix(f"{self.root}/clicks/") for path in paths)
        times = (datetime.strptime(name, self.layout).replace(tzinfo=UTC) for name in names)
        return Counter(time.strftime("%Y-%m-%dT%H:%MZ") for time in times)


def _is_in(path: str, roots: set[str]) -> bool:
    return path in roots or any(parent in roots for parent in _parents(path, ""))


def _parents(path: str, base: str) -> Iterator[str]:
    """The directories above a path, nearest first, strictly below the base."""
    parent = path.rpartition("/")[0]
    while parent and parent != base:
        yield parent
        parent = parent.rpartition("/")[0]
