"""Readers of the instances of ingested feeds, from the config repo."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from toolkit.availability import DataAccess
from toolkit.bootstrap.catalogs import catalog_for_reading
from toolkit.ingest.extra import require_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed
    from toolkit.ingest_job.feed_instances import IngestedInstances
    from toolkit.storage import FileSystem
    from toolkit.variables import Variables


def data_access(stores: Callable[[CanonicalPath], FileSystem], variables: Variables) -> DataAccess:
    """Return read access to all data: paths, tables of a metastore, and tables that are ingested.

    Args:
        stores: the store that a path is on.
        variables: of the process; passwords of catalogs are among them.
    """
    return DataAccess(stores=stores, metastores=catalog_for_reading, ingested=partial(ingested_instances, variables))


def ingested_instances(variables: Variables, feed: Feed, cluster: Cluster) -> IngestedInstances:
    """Return the reader of the instances of an ingested feed; nothing is opened yet.

    Raises:
        IngestNotInstalled: the packages for it are not installed.
        NotIngested: the cluster has no catalog.
        MissingVariable: the password of the catalog is not in the environment.
    """
    require_extra()
    from toolkit.bootstrap.ingest_setup import reader_of_ingested  # noqa: PLC0415 - loads packages that few installations have

    return reader_of_ingested(variables, feed, cluster)
