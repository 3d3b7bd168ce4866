"""The state of an entity on a cluster (Falcon feature list, Entity operations, status)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from toolkit.entities import Validity


class EntityStatus(StrEnum):
    """What an entity is doing on a cluster."""

    SUBMITTED = "submitted"
    """Its validity has not begun."""
    RUNNING = "running"
    """Within its validity: its instances come due."""
    SUSPENDED = "suspended"
    """Somebody suspended it: no run of it starts."""
    COMPLETED = "completed"
    """Its validity is over."""


def entity_status(validity: Validity, now: datetime, *, is_suspended: bool) -> EntityStatus:
    """The state by the validity; a suspension says more than the calendar."""
    if is_suspended:
        return EntityStatus.SUSPENDED
    if now < validity.start:
        return EntityStatus.SUBMITTED
    return EntityStatus.RUNNING if now < validity.end else EntityStatus.COMPLETED
