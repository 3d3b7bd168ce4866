"""A validation by hand, wired: what is there is read, and nothing but the ledger gets anything."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.progress import NoProgress
from toolkit.actions.result import ActionResult
from toolkit.actions.runner import Targets
from toolkit.actions.selection import EntitySelection
from toolkit.actions.validation import FeedValidation, Written
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, run_action
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.hive import catalog_of
from toolkit.bootstrap.quality import suite_validator
from toolkit.el import format_instant
from toolkit.entities.not_implemented import Area
from toolkit.hive.errors import InstanceNotAvailable
from toolkit.hive.resolve import instance_address, name_of, uri_of
from toolkit.hive.sources import MetastoreSource
from toolkit.hive.staging import written_of
from toolkit.hive.targets import StoredPart, TableTarget
from toolkit.quality.decision_targets import QualityItem
from toolkit.quality.validate import (
    InstanceMissing,
    ValidationAction,
    ValidationDetail,
    ValidationOutcome,
    ValidationTarget,
    path_instance,
    validation_of,
)
from toolkit.quality.validator import Author

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.catalog.model import StorageDescriptor, Table
    from toolkit.clock import Clock
    from toolkit.entities import Feed
    from toolkit.hive.table_reader import TablePart
    from toolkit.quality.documents import Question
    from toolkit.quality.validator import SuiteValidator, UnitValidation
    from toolkit.runs.stop import StopSignal


ValidationResult: TypeAlias = "ActionResult[ValidationTarget, QualityItem, ValidationDetail]"


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidateOptions:
    """Options of a validation by hand.

    Attributes:
        feed: name.
        cluster: None: there is one alone.
        nominal_time: of the instance.
        repo: the config repo, and the variables of the process.
        dry_run: nothing is validated.
        allow_dirty: validate by a checkout with uncommitted changes.
    """

    feed: str
    cluster: str | None
    nominal_time: datetime
    repo: RepoRequest
    dry_run: bool
    allow_dirty: bool


def validate_by_hand(request: ValidateOptions, clock: Clock, process: StopSignal) -> UnitValidation:
    """Validate what is there.

    Raises:
        NoQuality, InstanceMissing: see there.
        InvalidInput: as for `run_action`.
        CatalogError, NoReading: the table cannot be looked at, or not be read.
        Skipped: another run is at it, or nothing may be started.
        Unavailable: the ledger or the audit file cannot be used.
        StorageError: the instance cannot be listed.
        Stopped: a command or a signal ended the run.
    """
    result, outcome = _ran(request, clock, process)
    result.require_run()
    if outcome.error is not None:
        raise outcome.error
    assert outcome.validation is not None  # noqa: S101 - it was neither stopped nor has it failed
    return outcome.validation


def question_of(request: ValidateOptions, clock: Clock, process: StopSignal) -> tuple[Question, tuple[str, ...]]:
    """Return the request of a validation, and notes about what is left out; errors as `validate_by_hand`."""
    result, _ = _ran(request, clock, process)
    (target_result,) = result.targets
    detail = target_result.plan.detail
    assert detail.question is not None  # noqa: S101 - of every dry run
    return detail.question, detail.left_out


def _ran(request: ValidateOptions, clock: Clock, process: StopSignal) -> tuple[ValidationResult, ValidationOutcome]:
    outcome = ValidationOutcome()
    wire = partial(_wire, request, outcome)
    return run_action(
        _options(request), clock, process, NoProgress(), wire, Area.PROCESS, lambda context: context.pairs
    ), outcome


def _wire(
    request: ValidateOptions, outcome: ValidationOutcome, context: ActionContext
) -> Wired[ValidationTarget, QualityItem, ValidationDetail]:
    feed, cluster = context.pairs[0]
    feed.instances_on(cluster.name).index(request.nominal_time)
    written = partial(_of_table if feed.is_table else path_instance, validation_of(feed, cluster), request.nominal_time)
    key = format_instant(request.nominal_time)
    target = ValidationTarget(entity=feed.name, cluster=cluster.name, instance_key=key, written=written)
    action = ValidationAction(validator=partial(_validator, context, feed), is_dry_run=request.dry_run, outcome=outcome)
    return Wired(action=action, targets=Targets(to_do=(target,)))


def _validator(context: ActionContext, feed: Feed, work: RunContext) -> SuiteValidator:
    author = Author(entity=feed.name)
    return suite_validator(
        context.snapshot, context.repository, context.use.ledger, work.stores, author, context.variables
    )


def _of_table(validation: FeedValidation, instant: datetime, work: RunContext) -> Written:
    """Return all partitions of that time, where readers find them."""
    feed, cluster = validation.feed, validation.cluster
    uri = uri_of(feed, cluster)
    address = instance_address(uri, cluster, instant)
    target = TableTarget(
        feed=feed.name,
        cluster=cluster.name,
        instance_key=format_instant(instant),
        instant=instant,
        table=name_of(uri),
        flag=feed.availability_flag or "",
        validation=validation,
    )
    try:
        contents = MetastoreSource(catalog=catalog_of(cluster), uri=lambda _: uri).contents(target, work)
    except InstanceNotAvailable as error:
        raise InstanceMissing(feed=feed.name, place=address) from error
    if contents.broken:
        raise InstanceMissing(feed=feed.name, place=f"{address} ({next(iter(contents.broken.values())).message})")
    stored = [
        StoredPart(part=each, place=each.place, storage=_storage(contents.table, each)) for each in contents.parts
    ]
    return written_of(target, validation, address, contents.table, stored, is_listed=True)


def _storage(table: Table, part: TablePart) -> StorageDescriptor:
    return table.storage if part.partition is None else part.partition.storage


def _options(request: ValidateOptions) -> ActionOptions:
    return ActionOptions(
        selection=EntitySelection(names=(request.feed,), clusters=(request.cluster,) if request.cluster else ()),
        repo=request.repo,
        nominal_time=request.nominal_time,
        dry_run=request.dry_run,
        allow_dirty=request.allow_dirty,
    )
