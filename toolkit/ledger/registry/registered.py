"""What is registered, in the form of a registration: one query a table, however many processes there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import sqlalchemy as sa

from toolkit.ledger.registry.comparison import Registered
from toolkit.ledger.registry.finding import PROCESS_COLUMNS, STEP_COLUMNS
from toolkit.ledger.registry.registration import ProcessEntry, Site, StepEntry
from toolkit.ledger.registry.rows import RegisteredProcess, RegisteredStep
from toolkit.ledger.tables import process, process_property, step, step_input, upstream
from toolkit.ledger.transaction import Transaction


@dataclass(frozen=True, kw_only=True)
class _Links:
    """What hangs on processes and steps, by their numbers."""

    properties: dict[int, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    feeds: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    upstreams: dict[int, dict[str, bool]] = field(default_factory=lambda: defaultdict(dict))
    steps: dict[int, list[RegisteredStep]] = field(default_factory=lambda: defaultdict(list))


def registered(tx: Transaction) -> Mapping[Site, Registered]:
    """All processes that were ever registered, locked until the transaction ends."""
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
