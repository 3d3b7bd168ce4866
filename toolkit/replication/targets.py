"""Targets of a replication: one instance from one source, and its plan."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from toolkit.actions.model import TargetPlan
from toolkit.actions.result import ActionResult
from toolkit.actions.staging import InstanceStaging
from toolkit.el import CanonicalPath, ElError, is_name
from toolkit.ledger.manifests import ManifestFile
from toolkit.ledger.runs.leases import Wanted
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.runs.recorder import path_of
from toolkit.storage import OWN_PREFIX, FileKind
from toolkit.transfer.digests import NO_BYTES
from toolkit.transfer.plan import PLAIN, CreateOptions

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.actions.validation import FeedValidation
    from toolkit.el.segment import Segment
    from toolkit.ledger.manifests import Manifest
    from toolkit.transfer.trees import Tree

Row = TypeVar("Row")
NAME = "replication"
COPY, FLAG, REMOVE = "copy", "flag", "remove"


class CopyReason(StrEnum):
    """Why a name of the source is copied."""

    NEW = "new"
    """The target has nothing of this name, or not of this kind."""
    OVERWRITE = "overwrite"
    """The feed's property ``overwrite`` says so."""
    SIZE = "size"
    """The target has another number of bytes."""
    NEWER = "newer"
    """The ledger does not know the unit, and the target's file is older than the source's."""
    TIME = "time"
    """The source's file has another time than when it was copied, be it an earlier one."""
    UNRECORDED = "unrecorded"
    """The ledger knows the unit, and not this file of it."""
    DIGEST = "digest"
    """Its bytes are others than the target's, or than those that the ledger knows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyRules:
    """Rules for copies, from the properties of a feed.

    Attributes:
        overwrite: copy what is there and looks the same, too.
        rehash: compare bytes: sizes that are equal, and times, say nothing.
        remove_deleted: what the source no longer has goes at the target as well; else it stays.
        permission: keep the permission bits.
        owner: keep the owner.
        group: keep the group.
        acl: keep access control lists.
        xattrs: keep extended attributes.
        times: keep the times of files.
        checksum_type: a copy whose checksum has another type than that of its source is not published.
        create: options with which files are written.
        ignore_errors: files that cannot be read are left out, and named.
        publish_incomplete: the instance is announced without them; else it is not.
        or_warn: a copy that lacks what cannot be kept is published with a note; else it fails.
        at_once: so many files of one instance at once; None: as many as the store is good for.
        bandwidth: bytes a second of one instance's copy; inf: as many as come.
        counters: time, files and bytes of each instance are part of the result.
    """

    overwrite: bool = False
    rehash: bool = False
    remove_deleted: bool = True
    permission: bool = False
    owner: bool = False
    group: bool = False
    acl: bool = False
    xattrs: bool = False
    times: bool = False
    checksum_type: bool = False
    create: CreateOptions = PLAIN
    ignore_errors: bool = False
    publish_incomplete: bool = False
    or_warn: bool = False
    at_once: int | None = None
    bandwidth: float = inf
    counters: bool = False


def copy_lease(feed: str, cluster: str, instance_key: str, source: str) -> Wanted:
    """Return the lease for writing, or deciding on, the part of an instance that one source gives."""
    return Wanted(resource=f"copy/{feed}/{cluster}/{instance_key}/{source}")


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
        target_base: bounds every effect.
        parts: which sub-directories are copied; empty: all of it.
        flag: the file that says that it is complete; empty: its directory does.
        others: the other sources, without whose parts it is not complete.
        waits_until: from then on an instance that has not come has failed; None: never.
        rules: how it is copied.
        removes_dropped: a part that the source no longer has is removed; else it is kept.
        max_delete: how much of the feed one run may remove so.
        validation: of the feed before it is published; None: it is not validated.
        expired_below: the base at the source, when the source's retention removes instances of this time; else None.
    """

    feed: str
    cluster: str
    counterpart: str
    instance_key: str
    source: CanonicalPath
    target: CanonicalPath
    target_base: CanonicalPath
    parts: tuple[Segment, ...] = ()
    flag: str = ""
    others: tuple[str, ...] = ()
    waits_until: datetime | None = None
    rules: CopyRules = field(default_factory=CopyRules)
    removes_dropped: bool = False
    max_delete: DeleteLimits = field(default_factory=DeleteLimits)
    validation: FeedValidation | None = field(default=None, compare=False)
    expired_below: CanonicalPath | None = None

    @property
    def flag_path(self) -> CanonicalPath | None:
        """The flag at the target; None: the feed has none."""
        return self.target.child(self.flag) if self.flag else None

    @property
    def entity(self) -> str:
        """The feed."""
        return self.feed

    def staging(self, work: RunContext) -> InstanceStaging | None:
        """Return the staging of the instance, or None if it is not validated."""
        if self.validation is None:
            return None
        return InstanceStaging(
            validation=self.validation,
            instance_key=self.instance_key,
            base=self.target_base,
            work=work,
            counterpart=self.counterpart,
        )

    def has_unit(self, place: CanonicalPath) -> bool:
        """Return whether a place is a unit of copying: the instance, or a part that the expression selects."""
        if not self.parts or not place.is_within(self.target):
            return not self.parts and place == self.target
        names = place.relative_to(self.target).split("/")
        is_data = all(is_name(name) and not name.startswith(OWN_PREFIX) for name in names)
        is_selected = len(names) == len(self.parts) and all(
            part.match(name) is not None for part, name in zip(self.parts, names, strict=True)
        )
        return is_data and is_selected

    def units_named(self, rows: Mapping[str, Row]) -> dict[CanonicalPath, Row]:
        """Return rows of the ledger by the unit of this instance that each names; rows of other places are left out.

        Args:
            rows: by the path in the row, as `path_text` writes it.
        """
        found: dict[CanonicalPath, Row] = {}
        for text, row in rows.items():
            with suppress(ElError):
                found[CanonicalPath.parse(path_of(text))] = row
        return {place: row for place, row in found.items() if self.has_unit(place)}


