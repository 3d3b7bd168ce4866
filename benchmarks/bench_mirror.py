"""Mirroring a directory by snapshots between two HDFS: feedctl, `distcp -update -diff s1 s2` and `distcp -update`.

A tree of --files files, half of them below one directory. Three stages: nothing changed, 100 files written anew, and
that directory renamed. Each contestant has a target of its own, which has the same files before the race, and the
snapshots that a first run would have made. A peer that takes longer than --longest seconds is ended. After each stage
the names and sizes of the target are compared with the source: what is not equal makes the figure void. Seconds are
those of the clock: of the whole process, and of the work alone (of feedctl its counter TIMETAKEN; of DistCp from its
main to its end). DistCp runs in Hadoop's local runner, one map at a time, with -bandwidth 2000; -update has -delete,
without which no mirror is equal, and compares checksums. feedctl makes and prunes its snapshots within its time, and
writes its ledger; those of DistCp are made before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median

from hdfs_native import Client, WriteOptions

from benchmarks.peers.replication_peers import DISTCP
from benchmarks.replication.clusters import Clusters, running_clusters
from benchmarks.replication.goals import Verdict
from benchmarks.timing import SPARK_SUBMIT, Took, TooLong, spark_environment, timed, took
from benchmarks.whole_process import ROOT, keep_bytecode
from tests.testbed.missing import Missing
from toolkit.el import CanonicalPath
from toolkit.mirror.model import MirrorRules
from toolkit.storage import StorageSpec
from toolkit.storage.webhdfs.snapshots import WebHdfsSnapshots, open_snapshots

FILES, IN_ONE, CHANGED, ROUNDS = 100_000, 100, 100, 3
LONGEST = 900.0
GOAL = 5.0
SOURCE, TARGETS = "/bench/source", "/bench/targets"
OURS, SUBMITTED, DIFF, UPDATE = "feedctl", "feedctl, by spark-submit", "distcp -update -diff", "distcp -update -delete"
_PROGRAMS = {OURS: [sys.executable], SUBMITTED: [SPARK_SUBMIT]}
_NAMES = {OURS: "python", SUBMITTED: "submit", DIFF: "diff", UPDATE: "update"}
_WRITERS = 200
_CLUSTER = """\
kind: cluster
name: {name}
interfaces: {{write: {{endpoint: "{write}"}}, readonly: {{endpoint: "webhdfs://{web}"}}}}
"""
_MIRROR = """\
kind: mirror
name: {name}
type: hdfs_snapshot
cluster: two
validity: {{start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}
frequency: hours(1)
values:
  {{source_cluster: one, source_snapshot_dir: {source}, target_cluster: two, target_snapshot_dir: {target},
   source_snapshot_retention: {{limit: days(1), number: 3}}, target_snapshot_retention: {{limit: days(1), number: 3}}}}
"""


@dataclass(frozen=True, kw_only=True)
class Course:
    """Race: two clusters, and the mirror that all contestants are run over.

    Attributes:
        folder: of the config repo, the ledger and the results.
        files: so many has the source.
        longest: seconds of a peer.
        hours: of the runs of feedctl.
    """

    clusters: Clusters
    folder: Path
    files: int
    longest: float
    hours: Iterator[int] = field(default_factory=count)

    def prepare(self) -> None:
        """Write the source and the config repo, and fill all targets."""
        self._fill(self.clusters.at_source, SOURCE)
        self.snapshots(0).allow(self.path(0))
        texts = {"repo.yaml": f"name: bench\nledger: sqlite:///{self.folder}/ledger.db\n"}
        for name, uri, web in zip(
            ("one", "two"), (self.clusters.source, self.clusters.target), self.clusters.webs, strict=True
        ):
            texts[f"clusters/{name}.yaml"] = _CLUSTER.format(name=name, write=uri, web=web)
        first = MirrorRules(name="{}", owner="bench").snapshot(_key(next(self.hours)))
        for name in _NAMES.values():
            self._fill(self.clusters.at_target, f"{TARGETS}/{name}")
            self.snapshots(1).allow(self.path(1, name))
            self.snapshots(0).create(self.path(0), first.format(name))
            self.snapshots(1).create(self.path(1, name), first.format(name))
            texts[f"mirrors/{name}.yaml"] = _MIRROR.format(name=name, source=SOURCE, target=f"{TARGETS}/{name}")
        for file, text in texts.items():
            path = self.folder / "repo" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def _fill(self, client: Client, root: str) -> None:
        directories = [f"{root}/{'half' if n % 2 else 'other'}/{n}" for n in range(self.files // IN_ONE)]
        for each in directories:
            client.mkdirs(each, create_parent=True)
        names = [f"{each}/{n}" for each in directories for n in range(IN_ONE)]
        with ThreadPoolExecutor(_WRITERS) as pool:
            list(pool.map(partial(write, client, b"0123456789"), names))

    def path(self, end: int, name: str = "") -> CanonicalPath:
        """Return the source, or a target, as WebHDFS has it."""
        return CanonicalPath("webhdfs", self.clusters.webs[end], f"{TARGETS}/{name}" if name else SOURCE)

    def snapshots(self, end: int) -> WebHdfsSnapshots:
        """Return the snapshots of one end."""
        return open_snapshots(StorageSpec(scheme="webhdfs", authority=self.clusters.webs[end]))

    def mirror(self, program: list[str], name: str, hour: int) -> tuple[Took, Mapping[str, int]]:
        """Run a mirror; return its seconds and its counters."""
        result = self.folder / "result.json"
        whole = self._entrypoint(program, name, hour, "--quiet", "--result-file", str(result))
        counters: Mapping[str, int] = json.loads(result.read_text())["instances"][0]["counters"]
        return Took(whole=whole, inside=counters["TIMETAKEN"] / 1000), counters

    def compile(self) -> None:
        """Plan once, so that Python's modules are compiled before the race."""
        for who, program in _PROGRAMS.items():
            self._entrypoint(program, _NAMES[who], next(self.hours), "--dry-run")

    def _entrypoint(self, program: list[str], name: str, hour: int, *more: str) -> float:
        options = ["--config-repo", str(self.folder / "repo"), "--mirror", name, "--time", _key(hour), *more]
        environment = {**spark_environment(), "FEEDCTL_LOG_DIR": str(self.folder / "logs")}
        whole, _ = timed([*program, str(ROOT / "entrypoints/mirror.py"), *options], environment)
        return whole

    def distcp(self, name: str, number: int) -> Took:
        """Run DistCp from the snapshot of one number to the next."""
        options = ["-Dmapreduce.framework.name=local", "-update", "-bandwidth", "2000"]
        source, target = f"{self.clusters.source}{SOURCE}", f"{self.clusters.target}{TARGETS}/{name}"
        if name == _NAMES[DIFF]:
            options += ["-diff", f"s{number - 1}", f"s{number}"]
        else:
            options, source = [*options, "-delete"], f"{source}/.snapshot/s{number}"
        try:
            whole, output = timed(DISTCP.command(*options, source, target), {}, longest=self.longest)
        except TooLong as late:
            return Took(whole=late.seconds, inside=late.seconds, is_over=True)
        return took(whole, output)


def _key(hour: int) -> str:
    return f"2026-01-{1 + hour // 24:02}T{hour % 24:02}:00Z"


def write(client: Client, content: bytes, path: str) -> None:
    """Write a file, which replaces what is there."""
    with client.create(path, WriteOptions(overwrite=True)) as file:
        file.write(content)


def tree(client: Client, root: str) -> dict[str, int]:
    """Return the size of each file below a directory, without feedctl's own names."""
    found = client.list_status(root, recursive=True)
    return {each.path.partition(f"{root}/")[2]: each.length for each in found if not each.isdir}


def _nothing(_client: Client, _number: int) -> None:
    """Change nothing."""


def _change(client: Client, number: int) -> None:
    """Write files anew, in both halves."""
    found = sorted(tree(client, SOURCE))
    names = [f"{SOURCE}/{each}" for each in found[:: max(1, len(found) // CHANGED)][:CHANGED]]
    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(partial(write, client, f"changed {number}".encode()), names))


def _rename(client: Client, number: int) -> None:
    """Rename the directory of one half."""
    (found,) = (each.path for each in client.list_status(SOURCE) if not each.path.endswith("/other"))
    client.rename(found, f"{SOURCE}/half-{number}")


STAGES: Mapping[str, Callable[[Client, int], None]] = {
    "nothing changed": _nothing,
    f"{CHANGED} files changed": _change,
    "half of the tree renamed": _rename,
}


def measured(course: Course, rounds: int) -> Iterator[Verdict]:
    """Run all contestants over all stages in turn, print their figures, and yield the goals."""
    numbers, left_out = count(1), set[str]()
    course.snapshots(0).create(course.path(0), "s0")
    course.snapshots(1).create(course.path(1, _NAMES[DIFF]), "s0")
    for stage, change in STAGES.items():
        found: dict[str, list[Took]] = {who: [] for who in _NAMES}
        copied: list[int] = []
        for number in (next(numbers) for _ in range(rounds)):
            change(course.clusters.at_source, number)
            hour = next(course.hours)
            course.snapshots(0).create(course.path(0), f"s{number}")
            for who, name in _NAMES.items():
                if who in left_out:
                    continue
                if who in _PROGRAMS:
                    seconds, counters = course.mirror(_PROGRAMS[who], name, hour)
                    copied.append(counters["BYTESCOPIED"])
                else:
                    seconds = course.distcp(name, number)
                found[who].append(seconds)
                if seconds.is_over:
                    print(f"    {who}, {stage}: ended after {seconds.whole:.0f} s; it takes part no more", flush=True)
                    left_out.add(who)
                elif tree(course.clusters.at_target, f"{TARGETS}/{name}") != tree(course.clusters.at_source, SOURCE):
                    message = f"{who} has not made the target equal: {stage}"
                    raise SystemExit(message)
            if DIFF not in left_out:
                course.snapshots(1).create(course.path(1, _NAMES[DIFF]), f"s{number}")
        yield from _verdicts(stage, found, copied)


def _verdicts(stage: str, found: Mapping[str, list[Took]], copied: list[int]) -> Iterator[Verdict]:
    whole = {who: median(each.whole for each in of) for who, of in found.items() if of}
    inside = {who: median(each.inside or 0 for each in of) for who, of in found.items() if of}
    print(f"\n{stage}; medians: whole process, the work alone", flush=True)
    for who, seconds in whole.items():
        print(f"    {who:26} {seconds:7.2f} s {inside[who]:7.2f} s")
    if stage.startswith("half"):
        print(f"    bytes copied by feedctl: {sum(copied)}")
        if sum(copied):
            message = f"{stage}: MISSED: a rename copies no byte"
            raise SystemExit(message)
        return
    for peer in (each for each in (DIFF, UPDATE) if each in whole):
        for who in _PROGRAMS:
            yield Verdict(what=f"{stage}, {who}", found=whole[peer] / whole[who], wanted=GOAL, peer=peer)
        ratio = inside[peer] / max(inside[OURS], 0.001)
        yield Verdict(what=f"{stage}, the work alone", found=ratio, wanted=GOAL, peer=peer)


def main() -> int:
    """Print the figures; 1 when a goal is missed, or nothing can be measured here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--longest", type=float, default=LONGEST, metavar="SECONDS")
    requested = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder, running_clusters() as clusters:
            keep_bytecode(Path(folder) / "bytecode")
            print(f"{requested.files:,} files; load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
            course = Course(clusters=clusters, folder=Path(folder), files=requested.files, longest=requested.longest)
            course.prepare()
            course.compile()
            found = list(measured(course, requested.rounds))
    except Missing as why:
        print(f"NOT MEASURED: {why}")
        return 1
    print("\ngoals")
    for verdict in sorted(found, key=lambda each: each.is_met):
        print(f"  {verdict}")
    return 0 if all(each.is_met for each in found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
