"""Looking at both sides of an instance, and deciding what is to be copied; changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.actions.model import TIMED_OUT, Problem, TargetPlan
from toolkit.actions.progress import Volume
from toolkit.availability import is_ready, is_there
from toolkit.replication.completeness import mark_of
from toolkit.replication.listing import UnitDifference, difference, selected
from toolkit.replication.preserve import Preservation
from toolkit.replication.removals import removals
from toolkit.replication.targets import (
    COPY,
    FLAG,
    CopyReason,
    ReplicationDetail,
    ReplicationPlan,
    ReplicationTarget,
    UnitItem,
)
from toolkit.runs.recorder import path_text
from toolkit.storage import FileKind, StorageError, raw_path
from toolkit.threads import WorkerPool
from toolkit.transfer.digest_reader import DigestReader
from toolkit.transfer.raw_copies import refuse_raw
from toolkit.transfer.spread_copy import COPY_THREADS
from toolkit.transfer.trees import Tree, below, read_tree

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.ledger.manifests import Manifest
    from toolkit.storage import FileSystem

NOT_AVAILABLE, NOTHING_SELECTED, SOURCE_EMPTY = "not_available", "nothing_selected", "source_empty"
SOURCE_EVICTED = "source_evicted"
"""Codes of instances that are not copied, and why."""


def blank_plan(target: ReplicationTarget) -> ReplicationPlan:
    """The plan of an instance that is not looked at."""
    return TargetPlan(target=target, detail=ReplicationDetail())


@dataclass(frozen=True, kw_only=True)
class ReplicationPlanner:
    """Plans instances.

    Attributes:
        storage: the store that a path is on.
        check: asked while stores are listed; what it raises ends the planning.
        nominal: for which the run acts.
        recorded: what the ledger has of the units of an instance, by their paths.
        pool: reads files, where bytes are compared.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    check: Callable[[], None]
    nominal: datetime
    recorded: Callable[[ReplicationTarget], Mapping[str, Manifest]] = lambda _: {}
    pool: WorkerPool = field(default_factory=lambda: WorkerPool(COPY_THREADS, "feedctl-read"))

    def plan(self, target: ReplicationTarget) -> ReplicationPlan:
        """The plan of one instance; what keeps it from being looked at is a failure of its plan."""
        blank = blank_plan(target)
        try:
            if not is_ready(self.storage(target.source), target.source, target.flag):
                return self._not_available(blank)
            return self._planned(blank)
        except StorageError as error:
            return replace(blank, failed=Problem(code=error.code, message=str(error)))

    def _not_available(self, blank: ReplicationPlan) -> ReplicationPlan:
        target = blank.target
        if self._is_evicted(target):
            message = (
                f"{target.source} is not there, and is older than what the retention of {target.counterpart} keeps; it "
                "is not waited for any more. If it comes back, copy it by --start"
            )
            return replace(blank, skipped=Problem(code=SOURCE_EVICTED, message=message, is_settled=True))
        what = f"its flag {target.flag} is" if target.flag else "it is"
        message = f"{target.instance_key} is not available on {target.counterpart} yet: {what} not in {target.source}"
        if target.waits_until is not None and self.nominal >= target.waits_until:
            message = f"{message}, and the feed's timeout is over; copy it by --start when it has come"
            return replace(blank, failed=Problem(code=TIMED_OUT, message=message))
        return replace(blank, waiting=Problem(code=NOT_AVAILABLE, message=message))

    def _is_evicted(self, target: ReplicationTarget) -> bool:
        """Return whether the source's retention has removed an instance; an absent base may be a missing mount."""
        base, system = target.expired_below, self.storage(target.source)
        return base is not None and is_there(system, base) and not is_there(system, target.source)

    def _planned(self, blank: ReplicationPlan) -> ReplicationPlan:
        target = blank.target
        units = list(selected(self.storage(target.source), target.source, target.parts))
        if not units:
            expression = "/".join(part.text for part in target.parts)
            message = f"no directory in {target.source} fits the partition {expression}"
            return replace(blank, failed=Problem(code=NOTHING_SELECTED, message=message))
        items: list[UnitItem] = []
        kept, recorded, has_data = 0, self.recorded(target), False
        for source in units:
            names = "" if source == target.source else source.relative_to(target.source)
            place = below(target.target, names)
            item = self._item(target, source, place, recorded.get(path_text(str(place))))
            if isinstance(item, Problem):
                return replace(blank, failed=item)
            if item.copied or item.gone or item.present is None:
                items.append(item)
            kept += sum(entry.kind is FileKind.FILE for entry in item.wanted.values()) - item.files
            has_data |= _has_data(item.wanted, "")
        removed = list(removals(target, recorded, self.storage, self.check)) if target.parts else []
        if not has_data and any(item.present is not None for item in removed):
            message = f"{target.source} has no data in any directory; nothing is removed for an empty source"
            return replace(blank, failed=Problem(code=SOURCE_EMPTY, message=message))
        if any(item.copied for item in items):
            self._refuse(target)
        items += removed
        is_complete, may_be = self._is_complete(target)
        if not items and may_be:
            items = [_flag_item(target)]
        volume = Volume(files=sum(item.files for item in items), bytes=sum(item.bytes for item in items))
        detail = ReplicationDetail(kept=kept, units=len(units), is_complete=is_complete)
        return replace(blank, items=tuple(items), volume=volume, detail=detail)

    def _refuse(self, target: ReplicationTarget) -> None:
        """Refuse what the stores cannot do for the feed's properties; raises StorageError."""
        source, here = self.storage(target.source), self.storage(target.target)
        Preservation(source=source, target=here, rules=target.rules, check=self.check).refused(target.target)
        if target.rules.create.raw:
            refuse_raw(self.storage, target.source, target.target)

    def _item(
        self, target: ReplicationTarget, source: CanonicalPath, place: CanonicalPath, recorded: Manifest | None
    ) -> UnitItem | Problem:
        directories = all(self.storage(end).capabilities.directories for end in (source, place))
        wanted = read_tree(self.storage(source), source, self.check, directories=directories)
        present = read_tree(self.storage(place), place, self.check, directories=directories)
        flag = target.flag if place == target.target else ""
        if _has_data(present, flag) and not _has_data(wanted, flag):
            message = f"{source} has no data, and {place} has; nothing is removed for an empty source"
            return Problem(code=SOURCE_EMPTY, message=message)
        wanted = wanted or {}
        step = self.storage(place).capabilities.time_step
        found = difference(wanted, present, target.rules, step, recorded)
        known = {name: each.digest for name, each in (recorded or {}).items() if each.digest}
        if target.rules.rehash:
            found, known = self._rehashed(found, source, place, known, is_raw=target.rules.create.raw)
        stays: Tree = {} if target.rules.remove_deleted else {name: (present or {})[name] for name in found.extra}
        return UnitItem(
            instance_key=target.instance_key,
            source=source,
            target=place,
            wanted=wanted,
            present=present,
            copied=found.copied,
            extra=stays,
            known=known,
            kind=COPY,
        )

    def _rehashed(
        self,
        found: UnitDifference,
        source: CanonicalPath,
        place: CanonicalPath,
        known: Mapping[str, str],
        *,
        is_raw: bool,
    ) -> tuple[UnitDifference, dict[str, str]]:
        """Without what has the same bytes at both ends; and the digests of these."""
        names = [name for name, reason in found.copied.items() if reason is CopyReason.DIGEST]
        roots = [raw_path(root) if is_raw else root for root in (source, place)]
        ends = [self._digests(root, names) for root in roots]
        same = {name: digest for name, digest in ends[0].items() if digest == ends[1][name]}
        # What the ledger knows better is copied again, so that it does not go on doing so.
        same = {name: digest for name, digest in same.items() if known.get(name, digest) == digest}
        copied = {name: reason for name, reason in found.copied.items() if name not in same}
        return UnitDifference(copied, found.extra), {**known, **same}

    def _digests(self, root: CanonicalPath, names: Sequence[str]) -> dict[str, str]:
        reader = DigestReader(system=self.storage(root), check=self.check)
        paths = {below(root, name): name for name in names}
        found: dict[str, str] = {}
        reader.read_all(list(paths), self.pool, lambda path, read: found.update({paths[path]: read.or_raise()}))
        return found

    def _is_complete(self, target: ReplicationTarget) -> tuple[bool, bool]:
        """Return whether the parts of all sources and the flag are at the target, and whether this run may write it."""
        system = self.storage(target.target)
        is_own = not target.others or is_there(system, mark_of(target.target, target.counterpart))
        are_all = is_own and all(is_there(system, mark_of(target.target, name)) for name in target.others)
        is_complete = are_all and (target.flag_path is None or is_there(system, target.flag_path))
        return is_complete, not is_own or (are_all and not is_complete)


def _has_data(found: Tree | None, flag: str) -> bool:
    """Return whether a unit has a file besides its flag, which is removed last."""
    return any(entry.kind is FileKind.FILE and name != flag for name, entry in (found or {}).items())


def _flag_item(target: ReplicationTarget) -> UnitItem:
    place = target.flag_path or target.target
    return UnitItem(
        instance_key=target.instance_key,
        source=target.source.child(target.flag) if target.flag else target.source,
        target=place,
        wanted={},
        present=None,
        copied={},
        kind=FLAG,
    )
