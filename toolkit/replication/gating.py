"""Units that are judged before anybody is told: copied where nobody reads, and kept there while they must not be seen.

What an earlier run has copied is told from the rest of a copy by a file beside it, which has the digests of its files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.actions.gate import Part, Written, gate_place
from toolkit.actions.gated import GatedUnit
from toolkit.runs.recorder import path_text

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.actions.file_copies import FileCopies
    from toolkit.actions.gate import FeedValidation
    from toolkit.el import CanonicalPath
    from toolkit.replication.targets import ReplicationTarget, UnitItem


@dataclass(frozen=True, kw_only=True)
class CopyGate:
    """Asked for the units of one instance. Every call raises StorageError and StopRequested.

    Attributes:
        target: the instance.
        judged: how.
        work: of the run.
        files: copies them.
        now: of the wall clock, UTC.
    """

    target: ReplicationTarget
    judged: FeedValidation
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

    def admit(self, unit: CanonicalPath, place: CanonicalPath) -> Sequence[str]:
        """Return notes when a unit that is at a place may be announced.

        Raises:
            QualityFailed: it must not be; a manifest beside it says why.
            Unavailable: the ledger cannot be written.
        """
        written = written_at(self.target, self.judged, unit, place)
        return self._unit(unit).admit(written, self.work.guard.check, self.now()).notes

    def end_wait(self, unit: CanonicalPath) -> None:
        """It is announced: nothing says any more that it waits."""
        self._unit(unit).end_wait()

    def _unit(self, unit: CanonicalPath) -> GatedUnit:
        return GatedUnit(work=self.work, unit=unit, base=self.target.target_base, flag="", files=self.files)


def written_at(target: ReplicationTarget, judged: FeedValidation, unit: CanonicalPath, place: CanonicalPath) -> Written:
    """A unit as the gate is asked for it.

    Args:
        target: its instance.
        judged: how.
        unit: where it is, or will be, announced.
        place: where it lies now.
    """
    return Written(
        feed=judged.feed,
        cluster=judged.cluster,
        instance_key=target.instance_key,
        unit=path_text(str(unit)),
        parts=(Part(place=place, keys={}),),
        quality=judged.quality,
        counterpart=target.counterpart,
    )


def was_admitted(target: ReplicationTarget, unit: CanonicalPath, work: RunContext) -> bool:
    """Whether what waits for a unit may be announced, without judging it.

    Raises:
        StorageError: it cannot be listed.
    """
    judged = target.judged
    return judged is not None and work.gate.was_admitted(written_at(target, judged, unit, gate_place(unit)))


def _content(item: UnitItem) -> str:
    """Names what the unit is to have in the end, with the times that it has at the source."""
    digest = hashlib.sha256(f"{item.source}\n{item.target}\n".encode(errors="surrogateescape"))
    for tree in (item.wanted, item.extra):
        for name, entry in sorted(tree.items()):
            digest.update(repr((name, *entry)).encode())
        digest.update(b"\n")
    return digest.hexdigest()
