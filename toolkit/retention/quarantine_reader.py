"""Listing of a feed's quarantine, and its manifests as far as the config repo confirms them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from toolkit.el import CanonicalPath, ElError, is_name
from toolkit.planning.retention import Candidate, instance_time
from toolkit.retention.quarantine import (
    KEY,
    LIST,
    MANIFEST_SUFFIX,
    MOST_BYTES,
    BadManifest,
    QuarantineManifest,
    QuarantinePlace,
    digest_of,
    kept_until,
    listed_in,
    quarantine_of,
)
from toolkit.storage import ASIDE_PREFIX, OWN_PREFIX, FileKind, NotFound, WrongKind, name_behind

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.el import Frequency
    from toolkit.retention.targets import FeedTarget, Location
    from toolkit.storage import Entry, FileSystem


class QuarantineEntry(NamedTuple):
    """A name in quarantine.

    Attributes:
        written: when the manifest, or the last list of its run, was written, by the store's clock; None: there is none.
        has_data: the data is beside it.
        is_listed: it has no manifest of its own, and its run has lists.
    """

    place: QuarantinePlace
    written: datetime | None
    has_data: bool = False
    is_listed: bool = False

    @property
    def is_restorable(self) -> bool:
        """True unless it is known to have nothing that comes back; what a list names and has no data is elsewhere."""
        return self.has_data or not self.is_listed


def entries(system: FileSystem, folder: CanonicalPath, check: Callable[[], None]) -> Iterator[QuarantineEntry]:
    """The instances of a feed that are in quarantine, by names alone: no manifest is read.

    A run of which lists alone are left has one entry for each list, so that a purge removes them.

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
        check()
        yield from _entries_of(_listed(system, folder.child(run.name)), folder, run.name)


def _entries_of(names: Iterable[Entry], folder: CanonicalPath, run: str) -> Iterator[QuarantineEntry]:
    """Yield the entries of one run."""
    found: dict[str, datetime | None] = {}
    data: set[str] = set()
    lists: dict[str, datetime] = {}
    asides = set[str]()
    for each in names:
        if (first := LIST.fullmatch(each.name)) and each.kind is FileKind.FILE and each.modified is not None:
            lists[first[1]] = each.modified
            continue
        if each.name.startswith(ASIDE_PREFIX):
            asides.add(name_behind(each.name) or "")
            continue
        key, is_manifest = each.name.removesuffix(MANIFEST_SUFFIX), each.name.endswith(MANIFEST_SUFFIX)
        data.update([key] if key == each.name else [])
        if KEY.fullmatch(key) and found.get(key) is None:
            found[key] = each.modified if is_manifest and each.kind is FileKind.FILE else None
    written = max(lists.values(), default=None)
    if lists:  # a purge that was killed had put them aside
        found.update(dict.fromkeys(each for each in asides if KEY.fullmatch(each) and each not in found))
    for key, at in sorted(found.items()):
        is_listed = at is None and written is not None
        yield QuarantineEntry(QuarantinePlace(folder, run, key), at or written, key in data, is_listed)
    if not found:
        yield from (QuarantineEntry(QuarantinePlace(folder, run, key), at, is_listed=True) for key, at in lists.items())


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
        is_listed: a list of its run has the manifest.
    """

    place: QuarantinePlace
    manifest: QuarantineManifest
    candidate: Candidate
    written: datetime
    is_listed: bool = False

    def purge_at(self, keep: Frequency | None, timezone: str) -> datetime:
        """Return when it may be purged: by the manifest or by the feed's definition of now, whichever is later."""
        since = max(self.manifest.quarantined_at, self.written)
        return max(self.manifest.purge_at, kept_until(since, keep, timezone))


class RunLists(NamedTuple):
    """Manifests that the lists of one run have.

    Attributes:
        manifests: by the keys of their places, as they are stored.
        written: when the last of the lists was written; None: there is none.
        problem: with a list that cannot be read; empty: all could be.
    """

    manifests: Mapping[str, bytes]
    written: datetime | None
    problem: str


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
    _lists: dict[CanonicalPath, RunLists] = field(default_factory=dict, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

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
        if entry.is_listed:
            return self._read_listed(place)
        if written is None:
            raise BadManifest(path=place.data, detail="there is no manifest beside it")
        self.check()
        with self.storage(place.manifest).read(place.manifest, length=MOST_BYTES + 1) as stream:
            content = stream.read()
        return self.confirmed(place, content, written)

    def _read_listed(self, place: QuarantinePlace) -> Quarantined | None:
        with self._lock:  # threads share what is read once for a run
            if place.data.parent not in self._lists:
                self._lists[place.data.parent] = self._lists_of(place)
            found = self._lists[place.data.parent]
        content = found.manifests.get(place.key)
        if content is None or found.written is None:
            raise BadManifest(path=place.data, detail=found.problem or "no list of its run names it")
        confirmed = self.confirmed(place, content, found.written)
        return None if confirmed is None else replace(confirmed, is_listed=True)

    def _lists_of(self, place: QuarantinePlace) -> RunLists:
        """Return what the lists of a run have; one that is none spoils no other."""
        run, system, problem = place.data.parent, self.storage(place.data), ""
        manifests: dict[str, bytes] = {}
        times: list[datetime] = []
        for each in [each for each in _listed(system, run) if LIST.fullmatch(each.name)]:
            if each.kind is not FileKind.FILE or each.modified is None:
                continue
            self.check()
            with system.read(run.child(each.name), length=MOST_BYTES + 1) as stream:
                content = stream.read()
            try:
                manifests |= listed_in(content)
                times.append(each.modified)
            except ValueError as error:
                problem = f"{each.name} is no list of manifests: {error}"
        return RunLists(manifests, max(times, default=None), problem)

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
