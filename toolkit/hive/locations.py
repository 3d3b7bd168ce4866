"""The directories that partitions of a table use, and those that are known to be feedctl's own (ADR 0048)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from toolkit.actions.action import place_named
from toolkit.actions.publication import remove_wholly
from toolkit.availability import is_there
from toolkit.catalog.partition_name import split_name
from toolkit.el import CanonicalPath
from toolkit.hive.targets import TableStep
from toolkit.planning.location_index import LocationIndex
from toolkit.storage import DATA_PREFIX, STAGING_PREFIX
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from toolkit.catalog.model import Table
    from toolkit.catalog.port import Metastore
    from toolkit.el import TableUri
    from toolkit.hive.table_context import TableContext
    from toolkit.hive.targets import TableTarget
    from toolkit.ledger.runs.items import Item
    from toolkit.storage import FileSystem


def data_directory(root: CanonicalPath, run: str) -> CanonicalPath:
    """Return the directory of a run's data that cannot get the place that Hive would choose; see `data_place`."""
    return root.child(f"{DATA_PREFIX}{run}")


def data_place(root: CanonicalPath, run: str, name: str) -> CanonicalPath:
    """Return the directory of data that cannot get the one that Hive would choose.

    Args:
        root: the directory of the table, or that around one without partitions.
        run: the number of the run that writes them.
        name: of the partition, or of the table that has none.
    """
    return below(data_directory(root, run), name)


def is_data_place(place: CanonicalPath, root: CanonicalPath, name: str) -> bool:
    """Return whether `data_place` gives this directory to this name for some run: only such data are ever removed."""
    if not place.is_within(root):
        return False
    top = place.relative_to(root).partition("/")[0]
    run = top.removeprefix(DATA_PREFIX)
    return run not in {"", top} and place == data_place(root, run, name)


def left_data(left: Item, context: TableContext, uri: Callable[[str], TableUri]) -> CanonicalPath | None:
    """Return where data of an unfinished import can be that are feedctl's own for certain.

    Args:
        left: the unfinished item.
        context: of the import that recovers it.
        uri: which partitions belong to which instance, by feed.
    """
    place, root, contents = place_named(left), context.root, context.plan.detail.contents
    if place is None or not place.is_within(root):
        return None
    is_clean, name = left.kind == TableStep.CLEAN, context.target.table.table
    if contents is not None and contents.table.keys:
        down = place.relative_to(root)
        name = down.partition("/")[2] if is_clean else down
        if not _is_of_instance(name, context.target, uri):
            return None
    if is_clean:
        return place if is_data_place(place, root, name) else None
    has_data = left.kind in {TableStep.ADD, TableStep.REPLACE}
    return data_place(root, str(left.run_id), name) if has_data else None


def _is_of_instance(name: str, target: TableTarget, uri: Callable[[str], TableUri]) -> bool:
    """Return whether a name is that of a partition which an import writes; one of a whole table writes all."""
    try:
        values = split_name(name)
    except ValueError:
        return False
    return target.instant is None or target.instant in (uri(target.feed).period_of(values) or ())


def directory_above(location: str) -> str:
    """Return the directory around that of a table, whose data may have been replaced before (see `table_import`)."""
    above = location.rstrip("/").rpartition("/")[0]
    return above.rpartition("/")[0] if above.rpartition("/")[2].startswith(DATA_PREFIX) else above


def remove_staging(system: FileSystem, root: CanonicalPath, run: str, name: str) -> None:
    """Remove the copies of a run that were not whole.

    Args:
        system: the store.
        root: the directory of the table, or that around one without partitions.
        run: its number; a run of another ledger, and of another table there, may have the same.
        name: of the table that has no partitions; empty: it has some.
    """
    top = root.child(f"{STAGING_PREFIX}{run}")
    place = top.child(name) if name else top
    remove_wholly(system, place, root)
    if name:
        system.remove_if_empty(top, below=root)


def remove_emptied(system: FileSystem, place: CanonicalPath, root: CanonicalPath) -> None:
    """Remove the empty directories above removed data, up to that of the run that wrote them."""
    above = place.parent
    while above.is_within(root) and DATA_PREFIX in above.path:
        if not system.remove_if_empty(above, below=root) and is_there(system, above):
            return
        above = above.parent


@dataclass(frozen=True)
class UsedLocations:
    """The locations of all partitions of a table.

    Attributes:
        index: each with the partition's values; none of the table itself.
    """

    index: LocationIndex[tuple[str, ...]]

    @classmethod
    def of(cls, metastore: Metastore, table: Table | None, resolve: Callable[[str], CanonicalPath]) -> UsedLocations:
        """Return the partition locations of a table, or none if the table does not exist.

        Raises:
            CatalogError: the metastore cannot tell.
        """
        found: list[tuple[str, tuple[str, ...]]] = []
        if table is not None and table.keys:
            partitions = metastore.partitions(table.name, metastore.partition_names(table.name))
            found += [(each.claimed_location, each.values) for each in partitions if each.claimed_location]
        elif table is not None and table.storage.location:
            found.append((table.storage.location, ()))
        return cls(LocationIndex((resolve(location), values) for location, values in found))

    def is_free(self, place: CanonicalPath) -> bool:
        """Return whether no partition has the place, nor one in it or around it."""
        return next(self.index.meeting(place), None) is None

    def is_alone(self, place: CanonicalPath) -> bool:
        """Return whether at most one partition has the place, and none has one in it or around it."""
        around_or_inside = chain(self.index.around(place), self.index.inside(place))
        return len(list(self.index.at(place))) <= 1 and next(around_or_inside, None) is None
