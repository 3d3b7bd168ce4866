"""Aliases of datasets: physical URIs under which a feed's dataset is known too (Airflow AIP-48)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.el import ElError
from toolkit.el.dataset_uri import DatasetUri, feed_uri, parse, path_uri
from toolkit.entities import LocationType
from toolkit.entities.mirror_work import HiveMirror
from toolkit.errors import InvalidInput
from toolkit.planning.instance_storage import FeedStorage, on_clusters

if TYPE_CHECKING:
    from toolkit.el import TableUri
    from toolkit.entities import Cluster, Feed, Process, Repository


class AmbiguousAlias(InvalidInput):
    """A physical URI at which several feeds have data.

    Args:
        uri: canonical.
        datasets: canonical URIs of the feeds.
    """

    code = "ambiguous_alias"

    def __init__(self, *, uri: str, datasets: tuple[str, ...]) -> None:
        self.uri, self.datasets = uri, datasets
        super().__init__(
            f"{uri} is the place of {len(datasets)} datasets; expected one of them by its name: {', '.join(datasets)}"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetAliases:
    """The physical URIs of all feeds of a config repo.

    Attributes:
        feeds: datasets of feeds by the canonical form of an alias.
    """

    feeds: Mapping[str, tuple[DatasetUri, ...]]

    @classmethod
    def of(cls, repository: Repository) -> DatasetAliases:
        """Return the aliases of the usable feeds of a config repo, on its usable clusters."""
        found: dict[str, dict[DatasetUri, None]] = {}
        for feed, cluster in on_clusters(repository.feeds.values(), repository.clusters.values()):
            dataset = parse(feed_uri(feed.name, cluster.name))
            for alias in feed_aliases(feed, cluster):
                found.setdefault(alias, {})[dataset] = None
        return cls(feeds={alias: tuple(datasets) for alias, datasets in found.items()})

    def resolve(self, uri: DatasetUri) -> DatasetUri:
        """Return the dataset of a feed of which the URI is an alias, else the URI as it is.

        Raises:
            AmbiguousAlias: it is an alias of several.
        """
        found = self.feeds.get(uri.text, (uri,))
        if len(found) > 1:
            raise AmbiguousAlias(uri=uri.text, datasets=tuple(each.text for each in found))
        return found[0]


def mirrored_datasets(process: Process, clusters: Mapping[str, Cluster]) -> Iterator[str]:
    """Yield the canonical URI of the directory that a mirror updates; of another process, or of databases, none."""
    mirror = process.workflow.mirror
    for work in mirror.given().values() if mirror is not None else ():
        if not isinstance(work, HiveMirror) and work.target_cluster in clusters:
            with suppress(ElError):  # lint reports a place that cannot be resolved
                yield path_uri(clusters[work.target_cluster].place(f"{work.directories()[1].rstrip('/')}/"))


def feed_aliases(feed: Feed, cluster: Cluster) -> Iterator[str]:
    """Yield the canonical physical URIs of a feed on a cluster.

    A path feed has one: the directory above all instances. A table feed has three: ``hive://HOST:PORT/DB/TABLE``,
    ``hcat://HOST:PORT/DB/TABLE`` and ``catalog:DB:TABLE``. A place that cannot be resolved has none; lint reports it.
    """
    try:
        storage = FeedStorage.of(feed, cluster)
        if storage.table is not None:
            yield from _table_aliases(storage.table, cluster)
        data = storage.templates.get(LocationType.DATA)
        if data is not None:
            yield path_uri(cluster.place(f"{data.base.rstrip('/')}/"))
    except ElError:
        return


def _table_aliases(table: TableUri, cluster: Cluster) -> Iterator[str]:
    yield parse(f"catalog:{table.database}:{table.table}").text
    registry = cluster.interfaces.registry
    if registry is not None:
        for host in re.sub(r"[a-z]+://", "", registry.endpoint).split(","):
            yield from (parse(f"{scheme}://{host}/{table.database}/{table.table}").text for scheme in ("hive", "hcat"))
