"""A slow second opinion on retention: no patterns, no pruning, no arithmetic on sequences."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

FIRST, LAST = datetime(2026, 2, 20, tzinfo=UTC), datetime(2026, 4, 5, tzinfo=UTC)
STEP = timedelta(minutes=15)
"""Every name of the templates below has an instant on this grid."""

TEMPLATES = {
    "/data/${YEAR}/${MONTH}/${DAY}/${HOUR}": "/data/%Y/%m/%d/%H",
    "/data/${YEAR}/${MONTH}/${DAY}": "/data/%Y/%m/%d",
    "/data/in-${YEAR}-${MONTH}-${DAY}-${HOUR}": "/data/in-%Y-%m-%d-%H",
    "/data/${DAY}.${MONTH}.${YEAR}/x/${HOUR}": "/data/%d.%m.%Y/x/%H",
    "/data/${YEAR}${MONTH}${DAY}/raw": "/data/%Y%m%d/raw",
    "/deep/base/${YEAR}-${MONTH}": "/deep/base/%Y-%m",
}
ZONES = ("UTC", "America/Los_Angeles", "Europe/Berlin", "Asia/Kolkata")
FREQUENCIES = {"minutes(30)": timedelta(minutes=30), "hours(1)": timedelta(hours=1), "hours(6)": timedelta(hours=6)}
JUNK = ("README", "2026-13-01", "_tmp", "2026 03", "feedctl", ".feedctl-other", "99", "ünï")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One random feed with its data and its rules."""

    template: str
    zone: str
    frequency: str
    limit_hours: int
    keep_last: int
    cut_off_hours: int
    hold: tuple[datetime, datetime] | None
    nominal: datetime

    @classmethod
    def draw(cls, chance: random.Random) -> Case:
        """Any case; times are whole quarters of an hour."""
        minutes = chance.randrange(int((LAST - FIRST) / STEP))
        hold_start = FIRST + STEP * chance.randrange(4000)
        return cls(
            template=chance.choice(list(TEMPLATES)),
            zone=chance.choice(ZONES),
            frequency=chance.choice(list(FREQUENCIES)),
            limit_hours=chance.randrange(1, 400),
            keep_last=chance.choice([0, 0, 1, 5, 50]),
            cut_off_hours=chance.choice([0, 0, 3, 500]),
            hold=(hold_start, hold_start + STEP * chance.randrange(1, 300)) if chance.random() < 1 / 3 else None,
            nominal=FIRST + STEP * minutes,
        )

    @property
    def base(self) -> str:
        """The directory before the first variable."""
        return self.template[: self.template.index("$")].rpartition("/")[0]

    def name_at(self, instant: datetime) -> str:
        """The path of an instant."""
        return instant.astimezone(ZoneInfo(self.zone)).strftime(TEMPLATES[self.template])

    def instants_by_name(self) -> dict[str, list[datetime]]:
        """All instants of the window by the path that they have, oldest first."""
        found: dict[str, list[datetime]] = {}
        instant = FIRST - timedelta(days=40)
        while instant < LAST + timedelta(days=40):
            found.setdefault(self.name_at(instant), []).append(instant)
            instant += STEP
        return found

    def fill(self, root: Path, chance: random.Random) -> set[str]:
        """Random instances, and names that are none; the paths of the instances."""
        instances: set[str] = set()
        for _ in range(chance.randrange(1, 120)):
            name = self.name_at(FIRST + STEP * chance.randrange(int((LAST - FIRST) / STEP)))
            instances.add(name)
            _make(root, name, chance)
        for _ in range(chance.randrange(4)):
            parent = root / chance.choice(sorted(instances))[1:]
            _make_junk(parent.parents[chance.randrange(2)], root / self.base[1:], chance)
        return instances

    def evicted(self, instances: set[str]) -> set[str]:
        """The paths that have to go, by the words of DESIGN section 7."""
        by_name, step = self.instants_by_name(), FREQUENCIES[self.frequency]
        grid = set(_steps(FIRST - timedelta(days=60), step))
        time = {
            name: max((each for each in by_name[name] if each in grid), default=by_name[name][0]) for name in instances
        }
        newest = sorted({each for each in time.values() if each <= self.nominal}, reverse=True)[: self.keep_last]
        horizon, cut_off = self.nominal - timedelta(hours=self.limit_hours), timedelta(hours=self.cut_off_hours)
        return {
            name
            for name, at in time.items()
            if at < horizon
            and not (len(newest) < self.keep_last or (newest and at >= newest[-1]))
            and not (self.cut_off_hours and at + cut_off > self.nominal)
            and not (self.hold and any(self.hold[0] - STEP < each < self.hold[1] for each in by_name[name]))
        }

    def expected(self, before: set[str], evicted: set[str]) -> set[str]:
        """The tree after the run: without what goes, what is in it, and the parents that this empties."""
        left = {each for each in before if not any(each == gone or each.startswith(gone + "/") for gone in evicted)}
        for gone in evicted:
            parent = gone.rpartition("/")[0]
            while parent.startswith(self.base + "/") and not any(each.startswith(parent + "/") for each in left):
                left.discard(parent)
                parent = parent.rpartition("/")[0]
        return left


def _steps(start: datetime, step: timedelta) -> Iterator[datetime]:
    while start < LAST + timedelta(days=60):
        yield start
        start += step


def tree(root: Path) -> set[str]:
    """Everything below a directory, as absolute paths from it."""
    found = (os.path.join(at, name) for at, dirs, files in os.walk(root) for name in [*dirs, *files])  # noqa: PTH118
    return {"/" + os.path.relpath(each, root) for each in found}


def _make(root: Path, name: str, chance: random.Random) -> None:
    place = root / name[1:]
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        return
    if chance.random() < 1 / 4:
        place.touch()
        return
    place.mkdir()
    for number in range(chance.randrange(4)):
        (place / f"part-{number}").touch()


def _make_junk(directory: Path, base: Path, chance: random.Random) -> None:
    if directory != base and base not in directory.parents:
        directory = base
    place = directory / chance.choice(JUNK)
    if place.exists() or not directory.is_dir():
        return
    if chance.random() < 1 / 2:
        place.mkdir()
    else:
        place.symlink_to(base)
