"""What became of a unit and its items, and what that means for the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolkit.retention.result import ItemResult


class Removed(NamedTuple):
    """An item's result; a tuple, because an eviction has very many of them.

    Attributes:
        result: for the user.
        is_gone: it failed, and nothing is at its path any more all the same.
        is_open: nobody can tell now, and what was asked for may still happen, so that the next run has to look.
    """

    result: ItemResult
    is_gone: bool = False
    is_open: bool = False


class UnitRemoved(NamedTuple):
    """What became of a unit.

    Attributes:
        removed: its items, in their order.
        is_whole: the directory that held them went with them.
        note: for the user, why it did not although it should have; empty: nothing to say.
    """

    removed: Sequence[Removed]
    is_whole: bool = False
    note: str = ""
