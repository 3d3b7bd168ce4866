"""Replications of a table that are killed at a random point, while a reader looks at all partitions in a loop."""

from __future__ import annotations

import os
import random
import secrets
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pytest

from tests.integration.table_copies import Side, TableCopies, add, filled, two_sites
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.catalog.errors import NoSuchTable
from toolkit.hive.registration_mark import LATEST_CALL

REGIONS = tuple(f"r{number:02}" for number in range(40))
DAYS = ("2026-03-01", "2026-03-02")
RANGE = ("--start", "2026-03-01T00:00Z", "--end", "2026-03-03T00:00Z")
_LEASE_SECONDS, _DEADLINE_SECONDS = 30.0, 240.0
"""A run must not lose its lease before it is killed; that of a dead one on this machine is over at once."""
_NOT_YET = {5, 143}
"""Exit codes of a run that found the lease of the dead one, or that lost its own, short as it is, on a busy machine."""


@dataclass
class Reader:
    """Looks at the target until it is told to stop; `wrong` is what nobody may ever see."""

    side: Side
    allowed: list[dict[str, dict[str, bytes]]]
    wrong: list[str] = field(default_factory=list)
    looks: int = 0
    _over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._read)
        self._thread.start()
        return self

    def wait_for_look(self) -> None:
        """Wait for the first look: a busy machine may have had no time for one."""
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while not self.looks and self._thread.is_alive():
            assert time.monotonic() < deadline, "the reader never looked"
            time.sleep(0.01)

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _read(self) -> None:
        while not self._over.is_set():
            try:
                found = self.side.rows()
            except (NoSuchTable, FileNotFoundError):  # not made yet; or it was replaced between two calls
                continue
            self.looks += 1
            for name, files in found.items():
                # Whoever asks the metastore and then lists may find a directory that has just been replaced gone.
                if files and all(files != rows.get(name) for rows in self.allowed):
                    self.wrong.append(f"{name}: {sorted(files)}")


def scene(metastore: HiveMetastoreServer, other: HiveMetastoreServer, directory: Path) -> TableCopies:
    """A table with very many small partitions."""
    copies = two_sites(metastore, other, directory)
    filled(copies.source, days=DAYS, regions=REGIONS)
    return copies


def killed_round(copies: TableCopies, chance: random.Random) -> bool:
    """A run that is killed, and one that goes on; whether something of the first was there.

    Every second time the data of the source have changed, so that partitions are replaced.
    """
    before = copies.source.rows()
    already = (
        copies.target.rows()
        if copies.target.name().table in copies.target.metastore.tables(copies.target.database)
        else {}
    )
    files = copies.target.end.files("", hidden=True)
    with Reader(copies.target, [before, already]) as reader:
        with copies.started("hive_replication", *RANGE, lease_seconds=_LEASE_SECONDS) as run:
            _wait_for_effects(copies, run.pid)
            time.sleep(chance.uniform(0, 0.6))
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
        is_midway = copies.target.end.files("", hidden=True) != files
        code, result = replicated_in_time(copies)
        assert code == 0, result
        reader.wait_for_look()
    assert reader.wrong == []
    assert reader.looks
    assert copies.target.rows() == before
    wait_for_late_calls(copies)
    assert replicated_in_time(copies)[1]["items"] == []
    assert copies.target.rows() == before
    # What was replaced where Hive would have it stays; of what feedctl put aside nothing does.
    assert [each for each in copies.target.orphans() if each.startswith(".feedctl-")] == []
    return is_midway


def replicated_in_time(copies: TableCopies) -> tuple[int, dict[str, Any]]:
    """Return exit code and result of the first run that finds no lease of a dead one, and keeps its own."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    code, result = copies.replicated(*RANGE)
    while code in _NOT_YET and time.monotonic() < deadline:
        time.sleep(0.5)
        code, result = copies.replicated(*RANGE)
    return code, result


def wait_for_late_calls(copies: TableCopies) -> None:
    """Let time go by until the metastore executes no call of a dead run any more."""
    for each in Path(copies.target.end.uri.removeprefix("file://")).rglob(".feedctl-registering-*"):
        then = each.stat().st_mtime - LATEST_CALL.total_seconds()
        os.utime(each, (then, then))


def _wait_for_effects(copies: TableCopies, pid: int) -> None:
    root = Path(copies.target.end.uri.removeprefix("file://"))
    was = _copied(root)
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while time.monotonic() < deadline and Path(f"/proc/{pid}").exists():
        if _copied(root) - was:
            return
        time.sleep(0.01)


def _copied(root: Path) -> set[str]:
    """Return the files of copies at work; with `os.walk`, since `rglob` fails when one of them is renamed meanwhile."""
    return {f"{at}/{name}" for at, _, names in os.walk(root) for name in names if "/.feedctl-copy-" in at}


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_killed_replication_is_finished_by_the_next_and_no_reader_sees_half_a_partition(
    metastore: HiveMetastoreServer,
    other_metastore: HiveMetastoreServer,
    tmp_path: Path,
) -> None:
    assert killed_rounds(scene(metastore, other_metastore, tmp_path), 1)


def killed_rounds(copies: TableCopies, rounds: int) -> int:
    """How many of so many rounds were killed when something of them was there."""
    first = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={first}")  # noqa: T201 - how to repeat it
    chance, midway = random.Random(first), 0  # noqa: S311 - no secret
    for number in range(rounds):
        midway += killed_round(copies, chance)
        change(copies, number)
    return midway


def change(copies: TableCopies, number: int) -> None:
    """Other data in a third of the partitions, and a day more of them in the other rounds."""
    side = copies.source
    files = {
        f"clicks/ds={day}/region={region}/part-0": f"{number} {day} {region}\n".encode() * (number + 2)
        for day in DAYS
        for region in REGIONS[number % 3 :: 3]
    }
    side.end.fill(files)
    if number % 2:
        add(side, side.metastore.table(side.name()), days=DAYS[:1], regions=(f"new{number}",))
