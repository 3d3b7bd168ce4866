"""The instances of a feed that are directories or files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from toolkit.availability.presence import Presence, content_of, is_ready, is_there, refuse_odd
from toolkit.availability.readiness import CountedInstances
from toolkit.availability.state import DataState, FoundInstance
from toolkit.storage import OWN_PREFIX, Entry, FileKind, NotFound, WrongKind
from toolkit.threads import worker_pool

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.el import CanonicalPath, InstanceSequence, PathTemplate
    from toolkit.storage import FileSystem
    from toolkit.threads import WorkerPool

PAGE = 1000
"""Entries of an instance that are looked at: one answer of a store. Files of instances with more are not counted."""

WINDOW = 256
"""So many instances are looked at together."""


@dataclass(frozen=True, kw_only=True)
class PathInstances:
    """The `FeedInstances` of a feed with a data location.

    Attributes:
        sequence: the instances by the feed's validity on the cluster.
        template: of the data.
        place: from a path as it is written to where that is.
        flag: the name of the availability flag; empty: the feed has none.
        storage: the store that a path is on; read only.
    """

    sequence: InstanceSequence
    template: PathTemplate
    place: Callable[[str], CanonicalPath]
    flag: str
    storage: Callable[[CanonicalPath], FileSystem]

    def path_of(self, instant: datetime) -> CanonicalPath:
        """Return the path of an instance, present or not.

        Raises:
            ElError: the template has a variable without a value.
        """
        return self.place(self.template.render(instant))

    def presence(self) -> Presence:
        """Return a memory of the directories that exist, for one look at many instances."""
        return Presence(system=self._system, base=self._base)

    def look(self, instant: datetime) -> FoundInstance:
        """Return what is in the directory of one instance."""
        path = self.path_of(instant)
        return self._contents(instant, path) or self._found(instant, path, DataState.MISSING)

    def look_at(self, instants: Iterable[datetime]) -> Iterator[FoundInstance]:
        """Yield what is in the directories of instances, in their order; the store gets several calls at once."""
        parallel = 1 if self._base.is_local else self._system.capabilities.parallel
        presence, rest = self.presence(), iter(instants)
        with worker_pool(parallel, "feedctl-availability") as pool:
            while window := list(islice(rest, WINDOW)):
                yield from self._looked(window, presence, pool)

    def is_ready(self, instant: datetime) -> bool:
        """Return whether an instance is complete: its directory exists, with the availability flag if it has one."""
        return is_ready(self._system, self.path_of(instant), self.flag)

    def content_of(self, instant: datetime) -> tuple[int, int]:
        """Return how many files, and bytes in them, are at and below an instance, without its flag."""
        path = self.path_of(instant)
        return content_of(self._system, path, path.child(self.flag) if self.flag else None)

    def counted(self) -> CountedInstances:
        """Return a view of the instances that remembers which directories exist."""
        return CountedInstances(
            sequence=self.sequence, path_of=self.path_of, presence=self.presence(), system=self._system, flag=self.flag
        )

    @cached_property
    def _base(self) -> CanonicalPath:
        return self.place(self.template.base)

    @cached_property
    def _system(self) -> FileSystem:
        return self.storage(self._base)

    def _looked(self, window: list[datetime], presence: Presence, pool: WorkerPool | None) -> Iterator[FoundInstance]:
        paths = {instant: self.path_of(instant) for instant in window}
        names: dict[CanonicalPath, set[str]] = {}
        for path in paths.values():
            names.setdefault(path.parent, set()).add(path.name)
        entries: dict[CanonicalPath, Mapping[str, Entry]] = {}
        found: dict[datetime, FoundInstance] = {}

        def list_parent(parent: CanonicalPath) -> None:
            entries[parent] = presence.among(parent, names[parent])

        def look_inside(instant: datetime) -> None:
            path = paths[instant]
            entry = entries[path.parent].get(path.name)
            there = None if entry is None else self._of_entry(instant, path, entry)
            found[instant] = there or self._found(instant, path, DataState.MISSING)

        _each(pool, list_parent, list(names))
        _each(pool, look_inside, list(paths))
        return (found[instant] for instant in window)

    def _of_entry(self, instant: datetime, path: CanonicalPath, entry: Entry) -> FoundInstance | None:
        refuse_odd(path, entry.kind)
        return self._file(instant, path, entry) if entry.kind is FileKind.FILE else self._contents(instant, path)

    def _contents(self, instant: datetime, path: CanonicalPath) -> FoundInstance | None:
        """Return the contents of an instance; None: nothing is there."""
        try:
            page = list(islice(self._system.list(path), PAGE + 1))
        except NotFound:
            return None
        except WrongKind:
            status = self._system.status(path)
            refuse_odd(path, status.kind)
            return self._file(instant, path, Entry(path.name, status.kind, status.size, status.modified))
        is_whole = len(page) <= PAGE
        data = [each for each in page if each.name != self.flag and not each.name.startswith(OWN_PREFIX)]
        is_flagged = any(each.name == self.flag for each in page)
        if self.flag and not is_flagged and not is_whole:
            is_flagged = is_there(self._system, path.child(self.flag))
        ready = is_flagged or not self.flag
        state = (DataState.AVAILABLE if ready else DataState.PARTIAL) if data else DataState.EMPTY
        if not is_whole or any(each.kind is FileKind.DIRECTORY for each in data):
            return self._found(instant, path, state, is_ready=ready)
        return self._found(instant, path, state, data, is_ready=ready)

    def _file(self, instant: datetime, path: CanonicalPath, entry: Entry) -> FoundInstance:
        """An instance that is one file: nothing can be in it, no flag either."""
        state = DataState.PARTIAL if self.flag else DataState.AVAILABLE
        return self._found(instant, path, state, [entry], is_ready=not self.flag)

    def _found(
        self,
        instant: datetime,
        path: CanonicalPath,
        state: DataState,
        data: list[Entry] | None = None,
        *,
        is_ready: bool = False,
    ) -> FoundInstance:
        return FoundInstance(
            instant=instant,
            uri=str(path),
            state=state,
            is_ready=is_ready,
            files=None if data is None else len(data),
            bytes=None if data is None else sum(each.size for each in data),
            modified=max((each.modified for each in data or () if each.modified is not None), default=None),
        )


def _each(pool: WorkerPool | None, work: Callable[..., None], things: list[datetime] | list[CanonicalPath]) -> None:
    if pool is not None:
        pool.run_all(work, things)
        return
    for thing in things:
        work(thing)
