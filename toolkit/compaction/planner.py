"""The plan of the maintenance of a table: what is merged, which instances close, which files are left over."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from toolkit.actions.progress import Volume
from toolkit.compaction.closing import files_of_instances
from toolkit.compaction.targets import CLOSE, EXPIRE, MERGE, REMOVE, CompactDetail, CompactItem, CompactPlan
from toolkit.el import OutOfRange, format_instant, parse_instant, shift
from toolkit.ingest.committer import EXPIRE_EVERY, REPLACED_KEPT
from toolkit.ingest.errors import LocationIsShared
from toolkit.ingest.port import WATERMARK_PROPERTY, DataFile, IngestTable, TableState, UnreferencedFile
from toolkit.ingest.slot import require_not_behind
from toolkit.ingest_job.instances import closed_before

_SMALL = 0.75
_OWN_FILE = re.compile(r"feedctl-(\d+)-\d+-\d{5}\.parquet")
"""Name of a data file that a writer made, with its transaction."""
_KNOWN_FILES = {
    True: re.compile(r"feedctl-[\w.-]+\.parquet"),
    False: re.compile(r"snap-[\w-]+\.avro|[0-9a-f-]{36}-m\d+\.avro|\d{5,}-[0-9a-f-]{36}\.metadata\.json"),
}
"""Names of data files that feedctl makes, and of metadata that any engine makes: no others are removed."""
LEFT_OVER_AGE = timedelta(days=3)
"""Files that were part of the table are removed so long after their last change: a catalog that is restored, or a table
that is dropped by mistake, needs them; it is the default of Iceberg's own procedure."""

_MARGIN = timedelta(minutes=15)
"""The clocks of hosts that commit may differ by less."""

NeverCommitted = Callable[[Collection[int]], Collection[int]]
"""Returns which transactions were not, and will never be, committed."""


@dataclass(frozen=True, kw_only=True)
class CompactPlanner:
    """Looks at a table, and plans.

    Attributes:
        plan: of the target, blank.
        table: of it.
        nominal: the instant of the run.
        now: the present instant.
        never_committed: see `NeverCommitted`.
        last_fence: with which the ledger knows a commit, read before the table is looked at.
    """

    plan: CompactPlan
    table: IngestTable
    nominal: datetime
    now: datetime
    never_committed: NeverCommitted
    last_fence: int = 0

    def planned(self) -> CompactPlan:
        """Return the plan.

        Raises:
            TableIsBehind: the table lacks commits that the ledger knows.
        """
        state = self.table.state()
        require_not_behind(self.table.name, state, self.last_fence)
        closed, closes, notes = closed_before(state), *self._closing(state)
        parts = self._parts(closed)
        due = sorted(each for each in parts if self._closes(each, closed, closes))
        items = [*self._merges(parts, closes), *(self._item(CLOSE, each) for each in due)]
        if state.snapshots > 2 * EXPIRE_EVERY or self._has_outdated(state):
            items.append(CompactItem(kind=EXPIRE, uri=self.table.name))
        left, why = self._left_over()
        items.extend(CompactItem(kind=REMOVE, uri=each.uri, file=each) for each in left)
        return replace(
            self.plan,
            items=tuple(items),
            detail=CompactDetail(closed_before=closed, closes_before=closes if due else None),
            notes=(*notes, *why),
            volume=Volume(files=len(items), bytes=sum(each.bytes for each in items if each.kind == MERGE)),
        )

    def _closing(self, state: TableState) -> tuple[datetime | None, Sequence[str]]:
        """Return the instant before which instances may be closed, and notes."""
        rules, until = self.plan.target.rules, self.nominal
        if rules.has_source:
            text = state.properties.get(WATERMARK_PROPERTY)
            if text is None:
                return None, ("no instance closes: no ingest has read the source to its end yet",)
            until = min(until, parse_instant(text))
        return self.plan.target.instances.over_before(until - rules.close_after), ()

    def _has_outdated(self, state: TableState) -> bool:
        """Return whether a snapshot has not been current for so long that its files are to be freed."""
        return state.oldest_until is not None and self.now - state.oldest_until > REPLACED_KEPT + _MARGIN

    @staticmethod
    def _closes(instance: datetime, closed: datetime | None, closes: datetime | None) -> bool:
        return closes is not None and instance < closes and (closed is None or instance >= closed)

    def _parts(self, closed: datetime | None) -> dict[datetime, list[DataFile]]:
        """Return the files of instances that may close or may have got late rows; all, while none has closed."""
        instances, first = self.plan.target.instances, closed
        if closed is not None and instances.cut_off is not None:
            with suppress(OutOfRange):
                first = shift(closed, instances.cut_off, -1, instances.timezone)
        return files_of_instances(self.plan.target, self.table, first, self.now)

    def _merges(self, parts: dict[datetime, list[DataFile]], closes: datetime | None) -> Iterator[CompactItem]:
        rules = self.plan.target.rules
        for instance in sorted(parts):
            small = [each for each in parts[instance] if each.bytes < rules.bytes * _SMALL]
            is_closed = closes is not None and instance < closes
            if len(small) >= (2 if is_closed else rules.files):
                for group in _groups(small, rules.bytes):
                    yield replace(self._item(MERGE, instance), files=tuple(group))

    def _item(self, kind: str, instance: datetime) -> CompactItem:
        target = self.plan.target
        uri = target.instances.partition_uri(target.name, instance)
        return CompactItem(kind=kind, uri=uri, instance_key=format_instant(instance))

    def _left_over(self) -> tuple[Sequence[UnreferencedFile], Sequence[str]]:
        """Return the files that may be removed, and why none may."""
        try:
            found = removable(self.table.unreferenced(), self.never_committed, self.now)
        except LocationIsShared as error:
            return (), (str(error),)
        return sorted(found, key=lambda each: each.uri), ()


def removable(
    files: Sequence[UnreferencedFile], never_committed: NeverCommitted, now: datetime
) -> Sequence[UnreferencedFile]:
    """Return the files that no commit and no restored catalog can need, of those whose names are known.

    Args:
        files: that nothing refers to.
        never_committed: asked after the files were listed; a look at them has to follow before one is removed.
        now: the present instant.
    """
    known = [each for each in files if _KNOWN_FILES[each.is_data].fullmatch(each.uri.rpartition("/")[2])]
    of_file = {each.uri: found for each in known if each.is_data and (found := transaction_of(each.uri)) is not None}
    never = frozenset(never_committed(set(of_file.values())))
    return [each for each in known if of_file.get(each.uri) in never or now - each.modified >= LEFT_OVER_AGE]


def transaction_of(uri: str) -> int | None:
    """Return the transaction of a writer's data file; None: it is another file."""
    found = _OWN_FILE.fullmatch(uri.rpartition("/")[2])
    return None if found is None else int(found[1])


def _groups(files: Sequence[DataFile], most: int) -> Iterator[list[DataFile]]:
    """Yield groups of at least two files, each of about so many bytes."""
    group: list[DataFile] = []
    size = 0
    for each in sorted(files, key=lambda one: one.uri):
        if group and size + each.bytes > most:
            if len(group) > 1:
                yield group
            group, size = [], 0
        group.append(each)
        size += each.bytes
    if len(group) > 1:
        yield group
