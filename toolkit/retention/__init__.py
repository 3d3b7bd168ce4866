"""Retention of path feeds: find, select, act (DESIGN section 7)."""

from toolkit.retention.action import NAME, RetentionAction
from toolkit.retention.plan import (
    FORGOTTEN,
    FeedPlan,
    FeedResult,
    ItemKind,
    PlanItem,
    RetentionDetail,
    RetentionResult,
    StayReason,
)
from toolkit.retention.resolve import RetentionResolver
from toolkit.retention.shared_data import SharedDataIndex
from toolkit.retention.targets import FeedTarget, Location

__all__ = [
    "FORGOTTEN",
    "NAME",
    "FeedPlan",
    "FeedResult",
    "FeedTarget",
    "ItemKind",
    "Location",
    "PlanItem",
    "RetentionAction",
    "RetentionDetail",
    "RetentionResolver",
    "RetentionResult",
    "SharedDataIndex",
    "StayReason",
]
