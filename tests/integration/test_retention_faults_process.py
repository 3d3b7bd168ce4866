"""Evictions on HDFS beside another run, and with a ledger whose disk is full."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.commands import ROOT
from tests.short_leases import short_leases
from tests.soak.hdfs_feed import NOMINAL, HdfsFeed
from tests.testbed.running import ending
from toolkit.result import ExitCode

pytestmark = [pytest.mark.slow, pytest.mark.extended]

_SECONDS, _LEASE_SECONDS = 120, 15
_BATCHES_HOURS = 1500
"""More old instances than are written down at once."""
_DISK_BYTES = 4 << 20


def _command(feed: HdfsFeed) -> list[str]:
    options = ["--config-repo", str(feed.repo), "--feed", "clicks", "--time", NOMINAL.strftime("%Y-%m-%dT%H:%MZ")]
    return [sys.executable, str(ROOT / "entrypoints" / "retention.py"), *options]


def _environment() -> dict[str, str]:
    return {**os.environ, **short_leases(_LEASE_SECONDS)}


def _run(feed: HdfsFeed) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(feed), env=_environment(), capture_output=True, text=True, check=False, timeout=_SECONDS
    )


@contextmanager
def _running(feed: HdfsFeed, old: set[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A run that is in the middle of its deletions."""
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
    with ending(subprocess.Popen(_command(feed), env=_environment(), **streams)) as process:  # type: ignore[call-overload]
        _wait_until(lambda: process.poll() is not None or not _has(feed, min(old)))
        yield process


def _has(feed: HdfsFeed, path: str) -> bool:
    try:
        feed.client.get_file_info(path)
    except FileNotFoundError:
        return False
    return True


def _wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _feed(directory: Path, place: str, *, rate: int, hours: int) -> tuple[HdfsFeed, set[str]]:
    feed = HdfsFeed.make(directory, place, "${YEAR}-${MONTH}-${DAY}-${HOUR}", rate)
    return feed, feed.fill(random.Random(1), hours)  # noqa: S311 - no secret


def test_of_two_runs_at_once_one_works_and_the_other_says_so(tmp_path: Path, hdfs_dir: str) -> None:
    feed, old = _feed(tmp_path, f"{hdfs_dir}/two", rate=40, hours=600)
    before = feed.tree()
    with _running(feed, old) as first:
        second = _run(feed)
        assert first.poll() is None, "the first run was over too soon"
        assert second.returncode == ExitCode.SKIPPED, second.stdout + second.stderr
        assert first.wait(_SECONDS) == ExitCode.DONE
    assert feed.tree() == feed.expected(before, old)
    assert feed.reported() == feed.keys(old)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes, in memory."""
    disk = tmp_path / "disk"
    disk.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={_DISK_BYTES}", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(["mount", *options], check=False, capture_output=True).returncode:
        pytest.skip("a small disk needs root and a machine that lets it mount one")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _fill_up(disk: Path) -> Path:
    """Leave no room for anything."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    return filler


def test_a_full_disk_under_ledger_and_audit_file_stops_the_run_and_the_rerun_settles_it(
    small_disk: Path, hdfs_dir: str
) -> None:
    feed, old = _feed(small_disk, f"{hdfs_dir}/full", rate=300, hours=_BATCHES_HOURS)
    before = feed.tree()
    expected = feed.expected(before, old)
    with _running(feed, old) as run:
        filler = _fill_up(small_disk)
        code = run.wait(_SECONDS)
    left = feed.tree()
    assert code == ExitCode.FAILED, code
    assert len(old & left.keys()) > 0, "the run went on without its record"
    assert expected.items() <= left.items()
    filler.unlink()
    _wait_until(lambda: _run(feed).returncode != ExitCode.SKIPPED)
    assert feed.tree() == expected
    assert feed.reported() == feed.keys(old)
