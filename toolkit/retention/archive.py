"""Archiving an instance: copied beside its place in the archive, read again, published there, and only then removed.

What the archive has tells what is left to do, so that a run that was killed needs no memory of its own (ADR 0035).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from toolkit.actions.action import place_named
from toolkit.actions.attempt import UNKNOWN, FailedAttempt, attempted
from toolkit.actions.file_copies import FileCopies
from toolkit.actions.guard import Refusal
from toolkit.actions.model import INTERRUPTED, ItemResult
from toolkit.actions.publication import ITSELF, Publication, remove_wholly, staging_of
from toolkit.availability import is_there
from toolkit.el import CanonicalPath
from toolkit.errors import Failed, Unavailable
from toolkit.retention.delete import Removed, SingleDelete
from toolkit.retention.plan import StayReason
from toolkit.storage import OWN_PREFIX, FileKind, NotFound, StorageError, Unreachable, Unsupported, WrongKind
from toolkit.transfer.errors import FilesFailed
from toolkit.transfer.trees import Tree, below, same_bytes
from toolkit.transfer.uploads import end_left_uploads

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.ledger.runs.items import Item
    from toolkit.retention.plan import PlanItem
    from toolkit.retention.targets import FeedTarget
    from toolkit.storage import FileSystem

MOST_VERSIONS = 9
"""So many versions of an instance may be in the archive; one more is refused, and the instance stays."""


class ArchiveDiffers(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """Something else than the instance is in its place in the archive."""

    code = "archive_differs"
    text = (
        f"the archive has something else there, and {MOST_VERSIONS - 1} further versions of it beside, so nothing was "
        "written and the instance stays; compare them, then remove those that are wrong"
    )


class Archived(NamedTuple):
    """An instance that is in the archive, as it is where it came from.

    Attributes:
        copied: so many files were copied now; the others were there, and are the same by their bytes.
        require_unchanged: compares the instance once more with what was archived; raises `SourceChanged`.
    """

    files: int
    bytes: int
    copied: int
    require_unchanged: Callable[[], None]

    def __str__(self) -> str:
        files = "1 file" if self.files == 1 else f"{self.files} files"
        return f"{files} of {self.bytes} bytes are there and the same by their bytes, {self.copied} of them copied now"


def version_of(place: CanonicalPath, number: int) -> CanonicalPath:
    """Return where a later version of an instance is archived; the first has the place itself.

    Programs that read the archive pass over such names, so that they read one version.
    """
    return place if number == 1 else place.parent.child(f"{OWN_PREFIX}-version-{number}-{place.name}")


@dataclass(frozen=True, kw_only=True)
class Archiver:
    """Archives instances of one feed; safe between threads.

    Attributes:
        work: of the run.
        base_of: bounds every effect at a place of the archive.
        flag: the file that says that an instance is complete, which comes last; empty: it has none.
    """

    work: RunContext
    base_of: Callable[[CanonicalPath], CanonicalPath]
    flag: str = ""

    def archive_version(self, source: CanonicalPath, place: CanonicalPath) -> tuple[Archived | None, CanonicalPath]:
        """Archive an instance, as a further version when another one of it is in the archive already.

        An instance that was archived may have been written again by a rerun. Neither version replaces the other: the
        original of the one that is archived may be gone. Raises as `archive`; `ArchiveDiffers` for too many versions.
        """
        for number in range(1, MOST_VERSIONS):
            with suppress(ArchiveDiffers):
                return self.archive(source, version_of(place, number)), version_of(place, number)
        last = version_of(place, MOST_VERSIONS)
        return self.archive(source, last), last

    def archive(self, source: CanonicalPath, place: CanonicalPath) -> Archived | None:
        """Archive an instance by its bytes.

        Args:
            source: the instance.
            place: in the archive.

        Returns:
            None when there is no instance any more.

        Raises:
            ArchiveDiffers: something else is there.
            StorageError: it failed; the archive has nothing of it that readers see, or, on an object store, files of it
                that the next run completes.
            StopRequested: the run was stopped, or called off.
        """
        publication = Publication(
            work=self.work,
            files=FileCopies(work=self.work),
            source=source,
            unit=place,
            base=self.base_of(place),
            flag=self.flag,
            is_only_copy=True,
        )
        wanted = self._tree(publication, source)
        if wanted is None:
            return None
        present = self._tree(publication, place)
        missing = {name: entry for name, entry in wanted.items() if name not in (present or {})}
        self._require_same(publication, wanted, present or {})
        if not publication.system.capabilities.atomic_rename:
            self._complete(publication, wanted, missing, present or {})
        elif present is None:
            self._publish(publication, wanted)
        elif missing:  # all of it comes by one rename, so that a part of it is nothing that a run of ours has left
            raise ArchiveDiffers(path=below(place, next(iter(missing))))
        publication.require_unchanged(wanted)
        self._require_no_object(publication.source, wanted)  # it may have come meanwhile
        files = [entry for entry in wanted.values() if entry.kind is FileKind.FILE]
        copied = sum(entry.kind is FileKind.FILE for entry in missing.values())
        again = partial(publication.require_unchanged, wanted)
        return Archived(len(files), sum(entry.size for entry in files), copied, again)

    def _require_same(self, publication: Publication, wanted: Tree, present: Tree) -> None:
        """Compare the files on both sides by their bytes, since the original is going to be removed."""
        place, both = publication.unit, [name for name in wanted if name in present]
        for name in both:
            if not same_bytes(wanted[name], present[name]):
                raise ArchiveDiffers(path=below(place, name))
        theirs = publication.digests(place, wanted, both)
        for name, digest in publication.digests(publication.source, wanted, both).items():
            if digest != theirs[name]:
                raise ArchiveDiffers(path=below(place, name))

    def _publish(self, publication: Publication, wanted: Tree) -> None:
        staging = staging_of(publication.unit, self.work.run_name)
        with ExitStack() as unless_published:
            publication.begin_staging(staging, wanted, unless_published)
            publication.copy(wanted, wanted, staging)
            publication.verify(staging, wanted, wanted)
            publication.swap_in(staging)
            unless_published.pop_all()

    def _complete(self, publication: Publication, wanted: Tree, missing: Tree, present: Tree) -> None:
        """Complete an archive file by file; files of a killed run may be there, others never.

        What another run has archived there since the listing is replaced by neither: its original may be gone.
        """
        if not missing:
            end_left_uploads(publication.system, publication.unit)
            return
        for name in present:
            if name not in wanted:
                raise ArchiveDiffers(path=below(publication.unit, name))
        with publication.in_place(wanted, present) as data:
            publication.copy([name for name in missing if name in data], wanted, publication.unit)

    def _tree(self, publication: Publication, root: CanonicalPath) -> Tree | None:
        """Return the tree at a path; refuse an object that is the beginning of others."""
        tree = publication.tree(root)
        self._require_no_object(root, tree or {})
        return tree

    def _require_no_object(self, root: CanonicalPath, tree: Tree) -> None:
        """Refuse an object beside a tree of the same name, since both would be removed."""
        system = self.work.stores(root)
        if ITSELF not in tree and not system.capabilities.directories and _is_object(system, root):
            raise Unsupported(path=root, detail="it is an object, and the beginning of others; remove one of them")


def _is_object(system: FileSystem, path: CanonicalPath) -> bool:
    """Return whether an object has the name; `status` prefers the directory where both exist, a listing has both."""
    with suppress(NotFound, WrongKind):
        first = next(iter(system.list(path.parent, start_from=path.name)), None)
        return first is not None and (first.name, first.kind) == (path.name, FileKind.FILE)
    return False


@dataclass(frozen=True, kw_only=True)
class ArchivedDelete:
    """Archives items, and removes each that is in the archive; safe between threads.

    Attributes:
        archiver: of the feed.
        single: removes.
    """

    archiver: Archiver
    single: SingleDelete

    def remove(self, item: PlanItem) -> Removed:
        """Archive an instance and remove it; what is none has nothing to archive."""
        if item.archive is None:
            return self.single.remove(item)
        work = self.archiver.work
        guard = work.guard
        refusal = guard.refusal(item.base, must_look=True)
        if refusal is None and guard.is_silent(item.archive):
            refusal = Refusal(Unreachable.code, "the archive's storage does not answer; run again when it does")
        if refusal is not None:
            return Removed(refusal.of(item))
        archive = partial(self.archiver.archive_version, item.path, item.archive)
        done = attempted(work, archive, failures=(StorageError, Unavailable))
        if isinstance(done, FailedAttempt):
            return _not_archived(item, done)
        archived, place = done
        if archived is None:
            return Removed(ItemResult.skipped(item, StayReason.ALREADY_GONE))
        return self._removed(item)._replace(archived=str(archived), archived_at=place)

    def _removed(self, item: PlanItem) -> Removed:
        """Copying may have taken hours, in which a hold on the feed may have been added."""
        refusal = self.archiver.work.guard.refusal(item.base, must_look=True)
        if refusal is not None:
            return Removed(refusal.of(item))
        if self.archiver.work.stores(item.base).capabilities.directories:
            return self.single.remove(item)
        return self.single.remove_together([item])[0]


def _not_archived(item: PlanItem, failure: FailedAttempt) -> Removed:
    """It is still there; of what stayed in an archive that is silent the next run hears from the open item."""
    if failure.refusal is not None:
        return Removed(failure.of(item))
    if failure.code == INTERRUPTED:
        message = f"{item.path}: the run was stopped while it was archived; it is still there, and a rerun takes it"
    else:
        message = f"not archived, so it stays: {failure.message}"
    files = failure.error.failed if isinstance(failure.error, FilesFailed) else ()
    is_open = bool(UNKNOWN.intersection((failure.code, *(each.code for each in files))))
    return Removed(ItemResult.failed(item, failure.code, message), is_open=is_open)


def settle_stagings(
    target: FeedTarget, left: Iterable[Item], storage: Callable[[CanonicalPath], FileSystem]
) -> tuple[Item, ...]:
    """Remove what runs that are dead have left unfinished in the archive of a feed whose lease is held.

    Where neither the original nor the archive is there, another program has removed the original, or its disk is not
    mounted: it is unknown how much of it the copy has, so that it gets no name that readers know, and stays.

    Args:
        target: the feed.
        left: the items that those runs began.
        storage: the store that a path is on.

    Returns:
        The items of which nothing is left unfinished there; those of the others are for the next run.
    """
    return tuple(item for item in left if _is_settled(item, target, storage))


def _is_settled(item: Item, target: FeedTarget, storage: Callable[[CanonicalPath], FileSystem]) -> bool:
    path = place_named(item, partial(CanonicalPath.parse, aliases=target.name_services))
    place = None if path is None else target.archived(path)
    if path is None or place is None or target.archive is None:
        return True
    system = storage(place)
    if not system.capabilities.atomic_rename:
        return True
    try:
        if not is_there(storage(path), path) and not is_there(system, place):
            return True  # the copy stays
        for number in range(1, MOST_VERSIONS + 1):
            staging = staging_of(version_of(place, number), str(item.run_id))
            remove_wholly(system, staging, target.archive.base_of(place))
    except StorageError:
        return False
    return True
