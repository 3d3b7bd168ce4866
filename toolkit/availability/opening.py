"""From a feed on a cluster to what looks at its instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.availability.path_instances import PathInstances
from toolkit.el.tokens import Glob
from toolkit.entities import LocationType
from toolkit.errors import NotImplementedYet
from toolkit.planning.instance_storage import FeedStorage

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolkit.availability.state import FeedInstances
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed
    from toolkit.storage import FileSystem


def instances_of(feed: Feed, cluster: Cluster, storage: Callable[[CanonicalPath], FileSystem]) -> FeedInstances:
    """What looks at the instances of a feed on a cluster; no store is asked yet.

    Args:
        feed: the feed.
        cluster: one of its clusters, whose own store is read.
        storage: the store that a path is on; only reading calls are made.

    Raises:
        NotImplementedYet: the instances are partitions of a table, or the data location has a glob.
        UnknownName: the feed is not on that cluster.
        ElError: a template is malformed.
    """
    stored, where = FeedStorage.of(feed, cluster), f"feed {feed.name}"
    if stored.table is not None:
        instead = "look at its partitions with your own tool"
        raise NotImplementedYet(what="availability of a table's partitions", instead=instead, where=where)
    template = stored.templates[LocationType.DATA]
    if any(isinstance(token, Glob) for segment in template.segments for token in segment.tokens):
        instead = "give the feed one directory or file an instance"
        raise NotImplementedYet(what=f"availability by the glob in {template.text}", instead=instead, where=where)
    return PathInstances(
        sequence=feed.instances_on(cluster.name),
        template=template,
        place=cluster.place,
        flag=feed.availability_flag or "",
        storage=storage,
    )
