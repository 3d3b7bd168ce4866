"""Mirror of a directory by snapshots: its two sides, its rules, and the plan of a run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

from toolkit.entities.vocabulary import OnMissingSnapshot
from toolkit.errors import Failed
from toolkit.mirror.changes import MirrorStep, Operation
from toolkit.mirror.diff import MirrorChange, MirrorDiff
from toolkit.storage import OWN_PREFIX, StorageError

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.model import Problem
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem
    from toolkit.storage.snapshots import DirectorySnapshot, SnapshotStore

ARRANGED, BEFORE = ".arranged", ".before"
"""Ends of the names of snapshots of a target: it is arranged, and only the rest of a run is left; what it was before a
full compare."""
_SNAPSHOTS = ".snapshot"
_KEY = re.compile(r"\d{4}-\d\d-\d\dT\d{4}Z")


class MirrorTargetChanged(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """Someone else changed the target of a mirror while a run worked on it."""

    code = "mirror_target_changed"
    text = "it was changed by others while it was mirrored; undo the change, then run again, which finishes this run"


def owned_name(owner: str, name: str) -> str:
    """Return the name of a mirror that no mirror of another owner has."""
    return f"{owner}.{name}" if owner else name


class Attribute(StrEnum):
    """Attribute that copies get besides their bytes and times, by the words of `preserve`."""

    OWNER = "user"
    GROUP = "group"
    PERMISSION = "permission"
    ACL = "acl"
    XATTR = "xattr"
    BLOCK_SIZE = "block_size"
    REPLICATION = "replication_number"
    CHECKSUM_TYPE = "checksum_type"


@dataclass(frozen=True, kw_only=True)
class MirrorSide:
    """Directory at one end of a mirror.

    Attributes:
        root: the directory.
        system: the store that it is on.
        snapshots: of the same store.
    """

    root: CanonicalPath
    system: FileSystem
    snapshots: SnapshotStore

    def at(self, snapshot: str) -> CanonicalPath:
        """Return where the tree of a snapshot is; empty: the directory itself."""
        return self.root.child(_SNAPSHOTS).child(snapshot) if snapshot else self.root


@dataclass(frozen=True, kw_only=True)
class KeptSnapshots:
    """Retention of the snapshots of one side: one goes if it is older than the limit and beyond the newest.

    Attributes:
        older_than: when the limit began.
        number: so many of the newest stay.
    """

    older_than: datetime
    number: int


@dataclass(frozen=True, kw_only=True)
class MirrorRules:
    """Settings of a mirror.

    Attributes:
        name: of the mirror; letters, digits, ``_`` and ``-``.
        preserve: attributes that copies get.
        on_missing: reaction to a missing common snapshot.
        owner: config repo and environment of the mirror, since others may have one of its name; empty: not told.
    """

    name: str
    preserve: frozenset[Attribute] = frozenset({Attribute.OWNER, Attribute.GROUP, Attribute.PERMISSION})
    on_missing: OnMissingSnapshot = OnMissingSnapshot.REFUSE
    owner: str = ""

    @property
    def prefix(self) -> str:
        """Begin of the names of this mirror's snapshots, and of no other's: a name has no dot."""
        return f"feedctl.{owned_name(self.owner, self.name)}."

    @property
    def work(self) -> str:
        """Name of the working directory in the target."""
        return f"{OWN_PREFIX}-mirror-{owned_name(self.owner, self.name)}"

    def snapshot(self, instance_key: str) -> str:
        """Return the name of the snapshot of an instance; names are in the order of their times."""
        return f"{self.prefix}{instance_key.replace(':', '')}"

    def instance_key(self, snapshot: str) -> str:
        """Return the key of the instance of a snapshot of a whole tree."""
        key = snapshot.removeprefix(self.prefix)
        return f"{key[:-3]}:{key[-3:]}"

    def before(self, snapshot: str) -> str:
        """Return the name of the snapshot of what a target was before a full compare."""
        return f"{snapshot}{BEFORE}"

    def is_own(self, name: str, end: str = "") -> bool:
        """Return whether a name is one of this mirror's snapshots, with exactly this at its end."""
        is_like = name.startswith(self.prefix) and name.endswith(end)
        return is_like and bool(_KEY.fullmatch(name.removesuffix(end)[len(self.prefix) :]))

    def own(self, snapshots: Sequence[DirectorySnapshot]) -> list[DirectorySnapshot]:
        """Return this mirror's snapshots of whole trees, oldest first."""
        return [each for each in snapshots if self.is_own(each.name)]


