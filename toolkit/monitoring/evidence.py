"""Evidence of SLAs: the ledger's events and runs first, storage for feeds that nobody here writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.availability import PathInstances
from toolkit.availability.store_threads import StoreWork, work_on_stores
from toolkit.el import format_instant
from toolkit.errors import FeedctlError
from toolkit.foreign_json import BadJson, parse_json
from toolkit.ledger.events import UPDATES
from toolkit.ledger.vocabulary import EventKind, RunStatus, SlaState
from toolkit.planning.sla import PresenceChange
from toolkit.planning.sla_vocabulary import DataPresence

if TYPE_CHECKING:
    from toolkit.availability import DataAccess, FeedInstances, FoundInstance
    from toolkit.entities.sla import FeedSla
    from toolkit.ledger.sla import ExpectedInstance, SlaKey
    from toolkit.ledger.sla_evidence import SlaEvent, SlaRun
    from toolkit.monitoring.series import FeedSeries, ProcessSeries

DEADLINE_SECONDS = 30.0
"""So long all looks of one pass may take; what was not looked at by then is unknown."""

Looks = Mapping[tuple["SlaKey", str], "InstanceLook"]
"""Looks at storage, by series and instance key."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceLook:
    """Look at an instance in storage.

    Attributes:
        is_there: it may be read.
        rows: None: unknown.
        bytes: None: unknown.
        problem: why nothing is known; empty: it is.
    """

    is_there: bool = False
    rows: int | None = None
    bytes: int | None = None
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SlaEvidence:
    """Evidence for an instance of a feed.

    Attributes:
        changes: of what is there, in their order.
        source: what the state is known from.
        unknown: why it is not known; empty: it is.
        wants_look: storage has to be looked at.
    """

    changes: Sequence[PresenceChange] = ()
    source: str
    unknown: str = ""
    wants_look: bool = False


def feed_evidence(
    series: FeedSeries,
    row: ExpectedInstance,
    events: Iterable[SlaEvent],
    look: InstanceLook | None,
    now: datetime,
    *,
    is_due: bool,
    has_alert: bool,
) -> SlaEvidence:
    """Return what is known of an instance of a feed.

    Args:
        series: of the feed.
        row: the instance.
        events: its events since the last pass, in their order.
        look: at storage; None: there was none.
        now: time of the pass.
        is_due: a limit has passed, so that storage is asked where events tell nothing.
        has_alert: an alert is open, so that what a look finds has come after it was opened.
    """
    changes: list[PresenceChange] = []
    is_unsized = False
    for each in events:
        presence = _presence(series.sla, each, look) if each.kind in UPDATES else DataPresence.ABSENT
        is_unsized |= presence is None
        if presence is not None and (each.kind in UPDATES or each.kind is EventKind.RETRACTED):
            changes.append(PresenceChange(at=each.recorded_at, presence=presence, why=_event_text(series, each, look)))
    may_look = series.is_looked_at or (row.state is SlaState.UNKNOWN and series.may_look)
    wants_look = is_unsized or (may_look and is_due and not changes)
    source = "storage" if series.is_looked_at else "events of the ledger"
    if not wants_look:
        return SlaEvidence(changes=changes, source=source)
    problem = "its store was not looked at; the next pass does" if look is None else look.problem
    if look is None or problem:
        return SlaEvidence(changes=changes, source=source, unknown=problem, wants_look=True)
    if not changes:
        at = now if has_alert else row.since
        changes.append(PresenceChange(at=at, presence=seen(series.sla, look), why=look_text(series.sla, look, now)))
    return SlaEvidence(changes=changes, source="storage")


def _presence(sla: FeedSla, each: SlaEvent, look: InstanceLook | None) -> DataPresence | None:
    """Return what an update left there; None: only storage can tell whether it is enough."""
    if sla.min_rows is None and sla.min_bytes is None:
        return DataPresence.PRESENT
    polled = _polled_bytes(each.extra)
    if polled is not None and sla.min_rows is None:
        return seen(sla, InstanceLook(is_there=True, bytes=polled))
    return None if look is None or look.problem else seen(sla, look)


def seen(sla: FeedSla, look: InstanceLook) -> DataPresence:
    """Return what a look has found; it must have found something out."""
    if not look.is_there:
        return DataPresence.ABSENT
    return DataPresence.SMALL if shortage(sla, look) else DataPresence.PRESENT


def shortage(sla: FeedSla, look: InstanceLook) -> str:
    """Return what an instance has too little of; empty: it has enough, or its size is unknown."""
    for unit, found, least in (("rows", look.rows, sla.min_rows), ("bytes", look.bytes, sla.min_bytes)):
        if least is not None and found is not None and found < least:
            return f"it has {found} {unit}, at least {least} are expected"
    return ""


def _polled_bytes(extra: str | None) -> int | None:
    """Return the bytes that a poll has seen; text of another emitter says nothing."""
    if not extra:
        return None
    try:
        found = parse_json(extra.encode())
    except BadJson:
        return None
    polled = found.get("poll") if isinstance(found, dict) else None
    size = polled.get("bytes") if isinstance(polled, dict) else None
    return size if isinstance(size, int) else None


