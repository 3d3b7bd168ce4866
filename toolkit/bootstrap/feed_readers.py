"""The stores that a command looks into, and never changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.bootstrap.ingested_data import data_access
from toolkit.bootstrap.storages import StoreChoice
from toolkit.runs.stop import NeverStopped

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolkit.availability import FeedInstances
    from toolkit.entities import Cluster, Feed
    from toolkit.entities.repository import Repository
    from toolkit.variables import Variables


def reader_of(repository: Repository, variables: Variables) -> Callable[[Feed, Cluster], FeedInstances]:
    """Return a function that reads the instances of any feed on any cluster, as they are at the moment.

    A store that several clusters may mean is reached as they all say, see `storages.storage_spec`.

    Args:
        repository: all entities.
        variables: of the process.
    """
    environment, clusters = repository.environment, repository.clusters.values()
    allowed = [each for each in clusters if environment is None or environment.allows(each.name)]

    def look(feed: Feed, cluster: Cluster) -> FeedInstances:
        choice = StoreChoice(
            clusters=(cluster,),
            others=allowed,
            pairs=[(feed, cluster)],
            trusted_links=repository.settings.trusted_links,
        )
        stores = choice.shared().bound(NeverStopped().check, read_only=True).of
        return data_access(stores, variables).instances_of(feed, cluster)

    return look
