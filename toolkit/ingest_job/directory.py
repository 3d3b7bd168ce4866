"""Files of a directory as a source: each is read once, in whole lines, and put away when that is committed.

The progress is ``{"done": {KEY: "SIZE-MILLISECONDS-DIGEST"}, "open": {KEY: [OFFSET, DIGEST]}}``. A key is the beginning
of the SHA-256 of the file's URI, so that its size does not depend on names. A finished file is remembered while it is
there. Of an open one the digest is that of the bytes before the offset: they are read again, and compared, before
reading goes on behind them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.errors import InvalidInput
from toolkit.ingest.errors import UnitChanged
from toolkit.ingest_job.file_read import DIGEST, FileRead, SeenFile
from toolkit.ingest_job.put_away import archived, digest_of, removed
from toolkit.ingest_job.source import Chunk, IngestSource, JsonValue, Progress, SourceUnit, Stores
from toolkit.storage import Entry, FileKind, NotFound

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath

MOST_REMEMBERED = 20_000
"""So many finished files are remembered at most: the progress is a property of the table, in each of its commits."""
_HIDDEN = (".", "_")
_UPLOADING = "._COPYING_"
_KEY = 16


class TooManyFiles(InvalidInput):
    """A directory has more finished files than are remembered.

    Args:
        directory: its URI.
        found: so many files match the pattern.
    """

    code = "too_many_files"

    def __init__(self, *, directory: str, found: int) -> None:
        self.directory, self.found = directory, found
        super().__init__(
            f"{directory} has {found:,} files, and at most {MOST_REMEMBERED:,} are remembered with `after: keep`; "
            f"set `after: archive` or `after: delete`, or move files that were ingested to another directory"
        )


@dataclass(kw_only=True)
class DirectorySource(IngestSource):
    """Files that match a pattern and have not changed for a while; used by one thread at a time.

    Attributes:
        directory: where they are.
        pattern: of their names; with a slash, of the ways below the directory.
        settle: so long a file must not have changed before it is read.
        now: the present instant.
        stores: the store that a path is on; nothing is changed through it.
        after: ``keep``, ``archive`` or ``delete``.
        archive: where files go with ``archive``.
        most_bytes: of one record.
    """

    directory: CanonicalPath
    pattern: str
    settle: timedelta
    now: datetime
    stores: Stores
    after: str = "keep"
    archive: CanonicalPath | None = None
    most_bytes: int = 64 << 20
    _notes: list[str] = field(default_factory=list, init=False)
    _there: dict[str, SeenFile] = field(default_factory=dict, init=False)
    _present: set[str] = field(default_factory=set, init=False)
    _read: dict[str, tuple[int, str]] = field(default_factory=dict, init=False)
    _committed: dict[str, tuple[int, str]] = field(default_factory=dict, init=False)
    _young: frozenset[str] = field(default=frozenset(), init=False)

    @property
    @override
    def notes(self) -> Sequence[str]:
        return self._notes

    @override
    def units(self, progress: Progress) -> Sequence[SourceUnit]:
        files = sorted(self._listed(), key=attrgetter("modified", "path.path"))
        self._there = {_key(str(each.path)): each for each in files}
        if self.after == "keep" and len(files) > MOST_REMEMBERED:
            raise TooManyFiles(directory=str(self.directory), found=len(files))
        settled = [each for each in files if self.now - each.modified >= self.settle]
        young = len(files) - len(settled)
        self._young = frozenset(self._there) - {_key(str(each.path)) for each in settled}
        self._notes = [f"{young} files changed less than {self.settle} ago: they are left to a later run"] * bool(young)
        units = [unit for unit in (self._unit(each, progress) for each in settled) if unit is not None]
        touched = 0 if self.after == "keep" else self._touched(progress)
        if touched:
            self._notes.append(f"{touched} files were touched since they were ingested: they are not put away")
        return units

    @property
    @override
    def young(self) -> Collection[str]:
        return self._young

    def _touched(self, progress: Progress) -> int:
        """Return how many finished files have another time than when they were read."""
        done = _done(progress)
        return sum(key in done and not done[key].startswith(f"{file.mark}-") for key, file in self._there.items())

    def _entries(self) -> Iterator[Entry]:
        system, is_deep = self.stores(self.directory), "/" in self.pattern
        try:
            yield from system.list_tree(self.directory) if is_deep else system.list(self.directory)
        except NotFound:
            if system.capabilities.directories:
                raise  # else a directory from which all files were taken is not there any more

    def _listed(self) -> Iterator[SeenFile]:
        for entry in self._entries():
            if entry.kind is FileKind.FILE and entry.modified is not None:
                path = self.directory
                for part in entry.name.split("/"):
                    path = path.child(part)
                self._present.add(_key(str(path)))
                if not self._matches(entry.name):
                    continue
                if self.archive is None or not path.is_within(self.archive):
                    yield SeenFile(path=path, size=entry.size, modified=entry.modified)

    def _matches(self, name: str) -> bool:
        """Return whether a way below the directory matches, part by part; hidden and uploading files never do."""
        parts, patterns = name.split("/"), self.pattern.split("/")
        if len(parts) != len(patterns) or any(part.startswith(_HIDDEN) for part in parts) or name.endswith(_UPLOADING):
            return False
        return all(map(fnmatchcase, parts, patterns))

    def _unit(self, file: SeenFile, progress: Progress) -> SourceUnit | None:
        """Return what is to be read of a file; None: it is finished, and still what was read."""
        key, name = _key(str(file.path)), str(file.path)
        done = _done(progress).get(key)
        if done is None:
            offset, digest = _open(progress).get(key, (0, ""))
            self._committed[name] = (offset, digest)
            change = "" if offset <= file.size else f"it has {file.size} bytes, of which {offset} were ingested"
            return SourceUnit(name=name, start=offset, end=max(offset, file.size), identity=file.mark, change=change)
        mark, _, digest = done.rpartition("-")
        if mark == file.mark or (int(mark.split("-")[0], 16) == file.size and self._digest(file) == digest):
            return None
        change = "it was ingested with other content; give it another name, or remove it"
        return SourceUnit(name=name, start=0, end=file.size, identity=file.mark, change=change)

    def _digest(self, file: SeenFile) -> str:
        return digest_of(self.stores(file.path), file.path)[:DIGEST]

    def file_read(self, unit: SourceUnit) -> FileRead:
        """Return what it takes to read a unit, here or on another machine, which is to be told to `was_read`."""
        before = self._committed.get(unit.name, (0, ""))[1]
        return FileRead(file=self._there[_key(unit.name)], unit=unit, before=before, most_bytes=self.most_bytes)

    def was_read(self, name: str, reached: tuple[int, str]) -> None:
        """Take the offset and the digest that `FileRead.reached` of a unit has."""
        self._read[name] = reached

    @override
    def read(self, unit: SourceUnit, *, rows: int, max_bytes: int) -> Iterator[Chunk]:
        reading = self.file_read(unit)
        for chunk in reading.chunks(self.stores(reading.file.path), rows=rows, max_bytes=max_bytes):
            self._read[unit.name] = reading.reached
            yield chunk
        self._read[unit.name] = reading.reached

    def _check(self, file: SeenFile) -> None:
        file.check(self.stores(file.path))

    @override
    def advanced(self, progress: Progress, unit: SourceUnit, reached: int, *, is_done: bool) -> Progress:
        key, (offset, digest) = _key(unit.name), self._read[unit.name]
        if offset != reached:
            raise ValueError((unit.name, offset, reached))
        self._committed[unit.name] = (offset, digest)
        done: dict[str, JsonValue] = {k: text for k, text in _done(progress).items() if k in self._present}
        half: dict[str, JsonValue] = {
            k: [*each] for k, each in _open(progress).items() if k in self._present and k != key
        }
        if is_done:
            done[key] = f"{self._there[key].mark}-{digest}"
        else:
            half[key] = [reached, digest]
        return {"done": done, "open": half}

    @override
    def is_finished(self, name: str, progress: Progress) -> bool:
        return _key(name) in _done(progress)

    @override
    def finished(self, progress: Progress) -> Sequence[SourceUnit]:
        if self.after == "keep":
            return ()
        done = _done(progress)
        return [
            SourceUnit(name=str(file.path), start=file.size, end=file.size, identity=done[key])
            for key, file in self._there.items()
            if done.get(key, "").rpartition("-")[0] == file.mark
        ]

    @override
    def put_away(self, unit: SourceUnit, stores: Stores) -> str:
        file = self._there[_key(unit.name)]
        expected = unit.identity.rpartition("-")[2]
        digest = digest_of(self.stores(file.path), file.path)
        if not digest.startswith(expected):
            raise UnitChanged(unit=unit.name, change="its bytes are not those that were ingested")
        self._check(file)
        if self.archive is None:
            removed(stores, file.path, self.directory)
            what = "deleted"
        else:
            target = self.archive.child(f"{file.path.name}-{digest[:_KEY]}")
            archived(stores, file.path, self.directory, target, digest, partial(self._check, file))
            what = f"moved to {target}"
        del self._there[_key(str(file.path))]
        return what

    @override
    def close(self) -> None:
        """Do nothing: the stores belong to the run."""


def _key(name: str) -> str:
    """Return the key of a file in the progress."""
    return hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:_KEY]


def _done(progress: Progress) -> dict[str, str]:
    """Return the finished files of a progress."""
    found = progress.get("done", {})
    return {key: str(text) for key, text in found.items()} if isinstance(found, dict) else {}


def _open(progress: Progress) -> dict[str, tuple[int, str]]:
    """Return offset and digest of the files of a progress that were not read to their ends."""
    found = progress.get("open", {})
    entries = found.items() if isinstance(found, dict) else ()
    return {key: (int(str(entry[0])), str(entry[1])) for key, entry in entries if isinstance(entry, list)}
