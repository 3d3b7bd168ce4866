"""Listing of a feed's quarantine, and its manifests as far as the config repo confirms them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from toolkit.el import CanonicalPath, ElError, is_name
from toolkit.planning.retention import Candidate, instance_time
from toolkit.retention.quarantine import (
    KEY,
    MANIFEST_SUFFIX,
    MOST_BYTES,
    BadManifest,
    QuarantineManifest,
    QuarantinePlace,
    digest_of,
    kept_until,
    quarantine_of,
)
from toolkit.storage import OWN_PREFIX, FileKind, NotFound, WrongKind

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.el import Frequency
    from toolkit.retention.targets import FeedTarget, Location
    from toolkit.storage import Entry, FileSystem


class QuarantineEntry(NamedTuple):
    """A name in quarantine.

    Attributes:
        written: when the manifest was written, by the store's clock; None: there is none.
        has_data: the data is beside it.
    """

    place: QuarantinePlace
    written: datetime | None
    has_data: bool = False


def entries(system: FileSystem, folder: CanonicalPath, check: Callable[[], None]) -> Iterator[QuarantineEntry]:
    """The instances of a feed that are in quarantine, by names alone: no manifest is read.

    Args:
        system: the store.
        folder: of the feed.
        check: called before each run's instances are listed; what it raises ends the listing.

    Raises:
        StorageError: the directory cannot be listed.
    """
    for run in list(_listed(system, folder)):
        if run.kind is not FileKind.DIRECTORY or not is_name(run.name) or run.name.startswith(OWN_PREFIX):
            continue
        found: dict[str, datetime | None] = {}
        data: set[str] = set()
        check()
        for each in _listed(system, folder.child(run.name)):
            key, is_manifest = each.name.removesuffix(MANIFEST_SUFFIX), each.name.endswith(MANIFEST_SUFFIX)
            data.update([key] if key == each.name else [])
            if KEY.fullmatch(key) and (found.get(key) is None):
                found[key] = each.modified if is_manifest and each.kind is FileKind.FILE else None
        for key, at in sorted(found.items()):
            yield QuarantineEntry(QuarantinePlace(folder, run.name, key), at, has_data=key in data)


def _listed(system: FileSystem, path: CanonicalPath) -> Iterator[Entry]:
    try:
        yield from system.list(path)
    except (NotFound, WrongKind):
        return


@dataclass(frozen=True, kw_only=True, slots=True)
class Quarantined:
    """An instance in quarantine, as its manifest says and the config repo confirms.

    Attributes:
        candidate: the instance where readers found it.
        written: when the manifest was written, by the store's clock.
    """

    place: QuarantinePlace
    manifest: QuarantineManifest
    candidate: Candidate
    written: datetime

    def purge_at(self, keep: Frequency | None, timezone: str) -> datetime:
        """Return when it may be purged: by the manifest or by the feed's definition of now, whichever is later."""
        since = max(self.manifest.quarantined_at, self.written)
        return max(self.manifest.purge_at, kept_until(since, keep, timezone))


@dataclass(frozen=True, kw_only=True)
class QuarantineReader:
    """Reads manifests of one feed's quarantine, and takes only those that are right where they are.

    Attributes:
        target: the feed.
        storage: the store that a path is on.
        check: called before each listing or read; what it raises ends it.
    """

    target: FeedTarget
    storage: Callable[[CanonicalPath], FileSystem]
    check: Callable[[], None]
    _bases: dict[CanonicalPath, list[Location]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        for location in self.target.locations:
            self._bases.setdefault(location.base, []).append(location)

    def folders(self) -> dict[CanonicalPath, CanonicalPath]:
        """Return the folder of each base of the feed, by the base."""
        return {base: quarantine_of(base, self.target.feed) for base in self._bases}

    def read(self, entry: QuarantineEntry) -> Quarantined | None:
        """Return what a manifest says; None: it is of the same feed on another cluster.

        Raises:
            BadManifest: it is not a manifest, or about something else than its place says.
            StorageError: it cannot be read.
        """
        place, written = entry.place, entry.written
        if written is None:
            raise BadManifest(path=place.data, detail="there is no manifest beside it")
        self.check()
        with self.storage(place.manifest).read(place.manifest, length=MOST_BYTES + 1) as stream:
            content = stream.read()
        return self.confirmed(place, content, written)

    def confirmed(self, place: QuarantinePlace, content: bytes, written: datetime) -> Quarantined | None:
        """Return what a manifest in a place would say; see `read`."""
        try:
            manifest = QuarantineManifest.decoded(content, self._parsed)
            candidate = self._candidate(place, manifest)
        except (ValueError, ElError) as error:
            raise BadManifest(path=place.manifest, detail=str(error)) from error
        if manifest.feed == self.target.feed and manifest.cluster != self.target.cluster:
            return None
        if candidate is None or manifest.feed != self.target.feed:
            detail = f"it names {manifest.path} of {manifest.feed}, which does not belong here"
            raise BadManifest(path=place.manifest, detail=detail)
        return Quarantined(place=place, manifest=manifest, candidate=candidate, written=written)

    def _parsed(self, text: str) -> CanonicalPath:
        return CanonicalPath.parse(text, aliases=self.target.name_services)

    def _candidate(self, place: QuarantinePlace, manifest: QuarantineManifest) -> Candidate | None:
        """Return the instance that the config repo has at the path of a manifest; None: none, or of another place."""
        path = manifest.path
        for location in (each for same in self._bases.values() for each in same):
            is_here = quarantine_of(location.base, self.target.feed) == place.folder
            if not is_here or location.type is not manifest.location or digest_of(path) != place.digest:
                continue
            period = location.template.parse(location.written(path)) if path.is_within(location.base) else None
            if period is not None:
                return Candidate(
                    location=location.type,
                    time=instance_time(period, self.target.instances),
                    first=period.spans[0][0],
                    end=period.spans[-1][1],
                    path=path,
                    base=location.base,
                )
        return None
