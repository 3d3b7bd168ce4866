"""Verification of copies at a target: reads its files again; changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from toolkit.actions.model import Problem
from toolkit.actions.progress import NoProgress, Progress
from toolkit.availability import is_ready, is_there
from toolkit.el import CanonicalPath
from toolkit.ledger.manifests import ManifestFile
from toolkit.replication.listing import selected
from toolkit.replication.removals import dropped_parts, never_copied
from toolkit.storage import FileKind, NotFound, StorageError, Unreachable
from toolkit.threads import WorkerPool
from toolkit.transfer.digest_reader import DigestReader
from toolkit.transfer.spread_copy import COPY_THREADS
from toolkit.transfer.trees import below, read_tree

if TYPE_CHECKING:
    from toolkit.ledger.manifests import Manifest
    from toolkit.replication.targets import ReplicationTarget
    from toolkit.storage import FileSystem
    from toolkit.transfer.trees import Tree

MOST_NAMED = 1000
"""So many files of an instance are named at most; all are counted."""
_INSTANCES_AT_ONCE = 16
BEING_COPIED, NOTHING_TO_COMPARE = "being_copied", "nothing_to_compare"
"""Codes of instances whose state is unknown."""


class VerifyStatus(StrEnum):
    """Result of the verification of a file or directory at a target."""

    MISSING = "missing"
    """It was copied, and is not there."""
    EXTRA = "extra"
    """It is there, and was not copied."""
    DIFFERENT = "different"
    """It has other bytes than those that were copied."""
    KEPT = "kept"
    """A directory is there that was copied, and that the source no longer has; nothing is wrong with it."""
    UNREADABLE = "unreadable"
    """It could not be read, so its state is unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DifferentFile:
    """A file that is not what was copied.

    Attributes:
        path: of the file at the target.
        message: what was found instead, for people.
    """

    path: CanonicalPath
    status: VerifyStatus
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifiedInstance:
    """Verification of one instance from one source.

    Attributes:
        target: the instance.
        files: so many were compared, or should have been.
        bytes: so many were read at the target.
        by_source: so many of the files were compared with the source, since the ledger has no digest of them.
        counts: of files with something wrong.
        findings: the first of them, by name.
        problem: why the result is unknown; None: it is known.
    """

    target: ReplicationTarget
    files: int = 0
    bytes: int = 0
    by_source: int = 0
    counts: Mapping[VerifyStatus, int] = field(default_factory=dict)
    findings: tuple[DifferentFile, ...] = ()
    problem: Problem | None = None

    @property
    def is_different(self) -> bool:
        """True if the target differs from what was copied."""
        return any(self.counts.get(each) for each in (VerifyStatus.MISSING, VerifyStatus.EXTRA, VerifyStatus.DIFFERENT))

    @property
    def is_well(self) -> bool:
        """True if the target is as it was copied."""
        return self.problem is None and not any(
            self.counts[each] for each in self.counts if each is not VerifyStatus.KEPT
        )


@dataclass(kw_only=True)
class _Seen:
    """Findings about an instance so far; added to by several threads, whose appends are atomic."""

    sizes: list[int] = field(default_factory=list)
    findings: list[DifferentFile] = field(default_factory=list)
    files: int = 0
    by_source: int = 0
    is_unknown: bool = False
    """A part of it is neither in the ledger nor at the source."""

    def add(self, path: CanonicalPath, status: VerifyStatus, message: str) -> None:
        self.findings.append(DifferentFile(path=path, status=status, message=message))


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
        seen, was_there = _Seen(), False
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
        in_order = sorted(seen.findings, key=lambda each: each.path)
        return VerifiedInstance(
            target=target,
            files=seen.files,
            bytes=sum(seen.sizes),
            by_source=seen.by_source,
            counts=Counter(each.status for each in in_order),
            findings=tuple(in_order[:MOST_NAMED]),
            problem=problem,
        )

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
        seen: _Seen,
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
        there = present or {}
        seen.files += len(wanted)
        for name in sorted(wanted.keys() - there.keys()):
            seen.add(below(place, name), VerifyStatus.MISSING, "it is not there")
        for name in sorted(there.keys() - wanted.keys()) if target.rules.remove_deleted else ():
            seen.add(below(place, name), VerifyStatus.EXTRA, "it was not copied")
        both = sorted(wanted.keys() & there.keys())
        seen.by_source += sum(not wanted[name].digest for name in both)
        reader = _UnitReader(
            target=DigestReader(system=self.storage(place), check=self.check),
            source=DigestReader(system=self.storage(source), check=self.check),
            roots=(source, place),
            seen=seen,
        )
        self.pool.run_all(
            lambda name: reader.compare(name, wanted[name], there[name].size),
            both,
            at_once=self.storage(place).capabilities.parallel,
        )
        return present is not None

    def _files(self, root: CanonicalPath) -> Tree | None:
        found = read_tree(self.storage(root), root, self.check, directories=False)
        return None if found is None else {name: each for name, each in found.items() if each.kind is FileKind.FILE}


def _moved(unit: CanonicalPath, instance: CanonicalPath, other: CanonicalPath) -> CanonicalPath:
    """Return the place of an instance's unit at the other end."""
    return below(other, "" if unit == instance else unit.relative_to(instance))


@dataclass(frozen=True, kw_only=True)
class _UnitReader:
    """Compares the files of a unit; safe between threads.

    Attributes:
        roots: of the unit at the source, and at the target.
    """

    target: DigestReader
    source: DigestReader
    roots: tuple[CanonicalPath, CanonicalPath]
    seen: _Seen

    def compare(self, name: str, wanted: ManifestFile, size: int) -> None:
        """Compare one file, whose bytes are read at the source too when their digest is unknown."""
        path = below(self.roots[1], name)
        if size != wanted.size:
            self.seen.add(path, VerifyStatus.DIFFERENT, f"it has {size} bytes, and {wanted.size} were copied")
            return
        found = self.target.read(path)
        self.seen.sizes.append(found.size)
        if found.error is not None:
            is_gone = isinstance(found.error, NotFound)
            self.seen.add(path, VerifyStatus.MISSING if is_gone else VerifyStatus.UNREADABLE, str(found.error))
            return
        expected, of = wanted.digest, "its digest when it was copied"
        if not expected:
            there = self.source.read(below(self.roots[0], name))
            if there.error is not None:
                why = f"the ledger has no digest of it, and the source cannot be compared: {there.error}"
                self.seen.add(path, VerifyStatus.UNREADABLE, why)
                return
            expected, of = there.digest, "that of the source"
        if found.digest != expected:
            self.seen.add(path, VerifyStatus.DIFFERENT, f"its digest is {found.digest}, and {of} {expected}")
