"""Replications that lose a process at a random point and run again; what readers see is compared at each point."""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any
from uuid import uuid4

import hdfs_native

from tests.e2e.commands import BIN, ROOT
from tests.e2e.retention_process import SKIPPED, environment
from tests.integration.replications import DUE, KEYS, End, Replication, hour
from tests.soak.killed_processes import kill, kill_of_driver, python_workers, wait_for_death
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.running import ending

SCRIPT = "replication.py"
ALL = ("--start", KEYS[0], "--end", "2026-03-02T00:00Z")
_LEASE_SECONDS = 2.0
DEADLINE_SECONDS = 240.0
_MANY = 2020
"""So many files that executors copy them; most are empty, since closing one that has bytes takes HDFS 0.4 s."""


class Victim(StrEnum):
    """Which process dies."""

    DRIVER = "driver"
    """The Python of the run; its JVM ends with it."""
    JVM = "jvm"
    """That of spark-submit; the driver has to end by itself."""
    BOTH = "both"
    """At once."""
    WORKER = "worker"
    """The Python of an executor's task; the run goes on."""
    DATANODE = "datanode"
    """Of the target, which has one; it comes back while the run goes on."""
    VALIDATOR = "judge"
    """Of what was copied, a spark-submit of its own; the run goes on."""


OF_DRIVER = (Victim.DRIVER, Victim.JVM, Victim.BOTH)


@dataclass(kw_only=True, slots=True)
class Seen:
    """What a loop saw.

    Attributes:
        victims: how often which process died.
        midway: in how many rounds something of the run was there when it did, and not all.
        codes: how often the run that had lost it ended with which exit code.
    """

    victims: Counter[str] = field(default_factory=Counter)
    midway: int = 0
    codes: Counter[int] = field(default_factory=Counter)

    def __str__(self) -> str:
        reported = ", ".join(f"{count} {victim}" for victim, count in sorted(self.victims.items()))
        return (
            f"{self.victims.total()} lost a process ({reported}), {self.midway} of them midway; exit codes "
            f"{dict(self.codes)}; nothing half was ever seen"
        )


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The source that all rounds copy, and where to.

    Attributes:
        source: has all files.
        files: these.
        target: the cluster.
        java_home: for spark-submit.
    """

    source: End
    files: Mapping[str, bytes]
    target: HdfsCluster
    java_home: Path

    @classmethod
    def make(cls, source: HdfsCluster, target: HdfsCluster, java_home: Path, victims: Collection[Victim]) -> Scene:
        """Files enough that executors copy them, where one of these dies; few where a DataNode does.

        For ten minutes a NameNode keeps 128 MB of the disk for each block that a dead DataNode was to get.
        """
        files = _many() if Victim.WORKER in victims else _few(5 if Victim.DATANODE in victims else 40)
        made = cls(source=_place(source), files=files, target=target, java_home=java_home)
        made.source.fill(made.files)
        return made

    def one_round(
        self, seed: int, directory: Path, victims: tuple[Victim, ...], seen: Seen, *, is_midway: bool
    ) -> None:
        """Run, take a process away somewhere, run again, and compare at each point with what readers may see.

        Args:
            seed: of all that is random.
            directory: for the config repo.
            victims: one of these dies.
            seen: is told.
            is_midway: it dies when the first file of the copy is there, else at any moment.
        """
        chance = random.Random(seed)  # noqa: S311 - a repeatable test, no secret
        victim = chance.choice(victims)
        target = _place(self.target)
        copying = Replication(directory=directory, sources={"primary": self.source}, target=target)
        before: dict[str, bytes] = {}
        if chance.random() < 1 / 2 and victim is not Victim.WORKER:
            before = {name: b"old" for name in self.files if name.endswith("part-0")}
            target.fill(before)
        readers = _Readers(target=target, before=before, after=self.files)
        with started(copying, environment(self.java_home, lease_seconds=_LEASE_SECONDS)) as run:
            self._wait(chance, run, target, victim, is_midway=is_midway)
            was_midway = run.poll() is None and self._is_midway(run, target, victim)
            revive = self._take(chance, victim, run)
            seen.codes[run.wait(DEADLINE_SECONDS)] += 1
        revive()
        seen.victims[victim] += 1
        seen.midway += was_midway
        readers.check(f"after the death of the {victim}")
        _finish(copying, until_writable=victim is Victim.DATANODE)
        assert _files(target) == self.files
        assert not readers.are_own_names_there(), "something of a run is left at the target"

    def _wait(
        self, chance: random.Random, run: subprocess.Popen[bytes], target: End, victim: Victim, *, is_midway: bool
    ) -> None:
        """For a moment after the first file of the copy, or after the first task; or for any moment of the run."""
        if not is_midway and chance.random() < 1 / 4:
            time.sleep(chance.uniform(0.5, 6.0))
            return
        deadline = time.monotonic() + DEADLINE_SECONDS
        while (
            not (_own_names(target) and (victim is not Victim.WORKER or python_workers(run.pid)))
            and run.poll() is None
            and time.monotonic() < deadline
        ):
            time.sleep(0.005)
        time.sleep(0 if is_midway else chance.uniform(0, 1.5))

    def _is_midway(self, run: subprocess.Popen[bytes], target: End, victim: Victim) -> bool:
        return bool(_own_names(target)) and (victim is not Victim.WORKER or bool(python_workers(run.pid)))

    def _take(self, chance: random.Random, victim: Victim, run: subprocess.Popen[bytes]) -> Callable[[], None]:
        """Kill; what is given makes up for it."""
        if victim is Victim.DATANODE:
            self.target.stop_datanode()
            time.sleep(chance.uniform(0, 3))
            self.target.start_datanode()
            return self.target.wait_ready
        if victim is Victim.WORKER:
            workers = python_workers(run.pid)
            if workers:
                kill(chance.choice(workers))
            return lambda: None
        driver = kill_of_driver(run.pid, SCRIPT, is_jvm=victim is not Victim.DRIVER, is_python=victim is not Victim.JVM)
        return lambda: wait_for_death(driver)


def started(copying: Replication, variables: Mapping[str, str]) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """A run over all instances, by spark-submit; it ends with the block at the latest."""
    submit = [str(BIN / "spark-submit"), "--master", "local[2,4]", str(ROOT / "entrypoints" / SCRIPT)]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [*submit, *copying.arguments(*ALL)]
    return ending(subprocess.Popen(command, env=variables, **streams))  # type: ignore[call-overload]


def run_when_free(copying: Replication, until: Callable[[int], bool] = lambda _: True) -> tuple[int, dict[str, Any]]:
    """Run in this process, when the lease of a dead run is over, and again until its exit code is one to end with."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    code, result = copying.run(*ALL)
    while (code == SKIPPED or not until(code)) and time.monotonic() < deadline:
        time.sleep(0.5)
        code, result = copying.run(*ALL)
    return code, result


