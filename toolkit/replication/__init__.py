"""Replication: pulls the instances of feeds from other clusters (DESIGN section 7)."""

from toolkit.replication.action import ReplicationAction
from toolkit.replication.resolve import ReplicationResolver
from toolkit.replication.targets import (
    NAME,
    ReplicationDetail,
    ReplicationPlan,
    ReplicationResult,
    ReplicationTarget,
    UnitItem,
)

__all__ = [
    "NAME",
    "ReplicationAction",
    "ReplicationDetail",
    "ReplicationPlan",
    "ReplicationResolver",
    "ReplicationResult",
    "ReplicationTarget",
    "UnitItem",
]
