"""Removing the units of a plan, each in its way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.retention.bulk import Bulk
from toolkit.retention.drop import Drop
from toolkit.retention.gate import Gate
from toolkit.retention.one_by_one import OneByOne
from toolkit.retention.removed import UnitRemoved
from toolkit.retention.spreading import Spreading
from toolkit.retention.units import Unit, Way

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import PlanItem
    from toolkit.storage import FileSystem


@dataclass(kw_only=True)
class Removal:
    """Removes units; safe between threads.

    Attributes:
        items: of the plan.
        storage: the store that a path is on.
        gate: asked before each effect.
        first: the feed's availability flag; empty: it has none.
        spreading: to other machines; None: no unit asks for it.
    """

    items: Sequence[PlanItem]
    storage: Callable[[CanonicalPath], FileSystem]
    gate: Gate
    first: str = ""
    spreading: Spreading | None = None
    _one: OneByOne = field(init=False)
    _drop: Drop = field(init=False)
    _bulk: Bulk = field(init=False)

    def __post_init__(self) -> None:
        self._one = OneByOne(storage=self.storage, gate=self.gate)
        self._drop = Drop(storage=self.storage, gate=self.gate, one_by_one=self._one)
        self._bulk = Bulk(storage=self.storage, gate=self.gate, first=self.first)

    def remove(self, unit: Unit) -> UnitRemoved:
        """Remove a unit, unless the run was told to stop or the feed was put on hold."""
        items = self.items[unit.positions.start : unit.positions.stop]
        if unit.way is Way.SUBTREE and unit.root is not None:
            return self._drop.remove(unit.root, items)
        if unit.way is Way.BULK:
            return UnitRemoved(self._bulk.remove(items))
        if unit.way is Way.SPREAD and self.spreading is not None:
            return self.spreading.remove(items)
        if unit.way is Way.TOGETHER:
            return UnitRemoved(self._one.remove_together(items))
        return UnitRemoved([self._one.remove(item) for item in items])
