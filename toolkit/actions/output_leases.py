"""Leases of runs that write feed instances, and whether an eviction stands in their way (ADR 0054)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from toolkit.catalog.errors import NoSuchTable
from toolkit.catalog.partition_name import split_name
from toolkit.el import CanonicalPath, ElError
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.outputs import OpenEviction, output_resource
from toolkit.ledger.vocabulary import LeaseMode, LifeCycle
from toolkit.runs.recorder import path_of
from toolkit.storage import NotFound, RealPlaces, aside_name

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.catalog.model import TableName
    from toolkit.catalog.written_places import WrittenPlaces

EVICTION_UNDER_WAY = "eviction_under_way"
"""Code of an instance that is not written now, because retention is removing it."""
SOURCE_BEING_WRITTEN = "source_being_written"
"""Code of an instance that is not copied now, because another run writes its source."""
_MOST_NAME = 400
"""The longest name of a resource that the ledger has room for."""
_CATALOG = "catalog:"


def output_lease(feed: str, cluster: str, instance_key: str, mode: LeaseMode = LeaseMode.EXCLUSIVE) -> Wanted:
    """Return the lease of a run that writes an instance of a feed: shared where several write parts of it."""
    return Wanted(resource=output_resource(feed, cluster, instance_key), mode=mode)


def database_lease(cluster: str, database: str, mode: LeaseMode = LeaseMode.SHARED) -> Wanted:
    """Return the lease on a whole database: shared by all writers of single tables."""
    return Wanted(resource=resource_name(f"database/{cluster}/{database.lower()}"), mode=mode)


def table_lease(cluster: str, table: TableName, mode: LeaseMode = LeaseMode.EXCLUSIVE) -> Wanted:
    """Return the lease on a whole table: shared by all writers of single instances."""
    return Wanted(resource=resource_name(f"table/{cluster}/{table}"), mode=mode)


def table_leases(
    cluster: str, table: TableName, instance_key: str, mode: LeaseMode = LeaseMode.EXCLUSIVE
) -> tuple[Wanted, ...]:
    """Return the leases of a run that writes, or decides on, an instance of a table."""
    whole = table_lease(cluster, table, LeaseMode.SHARED)
    own = Wanted(resource=resource_name(f"{whole.resource}/{instance_key}"), mode=mode)
    return (database_lease(cluster, table.database), whole, own)


def resource_name(text: str) -> str:
    """Return a name that the ledger has room for; a long one ends in a digest of the whole."""
    if len(text) <= _MOST_NAME:
        return text
    return f"{text[: _MOST_NAME - 65]}#{hashlib.sha256(text.encode()).hexdigest()}"


def eviction_of_path(
    path: CanonicalPath, base: CanonicalPath, evictions: Iterable[OpenEviction], work: RunContext
) -> str:
    """Return why an instance must not be written now, or an empty text: retention may be removing its directory.

    Retention also removes directories above instances, by one call, when they hold nothing but what goes. So an
    instance that does not exist yet is in the way of that call, too.

    Args:
        path: of the instance.
        base: the directory around it that the feed, or table, has.
        evictions: the open ones, read when the run already held the lease on the instance.
        work: of the run.

    Raises:
        StorageError: a directory above the instance cannot be listed.
    """
    spelt, going = _spelt_as(base), list[tuple[CanonicalPath, OpenEviction]]()
    for each in evictions:
        if each.path.startswith(_CATALOG):
            continue
        try:
            going.append((spelt(CanonicalPath.parse(path_of(each.path))), each))
        except ElError:  # it is unknown which place it is
            return _why(str(path), each)
    for place, each in going:
        if place.meets(path):
            return _why(str(path), each)
    above = path.parent if going else path.root
    while above != above.parent:
        below = [(place, each) for place, each in going if place.is_within(above)]
        if not _holds_nothing_else(above, [place for place, _ in below], work):
            return ""
        if below:
            return _why(str(path), below[0][1])
        above = above.parent
    return ""


def _spelt_as(base: CanonicalPath) -> Callable[[CanonicalPath], CanonicalPath]:
    """Return a function that gives paths below a feed's directory by the name that the feed has for it.

    On a local disk another feed may reach the same directory through a link or a mount.
    """
    if not base.is_local:
        return lambda path: path
    places = RealPlaces()
    own = places.of(base)

    @cache
    def spelt(path: CanonicalPath) -> CanonicalPath:
        if path == path.parent or not path.is_local:
            return path
        return base if places.of(path) == own else spelt(path.parent).child(path.name)

    return spelt


def _holds_nothing_else(directory: CanonicalPath, going: Sequence[CanonicalPath], work: RunContext) -> bool:
    names = {each.relative_to(directory).partition("/")[0] for each in going if each != directory}
    names |= set(map(aside_name, names))  # a removal on a local disk renames a directory before it empties it
    try:
        return all(entry.name in names for entry in work.stores(directory).list(directory))
    except NotFound:
        return True


def eviction_of_table_data(
    table: TableName, written: Callable[[], WrittenPlaces], evictions: Sequence[OpenEviction], work: RunContext
) -> str:
    """Return why an instance of a table must not be written now, or an empty text: retention may be removing its data.

    Args:
        table: the table.
        written: asks the metastore where the instance may be written; called only while retention removes directories.
        evictions: as of `eviction_of_path`.
        work: of the run.

    Raises:
        CatalogError: the metastore does not say.
        ElError: a location is no path.
        StorageError: a directory above the instance cannot be listed.
    """
    going = next((each for each in evictions if not each.path.startswith(_CATALOG)), None)
    if going is None:
        return ""
    try:
        found = written()
    except NoSuchTable:
        return _why(f"the directory that {table} will have is not known, and {going.path}", going)
    reasons = (eviction_of_path(each, found.base_of(each), evictions, work) for each in found.places)
    return next(filter(None, reasons), "")


def eviction_of_partition(table: TableName, values: Mapping[str, str], evictions: Iterable[OpenEviction]) -> str:
    """Return why a partition must not be written now, or an empty text: retention may be removing it.

    The cluster of the eviction does not count: two clusters may have one metastore.

    Args:
        table: the table.
        values: key to value; the partition may have further keys.
        evictions: as of `eviction_of_path`.
    """
    prefix = f"{_CATALOG}{table.database}:{table.table}#"
    for each in evictions:
        name = each.path.removeprefix(prefix)
        if name != each.path and _may_be_same(name, values):
            return _why(f"{table} {name}", each)
    return ""


def _may_be_same(name: str, values: Mapping[str, str]) -> bool:
    try:
        return not are_apart(split_name(name), values)
    except ValueError:  # it is unknown which partition it is
        return True


def are_apart(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Return whether two partitions differ in the value of a key that both name; keys are compared without case."""
    theirs = {key.lower(): value for key, value in other.items()}
    return any(theirs.get(key.lower(), value) != value for key, value in one.items())


def writer_of(feed: str, cluster: str, instance_key: str, work: RunContext) -> str:
    """Return who writes an instance now, in words, or an empty text; the copy of a part has no writer.

    Raises:
        Stopped: the ledger cannot be read.
    """
    for each in work.outputs.held([(feed, cluster)], instance_key=instance_key):
        is_copy = each.mode is LeaseMode.SHARED and each.held.holder.life_cycle is not LifeCycle.EXECUTION
        if each.instance_key == instance_key and not is_copy:
            return str(each.held)
    return ""


def _why(what: str, eviction: OpenEviction) -> str:
    run = eviction.run
    return f"{what} is being removed by {run}, {run.who}; run again when that is over"
