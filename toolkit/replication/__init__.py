"""Replication: pulls the instances of feeds from other clusters (DESIGN section 7)."""

from toolkit.replication.action import ReplicationAction
from toolkit.replication.planner import CopyLimits
from toolkit.replication.resolve import Range, Resolver
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
    "CopyLimits",
    "Range",
    "ReplicationAction",
    "ReplicationDetail",
    "ReplicationPlan",
    "ReplicationResult",
    "ReplicationTarget",
    "Resolver",
    "UnitItem",
]
