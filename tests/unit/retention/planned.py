"""The plan of one feed on a store that a test made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from tests.unit.retention.feeds import NOMINAL, FeedText, cluster
from tests.unit.retention.memory import MemoryFileSystem
from toolkit.el import parse_instant
from toolkit.entities import Hold
from toolkit.retention import RetentionResolver
from toolkit.retention.plan import FeedPlan
from toolkit.retention.planner import RetentionPlanner
from toolkit.storage import Capabilities

REMOTE = "hdfs://ns1"


def planned(
    system: MemoryFileSystem,
    feed: FeedText,
    *,
    default_fs: str = REMOTE,
    holds: Iterable[Hold] = (),
    check: Callable[[], None] = lambda: None,
) -> FeedPlan:
    """The plan for a feed, on a remote store unless another one is named."""
    resolver = RetentionResolver(
        nominal_time=parse_instant(NOMINAL), keep_beyond_validity=True, holds=tuple(holds), storage=lambda _: system
    )
    (target,) = resolver.resolve([(feed.feed(), cluster(default_fs=default_fs))], must_all_work=True).to_do
    return RetentionPlanner(storage=lambda _: system, check=check).plan(target)


def paths(plan: FeedPlan) -> list[str]:
    """Return the paths of the items."""
    return [item.path.path for item in plan.items]


def as_parallel(capabilities: Capabilities, parallel: int) -> Capabilities:
    """The same store, asked so many things at once."""
    return replace(capabilities, parallel=parallel)
