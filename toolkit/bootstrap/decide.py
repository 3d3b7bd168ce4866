"""A person's decision on blocked data, wired: released and published by the action that wrote them, or removed."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from toolkit.actions.hold_watch import NoNewHolds
from toolkit.actions.output_leases import output_lease, table_leases
from toolkit.actions.progress import NoProgress
from toolkit.actions.runner import Targets
from toolkit.actions.selection import EntitySelection
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, run_action
from toolkit.bootstrap.catalogs import catalog_for_reading
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.decided_places import DecidedPlaces
from toolkit.bootstrap.ledgers import NoLedgerNamed, quality_folder
from toolkit.entities.not_implemented import Area
from toolkit.hive.resolve import name_of
from toolkit.ledger import validations
from toolkit.ledger.jobs.rows import JobRef
from toolkit.ledger.validation_figures import figures_of
from toolkit.ledger.validations import ValidationResult
from toolkit.ledger.vocabulary import LifeCycle, ValidationState
from toolkit.pages.validation_page import TREND, write_decision
from toolkit.planning.instance_storage import FeedStorage
from toolkit.process_runner.targets import run_lease
from toolkit.quality.decide import DecisionAction, chosen_result, require_done
from toolkit.quality.decision_targets import Decision, DecisionPlan, DecisionTarget, QualityItem
from toolkit.quality.validator import NoPage
from toolkit.replication.targets import copy_lease
from toolkit.runs.recorder import current_user

if TYPE_CHECKING:
    from toolkit.clock import Clock
    from toolkit.ledger.database import Ledger
    from toolkit.ledger.runs.leases import Wanted
    from toolkit.runs.stop import StopSignal

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class DecisionOptions:
    """Options of a person's decision.

    Attributes:
        state: `ValidationState.RELEASED` or `ValidationState.REJECTED`.
        feed: name.
        instance_key: which instance.
        cluster: where; None: there is one alone.
        unit: the address; None: there is one alone.
        reason: for it.
        repo: the config repo, and the variables of the process.
        dry_run: say what would be done, and do nothing.
    """

    state: ValidationState
    feed: str
    instance_key: str
    cluster: str | None
    unit: str | None
    reason: str
    repo: RepoRequest
    dry_run: bool = False


def decide(request: DecisionOptions, clock: Clock, process: StopSignal) -> DecisionPlan:
    """Release or reject the blocked data of an instance, under the leases of the action that wrote it.

    Returns:
        What was done, or would be; its result is as it was before.

    Raises:
        CannotDecide: nothing is blocked there, or the data are others than were validated.
        OnHold: a rejection would remove data of a feed that is on hold.
        Skipped: a run is at it, or nothing may be started.
        InvalidInput: an unusable config repo, or no ledger.
        Unavailable: the ledger or the audit file cannot be used.
        CatalogError, StorageError: it is unknown where the data are, or what they are.
        NotRemoved: they are rejected, and could not be removed.
        Stopped: a command or a signal ended the run.
    """
    wire = partial(_wire, request, clock)
    return require_done(
        run_action(
            _options(request, clock), clock, process, NoProgress(), wire, Area.PROCESS, lambda context: context.pairs
        )
    )


def _wire(request: DecisionOptions, clock: Clock, context: ActionContext) -> Wired[DecisionTarget, QualityItem, str]:
    ledger, repository = context.use.ledger, context.repository
    if ledger is None:
        raise NoLedgerNamed
    found = ledger.read(
        lambda tx: chosen_result(tx, request.feed, request.instance_key, cluster=request.cluster, unit=request.unit)
    )
    feed, cluster = repository.feed(found.feed), repository.cluster(found.cluster)
    run_id = found.run_id
    run_key = None if run_id is None else ledger.read(lambda tx: validations.run_instance(tx, run_id))
    target = DecisionTarget(
        found=found,
        feed=feed,
        on=cluster,
        leases=_leases(context, found, run_key or found.instance_key),
        places=DecidedPlaces(
            feed=feed,
            cluster=cluster,
            instance_key=found.instance_key,
            metastore=cache(partial(catalog_for_reading, cluster)),
        ),
        run_key=run_key,
    )
    action = DecisionAction(
        decision=Decision(
            state=request.state,
            reason=request.reason,
            ledger=ledger,
            tell_page=partial(_tell_page, context, ledger, request, clock),
        ),
        holds=(*repository.holds, *context.holds.as_entities),
        new_holds=NoNewHolds() if request.dry_run else context.holds,
    )
    return Wired(action=action, targets=Targets(to_do=(target,)))


def _tell_page(
    context: ActionContext, ledger: Ledger, request: DecisionOptions, clock: Clock, found: ValidationResult
) -> None:
    """Write the decision to the validation's page, if it was written here; the ledger has it in any case."""
    folder = quality_folder(context.snapshot, context.repository.settings, context.variables)
    page = folder / PurePosixPath(found.page or "").name
    decided = replace(found, decision=request.reason)
    quality = context.repository.feed(found.feed).quality_on(found.cluster)
    sample = 1.0 if quality is None else quality.sample
    try:
        before, findings = ledger.read(
            lambda tx: (
                figures_of(tx, found.feed, found.cluster, TREND - 1, until=found.verdict_id - 1),
                validations.findings_of(tx, [found.verdict_id])[found.verdict_id],
            )
        )
        who, now = current_user(), clock.now()
        write_decision(page, decided, findings, request.state, who=who, at=now, sample=sample, before=before)
    except NoPage as error:
        _LOG.warning('event=no_page unit=%s why="%s"', found.unit, error)


def _leases(context: ActionContext, found: ValidationResult, run_key: str) -> tuple[Wanted, ...]:
    """Return the leases of the action that wrote the data."""
    own = output_lease(found.feed, found.cluster, found.instance_key)
    if found.life_cycle is LifeCycle.EXECUTION:
        return (own, run_lease(JobRef(process=found.entity, cluster=found.cluster, instance_key=run_key)))
    table = FeedStorage.of(context.repository.feed(found.feed), context.repository.cluster(found.cluster)).table
    if table is not None:
        return (own, *table_leases(found.cluster, name_of(table), found.instance_key))
    return (own, copy_lease(found.feed, found.cluster, found.instance_key, found.counterpart))


def _options(request: DecisionOptions, clock: Clock) -> ActionOptions:
    clusters = () if request.cluster is None else (request.cluster,)
    return ActionOptions(
        selection=EntitySelection(names=(request.feed,), clusters=clusters, all_clusters=not clusters),
        repo=request.repo,
        nominal_time=clock.now().replace(second=0, microsecond=0),
        dry_run=request.dry_run,
        allow_dirty=False,
    )
