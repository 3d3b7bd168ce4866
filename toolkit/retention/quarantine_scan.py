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
        wanted = set(bases)
        for base, folder in self._reader.folders().items():
            if base in wanted:
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
        found = [each for same in self._found.values() for each in same]
        reader = self._reader  # one for all: it keeps the lists that it has read
        due, notes = due_of(reader, [each for each in found if each.is_restorable], kept_from)
        due += due_of(reader, [each for each in found if not each.is_restorable], kept_from)[0]
        condemned = frozenset(digest_of(path) for path, is_condemned in self._condemned.items() if is_condemned)
        detail = replace(plan.detail, condemned=condemned)
        items = purges(reader, due)
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


def due_of(
    reader: QuarantineReader,
    found: Iterable[QuarantineEntry],
    kept_from: datetime,
    is_unfinished: Callable[[QuarantineEntry], bool] = lambda _: False,
) -> tuple[list[Quarantined], list[str]]:
    """Return what the retention of now has purged, and what the user is told of the rest.

    Args:
        reader: of the feed's quarantine.
        found: in it.
        kept_from: see `keep_last_from`, of all instances.
        is_unfinished: whether an instance is still to be moved, so that it does not wait for its time.

    Raises:
        StorageError: a manifest cannot be read.
    """
    policy, keep = reader.target.policy, reader.target.quarantine
    due: dict[CanonicalPath, Quarantined] = {}
    waiting: list[datetime] = []
    bad: list[BadManifest] = []
    held = kept = 0
    for entry in found:
        is_begun = is_unfinished(entry)
        if entry.written is not None and keep is not None and not is_begun:
            until = kept_until(entry.written, keep, policy.timezone)
            if until > policy.nominal_time:  # as most are, so that few manifests are read
                waiting.append(until)
                continue
        try:
            each = reader.read(entry)
        except BadManifest as error:
            bad.append(error)
            continue
        if each is None:
            continue
        until = each.purge_at(keep, policy.timezone)
        stays = kept_by(policy, each.candidate, kept_from)
        if until > policy.nominal_time and not (is_begun and each.manifest.content is None):
            waiting.append(until)
        elif stays is None:
            due[entry.place.manifest] = each
        else:
            held += stays.reason is KeepReason.HOLD
            kept += stays.reason is not KeepReason.HOLD
    going = {manifest: each.candidate for manifest, each in due.items()}
    protected = ProtectedInstances.among(going, policy, reader.target.protectors) if going else ProtectedInstances()
    kept += len(protected.kept)
    notes = [*_notes(reader.target.feed, waiting, held, kept, bad), *protected.notes]
    return [each for manifest, each in due.items() if manifest not in protected.kept], notes


def purges(reader: QuarantineReader, due: Iterable[Quarantined]) -> list[PlanItem]:
    """Return the items that purge instances, in the order of a plan."""
    items: list[PlanItem] = []
    for each in due:
        candidate, place = each.candidate, each.place
        renames = reader.storage(place.manifest).capabilities.atomic_rename
        item = PlanItem(
            type=ItemKind.QUARANTINED,
            feed=reader.target.feed,
            cluster=reader.target.cluster,
            location=candidate.location,
            instance_key=format_instant(candidate.time),
            path=place.data if renames else candidate.path,
            base=place.base if renames else candidate.base,
            quarantine=place.named(is_listed=each.is_listed),
        )
        items.append(item)
    return sorted(items, key=lambda item: item.sort_key)


def newest_of(found: Iterable[QuarantineEntry]) -> Iterator[QuarantineEntry]:
    """Yield the newest manifest of each instance: an older one was left by a run that was killed before it was done."""
    newest: dict[str, QuarantineEntry] = {}
    for each in found:
        before = newest.get(each.place.digest)
        if each.written is not None and (before is None or before.written is None or before.written < each.written):
            newest[each.place.digest] = each
    yield from newest.values()


def _notes(feed: str, waiting: Sequence[datetime], held: int, kept: int, bad: Sequence[BadManifest]) -> Iterator[str]:
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
