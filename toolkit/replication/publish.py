"""Copying a unit beside its place and publishing it: readers see all of it, or what was there before (ADR 0033).

The flag of an instance that is copied in parts is removed before the first part is replaced, and written after the
last. On an object store files are written where they belong, between the removal of the flag and its writing.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import eq
from typing import TYPE_CHECKING

from toolkit.actions.file_copies import FileCopies
from toolkit.actions.guard import CalledOff
from toolkit.actions.publication import Publication, aside_of, recover, remove, staging_of
from toolkit.actions.staged_unit import staging_place, whole_of
from toolkit.availability import is_ready, is_there
from toolkit.el import CanonicalPath
from toolkit.replication.completeness import Completeness
from toolkit.replication.errors import TargetChanged
from toolkit.replication.left_out import can_leave_out, without
from toolkit.replication.listing import difference, selected
from toolkit.replication.preserve import Preservation
from toolkit.replication.targets import COPY, FLAG, REMOVE, ReplicationTarget, UnitItem
from toolkit.transfer.copier import SourceChanged
from toolkit.transfer.errors import FilesFailed
from toolkit.transfer.trees import Tree, below, same_bytes

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.actions.staged_unit import StagedUnit
    from toolkit.actions.staging import InstanceStaging

MOST_EXCHANGED = 200
"""So many names are exchanged at most: while they are renamed, 1 to 2 ms each, readers do not find the unit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """Outcome of a published unit.

    Attributes:
        digests: of the files that were copied, by their names in the unit.
        is_complete: the parts of all sources are there, and the flag where the feed has one.
        notes: for the user.
    """

    digests: dict[str, str]
    is_complete: bool
    notes: tuple[str, ...] = ()


