"""Pass of the monitor: SLAs and other conditions, the alerts that follow, and their messages into the outbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Protocol

from toolkit.actions.approval import CLOCK_SKEW, refuse_future
from toolkit.ledger import alerts
from toolkit.ledger import sla as sla_rows
from toolkit.ledger.alert_rows import AlertChanges, RecordedChanges
from toolkit.monitoring.evidence import DEADLINE_SECONDS, look_at_stores
from toolkit.monitoring.notification import NewsResult, put_digest, put_news
from toolkit.monitoring.series import FeedSeries, watched_series
from toolkit.monitoring.sla_pass import SlaChanges, decide_slas, record_slas, sla_alert_changes

if TYPE_CHECKING:
    from toolkit.availability import DataAccess
    from toolkit.entities import Repository
    from toolkit.ledger.database import Ledger, Transaction
    from toolkit.ledger.sla import SlaPosition
    from toolkit.monitoring.evidence import Looks
    from toolkit.monitoring.series import WatchedSeries

CLOCK_TOLERANCE = timedelta(minutes=1)
"""Clocks that differ by less are not worth a message."""


class ConditionSource(Protocol):
    """Source of conditions besides SLAs."""

    def changes(self, tx: Transaction, now: datetime, since: datetime | None) -> AlertChanges:
        """Return what has to change of the alerts that it is responsible for.

        Args:
            tx: the transaction of the pass.
            now: the time of the pass.
            since: the time of the pass before; None: this is the first.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class MonitorResult:
    """Result of a pass.

    Attributes:
        time: of the pass.
        later: time of a later pass that was there already, so that nothing was decided; None: there was none.
        new: number of instances that are expected for the first time.
        came: number of instances that are there, or are not expected any more.
        unknown: number of instances of which nothing is known.
        series: number of series with an SLA.
        recorded: changes of alerts that this pass made.
        news: messages that it put into the outbox.
        digests: mails of the day among them.
        problems: what was not watched, and why.
        notes: what else people should know.
    """

    time: datetime
    later: datetime | None = None
    new: int = 0
    came: int = 0
    unknown: int = 0
    series: int = 0
    recorded: RecordedChanges = field(default_factory=RecordedChanges)
    news: NewsResult = field(default_factory=NewsResult)
    digests: int = 0
    problems: Sequence[str] = ()
    notes: Sequence[str] = ()


class DeliveryCounts(Protocol):
    """Counts of a delivery: messages that were sent, refused and expired, and why channels failed."""

    sent: int
    refused: int
    expired: int
    failures: dict[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class MonitorReport:
    """Report of a pass.

    Attributes:
        result: what it decided and recorded.
        delivered: what it sent; None: nothing was to be sent.
    """

    result: MonitorResult
    delivered: DeliveryCounts | None = None


@dataclass(frozen=True, kw_only=True)
class Monitor:
    """Watches the series of a config repo.

    Attributes:
        ledger: with events, runs, alerts and the outbox.
        repository: the config repo.
        data: returns read access to the stores of some feeds.
        check: asked while stores are waited for; what it raises ends the pass before anything is written.
        wall_clock: returns the instant by the clock of this machine.
        sources: of conditions besides SLAs.
        seconds: for all looks at stores together.
    """

    ledger: Ledger
    repository: Repository
    data: Callable[[Sequence[FeedSeries]], DataAccess]
    check: Callable[[], None]
    wall_clock: Callable[[], datetime]
    sources: Sequence[ConditionSource] = ()
    seconds: float = DEADLINE_SECONDS

    def run(self, now: datetime) -> MonitorResult:
        """Decide as of a time, and write everything that follows in one transaction.

        Monitors that run at the same time wait for one another, and the second finds nothing left to do.

        Args:
            now: time of the pass; events and runs that were recorded later do not count.

        Raises:
            LedgerUnavailable: the ledger cannot be used now.
            FutureTime: by the clock of the ledger's database, the time is still to come.
        """
        watched = watched_series(self.repository)
        looks = self._looks(watched, now)
        return self.ledger.write(partial(self._written, watched=watched, looks=looks, now=now))

    def _looks(self, watched: WatchedSeries, now: datetime) -> Looks:
        """Look at the stores of which the decision needs something, before the ledger is locked."""
        if not any(isinstance(each, FeedSeries) and each.may_look for each in watched.by_key.values()):
            return {}
        wanted = self.ledger.read(lambda tx: decide_slas(tx, watched, now, {}).looks)
        if not wanted:
            return {}
        data = self.data([series for series, _ in wanted])
        return look_at_stores(data, wanted, check=self.check, deadline=self.seconds)

    def _written(self, tx: Transaction, watched: WatchedSeries, looks: Looks, now: datetime) -> MonitorResult:
        by_ledger = tx.now()
        refuse_future(now, by_ledger)
        before = sla_rows.lock_position(tx, now)
        notes = tuple(self._clock_notes(tx))
        # A pass of the future was made while the database's clock was ahead; nobody waits until then.
        if before.looked_at is not None and now < before.looked_at <= by_ledger + CLOCK_SKEW:
            return MonitorResult(time=now, later=before.looked_at, series=len(watched.by_key), notes=notes)
        changes = decide_slas(tx, watched, now, looks)
        record_slas(tx, changes, now)
        recorded = alerts.record(tx, self._alert_changes(tx, changes, now, before.looked_at), now)
        return MonitorResult(
            time=now,
            new=changes.new,
            came=len(changes.gone),
            unknown=changes.unknown,
            series=len(watched.by_key),
            recorded=recorded,
            news=put_news(tx, self.repository, recorded, now),
            digests=put_digest(tx, self.repository, now) if _is_new_day(before, now) else 0,
            problems=changes.problems,
            notes=notes,
        )

    def _alert_changes(
        self, tx: Transaction, changes: SlaChanges, now: datetime, since: datetime | None
    ) -> AlertChanges:
        tell = self.repository.settings.monitoring.tell
        found = sla_alert_changes(changes, now, tell)
        for each in self.sources:
            found += each.changes(tx, now, since)
        return found

    def _clock_notes(self, tx: Transaction) -> Iterator[str]:
        """Yield a note if the clocks of this machine and of the database differ: events have the database's times."""
        ahead = self.wall_clock() - tx.now()
        if abs(ahead) <= CLOCK_TOLERANCE:
            return
        minutes, way = abs(ahead).total_seconds() / 60, "ahead of" if ahead > timedelta() else "behind"
        yield (
            f"the clock of this machine is {minutes:.0f} minutes {way} that of the ledger's database, so that "
            f"instances seem late or in time by as much; correct the clock (NTP)"
        )


def _is_new_day(before: SlaPosition, now: datetime) -> bool:
    return before.looked_at is None or before.looked_at.date() < now.date()
