"""Batches of the maintenance of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.actions.action import Applied
from toolkit.actions.attempt import FailedAttempt, attempted
from toolkit.actions.guard import CalledOff
from toolkit.actions.model import INTERRUPTED, ItemResult
from toolkit.compaction.closing import Closing, announcing, files_of_instances
from toolkit.compaction.planner import removable
from toolkit.el import format_instant
from toolkit.errors import FeedctlError
from toolkit.ingest.committer import EXPIRE_EVERY, KEPT, REPLACED_KEPT
from toolkit.ingest.errors import CommitConflict
from toolkit.ingest.exclusive import ExclusiveCommits
from toolkit.ingest.slot import CommitSlots, last_fence, require_not_behind
from toolkit.ledger import ingest
from toolkit.storage import Unreachable

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.compaction.targets import CompactItem, CompactPlan
    from toolkit.ingest.port import IngestTable, TableState
    from toolkit.ledger.database import Ledger

LEFT, CONFLICT = "still_needed", "commit_conflict"
"""Codes of files that a commit may need by now, and of snapshots that another engine's commit kept."""
_ALL = (FeedctlError,)


@dataclass(frozen=True, kw_only=True)
class TableWork:
    """Work on the table of a plan.

    Attributes:
        plan: of the table.
        work: of the run.
        ledger: of the run.
    """

    plan: CompactPlan
    work: RunContext
    ledger: Ledger

    def items(self, positions: range) -> Sequence[CompactItem]:
        """Return the items at positions."""
        return [self.plan.items[at] for at in positions]

    def check(self) -> None:
        """Ask whether an effect may begin.

        Raises:
            Stopped: the run must not go on.
            CalledOff: a hold is on the feed.
        """
        refusal = self.work.guard.refusal(self.plan.target.base)
        self.work.guard.check()
        if refusal is not None:
            raise CalledOff(refusal=refusal)

    def commits(self, table: IngestTable) -> ExclusiveCommits:
        """Return commits in slots of their own; late rows of killed writers are announced with them."""
        slots = CommitSlots(table=table, ledger=self.ledger)
        return ExclusiveCommits(slots=slots, events=self.plan.target.instances.late_events)

    def applied(
        self, positions: range, effect: Callable[[IngestTable], Applied[CompactItem]], advance: Callable[[int], None]
    ) -> Applied[CompactItem]:
        """Do an effect; what stands against it becomes the result of all items."""

        def opened() -> Applied[CompactItem]:
            self.check()
            with self.plan.target.open_table() as table:
                return effect(table)

        found = attempted(self.work, opened, failures=_ALL)
        advance(len(positions))
        if isinstance(found, FailedAttempt):
            unknown = found.code in (Unreachable.code, INTERRUPTED)
            open_now = frozenset(positions if unknown else ())  # the next run looks at the table, and settles them
            return Applied(results=tuple(found.of(item) for item in self.items(positions)), open=open_now)
        return found


@dataclass(frozen=True, kw_only=True)
class CloseBatch:
    """Instances that close together; see `Batch`."""

    run: TableWork
    positions: range

    def apply(self, advance: Callable[[int], None]) -> Applied[CompactItem]:
        """Let the table say that they are closed, then announce them in the ledger."""
        return self.run.applied(self.positions, self._closed, advance)

    def _closed(self, table: IngestTable) -> Applied[CompactItem]:
        items, plan = self.run.items(self.positions), self.run.plan
        closing = Closing(target=plan.target, detail=plan.detail, items=items, table=table)

        def commit(base: TableState, properties: Mapping[str, str]) -> None:
            self.run.check()
            closing.commit(base, properties)

        self.run.commits(table).commit(commit, closing.is_done)
        found = files_of_instances(plan.target, table, plan.detail.closed_before, plan.detail.closes_before)
        sizes = {format_instant(at): sum(each.bytes for each in files) for at, files in found.items()}
        due = {each.instance_key: sizes[each.instance_key] for each in items if each.instance_key in sizes}
        return Applied(results=tuple(ItemResult.done(item) for item in items), writes=(announcing(plan.target, due),))


@dataclass(frozen=True, kw_only=True)
class ExpireBatch:
    """Snapshots that are forgotten; see `Batch`."""

    run: TableWork
    positions: range

    def apply(self, advance: Callable[[int], None]) -> Applied[CompactItem]:
        """Expire snapshots that no reader and no unresolved transaction needs."""
        return self.run.applied(self.positions, self._expired, advance)

    def _expired(self, table: IngestTable) -> Applied[CompactItem]:
        (item,) = self.run.items(self.positions)
        now, oldest = self.run.ledger.read(lambda tx: (tx.now(), ingest.oldest_intention(tx, table.name)))
        try:
            table.expire(
                older_than=now - KEPT, keep_since=oldest, keep_last=EXPIRE_EVERY, replaced_since=now - REPLACED_KEPT
            )
        except CommitConflict:
            return Applied(results=(ItemResult.skipped(item, CONFLICT),))
        return Applied(results=(ItemResult.done(item),))


@dataclass(frozen=True, kw_only=True)
class RemoveBatch:
    """Files that are left over and are removed; see `Batch`."""

    run: TableWork
    positions: range

    def apply(self, advance: Callable[[int], None]) -> Applied[CompactItem]:
        """Remove those to which still nothing refers, and which no commit under way can need."""
        return self.run.applied(self.positions, self._removed, advance)

    def _removed(self, table: IngestTable) -> Applied[CompactItem]:
        items, ledger = self.run.items(self.positions), self.run.ledger
        ledger.write(lambda tx: ingest.abort_lapsed(tx, table.name))
        files = [each.file for each in items if each.file is not None]
        known = last_fence(ledger, table.name)

        def require_known(base: TableState, properties: Mapping[str, str]) -> None:
            del properties
            require_not_behind(table.name, base, known)

        # The slot makes sure that this is the ledger which the table is written with: its ids are those of the files.
        self.run.commits(table).commit(require_known, lambda: True)
        now = ledger.read(lambda tx: tx.now())
        allowed = removable(files, lambda ids: ledger.read(lambda tx: ingest.never_committed(tx, ids)), now)
        self.run.check()
        table.remove_unreferenced(allowed)
        gone = {each.uri for each in allowed}
        results = (ItemResult.done(item) if item.uri in gone else ItemResult.skipped(item, LEFT) for item in items)
        return Applied(results=tuple(results))
