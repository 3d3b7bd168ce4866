"""Files of the source that cannot be read, and without which a unit is copied (`ignoreErrors`)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from toolkit.availability import is_there
from toolkit.storage import FileKind

if TYPE_CHECKING:
    from toolkit.replication.targets import ReplicationTarget, UnitItem
    from toolkit.storage import FileSystem
    from toolkit.transfer.errors import FilesFailed


def can_leave_out(
    target: ReplicationTarget, item: UnitItem, error: FilesFailed, system: FileSystem, *, is_staged: bool
) -> bool:
    """Return whether a unit can do without failed files: announced, or put in its place before it is.

    An instance that is announced stays as it is unless the feed says otherwise. So does one of which nothing can be
    read, or to which something cannot be written.

    Args:
        target: the instance.
        item: the unit.
        error: names the files.
        system: the store of the target.
        is_staged: the copies are where no reader sees them.
    """
    rules, flag, present = target.rules, target.flag_path, item.present or {}
    is_possible = (
        rules.ignore_errors
        and target.validation is None
        and bool(item.gone or error.copied.keys() - {target.flag})
        and target.flag not in error.names
        and all(each.is_of_source for each in error.failed)
        and all(present[name].kind is FileKind.FILE for name in error.names if name in present)
    )
    return is_possible and (rules.publish_incomplete or (is_staged and flag is not None and not is_there(system, flag)))


def without(item: UnitItem, names: Collection[str]) -> UnitItem:
    """Return a unit without names of the source; what the target has of them stays."""
    stays = {name: entry for name, entry in (item.present or {}).items() if name in names}
    return replace(
        item,
        wanted={name: entry for name, entry in item.wanted.items() if name not in names},
        copied={name: reason for name, reason in item.copied.items() if name not in names},
        extra={**item.extra, **stays},
    )