def _event_text(series: FeedSeries, each: SlaEvent, look: InstanceLook | None) -> str:
    less = shortage(series.sla, look) if look is not None and series.has_least_size else ""
    return f"event {each.sequence}: {each.kind}{f'; {less}' if less else ''}"


def look_text(sla: FeedSla, look: InstanceLook, now: datetime) -> str:
    """Return what a look has found, for people."""
    found = shortage(sla, look) or ("it is there" if look.is_there else "it is not there")
    return f"storage at {format_instant(now)}: {found}"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEvidence:
    """Evidence for an instance of a process.

    Attributes:
        started_at: when its first attempt began; None: none did.
        start: which attempt that was.
        ended_at: when it succeeded; None: it did not.
        end: which attempt that was.
    """

    started_at: datetime | None = None
    start: str = ""
    ended_at: datetime | None = None
    end: str = ""


def run_evidence(series: ProcessSeries, runs: Iterable[SlaRun], now: datetime) -> RunEvidence:
    """Return what is known of an instance of a process by now.

    Args:
        series: of the process.
        runs: its attempts, in their order.
        now: time of the pass; what began or ended later does not count.
    """
    over = {RunStatus.SUCCEEDED, RunStatus.SKIPPED} if series.skips else {RunStatus.SUCCEEDED}
    found = RunEvidence()
    for each in runs:
        if found.started_at is None and each.started_at is not None and each.started_at <= now:
            found = replace(found, started_at=each.started_at, start=f"run {each.run_id} began")
        if each.status in over and each.ended_at is not None and each.ended_at <= now:
            end = f"run {each.run_id}: {each.status}"
            if found.started_at is None:
                found = replace(found, started_at=each.ended_at, start=end)
            return replace(found, ended_at=each.ended_at, end=end)
    return found


def look_at_stores(
    data: DataAccess,
    wanted: Iterable[tuple[FeedSeries, Sequence[datetime]]],
    *,
    check: Callable[[], None],
    deadline: float = DEADLINE_SECONDS,
) -> dict[tuple[SlaKey, str], InstanceLook]:
    """Look at instances in the stores of their feeds, all stores side by side; one that hangs keeps no other waiting.

    Args:
        data: read access.
        wanted: feeds, each with the times of instances.
        check: asked while stores are waited for; what it raises ends the looks.
        deadline: seconds for all of it.
    """
    looks = [_SeriesLooks(data, series, instants) for series, instants in wanted]
    by_store: dict[str, list[StoreWork[_Seen]]] = {}
    for each in looks:
        each.add_to(by_store)
    work_on_stores(by_store, deadline=deadline, check=check)
    return {(each.key, key): look for each in looks for key, look in each.results(deadline).items()}


_Seen = tuple["FoundInstance", InstanceLook]


class _SeriesLooks:
    """Looks at instances of one feed."""

    def __init__(self, data: DataAccess, series: FeedSeries, instants: Sequence[datetime]) -> None:
        self._data, self._series, self._instants = data, series, instants
        self._error: FeedctlError | None = None
        self._work: StoreWork[_Seen] | None = None

    @property
    def key(self) -> SlaKey:
        return self._series.key

    def add_to(self, by_store: dict[str, list[StoreWork[_Seen]]]) -> None:
        """Put the work to that of its store; a place that cannot be told is an error of this feed alone."""
        feed, cluster = self._series.feed, self._series.cluster
        try:
            store = f"metastore of {cluster.name}"
            if not feed.is_table and feed.cluster(cluster.name).ingest is None:
                reader = self._data.instances_of(feed, cluster)
                if isinstance(reader, PathInstances):
                    base = reader.place(reader.template.base)
                    store = f"{base.scheme}://{base.authority}"
        except FeedctlError as error:
            self._error = error
            return
        self._work = StoreWork(self._look)
        by_store.setdefault(store, []).append(self._work)

    def results(self, deadline: float) -> dict[str, InstanceLook]:
        """Return what was found, by instance key.

        Raises:
            BaseException: a bug that a thread came upon.
        """
        found = () if self._work is None else self._work.found
        known = {format_instant(each.instant): look for each, look in found}
        error = self._error or (None if self._work is None else self._work.error)
        if error is not None and not isinstance(error, FeedctlError):
            raise error
        missing = InstanceLook(problem=str(error or f"its store did not answer within {deadline:g} seconds"))
        return {key: known.get(key, missing) for key in map(format_instant, self._instants)}

    def _look(self, take: Callable[[_Seen], None]) -> None:
        reader = self._data.instances_of(self._series.feed, self._series.cluster)
        for each in reader.look_at(self._instants):
            size = each.bytes
            if size is None and each.is_ready and self._series.sla.min_bytes is not None:
                size = self._bytes_of_all(reader, each)
            take((each, InstanceLook(is_there=each.is_ready, rows=each.rows, bytes=size)))

    def _bytes_of_all(self, reader: FeedInstances, found: FoundInstance) -> int | None:
        """Return the bytes of an instance that has directories, or many files; None: of a table they are unknown."""
        if not isinstance(reader, PathInstances):
            return None
        path = reader.path_of(found.instant)
        return self._data.stores(path).content_summary(path).size
