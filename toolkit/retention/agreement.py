"""Feeds that share data and keep it for different times: none of them evicts, unless all of them say so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from toolkit.entities import FeedMaxDelete
from toolkit.errors import InvalidInput

if TYPE_CHECKING:
    from toolkit.entities import Feed, Retention


class ConflictingRetention(InvalidInput):
    """A feed whose retention would delete what another feed keeps, or archives; nothing of it is deleted.

    Args:
        feed: name.
        cluster: name.
        others: those feeds, in words, with what they keep.
    """

    code = "conflicting_retention"

    def __init__(self, *, feed: str, cluster: str, others: Sequence[str]) -> None:
        self.feed, self.cluster, self.others = feed, cluster, tuple(others)
        super().__init__(
            f"feed {feed} on {cluster} shares data with {'; '.join(others)}: what goes for one is gone for all, so "
            "nothing was deleted. Give them directories (or partitions) of their own, or the same retention. If "
            "different retention is intended, each of them has to name the others: shares_data_with: [NAME, ...]"
        )


def require_agreement(feed: Feed, cluster: str, neighbours: Iterable[tuple[str, str]], feeds: Iterable[Feed]) -> None:
    """Return when the feed and all that share its data keep it alike, or say that they share it.

    Args:
        feed: is to be evicted.
        cluster: where.
        neighbours: those that share its data, each with its cluster.
        feeds: of the repo.

    Raises:
        ConflictingRetention: they do not.
    """
    by_name = {each.name: each for each in feeds}
    own = _kept(feed.cluster(cluster).retention)
    others: list[str] = []
    for name, on in neighbours:
        other = by_name[name]
        retention = other.cluster(on).retention
        is_agreed = name in feed.shares_data_with and feed.name in other.shares_data_with
        if _kept(retention) != own and not is_agreed:
            others.append(f"{name} on {on}, {_words(retention)}")
    if others:
        raise ConflictingRetention(feed=feed.name, cluster=cluster, others=others)


def _kept(retention: Retention | None) -> Retention | None:
    """Return the retention without the delete limit, which does not decide whether an instance is kept."""
    return None if retention is None else replace(retention, max_delete=FeedMaxDelete())


def _words(retention: Retention | None) -> str:
    if retention is None:
        return "which has no retention"
    return f"which has another retention ({retention.limit}, {retention.action})"