@dataclass(frozen=True, kw_only=True)
class UnitItem:
    """A directory that is copied and published at once: an instance, or a part of it.

    Attributes:
        instance_key: of the instance.
        source: where it is read.
        target: where it appears.
        wanted: all that the source has in it.
        present: all that the target has there; None: nothing is there.
        copied: names in it that are read from the source, each with the reason; the others are there already.
        extra: what only the target has, and keeps.
        known: digests of files that stay, as far as anybody has read them.
        kind: what is done: ``copy``; ``remove`` when the source no longer has it; ``flag`` when only that is missing.
    """

    instance_key: str
    source: CanonicalPath
    target: CanonicalPath
    wanted: Tree
    present: Tree | None
    copied: Mapping[str, CopyReason]
    extra: Tree = field(default_factory=dict)
    known: Mapping[str, str] = field(default_factory=dict)
    kind: str = COPY

    @property
    def uri(self) -> str:
        """The place that appears at the target."""
        return str(self.target)

    @cached_property
    def identity(self) -> tuple[str, ...]:
        """The whole listing, so that an approval does not cover other data."""
        digest = hashlib.sha256()
        lines = [(name, *entry, name in self.copied) for name, entry in sorted(self.wanted.items())]
        for line in (*lines, *((name, *(self.present or {})[name]) for name in sorted(self.gone))):
            digest.update(repr(line).encode())
        return (self.instance_key, str(self.source), str(self.target), digest.hexdigest())

    @property
    def content(self) -> str:
        """Digest of what the unit has in the end, with the times at the source."""
        digest = hashlib.sha256(f"{self.source}\n{self.target}\n".encode(errors="surrogateescape"))
        for tree in (self.wanted, self.extra):
            for name, entry in sorted(tree.items()):
                digest.update(repr((name, *entry)).encode())
            digest.update(b"\n")
        return digest.hexdigest()

    @property
    def is_gone_already(self) -> bool:
        """True if only the ledger still has a part that the source no longer has."""
        return self.kind == REMOVE and self.present is None

    @property
    def gone(self) -> frozenset[str]:
        """The files that the target has now, and not afterwards."""
        return frozenset(self.present or ()) - frozenset(self.wanted) - frozenset(self.extra)

    @property
    def expected(self) -> Tree:
        """The content of the unit in the end."""
        return {**self.extra, **self.wanted}

    @property
    def arriving(self) -> Tree:
        """The names that are copied, with the directories above them."""
        above = {name[:at] for name in self.copied for at, each in enumerate(name) if each == "/"}
        return {name: entry for name, entry in self.wanted.items() if name in self.copied or name in above}

    @property
    def leaving(self) -> tuple[str, ...]:
        """The names that the target has now, and that are replaced or go; of a directory that goes, itself alone."""
        gone, there = self.gone, self.present or {}
        replaced = {name for name in self.copied if name in there and self.wanted[name].kind is FileKind.FILE}
        return tuple(sorted(replaced | {name for name in gone if name.rpartition("/")[0] not in gone}))

    @property
    def unread(self) -> tuple[str, ...]:
        """The names of files that stay, and of which nobody has read the bytes yet."""
        read = self.known.keys() | self.copied.keys()
        return tuple(name for name, entry in self.expected.items() if entry.size and name not in read)

    @property
    def keeps_kinds(self) -> bool:
        """True if no file takes the place of a directory, or the other way round."""
        there = self.present or {}
        return all(there[name].kind is self.wanted[name].kind for name in self.copied if name in there)

    @property
    def has_unchanged_files(self) -> bool:
        """True if the target has files that stay as they are."""
        gone, there = self.gone, (self.present or {}).items()
        return any(each.kind is FileKind.FILE and not (name in gone or name in self.copied) for name, each in there)

    @property
    def files(self) -> int:
        """Return the number of files to copy."""
        return sum(self.wanted[name].kind is FileKind.FILE for name in self.copied)

    @property
    def bytes(self) -> int:
        """Return the number of bytes to copy."""
        return sum(self.wanted[name].size for name in self.copied)

    @property
    def reasons(self) -> Counter[CopyReason]:
        """Return the number of files to copy by reason."""
        return Counter(reason for name, reason in self.copied.items() if self.wanted[name].kind is FileKind.FILE)

    def manifest(self, digests: Mapping[str, str], *, written_apart: str) -> Manifest | None:
        """Return the content of the unit now; None: it is not known, since an earlier run made the copy.

        Args:
            digests: of what passed through this run.
            written_apart: the name of the file that is written when all others are there; its digest is not taken.
        """
        copied = {name for name in self.copied if self.wanted[name].kind is FileKind.FILE} - {written_apart}
        if copied and copied.isdisjoint(digests):
            return None
        stays = {name: digest for name, digest in self.known.items() if name not in self.copied}
        # Of what the source has no more the ledger knows it better: its bytes may have changed at the target.
        digest_of = {**stays, **digests, **{name: digest for name, digest in stays.items() if name in self.extra}}
        return {
            name: ManifestFile(
                entry.size,
                digest_of.get(name, "" if entry.size else NO_BYTES),
                entry.modified if name in self.wanted else None,
            )
            for name, entry in self.expected.items()
            if entry.kind is FileKind.FILE
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplicationDetail:
    """Further content of an instance's plan.

    Attributes:
        kept: so many files are there already, and the same.
        units: so many directories the source has, each of which is or will be at the target.
        is_complete: the parts of all sources are there, and the flag where the feed has one.
        counters: filled while the instance is copied: Falcon's ``TIMETAKEN`` (milliseconds), ``COPY`` (files) and
            ``BYTESCOPIED``.
    """

    kept: int = 0
    units: int = 0
    is_complete: bool = True
    counters: Counter[str] = field(default_factory=Counter)


ReplicationPlan: TypeAlias = "TargetPlan[ReplicationTarget, UnitItem, ReplicationDetail]"
ReplicationResult: TypeAlias = "ActionResult[ReplicationTarget, UnitItem, ReplicationDetail]"
