"""Available instances of a sequence from an instant on: the base of `latest` and `future`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator
from datetime import datetime

from toolkit.el.errors import NoSuchInstance
from toolkit.el.instants import to_utc
from toolkit.el.sequence import InstanceSequence

Availability = Callable[[datetime], bool] | Container[datetime]
"""Available instances: a set of them, anything that answers `in`, or a function that answers for one."""


def is_available(instance: datetime, availability: Availability) -> bool:
    """Return whether the instance is available."""
    return instance in availability if isinstance(availability, Container) else availability(instance)


def newest_first(instant: datetime, sequence: InstanceSequence, availability: Availability) -> Iterator[datetime]:
    """The available instances at or before the instant, newest first.

    A collection is walked by its own members, however long the sequence; any other availability is asked step by step.

    Raises:
        ElError: the instant, or a member of the collection, is naive.
    """
    if isinstance(availability, Collection):
        members = (to_utc(member) for member in availability if member in sequence)
        yield from sorted((member for member in members if member <= instant), reverse=True)
        return
    newest = sequence.at_or_before(instant)
    positions = () if newest is None else range(sequence.index(newest), -1, -1)
    yield from (instance for instance in map(sequence.__getitem__, positions) if is_available(instance, availability))


def within_limit(
    instant: datetime, limit: int, sequence: InstanceSequence, availability: Availability
) -> Iterator[datetime]:
    """The available instances at or after the instant, oldest first, at most `limit` grid steps past the first.

    Raises:
        ElError: the instant, or a member of the collection, is naive.
    """
    first = sequence.at_or_after(instant)
    if first is None:
        return
    begin = sequence.index(first)
    if isinstance(availability, Collection):
        members = (to_utc(member) for member in availability if member in sequence)
        yield from sorted(member for member in members if begin <= sequence.index(member) <= begin + limit)
        return
    ahead = _steps(sequence, range(begin, begin + limit + 1))
    yield from (instance for instance in ahead if is_available(instance, availability))


def _steps(sequence: InstanceSequence, positions: range) -> Iterator[datetime]:
    for position in positions:
        try:
            yield sequence[position]
        except NoSuchInstance:
            return
