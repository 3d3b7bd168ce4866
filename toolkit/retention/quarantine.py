"""Quarantine of evicted instances: where they are, and the manifests that say what each of them was.

Instances of a feed wait in ``BASE/.feedctl/quarantine/FEED/RUN/KEY``. Beside them is a list of manifests for each few
hundred, ``manifests-KEY.json`` by the first of them. It is written before that one is moved: an instance is in
quarantine when its data is there and a list names it. Partitions of tables have the manifest ``KEY.json`` each. So do
instances on a store without renames, whose objects stay where they are: the manifest alone condemns them, and
``KEY.flag`` is a copy of their availability flag.

A manifest is a file that anybody may have written. It counts only where it is found in the place that the config repo
computes for the path that it names.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from toolkit.el import CanonicalPath, OutOfRange, is_name, shift
from toolkit.entities import LocationType
from toolkit.errors import Failed
from toolkit.foreign_json import parse_json
from toolkit.storage import OWN_PREFIX, StorageError

if TYPE_CHECKING:
    from toolkit.el import Frequency
    from toolkit.storage import FileStatus, FileSystem

SCHEMA = 1
"""Version of the manifest; another one is not read."""
FOLDER_PERMISSION = 0o700
"""Directories above an instance may have kept others from it; in quarantine this does."""
MOST_BYTES, _MOST_VALUES, _DIGITS = 4 << 20, 200_000, 16
KEY = re.compile(rf"[0-9TZ-]*-[0-9a-f]{{{_DIGITS}}}")
"""Form of a `QuarantinePlace.key`."""
MANIFEST_SUFFIX, _FLAG = ".json", ".flag"
_LIST = "manifests-"
LIST = re.compile(rf"{_LIST}({KEY.pattern})\{MANIFEST_SUFFIX}")
"""Name of a list of manifests; all keys are before it in the order of names."""


class BadManifest(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """A file in the place of a manifest that is none, or is about something else than its place says."""

    code = "bad_manifest"
    text = "it is not a manifest of this place, so nothing here is purged or restored; look at it by hand"


class NotWhole(StorageError, Failed):  # noqa: N818
    """An instance that was condemned where it is, and of which objects are missing or were exchanged since."""

    code = "not_whole"
    text = "it is not what was condemned any more: a purge has begun, or another program removed a part of it"


class NotRestorable(StorageError, Failed):  # noqa: N818
    """Partitions that a restore could not register again, so that they are not evicted."""

    code = "not_restorable"
    text = "it stays, since a restore could not bring it back"


def quarantine_of(base: CanonicalPath, feed: str) -> CanonicalPath:
    """Return the directory of a feed's instances in quarantine; its name is hidden from listings of the base."""
    return base.child(OWN_PREFIX).child("quarantine").child(feed)


def kept_until(since: datetime, keep: Frequency | None, timezone: str) -> datetime:
    """Return until when an instance stays in quarantine by a feed's definition; None: no longer than it says itself."""
    try:
        return since if keep is None else shift(since, keep, 1, timezone)
    except OutOfRange:
        return datetime.max.replace(tzinfo=UTC)


def digest_of(path: CanonicalPath) -> str:
    """Return the part of a key that names the path of an instance."""
    return hashlib.sha256(str(path).encode(errors="surrogateescape")).hexdigest()[:_DIGITS]


