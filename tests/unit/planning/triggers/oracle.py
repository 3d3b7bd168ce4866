"""A second, slow decision on triggers, from the words of the specification; it shares no code with the product."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Event(NamedTuple):
    """An event of a dataset; times are minutes."""

    number: int
    dataset: str
    day: int | None
    kind: str
    time: int


@dataclass
class Consumer:
    """A process with what waits for it: pairs of an event and a day (None: the process as a whole).

    `condition` is ("all" | "any", [parts]) or (datasets, min_count, oldest, newest): day D reads D-oldest to D-newest.
    """

    condition: Any
    keyed: bool
    kinds: Sequence[str]
    coalesce: str
    order: str
    valid_for: int | None
    expires: dict[str, int]
    drops_in_pause: bool
    waits_for_time: bool
    days: range
    waiting: list[tuple[Event, int | None]] = field(default_factory=list)

    def look(
        self, new: Sequence[Event], now: int, today: int, room: int | None, *, paused: bool
    ) -> list[tuple[int | None, int | None, list[int]]]:
        """Return the day, the first day of its range and the events of each run that starts now."""
        for event in new:
            if event.kind in ("evicted", "retracted"):
                same = (event.dataset, event.day)
                self.waiting = [each for each in self.waiting if (each[0].dataset, each[0].day) != same]
            elif event.kind in self.kinds and not (paused and self.drops_in_pause):
                days = (day for day in self.days if event.day is not None) if self.keyed else (None,)
                self.waiting += [(event, day) for day in days if any(self.reads(self.condition, event, day))]
        self.waiting = [each for each in self.waiting if not self.is_old(each[0], now)]
        if paused or room == 0:
            return []
        due = [one for one in self.due() if not self.waits_for_time or one[0][1] is None or one[0][1] <= today]
        groups = self.grouped(due)
        started = (groups if self.order == "FIFO" else groups[::-1])[:room]
        gone = due if self.coalesce == "latest" or (self.coalesce == "none" and self.order == "LAST_ONLY") else []
        gone = gone + [one for group in started for one in group]
        self.waiting = [each for each in self.waiting if not any(each in one for one in gone)]
        return [self.run(group) for group in started]

    def reads(self, part: Any, event: Event, day: int | None) -> Iterator[bool]:  # noqa: ANN401 - nested tuples
        if part[0] in ("all", "any"):
            for each in part[1]:
                yield from self.reads(each, event, day)
        elif event.dataset in part[0]:
            yield day is None or (event.day is not None and part[2] >= day - event.day >= part[3])

    def is_old(self, event: Event, now: int) -> bool:
        limits = [each for each in (self.valid_for, self.expires.get(event.dataset)) if each is not None]
        return any(now - event.time > limit for limit in limits)

    def holds(self, part: Any, events: Sequence[Event], day: int | None) -> bool:  # noqa: ANN401 - nested tuples
        if part[0] == "all":
            return all(self.holds(each, events, day) for each in part[1])
        if part[0] == "any":
            return any(self.holds(each, events, day) for each in part[1])
        read = [event for event in events if any(self.reads(part, event, day))]
        keyed = {(event.dataset, event.day) for event in read if event.day is not None}
        return bool(len(keyed) + sum(event.day is None for event in read) >= part[1])

    def due(self) -> list[list[tuple[Event, int | None]]]:
        found: list[list[tuple[Event, int | None]]] = []
        for each in sorted(self.waiting, key=lambda one: (one[0].number, one[1] or 0)):
            used = [other for one in found for other in one]
            same = [other for other in self.waiting if other[1] == each[1] and other not in used]
            so_far = [other for other in same if other[0].number <= each[0].number]
            if self.holds(self.condition, [event for event, _ in so_far], each[1]):
                found.append(so_far)
        return found

    def grouped(self, due: list[list[tuple[Event, int | None]]]) -> list[list[list[tuple[Event, int | None]]]]:
        """Return lists of what is due, one for each run, each by time."""
        by_time = sorted(due, key=lambda one: one[0][1] or 0)
        if not due or (self.coalesce == "none" and self.order != "LAST_ONLY"):
            return [[one] for one in by_time]
        if self.coalesce in ("latest", "none"):
            return [by_time[-1:]]
        groups: list[list[list[tuple[Event, int | None]]]] = []
        for one in by_time:
            gap = (one[0][1] or 0) - (groups[-1][-1][0][1] or 0) if groups else 0
            if groups and (self.coalesce == "all" or gap <= self.days.step):
                groups[-1].append(one)
            else:
                groups.append([one])
        return groups

    def run(self, group: list[list[tuple[Event, int | None]]]) -> tuple[int | None, int | None, list[int]]:
        first, last = group[0][0][1], group[-1][-1][1]
        numbers = sorted({event.number for one in group for event, _ in one})
        return last, first if self.coalesce == "range" and first != last else None, numbers
