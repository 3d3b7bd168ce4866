"""Which instances a question or a command is about: [start, end) within the validity (DESIGN section 8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from toolkit.el import NotAnInstance, format_instant, parse_instant
from toolkit.runs.management.errors import EmptyRange, EndWithoutStart, OutsideValidity
from toolkit.runs.management.sites import ManagedEntity, Site

NEWEST = 10
"""So many of the due instances a question is about that names none (Falcon feature list, numResults)."""

_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedRange:
    """What `--start` and `--end` say.

    Attributes:
        start: inclusive; alone it is that one instance. None: the newest that are due.
        end: exclusive.

    Raises:
        EndWithoutStart: only the end was given.
        EmptyRange: the end is not after the start.
    """

    start: datetime | None = None
    end: datetime | None = None

    def __post_init__(self) -> None:
        if self.end is None:
            return
        if self.start is None:
            raise EndWithoutStart
        if self.end <= self.start:
            raise EmptyRange(start=format_instant(self.start), end=format_instant(self.end))

    def __str__(self) -> str:
        if self.start is None:
            return f"the newest {NEWEST} that are due"
        first = format_instant(self.start)
        return first if self.end is None else f"{first} to {format_instant(self.end)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """The part of a range on one site.

    Attributes:
        site: where.
        start: inclusive; None: whatever was recorded, from the beginning.
        end: exclusive; None as well.
    """

    site: Site
    start: datetime | None = None
    end: datetime | None = None

    def instance_keys(self) -> Iterator[str]:
        """The keys of its instances, oldest first; none where only recorded times count."""
        if self.start is None or self.end is None:
            return iter(())
        return map(format_instant, self.site.instants(self.start, self.end))

    @property
    def count(self) -> int:
        """How many instances it has, by arithmetic."""
        return 0 if self.start is None or self.end is None else self.site.count(self.start, self.end)


def stretches(
    managed: ManagedEntity, asked: AskedRange, now: datetime, newest: int | None = NEWEST
) -> tuple[Stretch, ...]:
    """The parts of a range on the sites of an entity; sites without an instance in it are left out.

    On a cluster with a shorter validity than the range, only the instances within it count.

    Args:
        managed: the entity's sites.
        asked: the range.
        now: what is due by then is what a question means that names no start.
        newest: and so many of them; None: all.

    Raises:
        OutsideValidity: the range lies within the validity on none of the clusters.
        NotAnInstance: the start stands alone and is no instance on any of them.
    """
    if asked.start is None:
        return tuple(each for site in managed.sites if (each := _newest(site, now, newest)) is not None)
    start, end = asked.start, asked.end or next_minute(asked.start)
    _check(managed, asked, start, end)
    return tuple(
        Stretch(site=site, start=start, end=end)
        for site in managed.sites
        if site.sequence is None or site.count(start, end)
    )


def key_after(key: str) -> str:
    """The key of the next minute, so the end of a range whose last instance this is."""
    return format_instant(next_minute(parse_instant(key)))


def _check(managed: ManagedEntity, asked: AskedRange, start: datetime, end: datetime) -> None:
    planned = [site for site in managed.sites if site.sequence is not None]
    holding = [site for site in planned if site.holds(start, end)]
    if planned and not holding:
        validities = {site.cluster: site.validity for site in planned}
        raise OutsideValidity(name=managed.name, asked=str(asked), validities=validities)
    if asked.end is None and planned and not any(site.count(start, end) for site in holding):
        raise NotAnInstance(text=format_instant(start), sequence=str(holding[0].sequence))


def next_minute(instant: datetime) -> datetime:
    """The minute after a whole one; the last that there is has none after it."""
    return instant + _MINUTE if instant < datetime.max.replace(tzinfo=UTC) - _MINUTE else instant


def _newest(site: Site, now: datetime, number: int | None) -> Stretch | None:
    """The newest instances of a site that are due; None: there is none yet."""
    if site.sequence is None:
        return Stretch(site=site)
    last = site.sequence.at_or_before(min(now, site.validity.end - _MINUTE))
    if last is None or last < site.validity.start:
        return None
    position = 0 if number is None else max(0, site.sequence.index(last) - number + 1)
    return Stretch(site=site, start=max(site.sequence[position], site.validity.start), end=last + _MINUTE)
