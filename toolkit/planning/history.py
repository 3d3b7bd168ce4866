"""Instances without a record, found by counting the records: what is done costs no look at each instance."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from toolkit.el import InstanceSequence, format_instant
from toolkit.el.frequency import Unit

_DAY, _HOUR, _MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
_PARTS = 32
"""A period in which a record is missing is counted again in so many parts."""
_FEW = 1024
"""The records of so many instances are read at once, instead of counted."""

Count = Callable[[str, str], int]


class RecordedInstances(Protocol):
    """Records of the instances of one action; keys are compared as text, from the first (included) to the end."""

    def count(self, first: str, end: str, times: tuple[str, ...]) -> int:
        """Return how many instances are recorded whose key ends with one of these times and `Z`; empty: with any."""
        ...

    def keys(self, first: str, end: str) -> Collection[str]:
        """Return the keys that are recorded."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Gap:
    """Period in which instances have no record.

    Attributes:
        first: its first instance.
        end: no instance at or after it.
        missing: so many have none.
    """

    first: datetime
    end: datetime
    missing: int


def gaps(sequence: InstanceSequence, first: datetime, end: datetime, recorded: RecordedInstances) -> Iterator[Gap]:
    """Yield the periods of [first, end) in which a record is missing, oldest first: short ones, or without any record.

    A period with as many records as instances has nothing to find. That holds for records of the sequence's own times
    only, so that a frequency whose times are not those of each day is read in full, a piece at a time.
    """
    for part in _parts(sequence, first, end, recorded):
        known = recorded.keys(*_keys(sequence, part))
        missing = sum(1 for _ in _missing(sequence, part, known)) if known else len(part)
        if missing:
            yield Gap(first=sequence[part[0]], end=sequence[part[-1]] + _MINUTE, missing=missing)


def unrecorded(
    sequence: InstanceSequence, first: datetime, end: datetime, recorded: RecordedInstances
) -> Iterator[datetime]:
    """Yield the instances of [first, end) that have no record, oldest first; see `gaps`."""
    for part in _parts(sequence, first, end, recorded):
        yield from _missing(sequence, part, recorded.keys(*_keys(sequence, part)))


def _missing(sequence: InstanceSequence, part: range, known: Container[str]) -> Iterator[datetime]:
    return (each for each in map(sequence.__getitem__, part) if format_instant(each) not in known)


def _parts(sequence: InstanceSequence, first: datetime, end: datetime, recorded: RecordedInstances) -> Iterator[range]:
    places, times = sequence.positions(first, end), _times(sequence)
    if times is None or len(places) <= _FEW:
        return _divided(places, _FEW)
    return _incomplete(sequence, places, lambda one, other: recorded.count(one, other, times))


def _incomplete(sequence: InstanceSequence, places: range, count: Count) -> Iterator[range]:
    """Yield the parts of a period in which records are missing; each is short, or has no record at all."""
    for part in _divided(places, max(_FEW, -(-len(places) // _PARTS))):
        found = count(*_keys(sequence, part))
        if found == len(part):
            continue
        if found == 0 or len(part) <= _FEW:
            yield part
        else:
            yield from _incomplete(sequence, part, count)


def _divided(places: range, length: int) -> Iterator[range]:
    return (places[at : at + length] for at in range(0, len(places), length))


def _keys(sequence: InstanceSequence, part: range) -> tuple[str, str]:
    """Return the first key of a part, and the first that is too late."""
    return format_instant(sequence[part[0]]), format_instant(sequence[part[-1]] + _MINUTE)


def _times(sequence: InstanceSequence) -> tuple[str, ...] | None:
    """Return how the keys of a sequence end, without `Z`: with these minutes, or hours and minutes; empty: with any.

    None: the times are not the same on each day.
    """
    frequency, step = sequence.frequency, sequence.frequency.elapsed
    if frequency.unit is Unit.DAYS and sequence.timezone == "UTC":
        step = frequency.count * _DAY
    if step is None or _DAY % step:
        return None
    if step == _MINUTE:
        return ()
    cycle, length = (_DAY, len("HH:MM")) if _HOUR % step else (_HOUR, len("MM"))
    return tuple(sorted(format_instant(sequence.start + step * at)[-1 - length : -1] for at in range(cycle // step)))
