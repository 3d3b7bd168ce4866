"""Time zones of the tzdata wheel, and local times in them.

Offsets count in whole minutes, rounded down, as instants do: Africa/Monrovia was at -00:44:30 until 1972, and local
mean times have seconds too.
"""

from __future__ import annotations

import difflib
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo

import tzdata

from toolkit.el.errors import ElError, OutOfRange

ZONE_DATA: str = tzdata.__version__
"""The version of the tzdata wheel, as the wheel says it: asking for what is installed reads Spark's large archives."""

_NO_OFFSET = timedelta()
_NEAREST = 3


@cache
def load_zone(name: str) -> ZoneInfo:
    """The time zone of that name, from the tzdata wheel and never from the machine (DESIGN section 3).

    Raises:
        ElError: no zone has that name; the nearest names are in the message.
    """
    if name not in _zone_names():
        raise ElError(text=name, expected=f"the name of a time zone{_suggestion(name)}")
    source = resources.files("tzdata.zoneinfo").joinpath(*name.split("/"))
    with source.open("rb") as stream:
        return ZoneInfo.from_file(stream, key=name)


def localize(local: datetime, zone: ZoneInfo) -> datetime:
    """The UTC instant of a naive local time.

    A local time that does not exist is shifted forward by the length of the gap; of an ambiguous one it is the first
    (DESIGN section 3). The conversion of PEP 495 with fold=0 is exactly that.

    Raises:
        OutOfRange: the instant is outside the years 1 to 9999.
    """
    offset = local.replace(tzinfo=zone, fold=0).utcoffset() or _NO_OFFSET
    try:
        return (local - _whole_minutes(offset)).replace(tzinfo=UTC)
    except OverflowError as error:
        raise OutOfRange(text=f"{local.isoformat()} in {zone.key}") from error


def to_local(instant: datetime, zone: ZoneInfo) -> datetime:
    """The naive local time of an aware instant, without seconds.

    Raises:
        OutOfRange: the local time is outside the years 1 to 9999.
    """
    try:
        return instant.astimezone(zone).replace(tzinfo=None, fold=0, second=0, microsecond=0)
    except OverflowError as error:
        raise OutOfRange(text=f"{instant.isoformat()} in {zone.key}") from error


def _whole_minutes(offset: timedelta) -> timedelta:
    seconds = offset.seconds % 60
    return offset - timedelta(seconds=seconds) if seconds else offset


@cache
def _zone_names() -> frozenset[str]:
    return frozenset(resources.files("tzdata").joinpath("zones").read_text(encoding="utf-8").split())


def _suggestion(name: str) -> str:
    by_key = {zone.casefold(): zone for zone in sorted(_zone_names())}
    nearest = difflib.get_close_matches(name.casefold(), by_key, n=_NEAREST)
    return f": {', '.join(by_key[key] for key in nearest)}" if nearest else " such as UTC or Europe/Berlin"