@dataclass(frozen=True, slots=True)
class QuarantinePlace:
    """Place of one instance in quarantine.

    Attributes:
        folder: of the feed, see `quarantine_of`.
        run: name of the run that evicted the instance.
        key: the instance's time and the digest of its path.
    """

    folder: CanonicalPath
    run: str
    key: str

    @classmethod
    def of(cls, folder: CanonicalPath, run: str, instance_key: str, path: CanonicalPath) -> QuarantinePlace:
        """The place that a run gives to an instance."""
        return cls(folder, run, f"{instance_key.replace(':', '')}-{digest_of(path)}")

    @property
    def base(self) -> CanonicalPath:
        """The directory that `quarantine_of` was asked about."""
        return self.folder.parent.parent.parent

    @property
    def digest(self) -> str:
        """The digest of the instance's path."""
        return self.key[-_DIGITS:]

    @property
    def data(self) -> CanonicalPath:
        """Place of the data, on a store with renames."""
        return self.folder.child(self.run).child(self.key)

    @property
    def manifest(self) -> CanonicalPath:
        """The manifest."""
        return self.folder.child(self.run).child(self.key + MANIFEST_SUFFIX)

    @property
    def list_file(self) -> CanonicalPath:
        """The list of manifests in which this one is the first."""
        return self.folder.child(self.run).child(f"{_LIST}{self.key}{MANIFEST_SUFFIX}")

    def named(self, *, is_listed: bool) -> CanonicalPath:
        """Return the path that stands for the place in plans: its manifest, or its data where a list has that."""
        return self.data if is_listed else self.manifest

    @property
    def flag(self) -> CanonicalPath:
        """Copy of the availability flag, on a store without renames."""
        return self.folder.child(self.run).child(self.key + _FLAG)


def place_at(manifest: CanonicalPath) -> QuarantinePlace:
    """Return the place that has a manifest, by the path that stands for it (`QuarantinePlace.named`)."""
    run = manifest.parent
    return QuarantinePlace(run.parent, run.name, manifest.name.removesuffix(MANIFEST_SUFFIX))


class ParentDirectory(NamedTuple):
    """A directory between base and instance, which goes when it is emptied and is made again with the instance."""

    permission: int | None
    owner: str | None
    group: str | None
    acl: tuple[str, ...] = ()

    @classmethod
    def seen(cls, system: FileSystem, path: CanonicalPath) -> ParentDirectory:
        """A directory as it is now."""
        status: FileStatus = system.status(path)
        acl = system.acl(path) if system.capabilities.acls else ()
        return cls(status.permission, status.owner, status.group, acl)

    def give(self, system: FileSystem, path: CanonicalPath) -> None:
        """Give a new directory these attributes, the owner last: what another user owns cannot be changed."""
        if self.permission is not None and system.capabilities.permissions:
            system.set_permission(path, self.permission & 0o7777)
        if self.acl and system.capabilities.acls:
            system.set_acl(path, self.acl)
        now = system.status(path)
        if system.capabilities.permissions and (now.owner, now.group) != (self.owner, self.group):
            system.set_owner(path, owner=self.owner, group=self.group)


@dataclass(frozen=True, kw_only=True, slots=True)
class QuarantineManifest:
    """Manifest of an instance in quarantine.

    Attributes:
        path: of the instance, before it was evicted.
        run: name of the run that evicted it.
        quarantined_at: when, by the clock of that run.
        purge_at: from then on it may be purged.
        parents: the directories above the instance and below the base, the topmost first.
        flag: name of the feed's availability flag; empty: it has none.
        content: so many files and bytes without the flag, of an instance whose files go one by one; None: it is moved.
        definition: of the partitions whose data it is, as Hive's ``_metadata``; empty: it is of a path feed.
    """

    feed: str
    cluster: str
    location: LocationType
    instance_key: str
    path: CanonicalPath
    run: str
    quarantined_at: datetime
    purge_at: datetime
    parents: tuple[ParentDirectory, ...] = ()
    flag: str = ""
    content: tuple[int, int] | None = None
    definition: str = ""

    def encoded(self) -> bytes:
        """Return the manifest as it is stored by itself."""
        return json.dumps(self.document(), indent=2).encode()

    def document(self) -> dict[str, object]:
        """Return the manifest as JSON has it."""
        return {
            "schema_version": SCHEMA,
            "feed": self.feed,
            "cluster": self.cluster,
            "location": self.location.value,
            "instance": self.instance_key,
            "path": str(self.path),
            "run": self.run,
            "quarantined_at": self.quarantined_at.isoformat(),
            "purge_at": self.purge_at.isoformat(),
            "availability_flag": self.flag,
            "content": self.content,
            "definition": self.definition,
            "parents": [{**each._asdict(), "acl": list(each.acl)} for each in self.parents],
        }

    @classmethod
    def decoded(cls, content: bytes, parse_path: Callable[[str], CanonicalPath]) -> QuarantineManifest:
        """Return the manifest that a file has.

        Raises:
            ValueError: it has none, or one of another version.
        """
        found = _Fields(parse_json(content, most_bytes=MOST_BYTES, most_values=_MOST_VALUES))
        if found.value("schema_version", int) != SCHEMA:
            message = f"its schema version is not {SCHEMA}"
            raise ValueError(message)
        flag, counted = found.value("availability_flag", str), found.optional("content", list)
        if flag and not is_name(flag):
            message = "its availability flag is no name"
            raise ValueError(message)
        return cls(
            feed=found.value("feed", str),
            cluster=found.value("cluster", str),
            location=LocationType(found.value("location", str)),
            instance_key=found.value("instance", str),
            path=parse_path(found.value("path", str)),
            run=found.value("run", str),
            quarantined_at=found.instant("quarantined_at"),
            purge_at=found.instant("purge_at"),
            flag=flag,
            content=None if counted is None else _two_numbers(counted),
            definition=found.optional("definition", str) or "",
            parents=tuple(_parent(_Fields(each)) for each in found.value("parents", list)),
        )


