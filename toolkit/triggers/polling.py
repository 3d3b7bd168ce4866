"""Polling: data that others write is looked at, and its settled changes become events (issue 28)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.availability.store_threads import StoreWork, work_on_stores
from toolkit.el import EPOCH
from toolkit.el.dataset_uri import feed_uri
from toolkit.errors import FeedctlError, Unavailable
from toolkit.ledger import polls
from toolkit.ledger.database import in_chunks
from toolkit.ledger.polls import PolledChange, PolledSeries
from toolkit.planning.polls import (
    PolledInstances,
    PollState,
    PollStep,
    is_due,
    next_step,
    polled_instances,
    settle_time,
)
from toolkit.triggers.poll_places import PolledDataset, PolledPlaces, places_of_feed

if TYPE_CHECKING:
    from toolkit.availability import DataAccess
    from toolkit.entities import Cluster, Feed
    from toolkit.entities.repository import Repository
    from toolkit.entities.trigger import Poll
    from toolkit.ledger.database import Ledger
    from toolkit.ledger.events import NewEvent

DEADLINE_SECONDS = 30.0
"""So long all looks of one poll may take; a store that does not answer in time fails, and its series stay due."""
_PER_TRANSACTION = 500
_BLANK = PollState()
_NEVER = PolledSeries()


@dataclass(frozen=True, kw_only=True, slots=True)
class PollTarget:
    """A series that is polled: a feed on a cluster, or a dataset of `repo.yaml`.

    Attributes:
        uri: canonical URI of the series.
        poll: how it is polled.
        feed: None: it is a dataset.
        cluster: of the feed.
    """

    uri: str
    poll: Poll
    feed: Feed | None = None
    cluster: Cluster | None = None

    @property
    def cluster_name(self) -> str:
        """The name of the feed's cluster; empty for a dataset."""
        return "" if self.cluster is None else self.cluster.name

    def places(self, data: DataAccess) -> PolledPlaces:
        """Return where its data is.

        Raises:
            FeedctlError: that cannot be told.
        """
        if self.feed is None or self.cluster is None:
            return PolledDataset(dataset=self.uri, data=data)
        return places_of_feed(data, self.feed, self.cluster)

    def instances(self, nominal_time: datetime, states: Mapping[str, PollState]) -> PolledInstances:
        """Return the instances that can still matter; of a dataset the series as such."""
        if self.feed is None:
            return PolledInstances(looked_at=[""])
        return polled_instances(self.feed, self.cluster_name, nominal_time, states)


def poll_targets(repository: Repository, cluster: Cluster) -> Iterator[PollTarget]:
    """Yield the series of a config repo that are polled from a cluster: all datasets, and the feeds on the cluster."""
    for uri, dataset in repository.datasets.items():
        if dataset.poll is not None:
            yield PollTarget(uri=uri, poll=dataset.poll)
    for feed in repository.feeds.values():
        on_cluster = feed.find_cluster(cluster.name)
        if on_cluster is not None and on_cluster.poll is not None:
            uri = feed_uri(feed.name, cluster.name)
            yield PollTarget(uri=uri, poll=on_cluster.poll, feed=feed, cluster=cluster)


@dataclass(frozen=True, kw_only=True, slots=True)
class PollFailure:
    """A series that could not be looked at as a whole; it stays due.

    Attributes:
        dataset: its URI.
        store: where it is; empty: that could not be told.
        code: of the error.
        message: what happened, and what to do.
        is_unavailable: the store does not answer, and a later try helps.
    """

    dataset: str
    store: str
    code: str
    message: str
    is_unavailable: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class PollReport:
    """Result of polling.

    Attributes:
        polled: URIs of the series that were looked at as a whole.
        looks: number of looks at data, instance by instance.
        events: events that were appended, or would be without the dry run.
        failures: series that could not be looked at.
        not_due: number of series whose time has not come.
    """

    polled: Sequence[str] = ()
    looks: int = 0
    events: Sequence[NewEvent] = ()
    failures: Sequence[PollFailure] = ()
    not_due: int = 0


def poll_due(
    ledger: Ledger,
    data: DataAccess,
    targets: Iterable[PollTarget],
    nominal_time: datetime,
    *,
    check: Callable[[], None],
    deadline: float = DEADLINE_SECONDS,
    dry_run: bool = False,
) -> PollReport:
    """Look at all series whose poll is due, and append the events of settled changes.

    Due and settled go by the clock of the database, since a poll is about the present of the store; the nominal time
    says only which instances of feeds are looked at. Series that were polled longest ago come first, so that each has
    its turn when a deadline cuts a poll short.

    Args:
        ledger: of polls and events.
        data: read access to the stores; nothing is changed there.
        targets: series with a `poll`.
        nominal_time: newer instances of feeds are not looked at.
        check: asked while stores are waited for; what it raises ends the poll before anything is written.
        deadline: seconds for each store.
        dry_run: nothing is written.

    Raises:
        LedgerUnavailable: the ledger cannot be used now.
    """
    by_uri = {each.uri: each for each in targets}
    known, now = ledger.read(lambda tx: (polls.series(tx, by_uri), tx.now()))
    due = [_SeriesLook(each, known.get(each.uri, _NEVER), nominal_time, now, data) for each in by_uri.values()]
    due = sorted((each for each in due if each.is_due), key=_longest_ago)
    work_on_stores(_by_store(due), deadline=deadline, check=check)
    failures = [failure for each in due if (failure := each.failure(deadline)) is not None]
    failed = {each.dataset for each in failures}
    polled = [each.target.uri for each in due if each.target.uri not in failed]
    changes = [change for each in due for change in each.changes]
    return PollReport(
        polled=polled,
        looks=sum(each.looks for each in due),
        events=_planned(ledger, changes) if dry_run else _recorded(ledger, changes, polled, now),
        failures=failures,
        not_due=len(by_uri) - len(due),
    )


