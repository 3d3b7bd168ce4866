"""Evictions on HDFS, killed at random points and run again; a checker compares whole trees (DESIGN section 1)."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.commands import BIN, ROOT
from tests.e2e.retention_process import SKIPPED, environment
from tests.short_leases import short_leases
from tests.soak.hdfs_feed import LAYOUTS, NOMINAL, HdfsFeed
from tests.soak.killed_processes import driver_of, kill, wait_for_death
from tests.testbed.running import ending

_ENTRYPOINT = ROOT / "entrypoints" / "retention.py"
_LEASE_SECONDS = 2.0
_DEADLINE_SECONDS = 90.0
_USUAL_SECONDS = 5.0
"""About what a run takes; points of death are drawn from it."""
_HOURS, _RATE = 700, 400
_FLAT = next(template for template in LAYOUTS if "/" not in template)


@dataclass(kw_only=True, slots=True)
class Crashes:
    """What a loop of crashes saw.

    Attributes:
        rounds: evictions that were begun and killed.
        midway: of these, killed when some but not all of what is old was gone.
        untouched: killed before anything was gone.
        finished: killed when all was gone already.
        victims: how often which process was killed.
    """

    rounds: int = 0
    midway: int = 0
    untouched: int = 0
    finished: int = 0
    victims: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        reported = ", ".join(f"{count} {victim}" for victim, count in sorted(self.victims.items()))
        return (
            f"{self.rounds} evictions killed ({reported}): {self.midway} in the middle of deleting, "
            f"{self.untouched} before, {self.finished} after; nothing that stays was ever gone"
        )


def one_round(
    seed: int, directory: Path, place: str, java_home: Path, seen: Crashes, *, is_in_the_middle: bool = False
) -> None:
    """Fill, kill an eviction somewhere, run again, and compare with what must be there at each point.

    Args:
        seed: of all that is random.
        directory: for the config repo, on this machine.
        place: the URI of a directory on HDFS.
        java_home: for spark-submit.
        seen: is told what was seen.
        is_in_the_middle: kill at the first deletion, of many that go one by one.
    """
    chance = random.Random(seed)  # noqa: S311 - a repeatable test, no secret
    layout = _FLAT if is_in_the_middle else chance.choice(list(LAYOUTS))
    feed = HdfsFeed.make(directory, place, layout, _RATE)
    old = feed.fill(chance, _HOURS)
    before = feed.tree()
    expected = feed.expected(before, old)
    victim = chance.choice(["jvm", "driver", "both"])
    _kill_one(feed, java_home, victim, _point_of_death(chance, feed, old, is_in_the_middle=is_in_the_middle))
    after_the_kill = feed.tree()
    assert expected.items() <= after_the_kill.items(), f"gone: {sorted(expected.keys() - after_the_kill.keys())}"
    assert after_the_kill.items() <= before.items()
    _count(seen, victim, left=len(old & after_the_kill.keys()), all_old=len(old))
    done = _run_again(feed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert feed.tree() == expected
    assert feed.reported() == feed.keys(old)


def _point_of_death(
    chance: random.Random, feed: HdfsFeed, old: set[str], *, is_in_the_middle: bool
) -> Callable[[], None]:
    """A wait: for any moment of the run, or for a moment shortly after the first deletions."""
    if not is_in_the_middle and chance.random() < 1 / 4:
        seconds = chance.uniform(0, _USUAL_SECONDS)
        return lambda: time.sleep(seconds)
    some, seconds = chance.sample(sorted(old), 8), 0 if is_in_the_middle else chance.uniform(0, 0.4)

    def after_the_first() -> None:
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while all(_exists(feed, path) for path in some) and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(seconds)

    return after_the_first


def _exists(feed: HdfsFeed, path: str) -> bool:
    try:
        feed.client.get_file_info(path)
    except FileNotFoundError:
        return False
    return True


def _command(feed: HdfsFeed, *program: str) -> list[str]:
    time_option = NOMINAL.strftime("%Y-%m-%dT%H:%MZ")
    options = ["--config-repo", str(feed.repo), "--feed", "clicks", "--time", time_option]
    return [*program, str(_ENTRYPOINT), *options]


def _kill_one(feed: HdfsFeed, java_home: Path, victim: str, point: Callable[[], None]) -> None:
    """When it returns no process of the run is alive, so that nothing of it can have a later effect."""
    command = _command(feed, str(BIN / "spark-submit"))
    env = environment(java_home, lease_seconds=_LEASE_SECONDS)
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with ending(subprocess.Popen(command, env=env, **streams)) as jvm:  # type: ignore[call-overload]
        point()
        driver = driver_of(jvm.pid, "retention.py")
        victims = {"jvm": [jvm.pid], "driver": [driver or jvm.pid], "both": [jvm.pid, driver or jvm.pid]}[victim]
        for pid in victims:
            kill(pid)
        wait_for_death(jvm.pid, driver)


def _run_again(feed: HdfsFeed) -> subprocess.CompletedProcess[str]:
    """Until the dead run's lease is over."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while True:
        env = {**os.environ, **short_leases(_LEASE_SECONDS)}
        command = _command(feed, sys.executable)
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=_DEADLINE_SECONDS)
        if done.returncode != SKIPPED or time.monotonic() > deadline:
            return done
        time.sleep(0.2)


def _count(seen: Crashes, victim: str, *, left: int, all_old: int) -> None:
    seen.rounds += 1
    seen.victims[victim] = seen.victims.get(victim, 0) + 1
    if left == all_old:
        seen.untouched += 1
    elif left:
        seen.midway += 1
    else:
        seen.finished += 1
