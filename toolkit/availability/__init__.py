"""Instances of a feed on a cluster: whether they exist, and whether they may be read (DESIGN section 3)."""

from toolkit.availability.opening import DATA_ERRORS, DataAccess, DataError, NoRegistry, no_ingested, no_metastore
from toolkit.availability.path_instances import PathInstances
from toolkit.availability.presence import content_of, is_ready, is_there
from toolkit.availability.state import DataState, FeedInstances, FoundInstance
from toolkit.availability.table_instances import TableInstances

__all__ = [
    "DATA_ERRORS",
    "DataAccess",
    "DataError",
    "DataState",
    "FeedInstances",
    "FoundInstance",
    "NoRegistry",
    "PathInstances",
    "TableInstances",
    "content_of",
    "is_ready",
    "is_there",
    "no_ingested",
    "no_metastore",
]
