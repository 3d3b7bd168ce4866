"""Commands to entities: suspend, resume, touch; how they are; and safe mode, which stops all of them.

(Falcon overview, Entity Management and Safe Mode; feature list, Entity operations, status.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from toolkit.entities import Feed, Process, Validity
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.state import start_check
from toolkit.ledger.state.commands import record
from toolkit.ledger.state.start_check import (
    SafeMode,
    Suspension,
    current_safe_mode,
    resume,
    suspend,
    suspension_of,
    touch,
    touched_at,
)
from toolkit.management.errors import AdminsOnly


class EntityStatus(StrEnum):
    """Status of an entity on a cluster."""

    SUBMITTED = "submitted"
    """Its validity has not begun."""
    RUNNING = "running"
    """Within its validity: its instances come due."""
    SUSPENDED = "suspended"
    """It is suspended: no run of it starts."""
    COMPLETED = "completed"
    """Its validity is over."""


def entity_status(validity: Validity, now: datetime, *, is_suspended: bool) -> EntityStatus:
    """The state by the validity; a suspension says more than the calendar."""
    if is_suspended:
        return EntityStatus.SUSPENDED
    if now < validity.start:
        return EntityStatus.SUBMITTED
    return EntityStatus.RUNNING if now < validity.end else EntityStatus.COMPLETED


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityState:
    """State of an entity on a cluster.

    Attributes:
        validity: there.
        suspension: what keeps it from running; None: nothing does.
    """

    cluster: str
    status: EntityStatus
    validity: Validity
    suspension: Suspension | None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityReport:
    """State of an entity on its clusters, and whether a command changed it.

    Attributes:
        touched_at: None: never touched.
        is_changed: None: it was a question.
    """

    name: str
    states: tuple[EntityState, ...]
    touched_at: datetime | None
    is_changed: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityCommand:
    """A command to an entity.

    Attributes:
        entity: a feed or process.
        cluster: where; None: on every cluster, also on those to come.
        who: gives the command.
        reason: why, if they say so.
    """

    entity: Feed | Process
    cluster: str | None
    who: str
    reason: str | None = None


def entity_report(ledger: Ledger, entity: Feed | Process, clusters: Sequence[str]) -> EntityReport:
    """Return how an entity is on these clusters.

    Raises:
        UnknownName: it is not on one of them.
        LedgerUnavailable: the ledger cannot be read now.
    """
    return ledger.read(lambda tx: _report(tx, entity, clusters, is_changed=None))


def suspend_entity(ledger: Ledger, command: EntityCommand) -> EntityReport:
    """Let no run of the entity start; those that run go on. Safe mode allows it.

    Raises:
        UnknownName: it is not on that cluster.
        LedgerUnavailable: the ledger cannot be used now.
    """

    def act(tx: Transaction) -> bool:
        return suspend(tx, command.entity.name, command.cluster, command.who, command.reason)

    return _carry_out(ledger, "entity suspend", command, act)


def resume_entity(ledger: Ledger, command: EntityCommand) -> EntityReport:
    """Let runs of the entity start again.

    Raises:
        UnknownName: it is not on that cluster.
        SafeModeIsOn: not now.
        LedgerUnavailable: the ledger cannot be used now.
    """

    def act(tx: Transaction) -> bool:
        start_check.refuse_in_safe_mode(tx)
        return resume(tx, command.entity.name, command.cluster, command.who, command.reason)

    return _carry_out(ledger, "entity resume", command, act)


def touch_entity(ledger: Ledger, command: EntityCommand) -> EntityReport:
    """Say that the entity was scheduled anew: it counts as late only from now on.

    Raises:
        SafeModeIsOn: not now.
        LedgerUnavailable: the ledger cannot be used now.
    """

    def act(tx: Transaction) -> bool:
        start_check.refuse_in_safe_mode(tx)
        touch(tx, command.entity.name, command.who)
        return True

    return _carry_out(ledger, "entity touch", command, act)


def _carry_out(ledger: Ledger, name: str, command: EntityCommand, act: Callable[[Transaction], bool]) -> EntityReport:
    clusters = [command.cluster] if command.cluster else [each.name for each in command.entity.clusters]
    where = f" on {command.cluster}" if command.cluster else ""

    def work(tx: Transaction) -> EntityReport:
        changed = act(tx)
        record(tx, name, f"{command.entity.name}{where}", command.who, changed=changed, detail=command.reason)
        return _report(tx, command.entity, clusters, is_changed=changed)

    return ledger.write(work)


def _report(
    tx: Transaction, entity: Feed | Process, clusters: Sequence[str], *, is_changed: bool | None
) -> EntityReport:
    now = tx.now()
    states = tuple(_state(entity, each, suspension_of(tx, entity.name, each), now) for each in clusters)
    return EntityReport(name=entity.name, states=states, touched_at=touched_at(tx, entity.name), is_changed=is_changed)


def _state(entity: Feed | Process, cluster: str, suspension: Suspension | None, now: datetime) -> EntityState:
    validity = entity.cluster(cluster).validity
    status = entity_status(validity, now, is_suspended=suspension is not None)
    return EntityState(cluster=cluster, status=status, validity=validity, suspension=suspension)


@dataclass(frozen=True, kw_only=True, slots=True)
class Switched:
    """Safe mode as it is after a command, and whether the command changed it."""

    state: SafeMode
    is_changed: bool


def switch_safe_mode(ledger: Ledger, *, on: bool, who: str, reason: str | None, admins: Collection[str]) -> Switched:
    """Switch safe mode on or off.

    Args:
        ledger: that it is for.
        on: off otherwise.
        who: switches it.
        reason: why, if they say so.
        admins: who may; empty: all who may write the ledger.

    Raises:
        AdminsOnly: `who` may not; that is recorded too.
        LedgerUnavailable: the ledger cannot be used now.
    """
    command, is_admin = f"admin safe-mode {'on' if on else 'off'}", not admins or who in admins

    def act(tx: Transaction) -> Switched:
        changed = is_admin and start_check.switch_safe_mode(tx, on=on, who=who, reason=reason)
        record(tx, command, "safe mode", who, changed=changed, detail=reason if is_admin else "refused: not an admin")
        return Switched(state=current_safe_mode(tx), is_changed=changed)

    switched = ledger.write(act)
    if not is_admin:
        raise AdminsOnly(who=who, admins=sorted(admins))
    return switched


def safe_mode_state(ledger: Ledger) -> SafeMode:
    """Return whether safe mode is on.

    Raises:
        LedgerUnavailable: the ledger cannot be read now.
    """
    return ledger.read(current_safe_mode)
