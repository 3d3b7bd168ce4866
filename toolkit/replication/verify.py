"""Verification of copies at a target: reads its files again; changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.actions.model import Problem
from toolkit.actions.progress import NoProgress, Progress
from toolkit.actions.verification import (
    BEING_COPIED,
    NOTHING_TO_COMPARE,
    Differences,
    TreeVerifier,
    VerifiedInstance,
    VerifyStatus,
)
from toolkit.availability import is_ready, is_there
from toolkit.el import CanonicalPath
from toolkit.ledger.manifests import ManifestFile
from toolkit.replication.listing import selected
from toolkit.replication.removals import dropped_parts, never_copied
from toolkit.storage import FileKind, StorageError, Unreachable
from toolkit.threads import WorkerPool
from toolkit.transfer.spread_copy import COPY_THREADS
from toolkit.transfer.trees import below, read_tree

if TYPE_CHECKING:
    from toolkit.ledger.manifests import Manifest
    from toolkit.replication.targets import ReplicationTarget
    from toolkit.storage import FileSystem
    from toolkit.transfer.trees import Tree

_INSTANCES_AT_ONCE = 16


@dataclass(frozen=True, kw_only=True)
class Verifier:
    """Compares instances at a target with what the ledger has of them, else with their source.

    Attributes:
        storage: the store that a path is on, for reading.
        recorded: what the ledger has of the units of an instance, by their paths.
        was_copied: whether the ledger has it as copied.
        is_being_copied: whether a run works on it now.
        check: asked while stores are read; what it raises ends the verification.
        pool: reads files.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    recorded: Callable[[ReplicationTarget], Mapping[str, Manifest]]
    was_copied: Callable[[ReplicationTarget], bool]
    is_being_copied: Callable[[ReplicationTarget], bool]
    check: Callable[[], None]
    pool: WorkerPool = field(default_factory=lambda: WorkerPool(COPY_THREADS, "feedctl-read"))
    _silent: set[str] = field(default_factory=set, init=False)

    def verify_all(
        self, targets: Sequence[ReplicationTarget], progress: Progress | None = None
    ) -> tuple[VerifiedInstance, ...]:
        """Verify instances, some at once; instances that were never copied are left out.

        Args:
            targets: which.
            progress: is told of each instance.
        """
        bar, found = progress or NoProgress(), dict[int, VerifiedInstance | None]()
        bar.begin(len(targets))

        def one(number: int) -> None:
            found[number] = self.verify(targets[number])
            bar.advance(1)

        try:
            WorkerPool(_INSTANCES_AT_ONCE, "feedctl-verify").run_all(one, range(len(targets)))
        finally:
            bar.end()
        return tuple(each for _, each in sorted(found.items()) if each is not None)

    def verify(self, target: ReplicationTarget) -> VerifiedInstance | None:
        """Verify one instance; None: it was never copied, and nothing is there."""
        recorded = self._recorded(target)
        found = self._looked_at(target, recorded)
        if found is None or not found.counts:
            return found
        if self.is_being_copied(target):
            message = "a run is copying it, so that it may be in between; verify it again afterwards"
            return VerifiedInstance(target=target, problem=Problem(code=BEING_COPIED, message=message))
        now = self._recorded(target)
        return found if now == recorded else self._looked_at(target, now)  # it was published meanwhile

    def _recorded(self, target: ReplicationTarget) -> dict[CanonicalPath, Manifest]:
        """Return what the ledger has of the units that the instance has now: a feed may have moved."""
        return target.units_named(self.recorded(target))

    def _looked_at(
        self, target: ReplicationTarget, recorded: Mapping[CanonicalPath, Manifest]
    ) -> VerifiedInstance | None:
        seen, was_there = Differences(), False
        try:
            dropped = self._dropped(target, recorded)
            for source, place, manifest in self._units(target, recorded):
                if place in dropped:
                    if not is_there(self.storage(place), place):
                        continue
                    seen.add(place, *self._dropped_status(target, place, manifest or {}))
                was_there |= self._compare_unit(target, source, place, manifest, seen)
        except StorageError as error:
            return VerifiedInstance(target=target, problem=Problem(code=error.code, message=str(error)))
        if not was_there and not recorded and not self.was_copied(target):
            return None
        problem: Problem | None = None
        if seen.is_unknown or not (was_there or recorded or seen.files):
            message = f"the ledger has no digests of it, and nothing of it is left in {target.source}"
            problem = Problem(code=NOTHING_TO_COMPARE, message=message)
        return seen.of(target, problem)

    def _dropped(
        self, target: ReplicationTarget, recorded: Mapping[CanonicalPath, Manifest]
    ) -> AbstractSet[CanonicalPath]:
        """The parts that the source no longer has; none if it cannot be looked at, or has no such instance now."""
        source = target.source
        if not target.parts or source.authority in self._silent:
            return frozenset()
        try:
            if not is_ready(self.storage(source), source, target.flag):
                return frozenset()
            return frozenset(dropped_parts(target, recorded, self.storage))
        except StorageError as error:
            if isinstance(error, Unreachable):
                self._silent.add(source.authority)
            return frozenset()

    def _dropped_status(
        self, target: ReplicationTarget, place: CanonicalPath, manifest: Manifest
    ) -> tuple[VerifyStatus, str]:
        gone = "the source no longer has it"
        if not target.removes_dropped:
            return VerifyStatus.KEPT, f"{gone}; on_source_delete: delete at the target lets a replication remove it"
        if never_copied(self._files(place) or {}, manifest):
            return (
                VerifyStatus.EXTRA,
                f"{gone}, with files that were never copied, so no replication removes it; move them",
            )
        return VerifyStatus.EXTRA, f"{gone}; a replication of the instance (--start) removes it"

    def _units(
        self, target: ReplicationTarget, recorded: Mapping[CanonicalPath, Manifest]
    ) -> Iterator[tuple[CanonicalPath, CanonicalPath, Manifest | None]]:
        """Yield the place of each unit at both ends, with the ledger's manifest of it.

        Of what is at the target it may have nothing; of an instance of which it has nothing, the source tells the rest.
        """
        here, there = target.target, target.source
        known: dict[CanonicalPath, Manifest | None] = {**recorded}
        for place in selected(self.storage(here), here, target.parts):
            known.setdefault(place, None)
        if not recorded:
            for source in selected(self.storage(there), there, target.parts):
                known.setdefault(_moved(source, there, here), None)
        for place, manifest in known.items():
            yield _moved(place, here, there), place, manifest

    def _compare_unit(
        self,
        target: ReplicationTarget,
        source: CanonicalPath,
        place: CanonicalPath,
        manifest: Manifest | None,
        seen: Differences,
    ) -> bool:
        """Compare a unit, and return whether anything of it is at the target."""
        present = self._files(place)
        if manifest is None:
            if present is None and not self.was_copied(target):
                return False
            found = self._files(source)
            if found is None or (present and not found):
                seen.is_unknown = True
                return present is not None
            wanted = {name: ManifestFile(entry.size) for name, entry in found.items()}
        else:
            wanted = dict(manifest)
        verifier = TreeVerifier(storage=self.storage, check=self.check, pool=self.pool, is_raw=target.rules.create.raw)
        verifier.compare((source, place), wanted, present or {}, seen, has_extra=target.rules.remove_deleted)
        return present is not None

    def _files(self, root: CanonicalPath) -> Tree | None:
        found = read_tree(self.storage(root), root, self.check, directories=False)
        return None if found is None else {name: each for name, each in found.items() if each.kind is FileKind.FILE}


def _moved(unit: CanonicalPath, instance: CanonicalPath, other: CanonicalPath) -> CanonicalPath:
    """Return the place of an instance's unit at the other end."""
    return below(other, "" if unit == instance else unit.relative_to(instance))
