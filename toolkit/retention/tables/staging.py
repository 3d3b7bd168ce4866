"""Staged data of a table: copies of partitions that were never registered, and the files beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from toolkit.actions.staged_unit import STAGING_DIRECTORY, unit_name
from toolkit.el import is_name
from toolkit.storage import OWN_PREFIX, FileKind, NotFound

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem


def waiting(
    system: FileSystem, base: CanonicalPath, keys: int, check: Callable[[], None]
) -> Iterator[tuple[str, CanonicalPath]]:
    """The names of partitions, each with something that waits for it.

    Args:
        system: the store of the table.
        base: the table's directory.
        keys: so many it has.
        check: called before each listing; what it raises ends the search.

    Raises:
        StorageError: a directory cannot be listed.
    """
    return _below(system, base.child(STAGING_DIRECTORY), (), keys, check)


def _below(
    system: FileSystem, place: CanonicalPath, names: tuple[str, ...], keys: int, check: Callable[[], None]
) -> Iterator[tuple[str, CanonicalPath]]:
    check()
    try:
        entries = list(system.list(place))
    except NotFound:
        return
    for each in entries:
        if not is_name(each.name):
            continue
        if len(names) + 1 == keys:
            yield "/".join((*names, unit_name(each.name))), place.child(each.name)
        elif each.kind is FileKind.DIRECTORY and not each.name.startswith(OWN_PREFIX):
            yield from _below(system, place.child(each.name), (*names, each.name), keys, check)
