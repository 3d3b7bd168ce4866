"""A table that is judged where it is replicated to, and replications of it that are killed at random points."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.integration.table_copies import DAYS, TableCopies, filled, outcomes, two_sites
from tests.integration.test_hive_killed import RANGE, Reader, replicated_in_time
from tests.integration.validated_runs import SUITE, put_validator
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.catalog.errors import NoSuchTable

_LEASE_SECONDS, _DEADLINE_SECONDS = 30.0, 240.0
"""A run must not lose its lease before it is killed; that of a dead one on this machine is over at once."""


def validated_sites(
    metastore: HiveMetastoreServer,
    other: HiveMetastoreServer,
    directory: Path,
    regions: tuple[str, ...] = ("us", "d/e"),
) -> TableCopies:
    """A table of plain text for the program in `bin` to judge, which finds the word ``bad``."""
    found = replace(two_sites(metastore, other, directory), more="quality: {suites: [clicks]}")
    suite = found.repo / "expectations/clicks.yaml"
    suite.parent.mkdir()
    suite.write_text(SUITE)
    table = filled(found.source, regions=regions)
    plain = replace(table.storage, columns=table.storage.columns[:1])  # a field of text has no fields in it
    found.source.metastore.alter_table(replace(table, storage=plain))
    for deep in (directory / "from/clicks").rglob("deep"):
        shutil.rmtree(deep)  # neither Spark nor Hive looks there
    put_validator(directory / "bin", trace=directory / "trace", hang=directory / "hang")
    return found


@dataclass(kw_only=True)
class KilledWhileStaged:
    """Rounds over one table, whose second day is bad in some of them.

    The run of the first round dies while its data is validated, all others at a random moment.

    Attributes:
        copies: of `validated_sites`, with many partitions; the program that judges is on PATH.
        chance: of the moments.
    """

    copies: TableCopies
    chance: random.Random
    midway: int = 0

    def round(self, number: int) -> None:
        """Data of both days change, a run is killed, and the next one does what is to be done."""
        is_bad = number % 3 == 1
        target, before = self.copies.target, self._seen()
        self._change(number, is_bad=is_bad)
        now = self.copies.source.rows()
        allowed = {name: files for name, files in now.items() if not is_bad or DAYS[0] in name}
        with Reader(target, [before, allowed]) as reader:
            self._kill(is_certain=number == 0)
            is_there = self._validator() or self._seen() not in ({}, before)
            self.midway += bool(is_there)
            code, _ = replicated_in_time(self.copies)
        assert reader.wrong == [], number
        assert code == (4 if is_bad else 0), number  # the first day is there
        assert self._seen() == {**before, **allowed}, number
        code, result = replicated_in_time(self.copies)
        assert code == (4 if is_bad else 0), (number, outcomes(result))
        codes = {each[3] for each in outcomes(result)} - {"not_replaced"}  # what a later round would have replaced
        assert codes == ({"quality_failed"} if is_bad else set()), number
        assert bool(self._validator()) is is_bad, number

    def _kill(self, *, is_certain: bool) -> None:
        hang = self.copies.directory / "hang"
        if is_certain:
            hang.touch()
        with self.copies.started("hive_replication", *RANGE, lease_seconds=_LEASE_SECONDS) as run:
            known, trace = set(self._files()), self.copies.directory / "trace"
            self._wait(run, trace.exists if is_certain else lambda: not set(self._files()) <= known)
            time.sleep(0 if is_certain else self.chance.uniform(0, 2.0))
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
        hang.unlink(missing_ok=True)

    @staticmethod
    def _wait(run: subprocess.Popen[str], happened: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while time.monotonic() < deadline and not happened() and run.poll() is None:
            time.sleep(0.01)

    def _change(self, number: int, *, is_bad: bool) -> None:
        """Every partition gets other data; those of the second day have a bad one among them."""
        rows = {
            f"clicks/{name}/part-0": f"round {number} of {name}\n".encode() * (number + 1)
            for name in self.copies.source.rows()
        }
        worst = self.chance.choice([name for name in rows if DAYS[1] in name])
        self.copies.source.end.fill(rows | ({worst: b"bad\n" * (number + 1)} if is_bad else {}))

    def _seen(self) -> dict[str, dict[str, bytes]]:
        try:
            return self.copies.target.rows()
        except NoSuchTable:
            return {}

    def _files(self) -> list[str]:
        return list(self.copies.target.end.files("", hidden=True))

    def _validator(self) -> list[str]:
        return [name for name in self._files() if ".feedctl-staging" in name]
