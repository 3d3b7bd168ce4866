"""Limits of one retention run, as a pure decision over the numbers of all its feeds (DESIGN section 7)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True, slots=True)
class DeleteLimits:
    """Limits of one run, over all its feeds or for one of them.

    Attributes:
        instances: a number of instances; None: no such limit.
        fraction: a part of the evictable and kept instances together; None: no such limit.
        bytes: of the files in what goes, each counted once however often it is replicated; None: no such limit.
    """

    instances: int | None = None
    fraction: float | None = None
    bytes: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Excess:
    """A limit that a plan exceeds.

    Attributes:
        limit: the key, in `repo.yaml` or in a feed.
        allowed: its value.
        found: what the plan has, in words.
        by_feed: evicted instances for each feed and cluster.
    """

    limit: str
    allowed: str
    found: str
    by_feed: Mapping[str, int]


def kept_needed(evicted: int, limits: DeleteLimits) -> int | None:
    """Return how many kept instances make the fraction acceptable: no more of them need to be listed than that.

    Returns:
        A number, or None when no number of kept instances is enough.
    """
    if limits.fraction is None or evicted == 0:
        return 0
    fraction = Fraction(str(limits.fraction))
    if fraction <= 0:
        return None
    return max(0, ceil(evicted * (1 - fraction) / fraction))


def excess(by_feed: Mapping[str, int], kept: int, limits: DeleteLimits) -> Excess | None:
    """The first limit that the plan exceeds.

    Args:
        by_feed: evicted instances for each feed and cluster.
        kept: kept instances that are known of; counting may have stopped at `kept_needed`.
        limits: of the run.
    """
    evicted = sum(by_feed.values())
    if limits.instances is not None and evicted > limits.instances:
        return Excess(
            limit="max_delete.instances",
            allowed=f"{limits.instances:,}",
            found=f"{evicted:,} instances",
            by_feed=by_feed,
        )
    needed = kept_needed(evicted, limits)
    if needed is None or kept < needed:
        found = f"{evicted:,} of {evicted + kept:,} instances"
        return Excess(limit="max_delete.fraction", allowed=f"{limits.fraction:g}", found=found, by_feed=by_feed)
    return None


def excess_weight(by_feed: Mapping[str, int], found: str, limits: DeleteLimits) -> Excess:
    """That a plan is heavier than the limit, or that it is unknown how heavy it is.

    Args:
        by_feed: evicted instances for each feed and cluster.
        found: what is known, in words.
        limits: of the run, with one for bytes.
    """
    return Excess(limit="max_delete.bytes", allowed=f"{limits.bytes:,}", found=found, by_feed=by_feed)
