"""A validation by hand as an action: what readers have now is validated, and only the ledger gets anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.actions.action import Applied, Recovery, left_over
from toolkit.actions.model import ItemResult, TargetPlan
from toolkit.errors import FeedctlError
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.runs.errors import Stopped

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.actions.validation import Written
    from toolkit.ledger.runs.items import Item
    from toolkit.quality.documents import Question
    from toolkit.quality.validator import SuiteValidator, UnitValidation

NAME = "validate"


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
class ValidationItem:
    """The validation of an instance."""

    instance_key: str
    uri: str
    kind: str = "validation"

    @property
    def identity(self) -> tuple[str, ...]:
        """Return the kind and the address."""
        return (self.kind, self.uri)


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


ValidationPlan = TargetPlan[ValidationTarget, ValidationItem, ValidationDetail]


@dataclass(kw_only=True, slots=True)
class ValidationOutcome:
    """Result of a validation, or the error that ended it."""

    validation: UnitValidation | None = None
    error: FeedctlError | None = None


@dataclass(frozen=True, kw_only=True)
class ValidationAction:
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
        item = ValidationItem(instance_key=target.instance_key, uri=written.unit)
        return TargetPlan(target=target, detail=detail, items=(item,))

    def limit(self, plans: Sequence[ValidationPlan], work: RunContext) -> tuple[Sequence[ValidationPlan], None]:
        """Return the plans; there is no limit."""
        del work
        return plans, None

    def target_limit(self, plan: ValidationPlan, work: RunContext) -> None:
        """Do nothing: there is no limit."""
        del plan, work

    def recover(self, plan: ValidationPlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        """Settle the items of interrupted validations, which have left nothing: this one takes their place."""
        del work
        own = {(each.kind, each.instance_key) for each in plan.items}
        left = [each for each in open_items if (each.kind, each.instance_key) in own]
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

    def apply(self, advance: Callable[[int], None]) -> Applied[ValidationItem]:
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
