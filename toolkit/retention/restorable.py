"""Choice and description of what can be restored from quarantine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from toolkit.availability import is_there
from toolkit.errors import InvalidInput
from toolkit.retention.quarantine import BadManifest
from toolkit.retention.quarantine_reader import QuarantineEntry, QuarantineReader, entries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from toolkit.el import CanonicalPath


class NothingToRestore(InvalidInput):
    """Nothing of what was asked for is in quarantine.

    Args:
        wanted: in words.
    """

    def __init__(self, *, wanted: str) -> None:
        self.wanted = wanted
        super().__init__(
            f"nothing of {wanted} is in quarantine: it was purged, restored, or never evicted with action: quarantine; "
            "`feedctl restore FEED --list` shows what can be restored"
        )


class RestoreChoice(NamedTuple):
    """Choice of what comes back; empty fields choose everything.

    Attributes:
        run: that evicted it.
        instance_key: of the instance.
        manifest: the one that is restored.
    """

    run: str = ""
    instance_key: str = ""
    manifest: CanonicalPath | None = None

    def has(self, entry: QuarantineEntry) -> bool:
        """Return whether an entry can be meant, by its name, and is there."""
        place, prefix = entry.place, self.instance_key.replace(":", "")
        is_of_run = self.run in {"", place.run} and self.manifest in {None, place.named(is_listed=entry.is_listed)}
        return is_of_run and entry.is_restorable and (not prefix or place.key.startswith(f"{prefix}-"))


def chosen(reader: QuarantineReader, choice: RestoreChoice) -> Iterator[QuarantineEntry]:
    """Yield what is chosen of a feed's quarantine, by names alone.

    Raises:
        StorageError: it cannot be listed.
    """
    for base, folder in reader.folders().items():
        yield from filter(choice.has, entries(reader.storage(base), folder, reader.check))


@dataclass(frozen=True, kw_only=True, slots=True)
class RestorableInstance:
    """An instance in quarantine.

    Attributes:
        run: that evicted it.
        evicted_at: when.
        until: from then on the next run of retention purges it.
        size: bytes that it takes.
        manifest: URI of its manifest, or of its data where a list of its run has that.
        problem: why it cannot be restored; empty: it can.
    """

    feed: str
    cluster: str
    instance_key: str
    path: str
    run: str
    evicted_at: datetime | None
    until: datetime | None
    size: int
    manifest: str
    problem: str = ""


def described(reader: QuarantineReader, entry: QuarantineEntry) -> RestorableInstance | None:
    """Return what can be said of an entry; None: it is of the same feed on another cluster.

    Raises:
        StorageError: its manifest cannot be read.
    """
    place, target = entry.place, reader.target
    system, name = reader.storage(place.manifest), str(place.named(is_listed=entry.is_listed))
    known = partial(RestorableInstance, feed=target.feed, cluster=target.cluster, run=place.run, manifest=name)
    try:
        found = reader.read(entry)
    except BadManifest as error:
        return known(instance_key="", path=str(place.data), evicted_at=None, until=None, size=0, problem=str(error))
    if found is None:
        return None
    is_moved = system.capabilities.atomic_rename
    data = place.data if is_moved else found.candidate.path
    size = system.content_summary(data) if is_there(system, data) else None
    if size is None and found.manifest.definition:  # the eviction, or a restore, was killed before it was to its end
        data = found.candidate.path
        size = system.content_summary(data) if is_there(system, data) else None
    is_empty = found.manifest.content == (0, 0) and bool(found.manifest.definition)
    problem = "" if size is not None or is_empty else "nothing is in quarantine any more: it is back, or was purged"
    if size is not None and not is_moved and found.manifest.content != (size.files, size.size):
        problem = "it is back, was written again, or a part of it was purged"
    return known(
        instance_key=found.manifest.instance_key,
        path=str(found.candidate.path),
        evicted_at=found.manifest.quarantined_at,
        until=found.purge_at(target.quarantine, target.policy.timezone),
        size=0 if size is None else size.size,
        problem=problem,
    )
