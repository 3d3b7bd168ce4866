"""Verification of copies: files are read again and compared with what was copied, or with their source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from toolkit.storage import NotFound, raw_path
from toolkit.threads import WorkerPool
from toolkit.transfer.digest_reader import DigestReader
from toolkit.transfer.spread_copy import COPY_THREADS
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from toolkit.actions.model import Problem
    from toolkit.el import CanonicalPath
    from toolkit.ledger.manifests import ManifestFile
    from toolkit.storage import FileSystem
    from toolkit.transfer.trees import TreeFile

MOST_NAMED = 1000
"""So many files of an instance are named at most; all are counted."""
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


class VerifiedTarget(Protocol):
    """Copy that is verified."""

    @property
    def cluster(self) -> str:
        """Name of the cluster that has it."""
        ...

    @property
    def counterpart(self) -> str:
        """The cluster that it was copied from."""
        ...

    @property
    def instance_key(self) -> str:
        """The key of the instance."""
        ...

    @property
    def target(self) -> CanonicalPath:
        """Its directory."""
        ...


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

    target: VerifiedTarget
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
class Differences:
    """Differences of an instance so far; added to by several threads, whose appends are atomic.

    Attributes:
        sizes: of the files that were read at the target.
        files: so many were compared, or should have been.
        by_source: so many were compared with the source.
        is_unknown: a part of it is neither in the ledger nor at the source.
    """

    sizes: list[int] = field(default_factory=list)
    found: list[DifferentFile] = field(default_factory=list)
    files: int = 0
    by_source: int = 0
    is_unknown: bool = False

    def add(self, path: CanonicalPath, status: VerifyStatus, message: str) -> None:
        """Add a difference."""
        self.found.append(DifferentFile(path=path, status=status, message=message))

    def of(self, target: VerifiedTarget, problem: Problem | None = None) -> VerifiedInstance:
        """Return the verification of a target with these differences."""
        in_order = sorted(self.found, key=lambda each: each.path)
        return VerifiedInstance(
            target=target,
            files=self.files,
            bytes=sum(self.sizes),
            by_source=self.by_source,
            counts=Counter(each.status for each in in_order),
            findings=tuple(in_order[:MOST_NAMED]),
            problem=problem,
        )


@dataclass(frozen=True, kw_only=True)
class TreeVerifier:
    """Compares the files below a directory at a target with those that were copied.

    Attributes:
        storage: the store that a path is on, for reading.
        check: asked while stores are read; what it raises ends the verification.
        pool: reads files.
        is_raw: bytes are compared as they are below `RAW`.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    check: Callable[[], None]
    pool: WorkerPool = field(default_factory=lambda: WorkerPool(COPY_THREADS, "feedctl-read"))
    is_raw: bool = False

    def compare(
        self,
        roots: tuple[CanonicalPath, CanonicalPath],
        wanted: Mapping[str, ManifestFile],
        there: Mapping[str, TreeFile],
        found: Differences,
        *,
        has_extra: bool,
    ) -> None:
        """Compare all files of a directory; those without a digest are read at the source too.

        Args:
            roots: the directory at the source, and that at the target.
            wanted: files that were copied.
            there: files that are at the target now.
            found: gets the differences.
            has_extra: a file that was not copied is one.
        """
        place = roots[1]
        found.files += len(wanted)
        for name in sorted(wanted.keys() - there.keys()):
            found.add(below(place, name), VerifyStatus.MISSING, "it is not there")
        for name in sorted(there.keys() - wanted.keys()) if has_extra else ():
            found.add(below(place, name), VerifyStatus.EXTRA, "it was not copied")
        both = sorted(wanted.keys() & there.keys())
        found.by_source += sum(not wanted[name].digest for name in both)
        source, target = (DigestReader(system=self.storage(root), check=self.check) for root in roots)
        read_at = (raw_path(roots[0]), raw_path(roots[1])) if self.is_raw else roots
        reader = _FileVerifier(target=target, source=source, roots=roots, read_at=read_at, seen=found)
        self.pool.run_all(
            lambda name: reader.compare(name, wanted[name], there[name].size),
            both,
            at_once=self.storage(place).capabilities.parallel,
        )


@dataclass(frozen=True, kw_only=True)
class _FileVerifier:
    """Compares files one by one; safe between threads.

    Attributes:
        roots: the directory at the source, and at the target.
        read_at: where files of these are read.
    """

    target: DigestReader
    source: DigestReader
    roots: tuple[CanonicalPath, CanonicalPath]
    read_at: tuple[CanonicalPath, CanonicalPath]
    seen: Differences

    def compare(self, name: str, wanted: ManifestFile, size: int) -> None:
        """Compare one file, whose bytes are read at the source too when their digest is unknown."""
        path = below(self.roots[1], name)
        if size != wanted.size:
            self.seen.add(path, VerifyStatus.DIFFERENT, f"it has {size} bytes, and {wanted.size} were copied")
            return
        found = self.target.read(below(self.read_at[1], name))
        self.seen.sizes.append(found.size)
        if found.error is not None:
            is_gone = isinstance(found.error, NotFound)
            self.seen.add(path, VerifyStatus.MISSING if is_gone else VerifyStatus.UNREADABLE, str(found.error))
            return
        expected, of = wanted.digest, "its digest when it was copied"
        if not expected:
            there = self.source.read(below(self.read_at[0], name))
            if there.error is not None:
                why = f"the ledger has no digest of it, and the source cannot be compared: {there.error}"
                self.seen.add(path, VerifyStatus.UNREADABLE, why)
                return
            expected, of = there.digest, "that of the source"
        if found.digest != expected:
            self.seen.add(path, VerifyStatus.DIFFERENT, f"its digest is {found.digest}, and {of} {expected}")