class _SeriesLook:
    """One look at a series."""

    def __init__(
        self, target: PollTarget, known: PolledSeries, nominal_time: datetime, now: datetime, data: DataAccess
    ) -> None:
        self.target, self._known, self._nominal_time, self._now, self._data = target, known, nominal_time, now, data
        self.store = ""
        self._error: FeedctlError | None = None
        self._work: StoreWork[PolledChange] | None = None

    @property
    def is_due(self) -> bool:
        return is_due(self.target.poll, self._known.polled_at, self._now)

    @property
    def polled_at(self) -> datetime | None:
        return self._known.polled_at

    @property
    def looks(self) -> int:
        return sum(not each.is_over for each in self._found)

    @property
    def changes(self) -> Iterator[PolledChange]:
        """Yield what the ledger has to know."""
        return (each for each in self._found if each.is_over or each.before != each.after)

    def opened(self) -> StoreWork[PolledChange] | None:
        """Return the work on its store; None: it has no place, which `failure` says."""
        try:
            places = self.target.places(self._data)
            self.store = places.store
        except FeedctlError as error:
            self._error = error
            return None
        self._work = StoreWork(lambda take: self._look(places, take))
        return self._work

    def failure(self, deadline: float) -> PollFailure | None:
        """Return why it could not be looked at as a whole; None: it could.

        Raises:
            BaseException: a bug that a thread came upon.
        """
        error = self._error or (None if self._work is None else self._work.error)
        if error is None:
            return self._late(deadline) if self._work is not None and self._work.is_late else None
        if not isinstance(error, FeedctlError):
            raise error
        return PollFailure(
            dataset=self.target.uri,
            store=self.store,
            code=getattr(error, "code", "unusable"),
            message=str(error),
            is_unavailable=isinstance(error, Unavailable),
        )

    def _late(self, deadline: float) -> PollFailure:
        done = f"{self.looks} looks were made"
        message = f"{self.store} did not answer within {deadline:g} seconds ({done}); the poll stays due"
        return PollFailure(
            dataset=self.target.uri, store=self.store, code="poll_deadline", message=message, is_unavailable=True
        )

    @property
    def _found(self) -> Sequence[PolledChange]:
        return () if self._work is None else self._work.found

    def _look(self, places: PolledPlaces, take: Callable[[PolledChange], None]) -> None:
        states = {key: state for key, state in self._known.states.items() if key or self.target.feed is None}
        instances = self.target.instances(self._nominal_time, states)
        for key in instances.looked_at:
            take(self._look_at(places, key, states.get(key, _BLANK)))
        for key in instances.over:
            take(self._change(key, "", states[key], PollStep(state=_BLANK)))

    def _look_at(self, places: PolledPlaces, key: str, before: PollState) -> PolledChange:
        poll = self.target.poll
        look = places.look(key, poll.by, was_there=before.is_announced)
        step = next_step(before, look, self._now, settle_time(poll, self._now))
        return self._change(key, places.uri(key), before, step)

    def _change(self, key: str, uri: str, before: PollState, step: PollStep) -> PolledChange:
        return PolledChange(
            dataset=self.target.uri,
            feed="" if self.target.feed is None else self.target.feed.name,
            cluster=self.target.cluster_name,
            instance_key=key,
            uri=uri,
            before=before,
            after=step.state,
            announcement=step.announcement,
            extra=step.extra,
            is_over=bool(key) and step.state.is_blank and not before.is_blank,
        )


def _longest_ago(look: _SeriesLook) -> tuple[datetime, str]:
    return look.polled_at or EPOCH, look.target.uri


def _by_store(looks: Iterable[_SeriesLook]) -> dict[str, list[StoreWork[PolledChange]]]:
    found: dict[str, list[StoreWork[PolledChange]]] = {}
    for each in looks:
        work = each.opened()
        if work is not None:
            found.setdefault(each.store, []).append(work)
    return found


def _planned(ledger: Ledger, changes: Sequence[PolledChange]) -> list[NewEvent]:
    return ledger.read(lambda tx: polls.announcements(tx, changes))


def _recorded(ledger: Ledger, changes: Sequence[PolledChange], polled: Sequence[str], now: datetime) -> list[NewEvent]:
    """Write down what was found, in transactions of bounded size, and then which series were looked at."""
    found: list[NewEvent] = []
    for chunk in in_chunks(changes, _PER_TRANSACTION):
        found.extend(_recorded_chunk(ledger, chunk))
    if polled:
        ledger.write(lambda tx: polls.note_looks(tx, polled, now))
    return found


def _recorded_chunk(ledger: Ledger, changes: Sequence[PolledChange]) -> list[NewEvent]:
    return ledger.write(lambda tx: polls.record(tx, changes))
