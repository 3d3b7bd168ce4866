"""Units that are judged before anybody is told: copied where nobody reads, and kept there while they must not be seen.

What an earlier run has copied is told from the rest of a copy by a file beside it, which has the digests of its files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.actions.staged_unit import StagedUnit
from toolkit.actions.validation import Part, Written, staging_place
from toolkit.runs.recorder import path_text

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.actions.file_copies import FileCopies
    from toolkit.actions.validation import FeedValidation
    from toolkit.el import CanonicalPath
    from toolkit.replication.targets import ReplicationTarget, UnitItem


@dataclass(frozen=True, kw_only=True)
class StagedCopies:
    """Asked for the units of one instance. Every call raises StorageError and StopRequested.

    Attributes:
        target: the instance.
        validation: how.
        work: of the run.
        files: copies them.
        now: of the wall clock, UTC.
    """

    target: ReplicationTarget
    validation: FeedValidation
    work: RunContext
    files: FileCopies
    now: Callable[[], datetime]

    def copied_before(self, item: UnitItem) -> dict[str, str] | None:
        """The digests of what an earlier run has copied, if it had all of it, and from a source that was as now."""
        return self._unit(item.target).copied_before(_content(item))

    def begin_copy(self, item: UnitItem) -> None:
        """Begin to replace the staged data of a unit."""
        self._unit(item.target).begin_copy()

    def end_copy(self, item: UnitItem, digests: dict[str, str]) -> None:
        """All of it waits now."""
        self._unit(item.target).end_copy(_content(item), digests)

    def validate(self, unit: CanonicalPath, place: CanonicalPath) -> Sequence[str]:
        """Return notes when a unit that is at a place may be announced.

        Raises:
            QualityFailed: it must not be; a manifest beside it says why.
            Unavailable: the ledger cannot be written.
        """
        written = written_at(self.target, self.validation, unit, place)
        return self._unit(unit).validate(written, self.work.guard.check, self.now()).notes

    def end_wait(self, unit: CanonicalPath) -> None:
        """It is announced: nothing says any more that it waits."""
        self._unit(unit).end_wait()

    def _unit(self, unit: CanonicalPath) -> StagedUnit:
        return StagedUnit(work=self.work, unit=unit, base=self.target.target_base, flag="", files=self.files)


def written_at(
    target: ReplicationTarget, validation: FeedValidation, unit: CanonicalPath, place: CanonicalPath
) -> Written:
    """A unit as the gate is asked for it.

    Args:
        target: its instance.
        validation: how.
        unit: where it is, or will be, announced.
        place: where it lies now.
    """
    return Written(
        feed=validation.feed,
        cluster=validation.cluster,
        instance_key=target.instance_key,
        unit=path_text(str(unit)),
        parts=(Part(place=place, keys={}),),
        quality=validation.quality,
        counterpart=target.counterpart,
    )


def may_publish(target: ReplicationTarget, unit: CanonicalPath, work: RunContext) -> bool:
    """Whether what waits for a unit may be announced, without judging it.

    Raises:
        StorageError: it cannot be listed.
    """
    validation = target.validation
    return validation is not None and work.validator.may_publish(
        written_at(target, validation, unit, staging_place(unit))
    )


def _content(item: UnitItem) -> str:
    """Names what the unit is to have in the end, with the times that it has at the source."""
    digest = hashlib.sha256(f"{item.source}\n{item.target}\n".encode(errors="surrogateescape"))
    for tree in (item.wanted, item.extra):
        for name, entry in sorted(tree.items()):
            digest.update(repr((name, *entry)).encode())
        digest.update(b"\n")
    return digest.hexdigest()