class MirrorWork(StrEnum):
    """Work that the state of both sides asks for."""

    NOTHING = "nothing"
    """The target has the snapshot, or a later one."""
    BEGIN = "begin"
    """The target is what its base is."""
    RESUME = "resume"
    """A run was stopped in the middle."""
    FINISH = "finish"
    """A run was stopped after the target was arranged."""


@dataclass(frozen=True, kw_only=True)
class MirrorState:
    """State of a mirror, which decides what a run does.

    Attributes:
        snapshot: of the source, that the target becomes.
        base: snapshot of the target that the changes are made to; empty: it is made before.
        work: what is to be done.
        problem: why nothing may be done.
    """

    snapshot: str
    base: str = ""
    work: MirrorWork = MirrorWork.NOTHING
    problem: Problem | None = None

    @property
    def is_full(self) -> bool:
        """True if both trees are compared."""
        return not self.base or self.base.endswith(BEFORE)


class MirrorRemoval(NamedTuple):
    """Amount that a plan removes at the target.

    Attributes:
        paths: files and directories.
        size: bytes of the files.
        kept: files and directories that the target has besides.
        digest: of what goes, for an approval; empty: it cannot be approved.
    """

    paths: int
    size: int
    kept: int
    digest: str = ""


def removal_digest(facts: Iterable[object]) -> str:
    """Return the digest of what a plan removes, from what tells it from all other removals (ADR 0107)."""
    return hashlib.sha256(json.dumps(list(facts)).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class MirrorPlan(MirrorDiff):
    """Plan of a run.

    Attributes:
        state: that it was made for.
        operations: in their order.
    """

    state: MirrorState
    operations: tuple[Operation, ...] = ()

    @cached_property
    def moved(self) -> frozenset[str]:
        """Paths of the older tree that move, and files of it that get other bytes."""
        return frozenset(each.origin for each in self.operations if each.origin)

    @cached_property
    def placed(self) -> frozenset[str]:
        """Files of the newer tree that are none of the older one, or were written anew."""
        return frozenset(each.path for each in self.operations if each.step is MirrorStep.PLACE and not each.origin)

    @cached_property
    def removed(self) -> frozenset[str]:
        """Paths of the older tree that go, each with all that is in it; files that were written anew too."""
        return frozenset(each.path for each in self.operations if each.step is MirrorStep.OUT) - self.moved

    @property
    def bytes(self) -> int:
        """Bytes that are copied."""
        return sum(each.entry.size for each in self.operations if each.step is MirrorStep.COPY and each.entry)

    @property
    @override
    def facts(self) -> Mapping[str, object]:
        state = self.state
        return {"snapshot": state.snapshot, "base": state.base or None, "work": state.work.value}

    @property
    @override
    def basis(self) -> str:
        since = f"since {self.state.base}" if self.state.base else "of the target as it is"
        return f"{since}, {self.bytes:,} bytes to copy ({self.state.work})"

    @override
    def changes(self) -> Iterator[MirrorChange]:
        """Yield the changes of data; attributes of what is copied or made go with it."""
        modified = self.moved - {each.origin for each in self.operations if each.step is MirrorStep.MOVE}
        origins = {each.path: each.origin for each in self.operations if each.step is MirrorStep.PLACE}
        made = {each.path for each in self.operations if each.step is MirrorStep.MAKE}
        for step, path, origin, entry in self.operations:
            if step is MirrorStep.COPY and entry is not None:
                is_new = origins.get(path) not in modified and path not in self.removed
                yield MirrorChange("copy" if is_new else "replace", path, bytes=entry.size)
            elif step is MirrorStep.OUT and path in self.removed - self.placed:
                yield MirrorChange("remove", path)
            elif step is MirrorStep.MOVE:
                yield MirrorChange("rename", path, origin)
            elif step is MirrorStep.MAKE:
                yield MirrorChange("mkdir", path)
            elif step is MirrorStep.ATTRIBUTES and path not in made:
                yield MirrorChange("attributes", path)
