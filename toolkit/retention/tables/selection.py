"""Selection of the partitions of a table: which go, which are too young, and which another rule keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from toolkit.planning.retention import Candidate, KeepReason, Kept, keep_last_from, kept_by
from toolkit.retention.protection import ProtectedInstances

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.hold_file import HoldFile
    from toolkit.retention.targets import FeedTarget


@dataclass(frozen=True, kw_only=True, slots=True)
class PartitionSelection:
    """Decisions about the partitions of a table, by their names.

    Attributes:
        going: those that go.
        young: those that are too young.
        kept: those that are old enough and stay all the same.
        kept_from: see `keep_last_from`.
        notes: what no protection keeps any more.
    """

    going: Sequence[str]
    young: Sequence[str]
    kept: Mapping[str, Kept]
    kept_from: datetime
    notes: Sequence[str] = ()

    @classmethod
    def of(cls, candidates: Mapping[str, Candidate], target: FeedTarget, hold_file: HoldFile | None) -> Self:
        """Decide about all partitions of a table; a hold file keeps what would go, and so do protections."""
        policy = target.policy
        kept_from = keep_last_from(candidates.values(), policy)
        kept: dict[str, Kept] = {}
        going: list[str] = []
        young: list[str] = []
        for name, candidate in candidates.items():
            why = kept_by(policy, candidate, kept_from)
            if why is None and hold_file is not None:
                why = Kept(candidate=candidate, reason=KeepReason.HOLD, detail=hold_file.as_reason)
            if why is None:
                going.append(name)
            elif why.reason is KeepReason.TOO_YOUNG:
                young.append(name)
            else:
                kept[name] = why
        protected = ProtectedInstances.among({name: candidates[name] for name in going}, policy, target.protectors)
        return cls(
            going=[name for name in going if name not in protected.kept],
            young=young,
            kept=kept | protected.kept,
            kept_from=kept_from,
            notes=protected.notes,
        )

    def held(self, hold_file: HoldFile) -> int:
        """Return how many partitions the hold file alone keeps."""
        return sum(each.detail == hold_file.as_reason for each in self.kept.values())
