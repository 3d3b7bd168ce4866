"""Registered processes and steps: their rows, and the form of a registration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields

import sqlalchemy as sa

from toolkit.ledger.database import Transaction
from toolkit.ledger.registry.registration import ProcessEntry, Site, StepEntry, UnknownProcess, UnknownStep
from toolkit.ledger.statements import given, locking
from toolkit.ledger.tables import process, process_property, step, step_input, upstream
from toolkit.ledger.vocabulary import ProcessKind


@dataclass(frozen=True, kw_only=True, slots=True)
class RegisteredProcess:
    """A row of the table `process`, where the columns are explained."""

    process_id: int
    kind: ProcessKind
    name: str
    cluster: str
    domain: str | None
    description: str | None
    is_deleted: bool
    digest: str
    snapshot: str

    @property
    def site(self) -> Site:
        """Its name and cluster."""
        return Site(name=self.name, cluster=self.cluster)


@dataclass(frozen=True, kw_only=True, slots=True)
class RegisteredStep:
    """A row of the table `step`, where the columns are explained."""

    step_id: int
    process_id: int
    name: str
    position: int
    engine: str | None
    path: str | None
    is_recoverable: bool
    is_deleted: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessProperty:
    """A property of a process (BDRE, PROPERTIES)."""

    key: str
    config_group: str
    value: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Registered:
    """A process as it stands in the ledger.

    Attributes:
        process_id: its number, which it keeps for ever.
        is_deleted: it was not in the config repo at the last sync.
        entry: what was registered, with its live steps only.
    """

    process_id: int
    is_deleted: bool
    entry: ProcessEntry


_SITE = ("name", "cluster")
PROCESS_COLUMNS = [process.c[each.name] for each in fields(RegisteredProcess)]
"""Columns of a `RegisteredProcess`."""
STEP_COLUMNS = [step.c[each.name] for each in fields(RegisteredStep)]
"""Columns of a `RegisteredStep`."""

_AT_SITE = sa.select(*PROCESS_COLUMNS).where(*(process.c[name] == given(process.c[name]) for name in _SITE))
_AT_SITE_LOCKED = locking(_AT_SITE)
_LIVE_STEPS = (
    sa.select(*STEP_COLUMNS)
    .where(step.c.process_id == given(step.c.process_id), step.c.is_deleted.is_(sa.false()))
    .order_by(step.c.position, step.c.step_id)
)
_STEP = sa.select(*STEP_COLUMNS).where(step.c.process_id == given(step.c.process_id), step.c.name == given(step.c.name))


def source(tx: Transaction, site: Site) -> RegisteredProcess:
    """Return the source of batches: a process, or a feed that no process makes.

    Raises:
        UnknownProcess: it is not registered, or no longer in the config repo.
    """
    found = tx.row(RegisteredProcess, _AT_SITE, asdict(site))
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
    return _process(tx, site, _AT_SITE)


def locked_process(tx: Transaction, site: Site) -> RegisteredProcess:
    """Do as `any_process` does; no other process starts or ends anything of it until the transaction is over."""
    return _process(tx, site, _AT_SITE_LOCKED)


def live_steps(tx: Transaction, process_id: int) -> tuple[RegisteredStep, ...]:
    """The steps of a process that are in the config repo, in the order in which they run."""
    return tuple(tx.rows(RegisteredStep, _LIVE_STEPS, {"process_id": process_id}))


def any_step(tx: Transaction, owner: RegisteredProcess, name: str) -> RegisteredStep:
    """A step of a process, also one that is no longer in the config repo.

    Raises:
        UnknownStep: the process never had one of that name.
    """
    found = tx.row(RegisteredStep, _STEP, {"process_id": owner.process_id, "name": name})
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


def _process(tx: Transaction, site: Site, statement: sa.Select[tuple[object, ...]]) -> RegisteredProcess:
    found = tx.row(RegisteredProcess, statement, asdict(site))
    if found is None:
        raise _unknown(tx, site)
    if found.kind is ProcessKind.FEED:
        raise UnknownProcess(site=site, found="is a feed, which runs no jobs")
    return found


def _unknown(tx: Transaction, site: Site) -> UnknownProcess:
    live = sa.select(process.c.name).where(process.c.cluster == site.cluster, process.c.is_deleted.is_(sa.false()))
    names = tx.execute(live.order_by(process.c.name)).scalars()
    return UnknownProcess(site=site, found="is not registered", known=tuple(names))


@dataclass(frozen=True, kw_only=True)
class _Links:
    """Rows that belong to processes and steps, by their numbers."""

    properties: dict[int, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    feeds: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    upstreams: dict[int, dict[str, bool]] = field(default_factory=lambda: defaultdict(dict))
    steps: dict[int, list[RegisteredStep]] = field(default_factory=lambda: defaultdict(list))


def registered(tx: Transaction) -> Mapping[Site, Registered]:
    """Return all processes that were ever registered, locked until the transaction ends."""
    rows = list(tx.rows(RegisteredProcess, tx.locked(sa.select(*PROCESS_COLUMNS).order_by(process.c.process_id))))
    links = _links(tx, rows)
    return {each.site: _registered(each, links) for each in rows}


def _registered(row: RegisteredProcess, links: _Links) -> Registered:
    entry = ProcessEntry(
        site=row.site,
        kind=row.kind,
        domain=row.domain,
        description=row.description,
        digest=row.digest,
        steps=tuple(_step(each, links) for each in links.steps[row.process_id]),
        properties=links.properties[row.process_id],
    )
    return Registered(process_id=row.process_id, is_deleted=row.is_deleted, entry=entry)


def _step(row: RegisteredStep, links: _Links) -> StepEntry:
    return StepEntry(
        name=row.name,
        position=row.position,
        engine=row.engine,
        path=row.path,
        is_recoverable=row.is_recoverable,
        feeds=frozenset(links.feeds[row.step_id]),
        upstreams=links.upstreams[row.step_id],
    )


def _links(tx: Transaction, processes: Iterable[RegisteredProcess]) -> _Links:
    links, names = _Links(), {each.process_id: each.name for each in processes}
    live = sa.select(*STEP_COLUMNS).where(step.c.is_deleted.is_(sa.false()))
    for row in tx.rows(RegisteredStep, live.order_by(step.c.position, step.c.step_id)):
        links.steps[row.process_id].append(row)
    of_process = process_property.c
    for owner, key, value in tx.execute(sa.select(of_process.process_id, of_process.key, of_process.value)):
        links.properties[owner][key] = value
    for reader, feed in tx.execute(sa.select(step_input.c.step_id, step_input.c.feed)):
        links.feeds[reader].add(feed)
    edges = sa.select(upstream.c.step_id, upstream.c.process_id, upstream.c.is_optional)
    for reader, enqueuer, is_optional in tx.execute(edges):
        links.upstreams[reader][names[enqueuer]] = is_optional
    return links
