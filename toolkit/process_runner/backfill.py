"""Request of a backfill: a range of a process's instances, and a choice of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.entities.vocabulary import Order


class Only(StrEnum):
    """Instances of a backfill."""

    FAILED = "failed"
    """Instances that were over and did not succeed."""
    MISSING = "missing"
    """Instances that never began."""
    ALL = "all"
    """Instances that have succeeded, too."""


class BackfillEvents(StrEnum):
    """Instances of a backfill whose updates are announced."""

    ALL = "all"
    """Each one."""
    LATEST = "latest"
    """The newest one alone: what follows from the series runs once."""
    NONE = "none"
    """No instance."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Backfill:
    """Request of a backfill.

    Attributes:
        first: no instance before it.
        end: none at or after it.
        only: None: all that have not succeeded.
        order: None: that of the process.
        at_once: so many at most; None: as many as the process allows.
        keeps_going: also after one failed.
        is_forced: every instance starts at the first step.
        events: whose updates are announced.
    """

    first: datetime
    end: datetime
    only: Only | None = None
    order: Order | None = None
    at_once: int | None = None
    keeps_going: bool = False
    is_forced: bool = False
    events: BackfillEvents = BackfillEvents.ALL
