"""From a feed that is ingested to its plan: the partitions of the current snapshot of its Iceberg table."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.actions.model import Problem, TargetPlan
from toolkit.catalog.partition_name import joined_name
from toolkit.el import CanonicalPath, format_instant
from toolkit.entities import LocationType
from toolkit.errors import Failed, FeedctlError, StopRequested
from toolkit.ingest.errors import NoSuchIngestTable
from toolkit.ingest.slot import require_not_behind
from toolkit.retention.plan import ItemKind, NamedPartition, PlanItem, RetentionDetail, Unrecognized
from toolkit.retention.tables.planner import PartitionScan
from toolkit.retention.tables.selection import PartitionSelection

if TYPE_CHECKING:
    from toolkit.actions.hold_file import HoldFile
    from toolkit.ingest.port import DataFile, IngestTable, Partition
    from toolkit.planning.retention import Candidate
    from toolkit.retention.plan import FeedPlan
    from toolkit.retention.targets import FeedTable, FeedTarget, IcebergAccess

_LOG = logging.getLogger(__name__)
FILES_STAY = (
    "the rows are gone for queries that begin after this; the data files stay for 6 hours at least, until compact.py "
    "has expired the snapshots that have them, so the space is not free at once"
)


class OtherPartitionColumns(Failed):
    """Error for a table with other partition columns than the feed names.

    Args:
        table: the table.
        found: its partition columns.
        expected: those of the feed.
    """

    code = "other_partition_columns"

    def __init__(self, *, table: str, found: Sequence[str], expected: Sequence[str]) -> None:
        self.table, self.found, self.expected = table, tuple(found), tuple(expected)
        super().__init__(
            f"{table} is partitioned by {', '.join(found) or 'nothing'}, and the feed names {', '.join(expected)}: it "
            f"is unknown which instance a partition is; correct `table` of the feed, or the table"
        )


@dataclass(frozen=True, kw_only=True)
class IcebergPlanner:
    """Makes the plans of feeds that are ingested; nothing is changed.

    Attributes:
        check: called before the table is looked at; what it raises ends the planning.
        hold_file: looks for one in directories; it raises `StorageError`.
    """

    check: Callable[[], None]
    hold_file: Callable[[Iterable[CanonicalPath]], HoldFile | None]

    def plan(self, target: FeedTarget, table: FeedTable, access: Callable[[], IcebergAccess]) -> FeedPlan:
        """Return the plan for one feed; what stops it is a failure of this feed only."""
        blank: FeedPlan = TargetPlan(target=target, detail=RetentionDetail(), notes=target.notes)
        self.check()
        try:
            found = access()
            last_fence = found.last_fence()
            with found.opened() as opened:
                return self._plan(target, table, opened, last_fence)
        except NoSuchIngestTable as error:
            note = f"the table {error.table} is not there: nothing was ingested yet"
            return replace(blank, notes=(*blank.notes, note))
        except StopRequested:
            raise
        except FeedctlError as error:
            code = str(getattr(error, "code", "failed"))
            _LOG.warning("event=feed_failed feed=%s cluster=%s code=%s", target.feed, target.cluster, code)
            return replace(blank, failed=Problem(code=code, message=str(error)))

    def _plan(self, target: FeedTarget, table: FeedTable, opened: IngestTable, last_fence: int) -> FeedPlan:
        state = opened.state()
        require_not_behind(opened.name, state, last_fence)
        keys = tuple(table.uri.partition_keys)
        if state.partition_columns != keys:
            raise OtherPartitionColumns(table=opened.name, found=state.partition_columns, expected=keys)
        base = table.place(state.location)
        target = table.with_path_feeds(target, base)
        files = by_name(keys, opened.files())
        scan = PartitionScan(target=target, table=table, base=base)
        for name in sorted(files):
            scan.add(name)
        hold_file = self.hold_file((base, *target.neighbour_bases))
        selection = PartitionSelection.of(scan.candidates, target, hold_file)
        items = tuple(_item(target, table, scan.candidates[name], files[name]) for name in selection.going)
        held = () if hold_file is None else (hold_file.note(selection.held(hold_file)),)
        return TargetPlan(
            target=target,
            detail=RetentionDetail(
                kept=tuple(selection.kept.values()),
                unrecognized=Unrecognized(count=scan.unrecognized, sample=tuple(scan.sample)),
                hold_file=hold_file,
                young=frozenset(selection.young),
                base=base,
            ),
            items=items,
            notes=(*target.notes, *held, *selection.notes, *((FILES_STAY,) if items else ())),
        )


def by_name(keys: Sequence[str], files: Iterable[DataFile]) -> Mapping[str, Sequence[DataFile]]:
    """Return the data files of each partition, by its name; the files of one are sorted."""
    found: dict[str, list[DataFile]] = {}
    for each in files:
        found.setdefault(_name(keys, each.partition), []).append(each)
    return {name: sorted(group, key=lambda one: one.uri) for name, group in found.items()}


def _name(keys: Sequence[str], partition: Partition) -> str:
    """Return the name of a partition; one of an earlier partition spec, with other columns, has no feedctl name."""
    return joined_name(keys, partition) if len(keys) == len(partition) else "/".join(partition)


def _item(target: FeedTarget, table: FeedTable, candidate: Candidate, files: Sequence[DataFile]) -> PlanItem:
    return PlanItem(
        type=ItemKind.PARTITION,
        feed=target.feed,
        cluster=target.cluster,
        location=LocationType.DATA,
        instance_key=format_instant(candidate.time),
        path=candidate.path,
        base=candidate.base,
        partition=NamedPartition(table.name, candidate.partition),
        files=tuple(files),
    )
