"""Garbage collection of events, by the triggers and datasets of a config repo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolkit.el.dataset_uri import DatasetGlob, is_glob, parse_glob
from toolkit.entities.trigger import TriggerCondition, TriggerEntry
from toolkit.entities.trigger_vocabulary import ScheduleMode, StartFrom
from toolkit.ledger.event_gc import CollectedGarbage, LiveConsumers, collect
from toolkit.ledger.state.commands import record
from toolkit.ledger.triggers import consumer_name
from toolkit.planning.dataset_links import dataset_graph

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.entities import Process, Repository
    from toolkit.ledger.database import Ledger, Transaction


def live_consumers(repository: Repository) -> LiveConsumers:
    """Return the triggers of a config repo."""
    earliest = {name for name, each in _triggers(repository) if _starts_early(each)}
    return LiveConsumers(names={name for name, _ in _triggers(repository)}, from_earliest=earliest)


def collect_garbage(
    ledger: Ledger, repository: Repository, before: datetime, who: str, *, is_dry: bool
) -> CollectedGarbage:
    """Remove events and what belongs to triggers and datasets that left the config repo, see `collect`.

    Args:
        ledger: open for writing, unless nothing is removed.
        repository: all entities.
        before: only events that were recorded earlier are removed.
        who: gives the command.
        is_dry: nothing is removed.

    Raises:
        LedgerUnavailable: the ledger cannot be used now.
    """
    live, nodes = live_consumers(repository), dataset_graph(repository).nodes
    globs = tuple(dict.fromkeys(glob for each in repository.processes.values() for glob in _globs(each)))

    def is_named(uri: str) -> bool:
        return uri in nodes or any(each.matches(uri) for each in globs)

    def work(tx: Transaction) -> CollectedGarbage:
        found = collect(tx, live, is_named, before, is_dry=is_dry)
        if not is_dry:
            changed = bool(found.events or found.consumers or found.datasets)
            record(tx, "dataset gc", f"{found.events} events", who, changed=changed)
        return found

    return ledger.read(work) if is_dry else ledger.write(work)


def _triggers(repository: Repository) -> Iterator[tuple[str, Process]]:
    for each in repository.processes.values():
        if each.trigger is not None and each.schedule is not ScheduleMode.ONLY:
            yield from ((consumer_name(each.name, on.name), each) for on in each.clusters)


def _starts_early(process: Process) -> bool:
    return process.trigger is not None and process.trigger.start_from is StartFrom.EARLIEST


def _globs(process: Process) -> Iterator[DatasetGlob]:
    parts: list[TriggerCondition | TriggerEntry] = [] if process.trigger is None else [process.trigger.condition]
    while parts:
        part = parts.pop()
        if isinstance(part, TriggerCondition):
            parts += (*part.all, *part.any)
            continue
        text = part.uri or part.name or ""
        if is_glob(text):
            yield parse_glob(text)
