"""Which places below a table are somebody's, and which are known to be feedctl's own (ADR 0048)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.availability import is_there
from toolkit.catalog.model import Table
from toolkit.el import CanonicalPath
from toolkit.storage import DATA_PREFIX, STAGING_PREFIX, aside_name
from toolkit.transfer.publication import remove
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from toolkit.catalog.port import Metastore
    from toolkit.storage import FileSystem


def data_place(root: CanonicalPath, run: str, name: str) -> CanonicalPath:
    """Where a run puts data that cannot get the place that Hive would choose.

    Args:
        root: the directory of the table, or that around one without partitions.
        run: its number.
        name: of the partition, or of the table that has none.
    """
    return below(root.child(f"{DATA_PREFIX}{run}"), name)


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


def remove_wholly(system: FileSystem, path: CanonicalPath, base: CanonicalPath) -> None:
    """Remove a path, and what its removal by a run that was killed has left."""
    for each in (path, path.parent.child(aside_name(path.name))):
        remove(system, each, base)


def is_data_place(place: CanonicalPath, root: CanonicalPath, name: str) -> bool:
    """Whether a place is one that `data_place` gives to this name for some run: only such data are ever removed."""
    if not place.is_within(root):
        return False
    top = place.relative_to(root).partition("/")[0]
    run = top.removeprefix(DATA_PREFIX)
    return run not in {"", top} and place == data_place(root, run, name)


def remove_emptied(system: FileSystem, place: CanonicalPath, root: CanonicalPath) -> None:
    """Remove the directories above data that went, up to that of the run that wrote them, as far as they are empty."""
    above = place.parent
    while above.is_within(root) and DATA_PREFIX in above.path:
        if not system.remove_if_empty(above, below=root) and is_there(system, above):
            return
        above = above.parent


@dataclass(frozen=True)
class TakenPlaces:
    """The places of all partitions of a table, each as often as it is one.

    Attributes:
        counts: by place.
        ordered: all of them.
    """

    counts: Counter[CanonicalPath]
    ordered: tuple[CanonicalPath, ...]

    @classmethod
    def of(cls, metastore: Metastore, table: Table | None, resolve: Callable[[str], CanonicalPath]) -> TakenPlaces:
        """Return the partition locations of a table, or an empty set if the table does not exist.

        Raises:
            CatalogError: the metastore cannot tell.
        """
        found: Counter[CanonicalPath] = Counter()
        if table is not None and table.keys:
            partitions = metastore.partitions(table.name, metastore.partition_names(table.name))
            found.update(resolve(each.claimed_location) for each in partitions if each.claimed_location)
        elif table is not None and table.storage.location:
            found[resolve(table.storage.location)] += 1
        return cls(found, tuple(sorted(found)))

    def is_free(self, place: CanonicalPath) -> bool:
        """Whether no partition has the place, and none lies in it or around it."""
        return not self.counts[place] and self.is_alone(place)

    def is_alone(self, place: CanonicalPath) -> bool:
        """Whether no partition has the place but at most one, and none lies in it or around it."""
        if self.counts[place] > 1:
            return False
        above = place.parent
        while above.path != "/":
            if above in self.counts:
                return False
            above = above.parent
        at = bisect_left(self.ordered, replace(place, path=f"{place.path}/"))
        return at == len(self.ordered) or not self.ordered[at].is_within(place)
