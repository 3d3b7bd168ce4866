"""Data that dead runs of a mirror left in a table's directory, as items that the recovery of imports removes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from toolkit.hive.locations import data_directory
from toolkit.hive.targets import TableStep
from toolkit.ledger.runs.items import Item
from toolkit.ledger.vocabulary import ItemState
from toolkit.runs.recorder import path_text
from toolkit.storage import DATA_PREFIX, STAGING_PREFIX, FileKind, NotFound, name_behind
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.hive.mirror_events import EventCursor
    from toolkit.hive.table_context import TableContext


@dataclass(frozen=True, kw_only=True)
class EarlierRuns:
    """Runs of one mirror, by the ledger. They say which directories may be removed, and never that one must be.

    Attributes:
        cursor: in the events of the source; None: there is none.
        dead: numbers of the last runs that are over without success.
        over: those of some numbers that are runs of this mirror and over.
    """

    cursor: EventCursor | None = None
    dead: Collection[int] = ()
    over: Callable[[Collection[int]], Collection[int]] = lambda _: ()


def unregistered_items(context: TableContext, runs: EarlierRuns) -> list[Item]:
    """Return an item for each directory of a partition that runs of this mirror have made, if one of them died here.

    A process keeps its step in the ledger and not the partitions, so the store is asked for the directories of its
    runs. What no partition uses of them is what `ImportRecovery` removes: copies that were not registered, and what a
    run replaced and had no time to remove.

    Args:
        context: of the plan of a table, which is under a lease.
        runs: of the mirror.
    """
    root, system = context.root, context.system
    try:
        there = {entry.name for entry in system.list(root)}
    except NotFound:
        return []
    dead = {run for run in runs.dead if there & _own_names(run)}
    if not dead:
        return []
    names = (name.removeprefix(DATA_PREFIX) for name in there if name.startswith(DATA_PREFIX))
    written = {int(name) for name in names if name.isdecimal()}
    known = (written & set(runs.dead)) | set(runs.over(written))
    found = [_item(run, TableStep.CLEAN, root) for run in sorted(dead)]  # its own directories go, also when empty
    for run in sorted(known & written):
        found += [_item(run, TableStep.ADD, below(root, name)) for name in _partitions(context, run)]
    return found


def _own_names(run: int) -> set[str]:
    return {f"{STAGING_PREFIX}{run}", f"{STAGING_PREFIX}{run}-registering", f"{DATA_PREFIX}{run}"}


def _partitions(context: TableContext, run: int) -> Iterator[str]:
    """Yield the partitions that have a directory in that of a run; of a table without partitions its name.

    On a local disk a directory may have another name, since its removal had begun.
    """
    data, contents = data_directory(context.root, str(run)), context.plan.detail.contents
    depth = len(contents.table.keys) if contents is not None else 0
    for each in context.system.list_tree(data):
        above, _, last = each.name.rpartition("/")
        if each.kind is FileKind.DIRECTORY and each.name.count("/") == max(depth, 1) - 1:
            name = name_behind(last) or last
            if depth or name == context.target.table.table:
                yield f"{above}/{name}" if above else name


def _item(run: int, step: TableStep, path: CanonicalPath) -> Item:
    now = datetime.now(UTC)
    return Item(
        run_id=run,
        position=0,
        kind=step.value,
        path=path_text(str(path)),
        instance_key="",
        state=ItemState.INTENDED,
        code=None,
        message=None,
        intended_at=now,
        settled_at=None,
    )
