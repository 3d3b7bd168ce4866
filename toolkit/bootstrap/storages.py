"""Access to the stores of a run, by the settings of its clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import inf
from typing import TYPE_CHECKING

from toolkit.bootstrap.store_settings import agreed, speaks_of
from toolkit.el import ElError
from toolkit.errors import FeedctlError
from toolkit.planning.instance_storage import FeedStorage
from toolkit.storage import Bases, StorageSpec
from toolkit.storage.bound import SharedStores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed


@dataclass(frozen=True, kw_only=True)
class StoreChoice:
    """Stores that a run may use, and the clusters whose settings apply to them.

    Attributes:
        clusters: of the run; their `hadoop_conf` says how stores are reached.
        others: all clusters of the config repo, for the stores that are their end points.
        pairs: the feeds of the run on their clusters; a store is the matter of those clusters alone whose feeds have a
            location on it.
        trusted_links: paths of symbolic links on local disks that a base may be, or be reached through.
    """

    clusters: Iterable[Cluster] = ()
    others: Iterable[Cluster] = ()
    pairs: Sequence[tuple[Feed, Cluster]] = ()
    trusted_links: Iterable[str] = ()

    def shared(self, rate: float = inf) -> SharedStores:
        """The stores; `rate` bounds the changes a second of each remote one."""
        return SharedStores(spec_of=self.spec_of, rate=rate, bases=self._local_bases())

    def spec_of(self, path: CanonicalPath) -> StorageSpec:
        """Return how the store that a path is on is opened; see `storage_spec`."""
        clusters = tuple(self.clusters)
        users = self._users.get((path.scheme, path.authority), clusters) if len(clusters) > 1 else clusters
        return storage_spec(path, users, self.others)

    @cached_property
    def _users(self) -> dict[tuple[str, str], tuple[Cluster, ...]]:
        """The clusters of the run by the store that feeds of theirs have a location on."""
        found: dict[tuple[str, str], dict[str, Cluster]] = {}
        for feed, cluster in self.pairs:
            of_feed = ((base.scheme, base.authority) for base in _bases_of_feed(feed, cluster))
            # Where the data of a table are the metastore says; most of all on the cluster's own store.
            for store in stores_of(cluster) if feed.is_table else of_feed:
                found.setdefault(store, {})[cluster.name] = cluster
        return {store: tuple(clusters.values()) for store, clusters in found.items()}

    def _local_bases(self) -> Bases:
        bases = chain.from_iterable(_bases_of_feed(feed, cluster) for feed, cluster in self.pairs)
        known = frozenset(base.path for base in bases if base.is_local)
        return Bases(known=known, trusted_links=frozenset(self.trusted_links))


def storage_spec(path: CanonicalPath, users: Iterable[Cluster], others: Iterable[Cluster] = ()) -> StorageSpec:
    """Return how the store that a path is on is opened, on this machine and on executors.

    A store that is the write or the readonly end point of clusters has their `hadoop_conf`; any other one (a location
    with its own URI) has that of the cluster whose feed has a location there. A spec cannot tell for which cluster it
    is asked, so all clusters that may speak for the store must say the same about it.

    Args:
        path: on the store.
        users: the clusters that may mean this store.
        others: further clusters, which are asked only about their end points.

    Raises:
        ConflictingHadoopConf: they do not say the same; a setting that only some of them have counts too.
        SecretInSettings: a setting of an object store carries a secret.
    """
    if path.is_local:
        return StorageSpec(scheme=path.scheme)
    conf = agreed(path.scheme, path.authority, _speakers(path, tuple(users), tuple(others)))
    return StorageSpec(scheme=path.scheme, authority=path.authority, hadoop_conf=conf)


def _speakers(path: CanonicalPath, users: Sequence[Cluster], others: Sequence[Cluster]) -> tuple[Cluster, ...]:
    """Return the clusters whose settings count: each user itself if the store is its own, else the store's owners.

    A user that has settings of its own for such a store may mean another one by the same name, so it counts as well.
    """
    owners = {each.name: each for each in (*users, *others) if (path.scheme, path.authority) in set(stores_of(each))}
    if not users:
        return tuple(owners.values())
    found: dict[str, Cluster] = {}
    for user in users:
        if user.name not in owners:
            found.update(owners)
        if user.name in owners or not owners or speaks_of(user, path.scheme, path.authority):
            found[user.name] = user
    return tuple(found.values())


def stores_of(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Scheme and authority of the end points that are file systems."""
    for interface in (cluster.interfaces.write, cluster.interfaces.readonly):
        if interface is None:
            continue
        try:
            root = cluster.place(f"{interface.endpoint.rstrip('/')}/")
        except ElError:  # another rule is about an end point that is none
            continue
        yield root.scheme, root.authority


def _bases_of_feed(feed: Feed, cluster: Cluster) -> Iterator[CanonicalPath]:
    """The bases of what a feed has on a cluster; where that cannot be told, nothing is opened either."""
    try:
        for template in FeedStorage.of(feed, cluster).templates.values():
            yield cluster.place(template.base)
    except FeedctlError:  # resolving the feed says so
        return