def lists_of(manifests: Sequence[tuple[str, QuarantineManifest]]) -> Iterator[tuple[str, bytes]]:
    """Yield lists of manifests as they are stored, each with its first key; one that is too large is divided.

    Args:
        manifests: by their keys.
    """
    content = json.dumps({"instances": {key: each.document() for key, each in manifests}}).encode()
    middle = len(manifests) // 2
    try:
        listed_in(content)
    except ValueError:
        if middle:
            yield from lists_of(manifests[:middle])
            yield from lists_of(manifests[middle:])
            return
    if manifests:
        yield manifests[0][0], content


def listed_in(content: bytes) -> dict[str, bytes]:
    """Return the manifests of a list by their keys, each as `QuarantineManifest.decoded` takes it.

    Raises:
        ValueError: it is no list.
    """
    found = _Fields(parse_json(content, most_bytes=MOST_BYTES, most_values=_MOST_VALUES)).value("instances", dict)
    return {str(key): json.dumps(each).encode() for key, each in found.items()}


V = TypeVar("V")


class _Fields:
    """Fields of a JSON object that another program may have written."""

    def __init__(self, found: object) -> None:
        self._found: Mapping[str, object] = found if isinstance(found, dict) else {}

    def value(self, name: str, kind: type[V]) -> V:
        found = self._found.get(name)
        if isinstance(found, kind):
            if isinstance(found, str):
                _require_storable(found)
            return found
        message = f"{name} is missing, or not a {kind.__name__}"
        raise ValueError(message)

    def optional(self, name: str, kind: type[V]) -> V | None:
        return None if self._found.get(name) is None else self.value(name, kind)

    def instant(self, name: str) -> datetime:
        found = datetime.fromisoformat(self.value(name, str))
        if found.tzinfo is not None:
            return found
        message = f"{name} has no time zone"
        raise ValueError(message)


def _require_storable(text: str) -> None:
    """Return when no store and no system call stumbles over a text; what does is a ValueError."""
    text.encode(errors="surrogateescape")
    if "\0" in text:
        message = "it has a NUL"
        raise ValueError(message)


def _two_numbers(found: list[object]) -> tuple[int, int]:
    match found:
        case [int(files), int(size)]:
            return files, size
        case _:
            message = "content is not two numbers"
            raise ValueError(message)


def _parent(found: _Fields) -> ParentDirectory:
    acl = tuple(map(str, found.value("acl", list)))
    _require_storable("".join(acl))
    return ParentDirectory(
        found.optional("permission", int), found.optional("owner", str), found.optional("group", str), acl
    )