@dataclass(kw_only=True, eq=False)
class Publisher:
    """Copies and publishes one unit of an instance.

    Attributes:
        target: the instance.
        item: of the plan.
        work: of its run.
        notes: for the user.
    """

    target: ReplicationTarget
    item: UnitItem
    work: RunContext
    notes: list[str] = field(default_factory=list, init=False)
    unread: FilesFailed | None = field(default=None, init=False)
    """Files of the source that could not be read, and without which the item goes on."""

    @cached_property
    def publication(self) -> Publication:
        """Copies the unit and gives it its name."""
        item, base, rules = self.item, self.target.target_base, self.target.rules
        create = self.preservation.create
        files = FileCopies(work=self.work, at_once=rules.at_once, bandwidth=rules.bandwidth, create=create)
        return Publication(
            work=self.work,
            files=files,
            source=item.source,
            unit=item.target,
            base=base,
            tries_all=rules.ignore_errors,
        )

    @cached_property
    def staging(self) -> InstanceStaging | None:
        """The staging of the instance; None: it is not validated."""
        return self.target.staging(self.work)

    @cached_property
    def staged(self) -> StagedUnit | None:
        """The staged data of the unit; None: it is not validated."""
        return None if self.staging is None else self.staging.unit(self.item.target)

    @cached_property
    def completeness(self) -> Completeness:
        """Removes the flag before a part is replaced, and writes it when all are there."""
        source, target = self.work.stores(self.target.source), self.work.stores(self.target.target)
        return Completeness(target=self.target, source_system=source, system=target)

    @cached_property
    def preservation(self) -> Preservation:
        """Keeps what the feed asks for."""
        source, target = self.work.stores(self.target.source), self.work.stores(self.target.target)
        return Preservation(source=source, target=target, rules=self.target.rules, check=self.work.guard.check)

    def publish(self, *, is_last: bool) -> Published:
        """Do what the item says.

        Args:
            is_last: all other items of the plan are published, so that this source's part is there with it.

        Raises:
            StorageError: it failed; readers see what they saw before.
            QualityFailed: it must not be announced; it waits in the staging directory, or without the flag.
            StopRequested: the run was stopped, or called off, before it was published.
        """
        item, digests = self.item, dict[str, str]()
        if item.kind == COPY:
            self.notes += self.preservation.refused(item.target)
            digests = self._published()
        if item.kind == REMOVE:
            self._remove_dropped()
        is_complete = is_last and self._complete()
        return Published(digests=digests, is_complete=is_complete, notes=tuple(self.notes))

    def _published(self) -> dict[str, str]:
        item, capabilities = self.item, self.publication.system.capabilities
        present = self.publication.tree(item.target)
        if present != item.present:
            copied, extra = difference(item.wanted, present, self.target.rules, capabilities.time_step)
            if not copied and extra == item.extra.keys():  # an earlier run came so far, which `recover` has finished
                return {}
            raise TargetChanged(path=item.target)
        return self._renamed_in() if capabilities.atomic_rename else self._written_in_place()

    def _remove_dropped(self) -> None:
        """Remove a part that the source no longer has, and the directories above it that have nothing else."""
        item, target, system = self.item, self.target, self.publication.system
        source, present = self.work.stores(item.source), self.publication.tree(item.target)
        if present is None:
            return
        if present != item.present:
            raise TargetChanged(path=item.target)
        if is_there(source, item.source) or not is_ready(source, target.source, target.flag):
            raise SourceChanged(
                path=item.source, detail="when the plan was made, only the rest of its instance was there"
            )
        self.completeness.withdraw()
        remove(system, item.target, target.target)
        above = item.target.parent
        while above != target.target and system.remove_if_empty(above, below=target.target):
            above = above.parent

    def _can_exchange(self) -> bool:
        """Return whether the changed files alone can be staged, and exchanged in a moment.

        Data that is validated is staged as a whole, and so is what gets attributes: those of a directory might keep us
        from what is in it.
        """
        item = self.item
        return (
            self.staged is None
            and item.has_unchanged_files
            and item.keeps_kinds
            and len(item.copied) + len(item.leaving) <= MOST_EXCHANGED
            and (self.publication.directories or not item.gone)
            and not self.preservation.is_requested
            and not self.target.rules.ignore_errors
        )

    def _exchanged(self) -> dict[str, str] | None:
        """Copy what changed and exchange it in the unit; the rest is not copied (ADR 0077).

        Returns:
            The digests; None: the store refuses to rename in the unit, which can be replaced as a whole.
        """
        item, publication = self.item, self.publication
        place, arriving = staging_of(item.target, self.work.run_name), item.arriving
        with ExitStack() as unless_published:
            publication.begin_staging(place, arriving, unless_published)
            digests = publication.copy([name for name in arriving if name in item.copied], item.wanted, place)
            digests |= publication.digests(item.target, item.expected, item.unread)
            publication.verify(place, arriving, item.wanted)
            self._begin_replacement()
            if not publication.exchange(place, item.leaving):
                self._require_same_target()  # else all of it would be copied for nothing
                return None
            unless_published.pop_all()
        return digests

    def _require_same_target(self) -> None:
        """Look whether the unit is still what it was when the plan was made; raises `TargetChanged`."""
        item = self.item
        if item.present is not None and not self.publication.is_still(item.target, item.present, eq):
            raise TargetChanged(path=item.target)

    def _begin_replacement(self) -> None:
        """Look once more whether the unit may be replaced, and remove the flag of which it is a part.

        The copy may have taken hours.
        """
        self._require_same_target()
        refusal = self.work.guard.refusal(self.publication.base, must_look=True)
        if refusal is not None:
            raise CalledOff(refusal=refusal)
        if self.item.target != self.target.target:  # else the flag is in the directory that is replaced at once
            self.completeness.withdraw()

    def _renamed_in(self) -> dict[str, str]:
        if self._can_exchange() and (exchanged := self._exchanged()) is not None:
            return exchanged
        item, publication, run = self.item, self.publication, self.work.run_name
        place = staging_of(item.target, run) if self.staged is None else self.staged.place
        with ExitStack() as unless_published:
            digests = self._waiting(place, item.expected)
            if digests is None:
                publication.begin_staging(place, item.expected, unless_published)
                digests = self._copied_whole(place)
            self.notes += self.preservation.keep(item.source, place, self.item.wanted, self.work.copying.pool)
            if self.staging is not None:
                unless_published.pop_all()  # from now on the next run finds it, whatever becomes of this one
                self.notes += self.staging.validate_unit(item.target, place)
            self._begin_replacement()
            publication.swap_in(place, aside=None if item.present is None else aside_of(item.target, run))
            unless_published.pop_all()
        if self.staged is not None:
            self.staged.end_wait()
        if self.unread is not None and not self.target.rules.publish_incomplete:
            raise self.unread
        return digests

    def _written_in_place(self) -> dict[str, str]:
        """Write files where they belong, between the removal of the flag and its writing.

        No store of this kind has attributes, which `Preservation.refused` has said.
        """
        item, publication = self.item, self.publication
        self.completeness.withdraw()
        for name in item.present or {}:
            if name not in item.wanted and name not in item.extra:
                remove(publication.system, below(item.target, name), publication.base)
        expected = self._before_flag(item.expected)
        digests = self._waiting(item.target, expected)
        if digests is None:
            digests = self._copied_whole(item.target)
        if self.staging is not None:
            self.notes += self.staging.validate_unit(item.target, item.target)
            self.staging.unit(item.target).end_wait()
        return digests

    def _waiting(self, place: CanonicalPath, expected: Tree) -> dict[str, str] | None:
        """Return the digests of a complete copy that an earlier run has staged; None: there is none."""
        if self.staged is None:
            return None
        is_whole = partial(self.publication.is_still, place, expected, same_bytes)
        return self.staged.copied_before(self.item.content, is_whole)

    def _copied_whole(self, into: CanonicalPath) -> dict[str, str]:
        """Copy into a directory without readers: new files from the source, the others from where they are."""
        planned, copy = self.item, self.publication.copy
        digests = self._copied_new(into)
        item = self.item
        wanted, expected = item.wanted, item.expected
        if into == item.target:
            wanted, expected = self._before_flag(wanted), self._before_flag(expected)
        if into != item.target:
            passed = copy([name for name in expected if name not in item.copied], expected, into, root=item.target)
            spoilt = [name for name in wanted if name in passed and passed[name] != item.known.get(name, passed[name])]
            # The target's own file is not what was copied to it any more.
            digests |= passed | copy(spoilt, wanted, into)
        self.publication.verify(into, expected, planned.wanted)
        if self.staged is not None:
            self.staged.end_copy(item.content, digests)
        return digests

    def _copied_new(self, into: CanonicalPath) -> dict[str, str]:
        """Copy the new files from the source; if the feed ignores errors, go on without those that cannot be read."""
        item, rules = self.item, self.target.rules
        wanted = self._before_flag(item.wanted) if into == item.target else item.wanted
        try:
            return self.publication.copy([name for name in wanted if name in item.copied], wanted, into)
        except FilesFailed as error:
            is_staged, system = into != item.target, self.publication.system
            if not can_leave_out(self.target, item, error, system, is_staged=is_staged):
                raise
            left_out = error.names
            if rules.publish_incomplete:
                self.notes.append(f"published without files that cannot be read (publishIncomplete): {error.detail}")
            elif item.target == self.target.target:
                remove(system, below(into, self.target.flag), into)
                left_out |= {self.target.flag}
            self.item, self.unread = without(item, left_out), error
            return {name: digest for name, digest in error.copied.items() if name not in left_out}

    def _complete(self) -> bool:
        """Announce the instance when the parts of all sources are there, and say whether they are.

        All that the flag announces is validated, also what an earlier run has left, or one that validated nothing yet.
        """
        target, system = self.target, self.work.stores(self.target.target)
        must_wait = self.item.kind == FLAG or target.flag_path is not None or not system.capabilities.atomic_rename
        if self.staging is not None and must_wait:
            for unit in selected(system, target.target, target.parts):
                self.staging.validate_unit(unit, unit)
        return self.completeness.announce()

    def _before_flag(self, tree: Tree) -> Tree:
        if self.item.target != self.target.target:
            return tree
        return {name: entry for name, entry in tree.items() if name != self.target.flag}


def finish(target: ReplicationTarget, unit: CanonicalPath, run: str, work: RunContext) -> bool:
    """Recover a unit of an instance as `recover` does; a complete copy that is not validated yet stays staged.

    Args:
        target: the instance.
        unit: that a run worked on.
        run: of the run that is dead.
        work: of this run.
    """
    system, place, staging = work.stores(unit), staging_place(unit), target.staging(work)

    def staged() -> CanonicalPath | None:
        may_publish = staging is not None and is_there(system, place) and staging.may_publish(unit)
        return place if may_publish else None

    was_published = recover(system, unit, run, target.target_base, staged)
    if not is_there(system, whole_of(unit)):
        remove(system, place, target.target_base)
    return was_published
