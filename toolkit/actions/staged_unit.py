"""Staged data of a feed with quality checks: copy, publish, record why it is blocked, remove.

A unit waits in its `staging_place`, with these beside it: `NAME.blocked.json`, the manifest; `.feedctl-old-NAME`, the
old data, for the moment in which it is replaced; `.feedctl-whole-NAME`, which says of a copy that all of it is there;
and, where files go one by one, `.feedctl-gone-NAME`, which says that the rest of the place belongs to an unfinished
removal: never validate it, never publish it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolkit.actions.file_copies import FileCopies
from toolkit.actions.publication import Publication, finish_swap, remove, remove_begun, remove_quietly
from toolkit.availability import is_there
from toolkit.foreign_json import MOST_BYTES, parse_json
from toolkit.storage import OWN_PREFIX, REPLACED_PREFIX, NotFound
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.actions.validation import QualityFailed, Written
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem

STAGING_DIRECTORY = f"{OWN_PREFIX}-staging"
"""Beside the data of an instance: the directory of what was written and is not published, under its own name."""
BLOCKED_SUFFIX = ".blocked.json"
_MOST_COPIED, _MOST_DIGESTS = 256 << 20, 2_000_000
_GONE, _WHOLE = f"{OWN_PREFIX}-gone-", f"{OWN_PREFIX}-whole-"


def staging_place(unit: CanonicalPath, top: CanonicalPath | None = None) -> CanonicalPath:
    """Return the place of a unit until it is published; its name does not begin with a dot.

    A program that lists files leaves out what begins with a dot, also when it is given exactly that path.

    Args:
        unit: where it is published.
        top: the directory that has the staging directory, with the names of all below it, as a table's; None: the
            one around the unit.
    """
    top = top or unit.parent
    return below(top.child(STAGING_DIRECTORY), unit.relative_to(top))


def staging_top(place: CanonicalPath) -> CanonicalPath | None:
    """Return the directory that has the staging directory around a place, or None if it is in none."""
    above = place
    while above.path != "/":
        if above.name == STAGING_DIRECTORY:
            return above.parent
        above = above.parent
    return None


def manifest_of(unit: CanonicalPath, top: CanonicalPath | None = None) -> CanonicalPath:
    """Return the path of the file that says why a unit is blocked; arguments as of `staging_place`."""
    place = staging_place(unit, top)
    return place.parent.child(f"{place.name}{BLOCKED_SUFFIX}")


def whole_of(unit: CanonicalPath, top: CanonicalPath | None = None) -> CanonicalPath:
    """Return the path of the file that says that a staged copy is complete; arguments as of `staging_place`."""
    place = staging_place(unit, top)
    return place.parent.child(f"{_WHOLE}{place.name}")


def blocked_digest(system: FileSystem, unit: CanonicalPath, top: CanonicalPath | None = None) -> str:
    """Return the digest of the blocked data that the manifest of a unit is about; empty: there is no manifest."""
    try:
        with system.read(manifest_of(unit, top), length=MOST_BYTES + 1) as stream:
            facts: Any = parse_json(stream.read())
        return str(facts["digest"])
    except (NotFound, ValueError, TypeError, KeyError):  # anybody may have written it
        return ""


def unit_name(name: str) -> str:
    """Return the name of the unit that an entry of a staging directory belongs to."""
    for prefix in (REPLACED_PREFIX, _GONE, _WHOLE):
        name = name.removeprefix(prefix)
    return name.removesuffix(BLOCKED_SUFFIX)


@dataclass(frozen=True, kw_only=True)
class StagedUnit:
    """Staged unit of one run.

    Every call raises StorageError, and StopRequested before it has changed anything that readers see.

    Attributes:
        work: of the run.
        unit: its final place, under a lease of the run.
        base: bounds every effect.
        top: see `staging_place`.
    """

    work: RunContext
    unit: CanonicalPath
    base: CanonicalPath
    top: CanonicalPath | None = None

    @property
    def place(self) -> CanonicalPath:
        """Staging place of the unit."""
        return staging_place(self.unit, self.top)

    def copied_before(self, identity: str, is_whole: Callable[[], bool]) -> dict[str, str] | None:
        """Return the digests of a complete copy of an earlier run; without one, begin a new copy and return None.

        Args:
            identity: see `end_copy`.
            is_whole: whether the copy is still as it was made.
        """
        try:
            with self.system.read(self._whole, length=_MOST_COPIED + 1) as stream:
                facts: Any = parse_json(stream.read(), most_bytes=_MOST_COPIED, most_values=_MOST_DIGESTS)
            digests = dict(facts["digests"]) if facts["identity"] == identity else None
        except (NotFound, ValueError, TypeError, KeyError):  # anybody may have written it
            digests = None
        if digests is not None and is_whole():
            return digests
        if is_there(self.system, self._manifest):  # goes last when blocked data is removed, which may have been killed
            self.settle()
        self.begin_copy()
        return None

    def begin_copy(self) -> None:
        """Begin to replace the staged data: remove the manifest, which describes the old data."""
        for each in (self._manifest, self._whole):
            remove(self.system, each, self.base)

    def end_copy(self, identity: str, digests: Mapping[str, str]) -> None:
        """Record that the copy is complete.

        Args:
            identity: of the content that was copied, with its times at the source.
            digests: of its files.
        """
        self.system.mkdirs(self.place.parent)
        self.system.write(self._whole, [json.dumps({"identity": identity, "digests": digests}).encode()])

    def end_wait(self) -> None:
        """Remove what says that the unit is staged, since it is published."""
        for each in (self._whole, self._manifest):
            remove_quietly(self.system, each, self.base)

    def settle(self) -> None:
        """Finish what a killed run began: a removal goes on, and what was put aside comes back."""
        if is_there(self.system, self._gone):
            self._remove_place()
        if self.system.capabilities.directories:
            if finish_swap(self.system, self.unit, self._aside, lambda: None):
                remove(self.system, self._aside, self.base)
            for each in (self._aside, self.place):
                remove_begun(self.system, each, self.base)

    def clear(self, *, in_place: bool = False) -> None:
        """Remove the staged data; the manifest goes last, so that the rest of an interrupted removal is known by it.

        Args:
            in_place: remove the unit too: on a store without renames, a copy that has no flag yet.
        """
        self.settle()
        remove(self.system, self._whole, self.base)
        self._remove_place()
        if in_place:
            remove(self.system, self.unit, self.base)
        remove(self.system, self._manifest, self.base)

    def note_blocked(self, written: Written, error: QualityFailed, now: datetime) -> None:
        """Write the manifest."""
        self.system.mkdirs(self.place.parent)  # a unit in its final place has none yet
        self.system.write(self._manifest, [_manifest(written, error, self.work.run_name, now)])

    def publish(self, flag: str) -> None:
        """Publish validated data: all at once, or on a store without renames the flag last.

        Args:
            flag: the name of the file in it that comes last; empty: none.
        """
        publication = Publication(
            work=self.work,
            files=FileCopies(work=self.work),
            source=self.place,
            unit=self.unit,
            base=self.base,
            flag=flag,
            is_progress=False,
        )
        if self.system.capabilities.atomic_rename:
            publication.swap_in(self.place, aside=self._aside if is_there(self.system, self.unit) else None)
        else:
            tree = publication.tree(self.place)
            if tree is None:
                raise NotFound(path=self.place)
            with publication.in_place(tree, publication.tree(self.unit) or {}) as data:
                publication.copy(data, data, self.unit)
            self._remove_place()
        remove_quietly(self.system, self._manifest, self.base)

    def _remove_place(self) -> None:
        """Remove the staged data; where files go one by one, a mark keeps the rest from being validated."""
        system, goes_at_once = self.system, self.system.capabilities.atomic_rename
        if not goes_at_once and is_there(system, self.place):
            system.write(self._gone, [b""])
        remove(system, self.place, self.base)
        if not goes_at_once:
            remove(system, self._gone, self.base)

    @property
    def system(self) -> FileSystem:
        """The store of the unit."""
        return self.work.stores(self.unit)

    @property
    def _whole(self) -> CanonicalPath:
        return whole_of(self.unit, self.top)

    @property
    def _manifest(self) -> CanonicalPath:
        return manifest_of(self.unit, self.top)

    @property
    def _aside(self) -> CanonicalPath:
        return self.place.parent.child(f"{REPLACED_PREFIX}{self.place.name}")

    @property
    def _gone(self) -> CanonicalPath:
        return self.place.parent.child(f"{_GONE}{self.place.name}")


def _manifest(written: Written, error: QualityFailed, run: str, now: datetime) -> bytes:
    facts: Mapping[str, str] = {
        "feed": written.feed.name,
        "cluster": written.cluster.name,
        "instance": written.instance_key,
        "unit": written.unit,
        "why": error.why,
        "code": error.code,
        "digest": error.digest,
        "page": error.page,
        "run": run,
        "time": f"{now:%Y-%m-%dT%H:%M:%SZ}",
    }
    return f"{json.dumps(facts, indent=2)}\n".encode()
