"""What a replication works on: one instance from one source, and what is planned for it."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.model import TargetPlan
from toolkit.actions.result import ActionResult
from toolkit.storage import FileKind

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.el.segment import Segment
    from toolkit.transfer.trees import Tree

NAME = "replication"
COPY, FLAG = "copy", "flag"


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyRules:
    """What the properties of a feed ask of its replication.

    Attributes:
        overwrite: copy what is there and looks the same, too.
        remove_deleted: what the source no longer has goes at the target as well; else it stays.
        permission: keep the permission bits.
        owner: keep the owner.
        group: keep the group.
        acl: keep access control lists.
        xattrs: keep extended attributes.
        times: keep the times of files.
        or_warn: a copy that lacks what cannot be kept is published with a note; else it fails.
        at_once: so many files of one instance at once; None: as many as the store is good for.
        bandwidth: bytes a second of one instance's copy; inf: as many as come.
        counters: time, files and bytes of each instance are part of the result.
    """

    overwrite: bool = False
    remove_deleted: bool = True
    permission: bool = False
    owner: bool = False
    group: bool = False
    acl: bool = False
    xattrs: bool = False
    times: bool = False
    or_warn: bool = False
    at_once: int | None = None
    bandwidth: float = inf
    counters: bool = False


@dataclass(frozen=True, kw_only=True)
class ReplicationTarget:
    """An instance of a feed that is pulled from one source to one target.

    Attributes:
        feed: name.
        cluster: the target.
        counterpart: the source.
        instance_key: its time.
        source: its directory at the source.
        target: its directory at the target.
        source_base: bounds what is read.
        target_base: bounds every effect.
        parts: which sub-directories are copied; empty: all of it.
        flag: the file that says that it is complete; empty: its directory does.
        others: the other sources, without whose parts it is not complete.
        waits_until: from then on an instance that has not come has failed; None: never.
        rules: how it is copied.
    """

    feed: str
    cluster: str
    counterpart: str
    instance_key: str
    source: CanonicalPath
    target: CanonicalPath
    source_base: CanonicalPath
    target_base: CanonicalPath
    parts: tuple[Segment, ...] = ()
    flag: str = ""
    others: tuple[str, ...] = ()
    waits_until: datetime | None = None
    rules: CopyRules = field(default_factory=CopyRules)

    @property
    def flag_path(self) -> CanonicalPath | None:
        """The flag at the target; None: the feed has none."""
        return self.target.child(self.flag) if self.flag else None

    @property
    def entity(self) -> str:
        """See `Target.entity`."""
        return self.feed


@dataclass(frozen=True, kw_only=True)
class UnitItem:
    """A directory that is copied and published at once: an instance, or a part of it.

    Attributes:
        instance_key: of the instance.
        source: where it is read.
        target: where it appears.
        wanted: all that the source has in it.
        present: all that the target has there; None: nothing is there.
        copied: names in it that are read from the source; the others are there already.
        extra: what only the target has, and keeps.
        kind: what is done: ``copy``, or ``flag`` when only that is missing.
    """

    instance_key: str
    source: CanonicalPath
    target: CanonicalPath
    wanted: Tree
    present: Tree | None
    copied: frozenset[str]
    extra: Tree = field(default_factory=dict)
    kind: str = COPY

    @property
    def uri(self) -> str:
        """See `WorkItem.uri`."""
        return str(self.target)

    @cached_property
    def identity(self) -> tuple[str, ...]:
        """See `WorkItem.identity`: with all that was listed, so that an approval is not good for other data."""
        digest = hashlib.sha256()
        lines = [(name, *entry, name in self.copied) for name, entry in sorted(self.wanted.items())]
        for line in (*lines, *sorted(self.gone)):
            digest.update(repr(line).encode())
        return (self.instance_key, str(self.source), str(self.target), digest.hexdigest())

    @property
    def gone(self) -> frozenset[str]:
        """What the target has now, and not afterwards."""
        return frozenset(self.present or ()) - frozenset(self.wanted) - frozenset(self.extra)

    @property
    def files(self) -> int:
        """So many files are copied."""
        return sum(self.wanted[name].kind is FileKind.FILE for name in self.copied)

    @property
    def bytes(self) -> int:
        """So many bytes are copied."""
        return sum(self.wanted[name].size for name in self.copied)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplicationDetail:
    """What else the plan of an instance says.

    Attributes:
        kept: so many files are there already, and the same by size and time.
        is_complete: the parts of all sources are there, and the flag where the feed has one.
        counters: filled while the instance is copied: Falcon's ``TIMETAKEN`` (milliseconds), ``COPY`` (files) and
            ``BYTESCOPIED``.
    """

    kept: int = 0
    is_complete: bool = True
    counters: Counter[str] = field(default_factory=Counter)


ReplicationPlan: TypeAlias = "TargetPlan[ReplicationTarget, UnitItem, ReplicationDetail]"
ReplicationResult: TypeAlias = "ActionResult[ReplicationTarget, UnitItem, ReplicationDetail]"
