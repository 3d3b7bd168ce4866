"""Retention of path feeds: find, select, act (DESIGN section 7)."""

from toolkit.retention.choosing import Chooser, FeedChoice
from toolkit.retention.feed_runs import FeedRuns
from toolkit.retention.neighbours import Neighbourhood
from toolkit.retention.progress import NoProgress, Progress
from toolkit.retention.resolving import Resolved, Resolver
from toolkit.retention.result import FeedResult, ItemResult, RetentionResult, SkipReason
from toolkit.retention.run import RetentionRequest, RetentionRun

__all__ = [
    "Chooser",
    "FeedChoice",
    "FeedResult",
    "FeedRuns",
    "ItemResult",
    "Neighbourhood",
    "NoProgress",
    "Progress",
    "Resolved",
    "Resolver",
    "RetentionRequest",
    "RetentionResult",
    "RetentionRun",
    "SkipReason",
]
