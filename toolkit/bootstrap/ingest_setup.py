"""The settings of a feed's `ingest`, and its table on PyIceberg."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.errors import NotImplementedYet

if TYPE_CHECKING:
    from toolkit.bootstrap.action_context import ActionContext
    from toolkit.bootstrap.ingest import FeedIngest
    from toolkit.clock import Clock
    from toolkit.entities import Cluster, Feed


def configured(context: ActionContext, clock: Clock, feed: Feed, cluster: Cluster) -> FeedIngest | None:
    """Return the settings of a feed on a cluster, from the config repo.

    Raises:
        NotImplementedYet: no feed has an `ingest` yet.
    """
    del context, clock
    raise NotImplementedYet(
        what=f"the ingest of feed {feed.name} on {cluster.name}", instead="write to its table by another program"
    )
