"""A validation by hand as an action: what readers have now is validated, and only the ledger gets anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.actions.action import Action, Applied, Recovery, left_over
from toolkit.actions.model import ItemResult, TargetPlan
from toolkit.actions.validation import FeedValidation, Part
from toolkit.availability import is_ready
from toolkit.el import format_instant
from toolkit.entities.vocabulary import LocationType
from toolkit.errors import FeedctlError, InvalidInput, NotYet
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.planning.instance_storage import FeedStorage
from toolkit.quality.decision_targets import QualityItem
from toolkit.runs.errors import Stopped

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.actions.validation import Written
    from toolkit.entities import Cluster, Feed
    from toolkit.ledger.runs.items import Item
    from toolkit.quality.documents import Question
    from toolkit.quality.validator import SuiteValidator, UnitValidation

NAME = "validate"


class NoQuality(InvalidInput):
    """A feed that says nothing of what its data must be like.

    Args:
        feed: name.
        cluster: where.
    """

    code = "no_quality"

    def __init__(self, *, feed: str, cluster: str) -> None:
        self.feed, self.cluster = feed, cluster
        super().__init__(f"feed {feed} has no `quality` on {cluster}; add `quality: {{suites: [NAME]}}`")


class InstanceMissing(NotYet):
    """The instance is not there.

    Args:
        feed: name.
        place: where it would be.
    """

    code = "instance_missing"

    def __init__(self, *, feed: str, place: str) -> None:
        self.feed, self.place = feed, place
        super().__init__(f"the instance of {feed} at {place} is not there, or not complete; nothing was validated")


def validation_of(feed: Feed, cluster: Cluster) -> FeedValidation:
    """Return the validation of a feed on a cluster.

    Raises:
        NoQuality: it has none.
    """
    found = FeedValidation.on(feed, cluster)
    if found is None:
        raise NoQuality(feed=feed.name, cluster=cluster.name)
    return found


def path_instance(validation: FeedValidation, instant: datetime, work: RunContext) -> Written:
    """Return the instance of a path feed, where readers find it.

    Raises:
        InstanceMissing: it is not there, or not complete.
        StorageError: a store cannot tell.
    """
    feed, cluster = validation.feed, validation.cluster
    place = cluster.place(FeedStorage.of(feed, cluster).at(instant).paths[LocationType.DATA])
    if not is_ready(work.stores(place), place, feed.availability_flag or ""):
        raise InstanceMissing(feed=feed.name, place=str(place))
    return validation.written(format_instant(instant), str(place), (Part(place=place),))


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidationTarget:
    """An instance that is validated by hand.

    Attributes:
        entity: the feed.
        cluster: where.
        instance_key: of the instance.
        written: finds what readers have; it raises what the user is told.
        counterpart: none.
    """

    entity: str
    cluster: str
    instance_key: str
    written: Callable[[RunContext], Written]
    counterpart: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidationDetail:
    """Details of a plan.

    Attributes:
        written: what is validated; None: nothing was looked at.
        question: of a dry run, what would be asked of the data.
        left_out: of a dry run, what would not be asked, and why.
    """

    written: Written | None = None
    question: Question | None = None
    left_out: tuple[str, ...] = ()


ValidationPlan = TargetPlan[ValidationTarget, QualityItem, ValidationDetail]


@dataclass(kw_only=True, slots=True)
class ValidationOutcome:
    """Result of a validation, or the error that ended it."""

    validation: UnitValidation | None = None
    error: FeedctlError | None = None


@dataclass(frozen=True, kw_only=True)
class ValidationAction(Action[ValidationTarget, QualityItem, ValidationDetail]):
    """Validates one instance; see `Action`.

    A plan that cannot be made raises the error that the user is told, since the run has no other target.

    Attributes:
        validator: validates with the stores of a run.
        is_dry_run: the plan has the question.
        outcome: filled while it works.
    """

    validator: Callable[[RunContext], SuiteValidator]
    is_dry_run: bool
    outcome: ValidationOutcome = field(default_factory=ValidationOutcome)
    name: str = NAME
    life_cycle: LifeCycle = LifeCycle.REVIEW

    def leases(self, target: ValidationTarget) -> tuple[Wanted, ...]:
        """Return a lease of its own: only two validations of the instance exclude each other."""
        return (Wanted(resource=f"validate/{target.entity}/{target.cluster}/{target.instance_key}"),)

    def conditions(self, plan: ValidationPlan, work: RunContext) -> tuple[()]:
        """Return no condition, since no data is changed."""
        del plan, work
        return ()

    def blank_plan(self, target: ValidationTarget) -> ValidationPlan:
        """Return the plan of a target that is not looked at."""
        return TargetPlan(target=target, detail=ValidationDetail())

    def plan(self, target: ValidationTarget, work: RunContext) -> ValidationPlan:
        """Look at the instance.

        Raises:
            FeedctlError: the instance is not there, or cannot be looked at.
        """
        work.guard.run.check()
        written = target.written(work)
        detail = ValidationDetail(written=written)
        if self.is_dry_run:
            question, left_out = self.validator(work).question(written)
            detail = ValidationDetail(
                written=written, question=question, left_out=tuple(each.note for each in left_out)
            )
        item = QualityItem(kind="validation", instance_key=target.instance_key, uri=written.unit)
        return TargetPlan(target=target, detail=detail, items=(item,))

    def recover(self, plan: ValidationPlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        """Settle the items of interrupted validations, which have left nothing: this one takes their place."""
        del work
        left = [each for each in open_items if each.kind in {own.kind for own in plan.items}]
        return Recovery(settled=tuple(left_over(each, is_done=False) for each in left))

    def batches(self, plan: ValidationPlan, work: RunContext) -> tuple[ValidationBatch, ...]:
        """Return one batch."""
        return (ValidationBatch(action=self, plan=plan, work=work),)


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidationBatch:
    """Batch of one validation."""

    action: ValidationAction
    plan: ValidationPlan
    work: RunContext

    @property
    def positions(self) -> range:
        """Return the position of the only item as a range."""
        return range(len(self.plan.items))

    def apply(self, advance: Callable[[int], None]) -> Applied[QualityItem]:
        """Validate, and record the result."""
        (item,), written, outcome = self.plan.items, self.plan.detail.written, self.action.outcome
        assert written is not None  # noqa: S101 - a plan with an item has it
        try:
            outcome.validation = self.action.validator(self.work).validate_by_hand(written, self.work.guard.run.check)
        except Stopped:
            raise
        except FeedctlError as error:
            outcome.error = error
            return Applied(results=(ItemResult.failed(item, getattr(error, "code", "failed"), str(error)),))
        finally:
            advance(1)
        return Applied(results=(ItemResult.done(item),))
