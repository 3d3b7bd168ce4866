"""What state beside the configuration can stop."""

from __future__ import annotations

from datetime import datetime

from toolkit.errors import InvalidInput, Skipped
from toolkit.ledger.wording import moment


class SafeModeIsOn(Skipped):
    """The whole installation rests (Falcon overview, Safe Mode).

    Args:
        reason: why, if somebody said so.
        changed_by: who switched it on.
        changed_at: when.
    """

    code = "safe_mode"

    def __init__(self, *, reason: str | None, changed_by: str | None, changed_at: datetime | None) -> None:
        self.reason, self.changed_by, self.changed_at = reason, changed_by, changed_at
        why = f": {reason}" if reason else ""
        who = f"switched on by {changed_by or '?'} at {moment(changed_at)}"
        super().__init__(f"safe mode is on, {who}{why}; `feedctl admin safe-mode off` ends it")


class EntityIsSuspended(Skipped):
    """Somebody suspended the entity, so no run of it starts.

    Args:
        entity: feed or process.
        cluster: where; empty: on every cluster.
        reason: why, if somebody said so.
        changed_by: who.
        changed_at: when.
    """

    code = "entity_suspended"

    def __init__(self, *, entity: str, cluster: str, reason: str | None, changed_by: str, changed_at: datetime) -> None:
        self.entity, self.cluster, self.reason = entity, cluster, reason
        self.changed_by, self.changed_at = changed_by, changed_at
        where = f"on {cluster}" if cluster else "on every cluster"
        why = f": {reason}" if reason else ""
        who = f"is suspended {where} by {changed_by} since {moment(changed_at)}"
        super().__init__(f"{entity} {who}{why}; `feedctl entity resume {entity}` lets it run")


class UnknownHold(InvalidInput):
    """The ledger has no hold of this number.

    Args:
        hold_id: as given.
    """

    code = "unknown_hold"

    def __init__(self, *, hold_id: int) -> None:
        self.hold_id = hold_id
        super().__init__(f"the ledger has no hold {hold_id}; `feedctl hold list` shows the holds and their numbers")
