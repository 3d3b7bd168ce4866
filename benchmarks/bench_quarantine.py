"""Quarantine against delete: 100,000 directories on HDFS, 100,000 objects on S3 (moto); a tenth goes, and comes back.

On HDFS an instance is a directory with one empty file; on S3 it is a flag and one object. Delete, quarantine and
restore take turns over one tree, each as a whole process, and the seconds of the clock are compared in one run. After
each of them the tree is looked at: an instance too few or too many makes the figure void. moto looks at all keys of a
bucket for each listing, so that its seconds tell nothing of Amazon's. There is no goal.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from uuid import uuid4

from hdfs_native import Client

from benchmarks.eviction.hdfs_tree import HdfsTree
from benchmarks.eviction.our_repo import FEED, TIME, OurRepo
from benchmarks.eviction.trees import FILE, Layout, Tree
from benchmarks.timing import timed
from benchmarks.whole_process import PROGRAMS, ROOT, keep_bytecode
from tests.testbed.client import Testbed
from tests.testbed.controller import Controller
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.missing import Missing
from tests.testbed.s3 import S3Store

DELETE, QUARANTINE, RESTORE = "delete", "quarantine", "restore"
FLAG = "_SUCCESS"


@dataclass(frozen=True, kw_only=True)
class Site:
    """A tree of instances on a store.

    Attributes:
        name: of the store.
        uri: the cluster's end point.
        conf: its `hadoop_conf`.
        tree: the instances.
        flag: the availability flag of the feed; empty: none.
        fill: makes instances.
        there: finds the directories of instances, and of nothing else.
    """

    name: str
    uri: str
    conf: Mapping[str, str]
    tree: Tree
    flag: str
    fill: Callable[[range], None]
    there: Callable[[], set[str]]

    def measured(self, folder: Path, rounds: int) -> dict[str, float]:
        """Return median seconds of each action."""
        repo = OurRepo.make(folder, self.tree, self.uri)
        seconds: dict[str, list[float]] = {}
        self.fill(self.tree.everything)
        for _ in range(rounds):
            for name in (DELETE, QUARANTINE, RESTORE):
                if name != RESTORE:
                    repo.empty_the_ledger()
                    self._configure(repo, name)
                whole, _ = timed(self._command(repo, name), {})
                left = self.tree.everything if name == RESTORE else self.tree.staying
                if self.there() != set(self.tree.paths(left)):
                    message = f"{name} on {self.name} left something else than {len(left):,} instances"
                    raise SystemExit(message)
                seconds.setdefault(name, []).append(whole)
                if name == DELETE:
                    self.fill(self.tree.going)
        return {name: median(of) for name, of in seconds.items()}

    def _configure(self, repo: OurRepo, action: str) -> None:
        feed, cluster = repo.path / "feeds/hours.yaml", repo.path / "clusters/bench.yaml"
        plain = feed.read_text().replace(", action: quarantine, quarantine: days(3)", "")
        if self.flag and "availability_flag" not in plain:
            plain = plain.replace("locations:", f"availability_flag: {self.flag}\nlocations:")
        quarantined = plain.replace("limit: hours(", "action: quarantine, quarantine: days(3), limit: hours(")
        feed.write_text(quarantined if action == QUARANTINE else plain)
        if self.conf and "hadoop_conf" not in cluster.read_text():
            conf = "".join(f'\n  {key}: "{value}"' for key, value in self.conf.items())
            cluster.write_text(f"{cluster.read_text()}hadoop_conf:{conf}\n")

    def _command(self, repo: OurRepo, action: str) -> list[str]:
        if action == RESTORE:
            return [str(PROGRAMS / "feedctl"), "restore", FEED, "--config-repo", str(repo.path), "--quiet"]
        options = ["--config-repo", str(repo.path), "--time", TIME, "--feed", FEED, "--quiet"]
        return [sys.executable, str(ROOT / "entrypoints/retention.py"), *options]


def on_hdfs(testbed: Testbed, instances: int) -> Site:
    """Return a tree of directories."""
    cluster, tree = HdfsCluster.of(testbed), Tree(layout=Layout.TREE, instances=instances, expired=instances // 10)
    client = Client(cluster.uri)
    made = HdfsTree(client=client, tree=tree)

    def there() -> set[str]:
        found = client.list_status(tree.root, recursive=True)
        inside = (each.path for each in found if each.path.endswith(f"/{FILE}"))
        return {path.rpartition("/")[0] for path in inside if "/.feedctl/" not in path}

    return Site(name="HDFS", uri=cluster.uri, conf={}, tree=tree, flag="", fill=made.make, there=there)


def on_s3(testbed: Testbed, objects: int) -> Site:
    """Return a tree of objects, two for each instance."""
    store, instances = S3Store.of(testbed), objects // 2
    tree, bucket = Tree(layout=Layout.TREE, instances=instances, expired=instances // 10), f"bench-{uuid4().hex}"
    os.environ.update(store.environment)
    with store.client() as client:
        client.create_bucket(Bucket=bucket)

    def fill(numbers: range) -> None:
        store.fill(bucket, [f"{path[1:]}/{name}" for path in tree.paths(numbers) for name in (FILE, FLAG)])

    def there() -> set[str]:
        with store.client() as client:
            pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=tree.root[1:])
            keys = [each["Key"] for page in pages for each in page.get("Contents", ())]
        return {
            f"/{key.removesuffix(f'/{FLAG}')}" for key in keys if key.endswith(f"/{FLAG}") and ".feedctl" not in key
        }

    return Site(name="S3", uri=f"s3a://{bucket}", conf=store.settings, tree=tree, flag=FLAG, fill=fill, there=there)


def everything(requested: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of all figures."""
    testbed = Testbed(controller=Controller.this_process())
    makers = {"hdfs": lambda: on_hdfs(testbed, requested.directories), "s3": lambda: on_s3(testbed, requested.objects)}
    try:
        for name in requested.stores:
            with tempfile.TemporaryDirectory() as folder:
                keep_bytecode(Path(folder) / "bytecode")
                site = makers[name]()
                yield from lines(site, site.measured(Path(folder) / "site", requested.rounds), requested.rounds)
    finally:
        testbed.end()


def lines(site: Site, seconds: Mapping[str, float], rounds: int) -> Iterator[str]:
    """Yield the figures of a store, and how they compare with a delete."""
    tree = site.tree
    yield f"{site.name}: {tree.instances:,} instances, {tree.expired:,} go; medians, rounds: {rounds}"
    for name, took in seconds.items():
        each = took / tree.expired * 1000
        yield f"  {name:<10} {took:8.2f} s  {each:6.2f} ms an instance  {took / seconds[DELETE]:5.2f} of a delete"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; 1 when nothing can be measured here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--directories", type=int, default=100_000, help="on HDFS")
    parser.add_argument("--objects", type=int, default=100_000, help="on S3")
    parser.add_argument("--stores", nargs="+", choices=["hdfs", "s3"], default=["hdfs", "s3"])
    parser.add_argument("--rounds", type=int, default=1)
    try:
        for line in everything(parser.parse_args(arguments)):
            print(line, flush=True)
    except Missing as why:
        print(f"NOT MEASURED: {why}")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
