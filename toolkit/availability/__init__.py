"""Which instances of a feed exist on a cluster, and whether they may be read: flags, directories (DESIGN section 3)."""

from toolkit.availability.opening import instances_of
from toolkit.availability.path_instances import PathInstances
from toolkit.availability.presence import is_ready, is_there
from toolkit.availability.state import DataState, FeedInstances, FoundInstance

__all__ = [
    "DataState",
    "FeedInstances",
    "FoundInstance",
    "PathInstances",
    "instances_of",
    "is_ready",
    "is_there",
]
