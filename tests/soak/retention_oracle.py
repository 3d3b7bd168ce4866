"""A slow second opinion on retention, from the words of DESIGN sections 3, 7 and 8: no patterns, no pruning."""

from __future__ import annotations

import calendar
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from tests.soak.layouts import LAYOUTS, NESTED, STATS, STEP, Layout
from tests.soak.places import Kind, Tree

FIRST, LAST = datetime(2026, 2, 10, tzinfo=UTC), datetime(2026, 4, 28, tzinfo=UTC)
_GRID_END = LAST + timedelta(days=60)
HOLD_FILE = ".feedctl-hold"

ZONES = ("UTC", "America/Los_Angeles", "Europe/Berlin", "Asia/Kolkata", "Africa/Casablanca", "Australia/Lord_Howe")
"""Some with an hour that is skipped or doubled in the window; in Casablanca both."""
_FREQUENCIES = ("minutes(15)", "minutes(30)", "hours(1)", "hours(6)", "days(1)", "days(2)", "months(1)")
_LIMITS = {"minutes": 30_000, "hours": 700, "days": 40, "months": 2}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One random feed, its rules, and the time of the run.

    Args:
        layouts: of the location `data`, and of `stats` when there are two.
        zone: of the paths.
        calendar_zone: of the feed's calendar steps.
        keeps_beyond: whether the last instances of a feed that ended stay.
        hold: instants from one to before the other.
        has_hold_file: whether a hold file is put into the base of the last location.
        flag: the availability flag, which decides nothing here.
    """

    layouts: tuple[Layout, ...]
    zone: str
    calendar_zone: str
    frequency: str
    start: datetime
    end: datetime
    keeps_beyond: bool
    limit: str
    keep_last: int
    cut_off: str
    hold: tuple[datetime, datetime] | None
    has_hold_file: bool
    nominal: datetime
    flag: str = ""

    @classmethod
    def draw(cls, chance: random.Random) -> Case:
        """Any case; times are whole quarters of an hour."""
        layout, steps = chance.choice(chance.choice([LAYOUTS, NESTED])), int((LAST - FIRST) / STEP)
        stats = (chance.choice(STATS),) if chance.random() < 1 / 4 and not layout.values_at else ()
        unit, stride = chance.choice(list(_LIMITS)), chance.choice([1, 4])
        case = cls(
            layouts=(layout, *stats),
            zone=chance.choice(ZONES),
            calendar_zone=chance.choice(ZONES),
            frequency=chance.choice(_FREQUENCIES),
            start=FIRST - STEP * chance.randrange(5000),
            end=FIRST + STEP * chance.randrange(1, chance.choice([1, 5, 5]) * steps),
            keeps_beyond=chance.random() < 1 / 2,
            limit=f"{unit}({chance.randrange(1, _LIMITS[unit] + 1)})",
            keep_last=chance.choice([0, 0, 0, 1, 5, 50]),
            cut_off=chance.choice(["", "", "", "hours(3)", "hours(500)", "days(20)"]),
            hold=None,
            has_hold_file=chance.random() < 1 / 30,
            nominal=FIRST + STEP * chance.randrange(steps // 4, steps, stride),
            flag=chance.choice(["", "_SUCCESS"]),
        )
        hold_start = case.horizon - STEP * chance.randrange(500)
        hold = (hold_start, hold_start + STEP * chance.randrange(1, 300))
        return replace(case, hold=hold) if chance.random() < 1 / 3 else case

    @property
    def horizon(self) -> datetime:
        """Return what is before it is old enough; equal stays."""
        effective = min(self.nominal, self.end) if self.keeps_beyond else self.nominal
        return _moved(effective, self.limit, -1, self.calendar_zone)

    def is_held(self, tree: Tree) -> bool:
        """Return whether a hold file, or anything with its name, is in the base of any location."""
        return any(f"{layout.base}/{HOLD_FILE}" in tree for layout in self.layouts)

    def evicted(self, tree: Tree) -> dict[str, Layout]:
        """The instances that have to go, each with the location that it is in."""
        if self.is_held(tree):
            return {}
        grid = set(self._grid())
        found = [self._times(layout, tree, grid) for layout in self.layouts]
        counted = sorted({time for time in found[0].values() if time <= self.nominal}, reverse=True)
        newest = counted[: self.keep_last]
        return {
            path: layout
            for layout, times in zip(self.layouts, found, strict=True)
            for path, time in times.items()
            if time < self.horizon
            and not (len(newest) < self.keep_last or (newest and time >= newest[-1]))
            and not (self.cut_off and _moved(time, self.cut_off, 1, self.calendar_zone) > self.nominal)
            and not self._covers(layout.instants(path, self.zone))
        }

    def empty(self, tree: Tree) -> dict[str, Layout]:
        """The empty directories that have to go: on the way to instances, and begun before the horizon."""
        above = {path.rpartition("/")[0] for path in tree}
        return {
            path: layout
            for layout in (() if self.is_held(tree) else self.layouts)
            for path, kind in tree.items()
            if kind is Kind.DIRECTORY and path not in above
            if (begin := layout.begin(path, self.zone)) is not None and begin < self.horizon
        }

    def expected(self, tree: Tree) -> Tree:
        """The tree after the run: without what goes, what is in it, and the parents that this empties."""
        goes = {**self.evicted(tree), **self.empty(tree)}
        left = {path: kind for path, kind in tree.items() if not any(each in goes for each in _lineage(path))}
        children = dict.fromkeys(left, 0) | {layout.base: 1 for layout in self.layouts}
        for path in left:
            children[path.rpartition("/")[0]] = children.get(path.rpartition("/")[0], 0) + 1
        for path, layout in goes.items():
            parent = path.rpartition("/")[0]
            while parent.startswith(f"{layout.base}/") and not children.get(parent):
                if left.pop(parent, None) is not None:
                    children[parent.rpartition("/")[0]] -= 1
                parent = parent.rpartition("/")[0]
        return left

    def left_empty(self, tree: Tree, left: Iterable[str]) -> set[str]:
        """Directories that may stay after a death: emptied on the way to instances, and without a date in their names.

        No walk knows such a directory for an old one; the first run that empties it again removes it. On a store
        without directories none knows any, so that a marker may stay whatever its names say.

        Args:
            tree: before the run.
            left: what is there after it and was expected to go.
        """
        goes = (*self.evicted(tree), *self.empty(tree))
        return {
            path
            for path in left
            if tree.get(path.removesuffix("/")) is Kind.DIRECTORY
            and any(layout.is_on_the_way(path.removesuffix("/"), dated=path.endswith("/")) for layout in self.layouts)
            and any(each.startswith(f"{path.removesuffix('/')}/") for each in goes)
        }

    def expected_keys(self, tree: Tree, keys: Tree) -> Tree:
        """The keys after a run on a store without directories.

        Args:
            tree: that the keys stand for.
            keys: before the run.
        """
        goes = self.evicted(tree)
        left = {key: kind for key, kind in keys.items() if not any(each in goes for each in _lineage(key))}
        for path, layout in goes.items():
            parent = path.rpartition("/")[0]
            while parent.startswith(f"{layout.base}/"):
                marker = f"{parent}/"
                if not any(key.startswith(marker) and key != marker for key in left):
                    left.pop(marker, None)
                parent = parent.rpartition("/")[0]
        return left

    def _times(self, layout: Layout, tree: Tree, grid: set[datetime]) -> dict[str, datetime]:
        """The instances of a location, each with its time."""
        named = {path: layout.instants(path, self.zone) for path, kind in tree.items() if kind is not Kind.LINK}
        return {
            path: max((each for each in instants if each in grid), default=instants[0])
            for path, instants in named.items()
            if instants
        }

    def _covers(self, instants: tuple[datetime, ...]) -> bool:
        """A path stands for everything from its first instant to its last."""
        return self.hold is not None and self.hold[0] < instants[-1] + STEP and instants[0] < self.hold[1]

    def _grid(self) -> Iterator[datetime]:
        instant, number = self.start, 0
        while instant < min(self.end, _GRID_END):
            yield instant
            number += 1
            instant = _moved(self.start, self.frequency, number, self.calendar_zone)


def _lineage(path: str) -> Iterator[str]:
    """A path and all that it is in."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _moved(instant: datetime, step: str, times: int, zone: str) -> datetime:
    """Minutes and hours are elapsed time; days and months keep the local time of day, in the first of two such."""
    unit, _, count = step.rstrip(")").partition("(")
    number = int(count) * times
    if unit in {"minutes", "hours"}:
        return instant + timedelta(**{unit: number})
    local = instant.astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)
    moved = local + timedelta(days=number) if unit == "days" else _months_later(local, number)
    return moved.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def _months_later(local: datetime, months: int) -> datetime:
    year, month = divmod(local.year * 12 + local.month - 1 + months, 12)
    return local.replace(year=year, month=month + 1, day=min(local.day, calendar.monthrange(year, month + 1)[1]))
