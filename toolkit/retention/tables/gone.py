"""Directories that retention may remove for partitions that the metastore no longer has.

Everything is computed from the config repo and the metastore: a ledger row names a partition and a directory, and both
are compared with what retention would remove now. A row that names anything else has no effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.catalog.partition_name import split_name
from toolkit.planning.retention import KeepReason, Kept, keep_last_from, kept_by
from toolkit.retention.delete import is_present
from toolkit.retention.partition_places import is_directory_of
from toolkit.retention.tables.planner import PartitionScan
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from toolkit.catalog.model import Table
    from toolkit.el import CanonicalPath
    from toolkit.planning.retention import Candidate
    from toolkit.retention.targets import FeedTable, FeedTarget
    from toolkit.storage import FileSystem

_CHANGED = "transient_lastDdlTime"
"""Hive's parameter of a table; partitions that come and go leave it alone."""


@dataclass(frozen=True, kw_only=True)
class GonePartitions:
    """Retention's answer about partitions of a table that are gone.

    Attributes:
        stores: the store that a path is on.
        base: the table's own directory.
        present: asks for the names of the partitions that the table has now.
        gone: names that ledger rows have.
    """

    target: FeedTarget
    table: FeedTable
    stores: Callable[[CanonicalPath], FileSystem]
    base: CanonicalPath
    present: Callable[[], Iterable[str]]
    gone: Iterable[str]

    def is_held(self, names: Sequence[str]) -> bool:
        """Return whether a hold covers one of these partitions."""
        return any(kept is not None and kept.reason is KeepReason.HOLD for kept in map(self._kept, names))

    def why_not(self, place: CanonicalPath, names: Sequence[str]) -> str:
        """Return why retention would not remove a directory for these partitions; empty: it would."""
        if not any(is_directory_of(place, name, self.base) for name in names):
            return f"it is not a directory that {self.table.name} gives to {', '.join(names) or 'a partition'}"
        for name in names:
            if name not in self._candidates:
                return f"{name} is not a partition that the feed describes"
            kept = self._kept(name)
            if kept is not None:
                return f"the feed's retention keeps {name} now ({kept.reason})"
            export = self.target.export_of(name)
            # A row that says that the partition was dropped does not prove that its data were archived before.
            if export is not None and not is_present(self.stores(export), below(export, name)):
                return f"the feed is archived, and {export} has nothing of {name}"
        return ""

    def _kept(self, name: str) -> Kept | None:
        found = self._candidates.get(name)
        return None if found is None else kept_by(self.target.policy, found, self._kept_from)

    @cached_property
    def _kept_from(self) -> datetime:
        policy = self.target.policy
        return keep_last_from(self._scanned(self.present() if policy.keep_last else ()).values(), policy)

    @cached_property
    def _candidates(self) -> dict[str, Candidate]:
        return self._scanned(self.gone)

    def _scanned(self, names: Iterable[str]) -> dict[str, Candidate]:
        scan = PartitionScan(target=self.target, table=self.table, base=self.base)
        for name in names:
            scan.add(name)
        return scan.candidates


def is_partition_name(text: str, table: Table) -> bool:
    """Return whether a text can be the name of a partition of a table."""
    try:
        return list(split_name(text)) == [key.lower() for key in table.key_names]
    except ValueError:
        return False


def last_change(table: Table) -> int | None:
    """Return when a table was last made or altered, in seconds since 1970, rounded down; None: that is not known."""
    value = table.parameters.get(_CHANGED, "")
    return int(value) if value.isascii() and value.isdigit() and value.strip("0") else None
