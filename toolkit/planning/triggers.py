"""Decision which runs the updates of datasets start: pure (Airflow AIP-48, with instance keys, expiry, retraction)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from toolkit.entities.trigger_vocabulary import Coalesce, GroupBy, OnPause
from toolkit.entities.vocabulary import Order
from toolkit.planning.trigger_model import (
    CompiledCondition,
    CompiledEntry,
    Dropped,
    Ignored,
    Pending,
    TriggerDecision,
    TriggeredRun,
    TriggerRule,
    Update,
)

__all__ = [
    "CLOCK_TOLERANCE",
    "RETRACTIONS",
    "CompiledCondition",
    "CompiledEntry",
    "Dropped",
    "Ignored",
    "Pending",
    "TriggerDecision",
    "TriggerRule",
    "TriggeredRun",
    "Update",
    "decide",
]

RETRACTIONS = frozenset({"retracted", "evicted"})
"""Kinds of events after which the data of earlier updates is gone."""

CLOCK_TOLERANCE = timedelta(minutes=1)
"""Clocks that differ by less are not worth a message; commits take part of it."""


def decide(
    rule: TriggerRule,
    pending: Sequence[Pending],
    new: Sequence[Update],
    now: datetime,
    slots: int | None = None,
    *,
    is_paused: bool = False,
) -> TriggerDecision:
    """Return the runs that are due, and what becomes of each update.

    Updates that were retracted or have expired by now count for no run. The others are looked at in the order in which
    they were committed: each time the condition becomes true a run is due, which consumes all updates of its process
    instance up to there.

    Args:
        rule: of the consumer.
        pending: what an earlier decision left waiting, in order of commit.
        new: events since then that any entry matches, of any kind, in order of commit.
        now: for `valid_for`, `expires` and `may_run`.
        slots: so many runs may be created now; None: any number. What is due beyond them stays pending.
        is_paused: the process is suspended: no run is created, and new updates are kept or dropped by `on_pause`.
    """
    intake = _Intake(rule, now, drops_new=is_paused and rule.on_pause is OnPause.DROP)
    intake.take(pending, new)
    runnable = [due for due in _due(rule, intake) if rule.may_run(due.process_key)]
    open_slots = 0 if is_paused else len(runnable) if slots is None else max(slots, 0)
    chosen, coalesced = _coalesced(rule, runnable) if open_slots else ([], [])
    started = _in_order(rule, chosen)[:open_slots]
    over = {id(each) for due in (*started, *coalesced) for each in due.pending}
    replaced = [each for due in coalesced for each in due.pending]
    drops = [Dropped(pending=each, reason=Ignored.COALESCED) for each in replaced]
    return TriggerDecision(
        runs=tuple(due.run(replaced) for due in started),
        dropped=(*intake.dropped, *drops),
        pending=tuple(each for each in intake.live if id(each) not in over),
        clock_skew=_clock_skew(rule, pending, new, now),
    )


class _Intake:
    """Sorting of updates: those that count, each for its process instances, and those that are over."""

    def __init__(self, rule: TriggerRule, now: datetime, *, drops_new: bool) -> None:
        self._rule, self._now, self._drops_new = rule, now, drops_new
        self._entries = rule.entries()
        self._readers: dict[int, list[tuple[CompiledEntry, Sequence[str]]]] = {}
        self._live: dict[tuple[str, str], list[Pending]] = {}
        self._taken_again: set[int] = set()
        self.dropped: list[Dropped] = []

    @property
    def live(self) -> list[Pending]:
        """The updates that count, in order of commit."""
        return sorted(
            (each for same in self._live.values() for each in same),
            key=lambda each: (each.update.sequence, each.process_key),
        )

    def take(self, pending: Sequence[Pending], new: Sequence[Update]) -> None:
        """Sort the updates, in order of commit."""
        for each in pending:
            self._take_pending(each)
        for update in new:
            if update.kind in RETRACTIONS:
                self._retract(update)
            else:
                self._take_new(update)

    def readers(self, each: Pending) -> Iterator[CompiledEntry]:
        """Return the entries for which an update counts, for its process instance."""
        return (entry for entry, keys in self._readers_of(each.update) if each.process_key in keys)

    def _take_pending(self, each: Pending) -> None:
        if bool(each.process_key) is not (self._rule.by is GroupBy.KEY):
            self._take_again(each.update)
        elif self._is_expired(each.update):
            self._drop(each, Ignored.EXPIRED)
        elif not any(self.readers(each)):
            self._drop(each, Ignored.NO_INSTANCE)
        else:
            self._keep(each)

    def _take_again(self, update: Update) -> None:
        """Sort an update, once, that waits since the trigger had another `by`."""
        if update.sequence not in self._taken_again:
            self._taken_again.add(update.sequence)
            self._take_update(update)

    def _take_new(self, update: Update) -> None:
        if self._drops_new and update.kind in self._rule.on:
            self._drop(Pending(update=update), Ignored.PAUSED)
        else:
            self._take_update(update)

    def _take_update(self, update: Update) -> None:
        reason = self._reason(update)
        if reason is not None:
            self._drop(Pending(update=update), reason)
            return
        for key in sorted({key for _, keys in self._readers_of(update) for key in keys}):
            self._keep(Pending(update=update, process_key=key))

    def _reason(self, update: Update) -> Ignored | None:
        if update.kind not in self._rule.on:
            return Ignored.OTHER_KIND
        if self._rule.by is GroupBy.KEY and not update.instance_key:
            return Ignored.WITHOUT_KEY
        if self._rule.by is GroupBy.ANY_UPDATE and not self._rule.is_valid_at(update.recorded_at):
            return Ignored.NOT_VALID
        if self._is_expired(update):
            return Ignored.EXPIRED
        return None if any(keys for _, keys in self._readers_of(update)) else Ignored.NO_INSTANCE

    def _readers_of(self, update: Update) -> list[tuple[CompiledEntry, Sequence[str]]]:
        found = self._readers.get(update.sequence)
        if found is None:
            is_keyed = self._rule.by is GroupBy.KEY
            found = [(each, each.keys(update) if is_keyed else ("",)) for each in self._entries if each.matches(update)]
            self._readers[update.sequence] = found
        return found

    def _is_expired(self, update: Update) -> bool:
        limit = self._rule.limit(update.dataset)
        return limit is not None and self._now - update.recorded_at > limit

    def _keep(self, each: Pending) -> None:
        self._live.setdefault((each.update.dataset, each.update.instance_key), []).append(each)

    def _retract(self, update: Update) -> None:
        for each in self._live.pop((update.dataset, update.instance_key), []):
            self._drop(each, Ignored.RETRACTED)

    def _drop(self, each: Pending, reason: Ignored) -> None:
        self.dropped.append(Dropped(pending=each, reason=reason))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Due:
    """A run that is due, with what it consumes."""

    process_key: str
    pending: Sequence[Pending]
    first_key: str = ""

    def run(self, replaced: Sequence[Pending]) -> TriggeredRun:
        causes = {each.update.sequence: each.update for each in self.pending}
        return TriggeredRun(
            process_key=self.process_key,
            causes=tuple(causes[sequence] for sequence in sorted(causes)),
            pending=tuple(self.pending),
            replaced=tuple(replaced),
            first_key=self.first_key,
            chain=1 + max(each.chain for each in causes.values()),
        )


class _Bucket:
    """Updates of one process instance that no run has consumed."""

    def __init__(self) -> None:
        self.pending: list[Pending] = []
        self._seen: dict[int, set[tuple[str, str]]] = {}

    def add(self, each: Pending, readers: Iterable[CompiledEntry]) -> None:
        self.pending.append(each)
        instance = each.update.instance_key or f"#{each.update.sequence}"
        for entry in readers:
            self._seen.setdefault(id(entry), set()).add((each.update.dataset, instance))

    def satisfies(self, part: CompiledCondition | CompiledEntry) -> bool:
        if isinstance(part, CompiledEntry):
            return len(self._seen.get(id(part), ())) >= part.min_count
        return (all if part.is_all else any)(self.satisfies(each) for each in part.parts)


def _due(rule: TriggerRule, intake: _Intake) -> Iterator[_Due]:
    buckets: dict[str, _Bucket] = {}
    for each in intake.live:
        bucket = buckets.setdefault(each.process_key, _Bucket())
        bucket.add(each, intake.readers(each))
        if bucket.satisfies(rule.condition):
            yield _Due(process_key=each.process_key, pending=bucket.pending)
            del buckets[each.process_key]


def _coalesced(rule: TriggerRule, due: Sequence[_Due]) -> tuple[list[_Due], list[_Due]]:
    """Return the runs to start, and those for which another one stands."""
    if len(due) < 2:  # noqa: PLR2004 - two can be one
        return list(due), []
    by_time = sorted(due, key=lambda each: each.process_key)
    match rule.coalesce:
        case Coalesce.NONE if rule.order is not Order.LAST_ONLY:
            return list(due), []
        case Coalesce.RANGE if rule.by is GroupBy.KEY:
            return [_merged(each, is_range=True) for each in _ranges(rule, by_time)], []
        case Coalesce.ALL | Coalesce.RANGE:
            return [_merged(by_time)], []
        case _:
            return by_time[-1:], by_time[:-1]


def _ranges(rule: TriggerRule, by_time: Sequence[_Due]) -> list[list[_Due]]:
    ranges = [[by_time[0]]]
    for before, after in pairwise(by_time):
        keys = before.process_key, after.process_key
        if keys[0] == keys[1] or rule.follows(*keys):
            ranges[-1].append(after)
        else:
            ranges.append([after])
    return ranges


def _merged(due: Sequence[_Due], *, is_range: bool = False) -> _Due:
    first, last = due[0].process_key, due[-1].process_key
    return _Due(
        process_key=last,
        pending=[each for one in due for each in one.pending],
        first_key=first if is_range and first != last else "",
    )


def _in_order(rule: TriggerRule, due: Sequence[_Due]) -> list[_Due]:
    """Return runs by the time of their instance, then by commit; newest first, unless the order is FIFO."""
    by_time = sorted(due, key=lambda each: each.process_key)
    return by_time if rule.order is Order.FIFO else by_time[::-1]


def _clock_skew(rule: TriggerRule, pending: Sequence[Pending], new: Sequence[Update], now: datetime) -> timedelta:
    """Return by how much times run against the order of commit, or lie after now."""
    if rule.valid_for is None and not rule.expires:
        return timedelta()
    times = [each.recorded_at for each in (*(one.update for one in pending), *new)]
    skew, newest = timedelta(), None
    for time in times:
        newest = time if newest is None else max(newest, time)
        skew = max(skew, newest - time, time - now)
    return skew if skew > CLOCK_TOLERANCE else timedelta()
