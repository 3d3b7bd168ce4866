"""Exemptions from SLAs: suspended entities, and instances on hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Self

from toolkit.ledger.state import holds, start_check
from toolkit.ledger.state.start_check import EVERYWHERE

if TYPE_CHECKING:
    from toolkit.entities import Hold
    from toolkit.ledger.database import Transaction
    from toolkit.ledger.sla import SlaKey
    from toolkit.ledger.state.start_check import Suspension


@dataclass(frozen=True, kw_only=True, slots=True)
class Exemptions:
    """Entities and instances of which nothing is expected at a time.

    Attributes:
        suspended: suspensions, by entity and cluster; an empty cluster stands for all.
        resumed: when an entity was last resumed, by the same.
        holds: on instances of feeds.
    """

    suspended: Mapping[tuple[str, str], Suspension] = field(default_factory=dict)
    resumed: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    holds: Mapping[str, tuple[Hold, ...]] = field(default_factory=dict)

    @classmethod
    def read(cls, tx: Transaction, now: datetime, in_repo: Iterable[Hold] = ()) -> Self:
        """Return the exemptions of the ledger, and the holds of a config repo beside them.

        Args:
            tx: the transaction.
            now: later suspensions do not count.
            in_repo: the holds of `holds.yaml`.
        """
        by_feed: dict[str, tuple[Hold, ...]] = {}
        for each in (*in_repo, *(holds.as_entity_hold(found) for found in holds.active(tx) if found.added_at <= now)):
            by_feed[each.feed] = (*by_feed.get(each.feed, ()), each)
        found = [each for each in start_check.suspensions(tx) if each.changed_at <= now]
        return cls(
            suspended={(each.entity, each.cluster): each for each in found},
            resumed=start_check.renewals(tx),
            holds=by_feed,
        )

    def suspension(self, key: SlaKey) -> Suspension | None:
        """Return the suspension of a series; None: it is not suspended."""
        return self.suspended.get((key.entity, key.cluster)) or self.suspended.get((key.entity, EVERYWHERE))

    def reason(self, key: SlaKey) -> str | None:
        """Return why nothing is expected of a series; None: it is."""
        found = self.suspension(key)
        if found is None:
            return None
        return f"suspended by {found.changed_by}{f': {found.reason}' if found.reason else ''}"

    def holds_of(self, key: SlaKey) -> list[str]:
        """Return the texts of the holds on instances of a series."""
        found = self.holds.get(key.entity, ())
        return [f"on hold {each.start}/{each.end}" for each in found if each.concerns(key.entity, key.cluster)]

    def hold(self, key: SlaKey, instant: datetime) -> str:
        """Return the reason of a hold on an instance of a feed; empty: there is none."""
        for each in self.holds.get(key.entity, ()):
            if each.concerns(key.entity, key.cluster) and each.covers(instant):
                return f"on hold: {each.reason}"
        return ""

    def ended_at(self, key: SlaKey, now: datetime) -> datetime:
        """Return when a suspension of a series ended: its last resume, else now."""
        found = [self.resumed.get((key.entity, cluster)) for cluster in (key.cluster, EVERYWHERE)]
        return min(max((each for each in found if each is not None), default=now), now)
