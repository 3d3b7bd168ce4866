"""Closing of instances: the table says that they are closed, then consumers learn that they are available."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.el import format_instant, parse_instant
from toolkit.errors import Failed
from toolkit.ingest.port import CLOSED_PROPERTY, DataFile, IngestTable, TableCommit, TableState
from toolkit.ingest_job.instances import closed_before
from toolkit.ledger import events
from toolkit.ledger.batches.files import enqueue_instance
from toolkit.ledger.batches.rows import FeedInstance
from toolkit.ledger.events import NewEvent, is_announced
from toolkit.ledger.vocabulary import EventKind

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.compaction.targets import CompactDetail, CompactItem, CompactTarget
    from toolkit.ledger.database import Transaction
    from toolkit.runs.recorder import LedgerWrite


class ClosingHasChanged(Failed):
    """Error for instances that are not those of the plan any more.

    Args:
        table: the table.
        instance: one of which the plan knows nothing, or the instant before which the table has closed them.
    """

    code = "closing_has_changed"

    def __init__(self, *, table: str, instance: str) -> None:
        self.table, self.instance = table, instance
        super().__init__(
            f"nothing was closed in {table}: instance {instance} got its first rows, or instances were closed, since "
            f"the plan was made; the next run closes them"
        )


@dataclass(frozen=True, kw_only=True)
class Closing:
    """Closing of the instances of a plan.

    Attributes:
        target: of the plan.
        detail: of the plan, which closes instances.
        items: of the instances.
        table: of the feed.
    """

    target: CompactTarget
    detail: CompactDetail
    items: Sequence[CompactItem]
    table: IngestTable

    def commit(self, base: TableState, properties: Mapping[str, str]) -> None:
        """Commit that the instances are closed; called while no writer commits.

        Raises:
            ClosingHasChanged: an instance that the plan does not know has rows; it would never be announced.
        """
        self._require_same(base)
        self.table.commit(TableCommit(properties={**properties, CLOSED_PROPERTY: self._before}), base)

    def is_done(self) -> bool:
        """Look whether the table says so."""
        return self.table.state().properties.get(CLOSED_PROPERTY) == self._before

    @property
    def _before(self) -> str:
        return "" if self.detail.closes_before is None else format_instant(self.detail.closes_before)

    def _require_same(self, base: TableState) -> None:
        if (found := closed_before(base)) != self.detail.closed_before:
            raise ClosingHasChanged(table=self.table.name, instance="" if found is None else format_instant(found))
        known = {each.instance_key for each in self.items}
        first, end = self.detail.closed_before, self.detail.closes_before
        for instance in sorted(instances_with_rows(self.target, self.table, first, end)):
            if (key := format_instant(instance)) not in known:
                raise ClosingHasChanged(table=self.table.name, instance=key)


_WINDOW = 1_000
"""So many instances are asked for by their partitions; for more of them all files of the table are listed."""


def files_of_instances(
    target: CompactTarget, table: IngestTable, first: datetime | None, end: datetime | None
) -> dict[datetime, list[DataFile]]:
    """Return the data files of the instances from one to another, the end excluded.

    Args:
        target: has the instances.
        table: looked at now.
        first: None: from the first one that has files.
        end: None: without an end.
    """
    instances = target.instances
    partitions = None
    if first is not None and end is not None and instances.sequence.count(first, end) <= _WINDOW:
        partitions = [instances.partition(each) for each in instances.sequence.between(first, end)]
    found: dict[datetime, list[DataFile]] = {}
    for file in table.files(partitions):
        at = instances.instance_of(file.partition)
        if at is not None and (first is None or at >= first) and (end is None or at < end):
            found.setdefault(at, []).append(file)
    return found


def instances_with_rows(
    target: CompactTarget, table: IngestTable, first: datetime | None, end: datetime | None
) -> frozenset[datetime]:
    """Return the instances that have rows; arguments are those of `files_of_instances`."""
    return frozenset(files_of_instances(target, table, first, end))


def announcing(target: CompactTarget, instances: Mapping[str, int]) -> LedgerWrite:
    """Return the ledger write that announces closed instances, each with a batch for the steps that read the feed.

    Writing it again changes nothing.

    Args:
        target: of the feed.
        instances: by key; the size of their rows in bytes.
    """

    def write(tx: Transaction, run_id: int) -> None:
        for key, size in instances.items():
            if not is_announced(tx, target.entity, target.cluster, key):
                _announce(tx, target, key, size, run_id)

    return write


def _announce(tx: Transaction, target: CompactTarget, key: str, size: int, run_id: int) -> None:
    uri = target.instances.partition_uri(target.name, parse_instant(key))
    instance = FeedInstance(feed=target.entity, cluster=target.cluster, instance_key=key, uri=uri)
    enqueue_instance(tx, instance, size)
    new = NewEvent(kind=EventKind.AVAILABLE, feed=target.entity, cluster=target.cluster, instance_key=key, uri=uri)
    events.append(tx, [new], run_id)
