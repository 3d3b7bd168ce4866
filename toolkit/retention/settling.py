"""From what became of a batch to what the ledger, the audit file and the user are told of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.result import Outcome
from toolkit.retention.parents import Above, Chain, is_looked_for
from toolkit.retention.recording import Departures, dropped_item, new_item, settled_item
from toolkit.retention.result import ItemResult, SkipReason
from toolkit.runs.recorder import Step

if TYPE_CHECKING:
    from toolkit.ledger.events import NewEvent
    from toolkit.ledger.runs.items import NewItem, SettledItem
    from toolkit.retention.removed import Removed, UnitRemoved
    from toolkit.retention.units import Unit


@dataclass(kw_only=True)
class Settled:
    """What became of a batch.

    Attributes:
        results: of its items, in their order, and of parents that could not be removed.
        chains: parents to try.
    """

    results: list[ItemResult] = field(default_factory=list)
    chains: list[Chain] = field(default_factory=list)
    _settled: dict[int, SettledItem] = field(default_factory=dict)
    _events: dict[int, NewEvent] = field(default_factory=dict)
    _beside: list[tuple[NewItem, SettledItem]] = field(default_factory=list)

    @property
    def step(self) -> Step:
        """What is to be written down."""
        return Step(settled=[*self._settled.values()], events=[*self._events.values()], beside=self._beside)

    def add_unit(self, unit: Unit, done: UnitRemoved, above: Above, departures: Departures) -> None:
        """What became of a unit.

        Args:
            unit: of the plan.
            done: what became of it.
            above: is told of what is not gone.
            departures: makes events of what is.
        """
        last = unit.positions.stop - 1
        for position, removed in zip(unit.positions, done.removed, strict=True):
            self._add_item(position, removed, departures)
            # What failed in its middle, and of which nothing is left, has emptied what it was in as well.
            if not (is_looked_for(removed.result) or removed.is_gone):
                above.add_occupied(removed.result.item)
            elif position == last or not done.is_whole:
                self._add_chain(above.chain(position, unit.root if done.is_whole else None))
        if done.is_whole and unit.root is not None:
            self._beside.append(dropped_item(done.removed[-1].result.item, unit.root, unit.positions))

    def add_parents(self) -> None:
        """What became of the parents, once they were tried."""
        for chain in self.chains:
            for parent in chain.results:
                self._beside.append((new_item(chain.position, parent.item), settled_item(chain.position, parent)))
                self.results.extend([parent] if parent.outcome is Outcome.FAILED else [])
            if chain.is_cut:
                self._leave_open(chain)

    def _leave_open(self, chain: Chain) -> None:
        """Its parents were not all tried, and where no date is in their names only this item leads back to them."""
        settled = self._settled.pop(chain.position, None)
        if settled is not None:
            self._events.pop(chain.position, None)
            self._beside.append((new_item(chain.position, chain.item), settled))

    def _add_chain(self, chain: Chain) -> None:
        if chain.waiting:
            self.chains.append(chain)

    def _add_item(self, position: int, removed: Removed, departures: Departures) -> None:
        result = removed.result
        self.results.append(result)
        settled = settled_item(position, result)
        if removed.is_open:
            # It stays open in the ledger: the next run sees what became of it. The audit file has what is known now.
            self._beside.append((new_item(position, result.item), settled))
            return
        self._settled[position] = settled
        is_done, is_failed = result.outcome is Outcome.DONE, result.outcome is Outcome.FAILED
        # A removal that failed in its middle has taken the instance from its readers all the same.
        is_gone = is_done or result.code == SkipReason.ALREADY_GONE or (is_failed and removed.is_gone)
        event = departures.of(result.item, is_gone=is_gone, by_us=is_done or is_failed)
        if event is not None:
            self._events[position] = event
