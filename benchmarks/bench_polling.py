"""10,000 datasets of one file each are polled on HDFS and on S3 (moto), with the ledger in SQLite.

On S3 they are in ten buckets, since moto looks at all keys of a bucket for each listing.
Three polls each: the first finds all of them, the second announces them (10,000 events in the ledger), the third finds
nothing new, which is what a poll costs from then on. Calls are those of the storage port; each is one request here.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import sqlalchemy as sa
from typing_extensions import override

from tests.databases.ledgers import HandClock, make_ledger, open_ledger
from tests.testbed.client import Testbed
from tests.testbed.controller import Controller
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from toolkit.availability import DataAccess
from toolkit.el import CanonicalPath
from toolkit.el.dataset_uri import path_uri
from toolkit.entities.trigger import Poll
from toolkit.entities.trigger_vocabulary import PollBy
from toolkit.storage import Entry, FileStatus, FileSystem, ReadOnlyFileSystem, StorageSpec, open_file_system
from toolkit.threads import WorkerPool
from toolkit.triggers.polling import DEADLINE_SECONDS, PollTarget, poll_due

DATASETS = 10_000
BUCKETS = 10
GOAL_SECONDS = DEADLINE_SECONDS
"""A quiet poll of all of them ends within the deadline of one poll."""
NOON = datetime(2026, 3, 20, 12, tzinfo=UTC)
POLLS = ("first look", "10,000 events", "nothing new")


@dataclass(frozen=True)
class Counted(ReadOnlyFileSystem):
    """A store whose calls are counted."""

    calls: Counter[str] = field(default_factory=Counter)

    @override
    def list_tree(self, path: CanonicalPath) -> Iterator[Entry]:
        self.calls["list_tree"] += 1
        return self.inner.list_tree(path)

    @override
    def status(self, path: CanonicalPath) -> FileStatus:
        self.calls["status"] += 1
        return self.inner.status(path)


Opened = dict[CanonicalPath, FileSystem]
"""The stores of directories in which datasets are."""


def paths(base: CanonicalPath, number: int) -> list[CanonicalPath]:
    """The directories of so many datasets."""
    return [base.child(f"dataset-{each:05}") for each in range(number)]


def on_hdfs(testbed: Testbed) -> Opened:
    """One directory on HDFS."""
    cluster = HdfsCluster.of(testbed)
    system = open_file_system(StorageSpec(scheme="hdfs", authority=f"127.0.0.1:{cluster.rpc}"))
    base = CanonicalPath("hdfs", f"127.0.0.1:{cluster.rpc}", f"/bench/{uuid4().hex}")

    def make(path: CanonicalPath) -> None:
        system.mkdirs(path)
        system.write(path.child("part-0"), [b""])

    WorkerPool(16, "bench").run_all(make, paths(base, DATASETS))
    return {base: system}


def on_s3(testbed: Testbed) -> Opened:
    """A directory in each of several buckets."""
    store = S3Store.of(testbed)
    os.environ.update(store.environment)
    return dict(bucket_of(store) for _ in range(BUCKETS))


def bucket_of(store: S3Store) -> tuple[CanonicalPath, FileSystem]:
    """A bucket with its part of the datasets."""
    bucket = f"bench-{uuid4().hex}"
    with store.client() as client:
        client.create_bucket(Bucket=bucket)
    base = CanonicalPath("s3", bucket, "/bench")
    store.fill(bucket, [f"{path.path.removeprefix('/')}/part-0" for path in paths(base, DATASETS // BUCKETS)])
    return base, open_file_system(StorageSpec(scheme="s3", authority=bucket, hadoop_conf=store.settings))


def measure(opened: Opened, directory: Path) -> float:
    """Print seconds and calls of the polls, and return the seconds of the last."""
    url = sa.URL.create("sqlite", database=str(directory / "ledger.db"))
    make_ledger(url)
    clock = HandClock(NOON)
    ledger = open_ledger(url, clock)
    of_each = [path for base in opened for path in paths(base, DATASETS // len(opened))]
    targets = [PollTarget(uri=path_uri(each), poll=Poll(by=PollBy.LISTING)) for each in of_each]
    scheme, seconds = of_each[0].scheme, 0.0
    for name, expected in zip(POLLS, (0, DATASETS, 0), strict=True):
        counted = {base.authority: Counted(system) for base, system in opened.items()}
        began = time.perf_counter()
        data = DataAccess(stores=lambda path, counted=counted: counted[path.authority])  # type: ignore[misc] # bound now
        report = poll_due(ledger, data, targets, NOON, check=lambda: None, deadline=3600)
        seconds = time.perf_counter() - began
        assert not report.failures, report.failures[0].message
        assert len(report.events) == expected
        calls = sum(sum(each.calls.values()) for each in counted.values())
        print(
            f"{scheme:<6} {name:<16} {seconds:8.2f} s {calls:8,} calls {report.looks / seconds:8.0f} datasets/s",
            flush=True,
        )
        clock.now += timedelta(minutes=5)
    ledger.close()
    return seconds


def main() -> int:
    """Prints seconds and calls; 1 when a quiet poll misses the goal."""
    testbed = Testbed(controller=Controller.this_process())
    print(f"{DATASETS:,} datasets of one file, polled by listing; goal of a quiet poll: {GOAL_SECONDS:.0f} s")
    try:
        with tempfile.TemporaryDirectory() as hdfs, tempfile.TemporaryDirectory() as s3:
            found = [measure(on_hdfs(testbed), Path(hdfs)), measure(on_s3(testbed), Path(s3))]
    finally:
        testbed.end()
    return int(max(found) > GOAL_SECONDS)


if __name__ == "__main__":
    raise SystemExit(main())
