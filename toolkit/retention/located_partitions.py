"""Locations of a table's partitions, and which of them are not touched (`LocationPolicy`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from toolkit.el import ElError
from toolkit.retention.tables.evictable import UnreadableLocations

if TYPE_CHECKING:
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath
    from toolkit.retention.targets import FeedTable

_AT_ONCE = 2_000
"""So many partitions are asked for at once: a few batches, two of which are on their way at once."""
_NAMED = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class LocatedPartitions:
    """Partitions by their names; one that is gone by now is left out.

    Attributes:
        places: of all of them, for comparing.
        refused: why data of a partition is not touched.
    """

    places: Mapping[str, CanonicalPath]
    refused: Mapping[str, str]

    @classmethod
    def of(cls, table: FeedTable, metastore: Metastore, names: Sequence[str], check: Callable[[], None]) -> Self:
        """Ask a metastore.

        Args:
            table: of the feed.
            metastore: where it is.
            names: of the partitions.
            check: called before each call.

        Raises:
            CatalogError: the metastore does not say.
            UnreadableLocations: some are unknown, so that they may be anywhere.
        """
        found = metastore.table(table.name)
        places: dict[str, CanonicalPath] = {}
        refused: dict[str, str] = {}
        unreadable: dict[str, str] = {}
        for at in range(0, len(names), _AT_ONCE):
            check()
            for partition in metastore.partitions(table.name, names[at : at + _AT_ONCE]):
                name = found.partition_name(partition)
                try:
                    places[name] = table.place(partition.claimed_location)
                except ElError as error:
                    unreadable[name] = str(error)
                if partition.refusal:
                    refused[name] = partition.refusal
        if unreadable:
            raise UnreadableLocations(table=table.name, found=unreadable)
        return cls(places=places, refused=refused)


def stay_notes(refused: Mapping[str, str]) -> tuple[str, ...]:
    """Return what the user is told of partitions that go without their data, as one note."""
    if not refused:
        return ()
    named = "; ".join(f"{name}: {why}" for name, why in sorted(refused.items())[:_NAMED])
    more = f"; and {len(refused) - _NAMED:,} more" if len(refused) > _NAMED else ""
    return (f"the metastore forgets {len(refused):,} partitions whose data stays, untouched: {named}{more}",)
