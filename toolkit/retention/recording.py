"""Items of a plan as the ledger and the audit file know them, and the events that they stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from toolkit.entities import LocationType
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs.items import NewItem, SettledItem
from toolkit.ledger.vocabulary import EventKind, ItemState
from toolkit.result import Outcome
from toolkit.retention.plan import ItemKind, PlanItem
from toolkit.runs.ledger_text import path_text

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.retention.result import ItemResult

_STATES = {
    Outcome.DONE: ItemState.DONE,
    Outcome.SKIPPED: ItemState.SKIPPED,
    Outcome.FAILED: ItemState.FAILED,
}

DATA_INSTANCE = f"{ItemKind.INSTANCE}:{LocationType.DATA}"
"""The kind, in the ledger, of items whose end is an event."""


def kind_in_ledger(item: PlanItem) -> str:
    """What an item is about, for example ``instance:data``."""
    return f"{item.kind}:{item.location}"


def new_item(position: int, item: PlanItem) -> NewItem:
    """An item that is about to be worked on."""
    return NewItem(position=position, kind=kind_in_ledger(item), path=str(item.path), instance_key=item.key)


def settled_item(position: int, result: ItemResult) -> SettledItem:
    """What became of an item."""
    return SettledItem(
        position=position,
        state=_STATES[result.outcome],
        code=result.code or None,
        message=result.message or None,
    )


def dropped_item(item: PlanItem, root: CanonicalPath, positions: range) -> tuple[NewItem, SettledItem]:
    """A directory that went by one call, with items in it.

    Args:
        item: the last of them.
        root: the directory.
        positions: of the items.
    """
    about = f"removed by one call, with {len(positions)} items ({positions.start} to {positions.stop - 1})"
    settled = SettledItem(position=positions.start, state=ItemState.DONE, message=about)
    return new_item(positions.start, item.about_parent(root)), settled


def evicted(feed: str, cluster: str, key: str, path: str) -> NewEvent:
    """The event of an instance that is gone from a path."""
    return NewEvent(kind=EventKind.EVICTED, feed=feed, cluster=cluster, instance_key=key, uri=path_text(path))


class Departures:
    """Knows when the last directory of an instance is gone: an instance is one event, in however many places it was.

    Args:
        items: of the plan of one feed.
    """

    def __init__(self, items: Iterable[PlanItem]) -> None:
        self._left = Counter(item.key for item in items if _is_data(item))
        self._evicted: set[str] = set()

    def of(self, item: PlanItem, *, is_gone: bool, by_us: bool) -> NewEvent | None:
        """The event of an item that was worked on.

        Args:
            item: of the plan, each once.
            is_gone: nothing is at its path any more.
            by_us: because this run removed it.
        """
        if not is_gone or not _is_data(item):
            return None
        self._left[item.key] -= 1
        if by_us:
            self._evicted.add(item.key)
        if self._left[item.key] or item.key not in self._evicted:
            return None
        return evicted(item.feed, item.cluster, item.key, str(item.path))


def _is_data(item: PlanItem) -> bool:
    return item.kind is ItemKind.INSTANCE and item.location is LocationType.DATA
