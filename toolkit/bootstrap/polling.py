"""Polling, wired: the stores of all polled series, and what a poll tells the result of a pass of triggers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolkit.actions.model import NoTarget, Problem, TargetPlan
from toolkit.availability import DataAccess
from toolkit.bootstrap.catalogs import catalog_for_reading
from toolkit.bootstrap.storages import StoreChoice
from toolkit.process_runner.targets import ProcessDetail, StepItem
from toolkit.triggers.polling import PollReport, poll_due, poll_targets

if TYPE_CHECKING:
    from toolkit.bootstrap.action_context import ActionContext
    from toolkit.entities import Cluster
    from toolkit.ledger.events import NewEvent

_NAMED_EVENTS = 20
_NAMED_FILES = 3


def polled(context: ActionContext, cluster: Cluster) -> PollReport:
    """Look at all series whose poll is due, through the stores of their clusters; nothing is changed there.

    Args:
        context: of the pass; without a ledger nothing is polled.
        cluster: whose feeds are polled, besides the datasets of the repo.

    Raises:
        LedgerUnavailable: the ledger cannot be used now.
        Stopped: the process was told to stop.
    """
    ledger, repository, options = context.use.ledger, context.repository, context.options
    if ledger is None:
        return PollReport()
    targets = list(poll_targets(repository, cluster))
    environment = repository.environment
    choice = StoreChoice(
        clusters=(cluster,),
        others=[each for each in repository.clusters.values() if environment is None or environment.allows(each.name)],
        pairs=[(each.feed, cluster) for each in targets if each.feed is not None],
        trusted_links=repository.settings.trusted_links,
    )
    stores = choice.shared().bound(context.process.check, read_only=True)
    return poll_due(
        ledger,
        DataAccess(stores=stores.of, metastores=catalog_for_reading),
        targets,
        options.nominal_time,
        check=context.process.check,
        dry_run=options.dry_run,
    )


def poll_plans(report: PollReport, cluster: Cluster) -> Iterator[TargetPlan[NoTarget, StepItem, ProcessDetail]]:
    """Yield the poll as an entry of the result, and each series that could not be looked at as a failed one.

    The entry of the poll itself is done: so a store that is down makes the result a partial one (exit 4).
    """
    poll = NoTarget(entity="poll", cluster=cluster.name)
    yield TargetPlan(target=poll, detail=ProcessDetail(), notes=tuple(_notes(report)))
    for each in report.failures:
        target = NoTarget(entity=each.dataset, cluster=cluster.name)
        yield TargetPlan(target=target, detail=ProcessDetail(), failed=Problem(code=each.code, message=each.message))


def _notes(report: PollReport) -> Iterator[str]:
    waiting = f", {report.not_due} not due yet" if report.not_due else ""
    yield f"datasets looked at: {len(report.polled)}{waiting}; updates found: {len(report.events)}"
    yield from (_line(each) for each in report.events[:_NAMED_EVENTS])
    if len(report.events) > _NAMED_EVENTS:
        yield f"and {len(report.events) - _NAMED_EVENTS} more; `feedctl event list` has them"


def _line(event: NewEvent) -> str:
    key = f" {event.instance_key}" if event.instance_key else ""
    found = json.loads(event.extra or "{}").get("poll", {})
    changes = "; ".join(f"{kind} {_names(found[kind])}" for kind in ("added", "changed", "removed") if kind in found)
    return f"{event.dataset}{key} is {event.kind}{f': {changes}' if changes else ''}"


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED_FILES} more" if len(names) > _NAMED_FILES else ""
    return f"{', '.join(names[:_NAMED_FILES])}{more}"
