"""Quarantine of a feed as a plan sees it: what is purged, what is condemned in place, and what waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from toolkit.availability import is_there
from toolkit.el import format_instant
from toolkit.planning.retention import Candidate, KeepReason, kept_by
from toolkit.retention.plan import ItemKind, PlanItem
from toolkit.retention.protection import ProtectedInstances
from toolkit.retention.quarantine import BadManifest, digest_of, kept_until
from toolkit.retention.quarantine_reader import Quarantined, QuarantineEntry, QuarantineReader, entries
from toolkit.threads import worker_pool

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import FeedPlan
    from toolkit.retention.targets import FeedTarget
    from toolkit.storage import FileSystem

F = TypeVar("F", bound="Candidate | PlanItem")


@dataclass(kw_only=True)
class QuarantineScan:
    """Looks at the quarantine of one path feed; nothing is changed.

    Attributes:
        target: the feed.
        storage: the store that a path is on.
        check: called before each listing or read; what it raises ends the scan.
    """

    target: FeedTarget
    storage: Callable[[CanonicalPath], FileSystem]
    check: Callable[[], None]
    _found: dict[CanonicalPath, list[QuarantineEntry]] = field(default_factory=dict, init=False)
    _condemned: dict[CanonicalPath, bool] = field(default_factory=dict, init=False)

    def look(self, bases: Iterable[CanonicalPath]) -> None:
        """List the folders below these bases.

        Raises:
            StorageError: one cannot be listed.
        """
        for base, folder in self._reader.folders().items():
            if base in set(bases):
                found = list(entries(self.storage(base), folder, self.check))
                self._found[base] = found if self._renames(base) else list(newest_of(found))

    def without_condemned(self, found: Sequence[F]) -> list[F]:
        """Return what was found without the instances that are in quarantine where they are.

        Raises:
            StorageError: it is unknown whether an instance still has its flag.
        """
        for base, in_quarantine in self._found.items():
            if self._renames(base) or not in_quarantine:
                continue
            digests = {each.place.digest for each in in_quarantine}
            candidates = (each for each in found if isinstance(each, Candidate) and not each.is_staged)
            paths = [each.path for each in candidates if each.base == base and digest_of(each.path) in digests]
            self._ask_flags(base, [path for path in paths if path not in self._condemned])
        if not self._condemned:
            return list(found)
        return [each for each in found if not self._condemned.get(each.path, False)]

    def added_to(self, plan: FeedPlan, kept_from: datetime) -> FeedPlan:
        """Return a plan with what is purged.

        Args:
            plan: of this run; of a feed on hold nothing is purged.
            kept_from: see `keep_last_from`, of all instances.

        Raises:
            StorageError: a manifest cannot be read.
        """
        if plan.detail.hold_file is not None or not any(self._found.values()):
            return plan
        due, notes = self._due(kept_from)
        items = sorted((self._item(each) for each in due), key=lambda item: item.sort_key)
        condemned = frozenset(path for path, is_condemned in self._condemned.items() if is_condemned)
        detail = replace(plan.detail, condemned=condemned)
        return replace(plan, items=(*plan.items, *items), notes=(*plan.notes, *notes), detail=detail)

    @property
    def _reader(self) -> QuarantineReader:
        return QuarantineReader(target=self.target, storage=self.storage, check=self.check)

    def _renames(self, base: CanonicalPath) -> bool:
        return self.storage(base).capabilities.atomic_rename

    def _ask_flags(self, base: CanonicalPath, paths: Sequence[CanonicalPath]) -> None:
        """A flag that is there says that the instance was not condemned to the end, or was written again."""
        system, flag = self.storage(base), self.target.availability_flag
        if not flag:
            self._condemned.update(dict.fromkeys(paths, True))
            return
        with worker_pool(system.capabilities.parallel, "feedctl-listing") as threads:
            if threads is None:
                answers = [is_there(system, path.child(flag)) for path in paths]
            else:
                futures = [threads.submit(partial(is_there, system, path.child(flag))) for path in paths]
                answers = [each.result() for each in futures]
        self._condemned.update({path: not has_flag for path, has_flag in zip(paths, answers, strict=True)})

    def _due(self, kept_from: datetime) -> tuple[list[Quarantined], list[str]]:
        reader, policy, keep = self._reader, self.target.policy, self.target.quarantine
        due: list[Quarantined] = []
        waiting: list[datetime] = []
        bad: list[BadManifest] = []
        held = kept = 0
        for entry in (each for same in self._found.values() for each in same):
            if entry.written is not None and keep is not None:
                until = kept_until(entry.written, keep, policy.timezone)
                if until > policy.nominal_time:  # as most are, so that few manifests are read
                    waiting.append(until)
                    continue
            try:
                found = reader.read(entry)
            except BadManifest as error:
                bad.append(error)
                continue
            if found is None:
                continue
            until = found.purge_at(keep, policy.timezone)
            stays = kept_by(policy, found.candidate, kept_from)
            if until > policy.nominal_time:
                waiting.append(until)
            elif stays is None:
                due.append(found)
            else:
                held += stays.reason is KeepReason.HOLD
                kept += stays.reason is not KeepReason.HOLD
        going = {each.place.manifest: each.candidate for each in due}
        protected = ProtectedInstances.among(going, policy, self.target.protectors) if going else ProtectedInstances()
        kept += len(protected.kept)
        notes = [*quarantine_notes(self.target.feed, waiting, held, kept, bad), *protected.notes]
        return [each for each in due if each.place.manifest not in protected.kept], notes

    def _item(self, found: Quarantined) -> PlanItem:
        candidate = found.candidate
        return PlanItem(
            type=ItemKind.QUARANTINED,
            feed=self.target.feed,
            cluster=self.target.cluster,
            location=candidate.location,
            instance_key=format_instant(candidate.time),
            path=found.place.data if self._renames(candidate.base) else candidate.path,
            base=candidate.base,
            quarantine=found.place.manifest,
        )


def newest_of(found: Iterable[QuarantineEntry]) -> Iterator[QuarantineEntry]:
    """Yield the newest manifest of each instance: an older one was left by a run that was killed before it was done."""
    newest: dict[str, QuarantineEntry] = {}
    for each in found:
        before = newest.get(each.place.digest)
        if each.written is not None and (before is None or before.written is None or before.written < each.written):
            newest[each.place.digest] = each
    yield from newest.values()


def quarantine_notes(
    feed: str, waiting: Sequence[datetime], held: int, kept: int, bad: Sequence[BadManifest]
) -> Iterator[str]:
    """Yield what the user is told of a quarantine besides what is purged."""
    if waiting:
        first = format_instant(min(waiting).replace(second=0, microsecond=0))
        yield (
            f"{len(waiting)} instances are in quarantine and take space until they are purged, the first after "
            f"{first}; `feedctl restore {feed} --list` names them"
        )
    if held:
        yield f"{held} instances stay in quarantine although their time is over, since a hold covers them"
    if kept:
        yield (
            f"{kept} instances in quarantine would be kept by the retention of now, so they are not purged; "
            f"`feedctl restore {feed}` brings them back"
        )
    if bad:
        yield f"{len(bad)} entries in quarantine are not purged, the first: {bad[0]}"
