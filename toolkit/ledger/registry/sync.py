"""Brings the registry to the state of a config repo (DESIGN section 6; `feedctl ledger sync`).

A registration is compared with what is registered, and the difference is written: a few statements a table, each for
all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.database import Transaction
from toolkit.ledger.registry.lookup import Registered, registered
from toolkit.ledger.registry.registration import ProcessEntry, Registration, ServerEntry, Site, StepEntry, config_group
from toolkit.ledger.state import commands, start_check
from toolkit.ledger.tables import process, process_property, resource, server, step, step_input, upstream


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """Changes that have to be written.

    Attributes:
        added: never registered before.
        changed: with the number of the row; also what was gone and is back.
        removed: no longer in the config repo.
        unchanged: registered so already.
    """

    added: tuple[ProcessEntry, ...]
    changed: Mapping[int, ProcessEntry]
    removed: Mapping[int, Site]
    unchanged: tuple[Site, ...]


def compare(registered: Mapping[Site, Registered], registration: Registration) -> Changes:
    """The difference between the ledger and a registration.

    A cluster that the environment may not act on is another sync's affair: what is registered there is not removed.
    """
    wanted = {each.site: each for each in registration.processes}
    known = {site: each for site, each in wanted.items() if site in registered}
    same = {site for site, each in known.items() if _is_same(registered[site], each)}
    return Changes(
        added=tuple(each for site, each in wanted.items() if site not in registered),
        changed={registered[site].process_id: each for site, each in known.items() if site not in same},
        removed={
            each.process_id: site
            for site, each in sorted(registered.items())
            if site not in wanted and not each.is_deleted and site.cluster not in registration.elsewhere
        },
        unchanged=tuple(sorted(same)),
    )


def _is_same(registered: Registered, entry: ProcessEntry) -> bool:
    return not registered.is_deleted and registered.entry == entry


Row = dict[str, object]

_OF: sa.BindParameter[int] = sa.bindparam("of")


def write(tx: Transaction, changes: Changes, snapshot: str) -> None:
    """Write what was added, changed and removed."""
    now = tx.now()
    _write_processes(tx, changes, snapshot, now)
    numbers = _numbers(tx)
    written = {**changes.changed, **{numbers[each.site]: each for each in changes.added}}
    _write_properties(tx, written)
    _write_steps(tx, written)
    _write_links(tx, written, numbers)


def write_servers(tx: Transaction, servers: Iterable[ServerEntry]) -> None:
    """Register servers; what is known by name is updated, and nothing is removed, since files may be there."""
    insert = tx.upsert(server)
    update = insert.on_conflict_do_update(
        index_elements=["name"], set_={"kind": insert.excluded.kind, "endpoint": insert.excluded.endpoint}
    )
    _execute(tx, update, [{"name": each.name, "kind": each.kind, "endpoint": each.endpoint} for each in servers])


def _write_processes(tx: Transaction, changes: Changes, snapshot: str, now: datetime) -> None:
    state: Row = {"is_deleted": False, "snapshot": snapshot, "updated_at": now}
    inserted = [{**_process_row(each), **state, "registered_at": now} for each in changes.added]
    _execute(tx, sa.insert(process), inserted)
    changed = [{**_process_row(each), **state, "of": number} for number, each in changes.changed.items()]
    gone: list[Row] = [{"is_deleted": True, "updated_at": now, "of": number} for number in changes.removed]
    for rows in (changed, gone):
        _execute(tx, sa.update(process).where(process.c.process_id == _OF), rows)


def _process_row(entry: ProcessEntry) -> Row:
    return {
        "kind": entry.kind,
        "name": entry.site.name,
        "cluster": entry.site.cluster,
        "domain": entry.domain,
        "description": entry.description,
        "digest": entry.digest,
    }


def _numbers(tx: Transaction) -> Mapping[Site, int]:
    rows = tx.execute(sa.select(process.c.process_id, process.c.name, process.c.cluster))
    return {Site(name=name, cluster=cluster): number for number, name, cluster in rows}


def _write_properties(tx: Transaction, written: Mapping[int, ProcessEntry]) -> None:
    _execute(tx, sa.delete(process_property).where(process_property.c.process_id == _OF), _each(written))
    rows: list[Row] = [
        {"process_id": number, "key": key, "config_group": config_group(key), "value": value}
        for number, entry in written.items()
        for key, value in entry.properties.items()
    ]
    _execute(tx, sa.insert(process_property), rows)


def _write_steps(tx: Transaction, written: Mapping[int, ProcessEntry]) -> None:
    """A step that is gone is flagged; one that is there, or there again, keeps its number."""
    _execute(tx, sa.update(step).where(step.c.process_id == _OF).values(is_deleted=True), _each(written))
    insert = tx.upsert(step)
    columns = ("position", "engine", "path", "is_recoverable", "is_deleted")
    update = insert.on_conflict_do_update(
        index_elements=["process_id", "name"], set_={each: insert.excluded[each] for each in columns}
    )
    _execute(tx, update, [_step_row(number, each) for number, entry in written.items() for each in entry.steps])


def _step_row(process_id: int, entry: StepEntry) -> Row:
    return {
        "process_id": process_id,
        "name": entry.name,
        "position": entry.position,
        "engine": entry.engine,
        "path": entry.path,
        "is_recoverable": entry.is_recoverable,
        "is_deleted": False,
    }


def _write_links(tx: Transaction, written: Mapping[int, ProcessEntry], numbers: Mapping[Site, int]) -> None:
    of_process = sa.select(step.c.step_id).where(step.c.process_id == _OF).scalar_subquery()
    for link in (upstream, step_input):
        _execute(tx, sa.delete(link).where(link.c.step_id.in_(of_process)), _each(written))
    steps = {(owner, name): number for number, owner, name in tx.execute(_step_numbers())}
    reading = [(steps[number, each.name], entry, each) for number, entry in written.items() for each in entry.steps]
    feeds: list[Row] = [{"step_id": at, "feed": feed} for at, _, each in reading for feed in sorted(each.feeds)]
    _execute(tx, sa.insert(step_input), feeds)
    upstreams = [row for at, entry, each in reading for row in _upstream_rows(at, entry.site.cluster, each, numbers)]
    _execute(tx, sa.insert(upstream), upstreams)


def _step_numbers() -> sa.Select[tuple[int, int, str]]:
    return sa.select(step.c.step_id, step.c.process_id, step.c.name)


def _upstream_rows(step_id: int, cluster: str, entry: StepEntry, numbers: Mapping[Site, int]) -> Iterator[Row]:
    for name, is_optional in entry.upstreams.items():
        yield {
            "step_id": step_id,
            "process_id": numbers[Site(name=name, cluster=cluster)],
            "is_optional": is_optional,
        }


def _each(written: Mapping[int, ProcessEntry]) -> list[Row]:
    return [{"of": number} for number in written]


def _execute(tx: Transaction, statement: sa.Executable, rows: list[Row]) -> None:
    if rows:
        tx.execute(statement, rows)


COMMAND = "ledger sync"
"""Name in the record of commands."""

_LOCK = "ledger/sync"


@dataclass(frozen=True, kw_only=True, slots=True)
class SyncReport:
    """Report of a sync.

    Attributes:
        added: registered for the first time.
        changed: registered anew, also when it had been gone.
        removed: no longer in the config repo; flagged, never deleted.
        unchanged: registered so already.
    """

    added: tuple[Site, ...]
    changed: tuple[Site, ...]
    removed: tuple[Site, ...]
    unchanged: tuple[Site, ...]

    @property
    def has_changed(self) -> bool:
        """True if anything was written."""
        return bool(self.added or self.changed or self.removed)


def sync(tx: Transaction, registration: Registration, who: str) -> SyncReport:
    """Register what a config repo has; the same registration again changes nothing.

    Args:
        tx: the transaction.
        registration: of `registration_of`.
        who: asks for it.

    Raises:
        SafeModeIsOn: the whole installation rests.
    """
    start_check.refuse_in_safe_mode(tx)
    _lock_sync(tx)
    changes = compare(registered(tx), registration)
    write(tx, changes, registration.snapshot)
    write_servers(tx, registration.servers)
    report = SyncReport(
        added=tuple(sorted(each.site for each in changes.added)),
        changed=tuple(sorted(each.site for each in changes.changed.values())),
        removed=tuple(sorted(changes.removed.values())),
        unchanged=changes.unchanged,
    )
    commands.record(tx, COMMAND, registration.snapshot, who, changed=report.has_changed, detail=_detail(report))
    return report


def _lock_sync(tx: Transaction) -> None:
    """Keep a second sync from inserting the same rows; no transaction waits for another lock with this row held."""
    insert = tx.upsert(resource).values(resource=_LOCK, fence=1)
    tx.execute(insert.on_conflict_do_update(index_elements=["resource"], set_={"fence": resource.c.fence + 1}))


def _detail(report: SyncReport) -> str:
    return f"{len(report.added)} added, {len(report.changed)} changed, {len(report.removed)} removed"
