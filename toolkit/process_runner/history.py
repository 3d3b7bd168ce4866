"""Records of a process that decide which instances are due, in time and memory that what is done does not add to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.entities import Order
from toolkit.ledger.runs.history import RecordedRuns
from toolkit.ledger.runs.instances import newest_begun, skipped_attempts
from toolkit.ledger.runs.queries import InstanceSpan, Subject
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.planning.history import unrecorded
from toolkit.process_runner.due import order_of, starts_by_frequency

if TYPE_CHECKING:
    from toolkit.ledger.database import Transaction
    from toolkit.ledger.runs.instances import NewestAttempt
    from toolkit.planning.process_io import ProcessSite
    from toolkit.process_runner.due import Known

_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class DueHistory:
    """History of a process as far as it decides what is due.

    Attributes:
        known: the attempts that decide, see `Known`.
        unrecorded: see `queue_of_due`.
    """

    known: Known
    unrecorded: Iterable[datetime] | None


def subject_of(site: ProcessSite) -> Subject:
    """Return the runs of a process as the ledger calls them."""
    return Subject(entity=site.process.name, life_cycle=LifeCycle.EXECUTION, cluster=site.cluster.name)


def due_history(
    tx: Transaction, site: ProcessSite, nominal: datetime, opened: Mapping[str, NewestAttempt]
) -> DueHistory:
    """Return the attempts that decide about due instances, and the instances that have none.

    An attempt that is over and not skipped decides nothing more, unless it is to be tried again.

    Args:
        tx: the transaction.
        site: the process on its cluster.
        nominal: the newest instance that is due.
        opened: all attempts of the process that may begin, or go on, or are to be tried again now.
    """
    subject, end = subject_of(site), nominal + _MINUTE
    span = InstanceSpan(subject=subject, start_key="", end_key=format_instant(end))
    newest = newest_begun(tx, span) if order_of(site) is Order.LAST_ONLY else None
    skipped = skipped_attempts(tx, span, "" if newest is None else newest.instance_key)
    may_be_later = site.process.trigger is not None
    known = {key: each for key, each in opened.items() if may_be_later or key < span.end_key}
    known |= skipped | ({} if newest is None else {newest.instance_key: newest})
    if not starts_by_frequency(site):
        return DueHistory(known=known, unrecorded=())
    instances, recorded = site.process.instances_on(site.cluster.name), RecordedRuns(tx=tx, subject=subject)
    return DueHistory(known=known, unrecorded=tuple(unrecorded(instances, instances.start, end, recorded)))
