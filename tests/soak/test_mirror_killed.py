"""Runs of a snapshot mirror whose JVM, Python or DataNode is killed at any point: the next run ends in equal trees."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.e2e.commands import BIN
from tests.integration.mirror_runs import KEYS, MirrorRuns
from tests.soak.chance import seeded
from tests.soak.killed_processes import kill_of_driver, wait_for_death
from tests.testbed.hdfs import HdfsCluster
from toolkit.storage import StorageError
from toolkit.transfer.trees import below

_SCRIPT = "entrypoints/mirror.py"
_FILES, _DEADLINE_SECONDS = 30, 240.0
_AT_WORK, _MANY = 0.8, 10
_VICTIMS = ("jvm", "python", "both", "datanode")
_Tree = dict[str, str | None]


@dataclass
class _Reader:
    """Reads the newest snapshot of the target all the time.

    Attributes:
        seen: trees by the names of their snapshots, as each was first read.
    """

    sales: MirrorRuns
    seen: dict[str, _Tree] = field(default_factory=dict)
    stop: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def reading(self) -> Iterator[None]:
        thread = threading.Thread(target=self._read, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.stop.set()
            thread.join(60)

    def _read(self) -> None:
        while not self.stop.wait(0.05):
            try:
                whole = [name for name in self.sales.names(self.sales.target) if name.endswith("Z")]
                for name in whole[-1:]:
                    if name not in self.seen:
                        self.seen[name] = self.sales.tree(self.sales.target, name)
            except StorageError:
                continue  # the DataNode is down, or retention removed it


def _change(sales: MirrorRuns, hour: int) -> None:
    sales.fill({f"{hour}/{number % 5}/{number}": f"{hour} {number}" for number in range(_FILES)} | {"same": f"{hour}"})
    if hour > 1:
        sales.system.rename(below(sales.source, f"{hour - 1}"), below(sales.source, f"was{hour - 1}"))
    if hour > 2:
        moved, into = f"was{hour - 2}/0", f"was{hour - 1}/from{hour - 2}"
        sales.system.rename(below(sales.source, moved), below(sales.source, into))
        sales.system.delete(below(sales.source, f"was{hour - 2}"), below=sales.source)


def _is_midway(sales: MirrorRuns) -> bool:
    return any(entry.name.startswith(".feedctl") for entry in sales.system.list(sales.target))


def _kill(sales: MirrorRuns, hour: int, victim: str, chance: random.Random) -> None:
    """Start a run, and kill something at any time, most often while it works on the target."""
    run = sales.started(hour, program=str(BIN / "spark-submit"))
    try:
        deadline = time.monotonic() + (60 if chance.random() < _AT_WORK else chance.uniform(1, 12))
        while time.monotonic() < deadline and run.poll() is None and not _is_midway(sales):
            time.sleep(0.02)
        time.sleep(chance.uniform(0, 3))
        if victim == "datanode":
            sales.hdfs.stop_datanode()
            time.sleep(1)
            sales.hdfs.start_datanode()
            sales.hdfs.wait_ready()
            run.wait(_DEADLINE_SECONDS)
        else:
            wait_for_death(
                kill_of_driver(run.pid, _SCRIPT, is_jvm=victim != "python", is_python=victim != "jvm"),
            )
    finally:
        run.kill()
        run.wait(60)


def _rounds(sales: MirrorRuns, rounds: int) -> None:
    chance, midway, reader = seeded(), Counter[str](), _Reader(sales)
    sales.write()
    sales.fill({"same": "0"})
    assert sales.started(0, program=str(BIN / "spark-submit")).wait(_DEADLINE_SECONDS) == 0
    wanted = dict[str, _Tree]()
    with reader.reading():
        for hour in range(1, rounds + 1):
            _round(sales, hour, chance, midway)
            name = f"feedctl.mirroring.sales.{KEYS[hour].replace(':', '')}"
            wanted[name] = sales.tree(sales.source, name)
            assert sales.tree(sales.target) == sales.tree(sales.target, name) == wanted[name]
            assert [each for each in sales.names(sales.target) if each.endswith(".arranged")] == []
            assert sales.tree(sales.source) == wanted[name]
    assert {name: tree for name, tree in reader.seen.items() if name in wanted} == {
        name: wanted[name] for name in reader.seen if name in wanted
    }
    assert rounds < _MANY or midway.total()
    counts = ", ".join(f"{victim} {count}" for victim, count in sorted(midway.items()))
    print(f"{rounds} runs killed, midway: {counts or 'none'}; {len(reader.seen)} snapshots read meanwhile")  # noqa: T201


def _round(sales: MirrorRuns, hour: int, chance: random.Random, midway: Counter[str]) -> None:
    _change(sales, hour)
    victim = chance.choice(_VICTIMS)
    _kill(sales, hour, victim, chance)
    midway[victim] += _is_midway(sales)
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while sales.run(hour)[0] != 0:
        assert time.monotonic() < deadline
        time.sleep(1)  # the lease of the killed run has to end


@pytest.fixture
def sales(restartable_hdfs: HdfsCluster, tmp_path: Path) -> MirrorRuns:
    """A mirror on an HDFS that may lose its DataNode."""
    return MirrorRuns(hdfs=restartable_hdfs, directory=tmp_path)


@pytest.mark.extended
@pytest.mark.timeout(600)
def test_a_killed_run_is_ended_by_the_next(sales: MirrorRuns) -> None:
    _rounds(sales, 2)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_runs_that_are_killed_again_and_again_end_in_equal_trees(sales: MirrorRuns) -> None:
    _rounds(sales, 50)
