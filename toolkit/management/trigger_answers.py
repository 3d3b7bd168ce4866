"""Answers about triggers: why a process instance was, or was not, started by updates of its data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.el import ElError, format_instant, parse_instant
from toolkit.entities.trigger_vocabulary import GroupBy, StartFrom
from toolkit.errors import InvalidInput
from toolkit.ledger import trigger_history, triggers
from toolkit.ledger.runs import queries
from toolkit.ledger.runs.rows import RunKey
from toolkit.ledger.state import start_check
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.planning.process_io import depends_on_availability
from toolkit.planning.trigger_explain import (
    ConsumedUpdate,
    TriggerExplanation,
    TriggerFacts,
    explain_trigger,
    explained_keys,
)
from toolkit.planning.trigger_rules import TriggerRules
from toolkit.planning.triggers import RETRACTIONS, Dropped, Ignored, Pending, TriggerRule, Update

if TYPE_CHECKING:
    from toolkit.entities import Repository
    from toolkit.entities.trigger import Trigger
    from toolkit.ledger.database import Ledger, Transaction
    from toolkit.planning.process_io import ProcessSite

_HISTORY = 1000
"""So many of the newest events of its datasets are looked at, besides those that wait or are unread."""


class NotTriggered(InvalidInput):
    """A process that updates of data do not start.

    Args:
        process: its name.
    """

    code = "not_triggered"

    def __init__(self, *, process: str) -> None:
        self.process = process
        super().__init__(
            f"process {process} has no `trigger`: its frequency alone starts it; "
            f"`feedctl instance triage {process} --time INSTANT` says why an instance does not run"
        )


class NoTriggerKey(InvalidInput):
    """A process instance was named, and the trigger is evaluated for the process as a whole.

    Args:
        process: its name.
        key: as the user wrote it.
    """

    code = "no_trigger_key"

    def __init__(self, *, process: str, key: str) -> None:
        self.process, self.key = process, key
        super().__init__(
            f"--time {key}: the trigger of {process} is `by: any_update`, for the process as a whole; leave --time out"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerAnswer:
    """Explanations of the trigger of a process on a cluster, by instance."""

    process: str
    cluster: str
    explanations: Sequence[TriggerExplanation]


def trigger_answer(
    ledger: Ledger, repository: Repository, site: ProcessSite, key: str | None, now: datetime
) -> TriggerAnswer:
    """Return why instances of a process were, or were not, started by updates; changes nothing.

    Args:
        ledger: with the events.
        repository: the config repo.
        site: the process on its cluster.
        key: of one instance; None: those that updates wait for, else the one that consumed the newest update.
        now: of the wall clock.

    Raises:
        NotTriggered: the process has no trigger.
        NoTriggerKey: its trigger is not evaluated by instance.
        ElError: the key is no instance of the process.
    """
    process, trigger = site.process, site.process.trigger
    if trigger is None:
        raise NotTriggered(process=process.name)
    rule = TriggerRules(repository, now.replace(second=0, microsecond=0)).rule(site, trigger)
    if key is not None and rule.by is GroupBy.ANY_UPDATE:
        raise NoTriggerKey(process=process.name, key=key)
    wanted = None if key is None else _instance(site, key)
    facts = ledger.read(lambda tx: trigger_facts(tx, site, trigger, rule))
    keys = explained_keys(rule, facts, now) if wanted is None else [wanted]
    open_runs = ledger.read(lambda tx: _open_runs(tx, site, keys))
    facts = replace(facts, open_runs=open_runs)
    return TriggerAnswer(
        process=process.name,
        cluster=site.cluster.name,
        explanations=tuple(explain_trigger(rule, facts, now, each, _expected(rule, site, each)) for each in keys),
    )


def trigger_facts(tx: Transaction, site: ProcessSite, trigger: Trigger, rule: TriggerRule) -> TriggerFacts:
    """Return what the ledger has of the updates of a trigger."""
    name, cluster = site.process.name, site.cluster.name
    consumer = triggers.consumer_name(name, cluster)
    positions = triggers.positions(tx)
    cursor = positions.cursors.get(consumer)
    first = positions.newest if trigger.start_from is StartFrom.NOW else 0
    read = first if cursor is None else cursor.sequence
    pending = triggers.pending(tx, [consumer]).get(consumer, [])
    datasets = _datasets(rule)
    history = _matching(rule, trigger_history.newest_updates(tx, datasets, read, _HISTORY))
    limit = trigger.max_queued
    uses = trigger_history.uses(tx, consumer, _run_key(site), [each.sequence for each in history])
    by_number = {each.sequence: each for each in history}
    known = {each.update.sequence for each in pending} | {each.sequence for each in uses}
    return TriggerFacts(
        pending=pending,
        unread=_matching(rule, triggers.updates(tx, read, positions.newest)),
        consumed=[
            ConsumedUpdate(update=by_number[each.sequence], run_id=each.run_id, process_key=each.process_key)
            for each in uses
            if each.run_id is not None
        ],
        dropped=[_dropped(by_number[each.sequence], each) for each in uses if each.run_id is None],
        before_start=[each for each in history if each.sequence not in known and each.kind not in RETRACTIONS],
        is_paused=_is_suspended(tx, name, cluster),
        is_new=cursor is None,
        slots=None if limit is None else limit - triggers.under_way(tx, [name], cluster).get(name, 0),
    )


def _open_runs(tx: Transaction, site: ProcessSite, keys: Sequence[str]) -> dict[str, int]:
    newest = queries.newest_of(tx, {_run_key(site, each) for each in keys})
    return {key.instance_key: run.run_id for key, run in newest.items() if not run.status.is_terminal}


def _run_key(site: ProcessSite, instance_key: str = "") -> RunKey:
    return RunKey(
        life_cycle=LifeCycle.EXECUTION,
        entity=site.process.name,
        cluster=site.cluster.name,
        instance_key=instance_key,
    )


def _is_suspended(tx: Transaction, process: str, cluster: str) -> bool:
    here = {cluster, start_check.EVERYWHERE}
    return any(each.entity == process and each.cluster in here for each in start_check.suspensions(tx))


def _dropped(update: Update, use: trigger_history.UpdateUse) -> Dropped:
    return Dropped(pending=Pending(update=update, process_key=use.process_key), reason=Ignored(use.reason))


def _datasets(rule: TriggerRule) -> frozenset[str] | None:
    """Return the datasets of all entries; None: a glob may match any."""
    found: set[str] = set()
    for each in rule.entries():
        if each.datasets is None:
            return None
        found |= each.datasets
    return frozenset(found)


def _matching(rule: TriggerRule, updates: Sequence[Update]) -> list[Update]:
    entries = rule.entries()
    return [each for each in updates if any(entry.matches(each) for entry in entries)]


def _instance(site: ProcessSite, key: str) -> str:
    runs = site.process.instances_on(site.cluster.name)
    return format_instant(runs[runs.index(parse_instant(key))])


def _expected(rule: TriggerRule, site: ProcessSite, key: str) -> list[str]:
    return [_reads(site, each.input, key) if key and each.input else "" for each in rule.entries()]


def _reads(site: ProcessSite, name: str, key: str) -> str:
    """Return the instances that an input means at a process instance."""
    each = site.process.inputs[name]
    if depends_on_availability(each):
        return f"available instances of {each.feed}"
    try:
        found = [format_instant(one.instant) for one in site.input(name, parse_instant(key)).instances]
    except ElError:
        return ""
    if not found:
        return f"no instance of {each.feed}"
    if len(found) == 1:
        return f"{each.feed} {found[0]}"
    return f"{each.feed} {found[0]} to {found[-1]} ({len(found)} instances)"
