"""Layouts of feeds, and what a name in one stands for: by trying every instant near it, without patterns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

STEP = timedelta(minutes=15)
"""Every name of the layouts has an instant on this grid."""
VALUE = "VALUE"
"""What stands in a name for the value of a variable or a glob."""
_AROUND = timedelta(hours=36)
_LONGEST = timedelta(days=33)
"""More than a month, the coarsest period of a whole name."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a location names its instances.

    Args:
        template: as the feed says it.
        names: the same for `strftime`, below the base, with `VALUE` where any name may stand.
        properties: of the feed: the values of variables.
    """

    template: str
    names: str
    properties: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def base(self) -> str:
        """The directory before the first variable or glob."""
        first = min(at for at in (self.template.find("$"), self.template.find("*")) if at >= 0)
        return self.template[:first].rpartition("/")[0]

    @property
    def depth(self) -> int:
        """So many names lead from the base to an instance."""
        return self.names.count("/") + 1

    @property
    def values_at(self) -> tuple[int, ...]:
        """Positions among these names at which any name may be."""
        return tuple(at for at, name in enumerate(self.names.split("/")) if name == VALUE)

    def name_at(self, instant: datetime, zone: str, *values: str) -> str:
        """The path of an instant, with these values in their order."""
        names = instant.astimezone(ZoneInfo(zone)).strftime(self.names).split("/")
        for at, value in zip(self.values_at, values, strict=True):
            names[at] = value
        return "/".join([self.base, *names])

    def instants(self, path: str, zone: str) -> tuple[datetime, ...]:
        """Return all instants that a path is the name of, oldest first; empty: the path is not an instance."""
        names = self._neutral(path)
        return () if len(names) != self.depth else _instants("/".join(names), self.names, zone)

    def begin(self, path: str, zone: str) -> datetime | None:
        """The first instant below a directory on the way to instances; None: it is none, or names no year yet."""
        names = self._neutral(path)
        pattern = "/".join(self.names.split("/")[: len(names)])
        if not 0 < len(names) < self.depth or "%Y" not in pattern:
            return None
        return next(iter(_instants("/".join(names), pattern, zone)), None)

    def is_on_the_way(self, path: str, *, dated: bool) -> bool:
        """Return whether a path is a directory between base and instances; only `dated` ones may have a year in it."""
        names = self._neutral(path)
        return 0 < len(names) < self.depth and (dated or "%Y" not in "/".join(self.names.split("/")[: len(names)]))

    def _neutral(self, path: str) -> list[str]:
        """The names below the base, with `VALUE` where any one but feedctl's own may stand."""
        names = path.removeprefix(f"{self.base}/").split("/") if path.startswith(f"{self.base}/") else []
        for at in self.values_at:
            if at < len(names) and not names[at].startswith(".feedctl"):
                names[at] = VALUE
        return names


@lru_cache(maxsize=20_000)
def _instants(name: str, pattern: str, zone: str) -> tuple[datetime, ...]:
    try:
        near = datetime.strptime(name, pattern).replace(tzinfo=UTC)
    except ValueError:
        return ()
    return tuple(each for each in _around(near, pattern) if each.astimezone(ZoneInfo(zone)).strftime(pattern) == name)


def _around(near: datetime, pattern: str) -> Iterator[datetime]:
    """Whatever the zone is; of a whole year only the beginning is wanted."""
    instant, end = near - _AROUND, near + (_AROUND if "%d" in pattern or "%m" not in pattern else _LONGEST)
    while instant < end:
        yield instant
        instant += STEP


_TREE = "/data/${YEAR}/${MONTH}/${DAY}/${HOUR}"
LAYOUTS = (
    Layout(template=_TREE, names="%Y/%m/%d/%H"),
    Layout(template=f"{_TREE}/${{MINUTE}}", names="%Y/%m/%d/%H/%M"),
    Layout(template="/data/${YEAR}/${MONTH}/${DAY}", names="%Y/%m/%d"),
    Layout(template="/data/${YEAR}-${MONTH}-${DAY}-${HOUR}", names="%Y-%m-%d-%H"),
    Layout(template="/data/in-${YEAR}-${MONTH}-${DAY}-${HOUR}", names="in-%Y-%m-%d-%H"),
    Layout(template="/data/${YEAR}-${MONTH}-${DAY}/h${HOUR}", names="%Y-%m-%d/h%H"),
    Layout(template="/data/${DAY}.${MONTH}.${YEAR}/x/${HOUR}", names="%d.%m.%Y/x/%H"),
    Layout(template="/data/${MONTH}/${YEAR}/${DAY}", names="%m/%Y/%d"),
    Layout(template="/data/${YEAR}${MONTH}${DAY}/raw", names="%Y%m%d/raw"),
    Layout(template="/deep/base/${YEAR}-${MONTH}", names="%Y-%m"),
    Layout(template="/data/${YEAR}/${MONTH}/${part}/${DAY}", names="%Y/%m/web/%d", properties={"part": "web"}),
    Layout(template="/data/${region}/${YEAR}/${MONTH}/${DAY}", names=f"{VALUE}/%Y/%m/%d"),
    Layout(template="/data/${YEAR}/${MONTH}/${DAY}/${region}", names=f"%Y/%m/%d/{VALUE}"),
    Layout(template="/data/*/${YEAR}-${MONTH}-${DAY}-${HOUR}", names=f"{VALUE}/%Y-%m-%d-%H"),
)
NESTED = (
    Layout(template="/data/${area}/${country}/${YEAR}-${MONTH}-${DAY}", names=f"{VALUE}/{VALUE}/%Y-%m-%d"),
    Layout(template="/data/${area}/${country}/${YEAR}${MONTH}${DAY}/raw", names=f"{VALUE}/{VALUE}/%Y%m%d/raw"),
    Layout(template="/data/*/x/${country}/${YEAR}${MONTH}${DAY}${HOUR}", names=f"{VALUE}/x/{VALUE}/%Y%m%d%H"),
    Layout(template="/data/${area}/${YEAR}/${country}/${MONTH}-${DAY}", names=f"{VALUE}/%Y/{VALUE}/%m-%d"),
)
"""Several variables: what a killed run emptied has no date in its name, and holds other such directories."""
STATS = (
    Layout(template="/stats/${YEAR}/${MONTH}/${DAY}", names="%Y/%m/%d"),
    Layout(template="/stats/${YEAR}-${MONTH}-${DAY}-${HOUR}", names="%Y-%m-%d-%H"),
    Layout(template="/data/stats/${YEAR}/${MONTH}/${DAY}", names="%Y/%m/%d"),
)