@dataclass(frozen=True, kw_only=True)
class _Readers:
    """Who takes what has the name of an instance for the instance.

    Attributes:
        target: where they look.
        before: what was there before the first run.
        after: what is to be there.
    """

    target: End
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]

    def check(self, moment: str) -> None:
        """Each instance is as it was, or as it is to be, or aside between two renames, as HDFS has no exchange."""
        everything = _files(self.target)
        found = {name: data for name, data in everything.items() if "/.feedctl" not in name}
        for number in range(DUE):
            own, old, new = (_of_hour(number, files) for files in (found, self.before, self.after))
            is_aside = any("/.feedctl-old-" in name and f"-{number:02}/" in name for name in everything)
            assert own in ((old, new, {}) if is_aside else (old, new)), f"hour {number} is half there {moment}"

    def are_own_names_there(self) -> bool:
        """Return whether a staging name of a run is in the directory of the feed."""
        return bool(_own_names(self.target))


def _files(target: End) -> dict[str, bytes]:
    """Return all files of the feed with their bytes; empty ones are not opened, since there are many."""
    client = hdfs_native.Client(f"hdfs://{target.root.authority}")

    def content(found: hdfs_native.FileStatus) -> tuple[str, bytes]:
        name = found.path[len(target.root.path) + 1 :]
        if not found.length:
            return name, b""
        with client.read(found.path) as stream:
            return name, stream.read()

    try:
        listed = [each for each in client.list_status(f"{target.root.path}/clicks", recursive=True) if not each.isdir]
    except FileNotFoundError:
        return {}
    with ThreadPoolExecutor(16) as threads:
        return dict(threads.map(content, listed))


def _own_names(target: End) -> list[str]:
    client = hdfs_native.Client(f"hdfs://{target.root.authority}")
    try:
        names = [each.path.rpartition("/")[2] for each in client.list_status(f"{target.root.path}/clicks")]
    except FileNotFoundError:
        return []
    return [name for name in names if name.startswith(".feedctl")]


def _finish(copying: Replication, *, until_writable: bool) -> None:
    """Run again, when the lease of the dead run is over.

    A DataNode that has come back and says that it is ready may refuse blocks for some seconds more.
    """
    code, result = run_when_free(copying, (lambda code: code == 0) if until_writable else lambda _: True)
    assert code == 0, result


def _place(cluster: HdfsCluster) -> End:
    path = f"/copies/{uuid4().hex}"
    hdfs_native.Client(cluster.uri).mkdirs(path, create_parent=True)
    return End(uri=f"{cluster.uri}{path}")


def _of_hour(number: int, files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if f"-{number:02}/" in name}


def _few(files: int = 40) -> dict[str, bytes]:
    names = [f"part-{number}" for number in range(files)]
    return {name: content for number in range(DUE) for name, content in hour(number, names).items()}


def _many() -> dict[str, bytes]:
    empty = {f"clicks/2026-03-01-00/deep/empty-{number}": b"" for number in range(_MANY)}
    return _few(3) | empty
