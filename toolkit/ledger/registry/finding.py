"""Registered processes, their steps and properties."""

from __future__ import annotations

from dataclasses import fields

import sqlalchemy as sa

from toolkit.ledger.registry.errors import UnknownProcess, UnknownStep
from toolkit.ledger.registry.registration import Site
from toolkit.ledger.registry.rows import ProcessProperty, RegisteredProcess, RegisteredStep
from toolkit.ledger.tables import process, process_property, step
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import ProcessKind

PROCESS_COLUMNS = [process.c[each.name] for each in fields(RegisteredProcess)]
"""Of a `RegisteredProcess`."""
STEP_COLUMNS = [step.c[each.name] for each in fields(RegisteredStep)]
"""Of a `RegisteredStep`."""


def source(tx: Transaction, site: Site) -> RegisteredProcess:
    """What enqueues batches: a process, or a feed that no process makes.

    Raises:
        UnknownProcess: it is not registered, or no longer in the config repo.
    """
    found = tx.row(RegisteredProcess, _at(site))
    if found is None:
        raise _unknown(tx, site)
    if found.is_deleted:
        raise UnknownProcess(site=site, found="is no longer in the config repo")
    return found


def any_process(tx: Transaction, site: Site) -> RegisteredProcess:
    """A process, also one that is no longer in the config repo.

    Raises:
        UnknownProcess: it was never registered, or is a feed.
    """
    return _process(tx, site, _at(site))


def locked_process(tx: Transaction, site: Site) -> RegisteredProcess:
    """As `any_process`; nobody else starts or ends anything of it until the transaction is over."""
    return _process(tx, site, tx.locked(_at(site)))


def live_steps(tx: Transaction, process_id: int) -> tuple[RegisteredStep, ...]:
    """The steps of a process that are in the config repo, in the order in which they run."""
    wanted = sa.select(*STEP_COLUMNS).where(step.c.process_id == process_id, step.c.is_deleted.is_(sa.false()))
    return tuple(tx.rows(RegisteredStep, wanted.order_by(step.c.position, step.c.step_id)))


def any_step(tx: Transaction, owner: RegisteredProcess, name: str) -> RegisteredStep:
    """A step of a process, also one that is no longer in the config repo.

    Raises:
        UnknownStep: the process never had one of that name.
    """
    wanted = sa.select(*STEP_COLUMNS).where(step.c.process_id == owner.process_id, step.c.name == name)
    found = tx.row(RegisteredStep, wanted)
    if found is None:
        raise unknown_step(tx, owner, name)
    return found


def unknown_step(tx: Transaction, owner: RegisteredProcess, name: str) -> UnknownStep:
    """The error for a step that a process does not have, or no longer has."""
    known = [each.name for each in live_steps(tx, owner.process_id)]
    return UnknownStep(site=owner.site, step=name, known=known)


def get_properties(tx: Transaction, site: Site, group: str | None = None) -> tuple[ProcessProperty, ...]:
    """The properties of a process, sorted by key (BDRE, GetProperties).

    Args:
        tx: the transaction.
        site: the process.
        group: exactly this config group; None: all.

    Raises:
        UnknownProcess: it was never registered, or is a feed.
    """
    owner = any_process(tx, site)
    table = process_property
    wanted = sa.select(table.c.key, table.c.config_group, table.c.value).where(table.c.process_id == owner.process_id)
    if group is not None:
        wanted = wanted.where(table.c.config_group == group)
    return tuple(tx.rows(ProcessProperty, wanted.order_by(table.c.key)))


def _at(site: Site) -> sa.Select[tuple[object, ...]]:
    return sa.select(*PROCESS_COLUMNS).where(process.c.name == site.name, process.c.cluster == site.cluster)


def _process(tx: Transaction, site: Site, statement: sa.Select[tuple[object, ...]]) -> RegisteredProcess:
    found = tx.row(RegisteredProcess, statement)
    if found is None:
        raise _unknown(tx, site)
    if found.kind is ProcessKind.FEED:
        raise UnknownProcess(site=site, found="is a feed, which runs no jobs")
    return found


def _unknown(tx: Transaction, site: Site) -> UnknownProcess:
    live = sa.select(process.c.name).where(process.c.cluster == site.cluster, process.c.is_deleted.is_(sa.false()))
    names = tx.execute(live.order_by(process.c.name)).scalars()
    return UnknownProcess(site=site, found="is not registered", known=tuple(names))
