"""From what was found to the items of a plan: the rule is `toolkit.planning.retention.kept_by`, the form saves memory.

A million instances are looked at one after the other, and each makes room for its item at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from toolkit.planning.retention import Candidate, Kept, keep_last_from, kept_by
from toolkit.retention.plan import PlanItem

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.el import CanonicalPath
    from toolkit.retention.targets import FeedTarget


@dataclass(kw_only=True, slots=True)
class Decisions:
    """What goes and what stays.

    Attributes:
        items: what goes, in the order in which it was found.
        kept: what stays.
        stays: positions of what stays among all that was found.
        is_shared: whether locations of the feed can be inside one another.
    """

    items: list[PlanItem] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    stays: list[int] = field(default_factory=list)
    is_shared: bool = False

    @classmethod
    def of(
        cls, target: FeedTarget, found: list[Candidate | PlanItem], newest: Iterable[Candidate], *, is_shared: bool
    ) -> Decisions:
        """Decide about everything.

        Args:
            target: the feed.
            found: old instances, and items that nothing is to be decided about; emptied on the way.
            newest: young instances that count for `keep_last`; an instance can be among both.
            is_shared: an instance can have been found in several locations.
        """
        kept_from = keep_last_from(chain(_candidates(found), newest), target.policy)
        decided = cls(is_shared=is_shared)
        decided._decide(target, found, kept_from)
        horizon_ones = {each.candidate.path for each in decided.kept}
        young = (each for each in newest if each.path not in horizon_ones)
        decided.kept.extend(kept for each in young if (kept := kept_by(target.policy, each, kept_from)) is not None)
        return decided

    def _decide(self, target: FeedTarget, found: list[Candidate | PlanItem], kept_from: datetime) -> None:
        seen: set[CanonicalPath] = set()
        found.reverse()
        for position in range(len(found)):
            each = found.pop()
            if isinstance(each, PlanItem):
                self.items.append(each)
                continue
            if self.is_shared:
                if each.path in seen:
                    continue
                seen.add(each.path)
            kept = kept_by(target.policy, each, kept_from)
            if kept is None:
                self.items.append(PlanItem.of_instance(each, target.feed, target.cluster))
            else:
                self.kept.append(kept)
                self.stays.append(position)


def in_order(items: list[PlanItem]) -> tuple[PlanItem, ...]:
    """The items in the order of their sort keys, in which a walk nearly always finds them."""
    if any(one > other for one, other in pairwise(item.sort_key for item in items)):
        items.sort(key=lambda item: item.sort_key)
    return tuple(items)


def _candidates(found: Iterable[Candidate | PlanItem]) -> Iterator[Candidate]:
    return (each for each in found if isinstance(each, Candidate))
