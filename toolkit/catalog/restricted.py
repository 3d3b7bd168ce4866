"""A metastore whose locations were checked: no other way leads from a cluster's metastore to a path."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.catalog.bound import BoundMetastore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolkit.catalog.location_policy import LocationPolicy
    from toolkit.catalog.model import Partition, Table, TableName
    from toolkit.el import CanonicalPath


@dataclass(frozen=True, slots=True)
class RestrictedMetastore(BoundMetastore):
    """Passes calls on, and refuses places that its cluster does not have.

    A table or database elsewhere is refused as a whole. A partition elsewhere comes with a `Partition.refusal`, so that
    it can still be dropped.

    Args:
        policy: of the cluster.
    """

    policy: LocationPolicy

    @override
    def table(self, name: TableName) -> Table:
        """Refuse a table whose directory is on no file system of the cluster.

        Raises:
            ForeignLocation: its directory is on no file system of the cluster.
        """
        found = self.inner.table(name)
        for text in (found.location, found.storage.location or ""):  # Spark may keep its own beside that
            self.policy.require_location(name, text)
        return found

    @override
    def partitions(self, name: TableName, names: Sequence[str]) -> tuple[Partition, ...]:
        """Refuse a table whose directory is on no file system of the cluster.

        Raises:
            ForeignLocation: the directory of the table is on no file system of the cluster.
        """
        found = self.inner.partitions(name, names)
        if not found:
            return found
        text = self.table(name).location
        own = self.policy.place(text) if text else None
        return tuple(self._checked(each, own) for each in found)

    def _checked(self, partition: Partition, own: CanonicalPath | None) -> Partition:
        location = partition.claimed_location
        refusal = self.policy.why_not_used(location, own) if location else ""
        return replace(partition, refusal=refusal) if refusal else partition

    @override
    def database_location(self, name: str) -> str:
        """Refuse a location that is on no file system of the cluster.

        Raises:
            ForeignLocation: it is on no file system of the cluster.
        """
        found = self.inner.database_location(name)
        self.policy.require_location(name, found)
        return found
