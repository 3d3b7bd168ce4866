"""A person's decision on blocked data as an action: released for publishing, or rejected and removed (ADR 0060)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from toolkit.actions.action import Action, Recovery, left_over
from toolkit.actions.hold_file import hold_file_in
from toolkit.actions.hold_watch import HoldWatch, NewHolds, NoNewHolds
from toolkit.actions.model import SkipReason, TargetPlan
from toolkit.el import parse_instant
from toolkit.errors import Failed, Refused
from toolkit.ledger import validations
from toolkit.ledger.runs import items
from toolkit.ledger.validations import UNDECIDED, CannotDecide
from toolkit.ledger.vocabulary import LifeCycle, ValidationState
from toolkit.quality.blocked_data import digest_of, removals, require_rejected
from toolkit.quality.decision_batch import DecisionBatch
from toolkit.quality.decision_targets import Decision, DecisionPlan, DecisionTarget, QualityItem
from toolkit.result import Outcome
from toolkit.runs.recorder import path_of

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.actions.result import ActionResult
    from toolkit.el import CanonicalPath
    from toolkit.entities import Hold
    from toolkit.ledger.database import Transaction
    from toolkit.ledger.runs.items import Item
    from toolkit.ledger.runs.leases import Wanted
    from toolkit.ledger.validations import ValidationResult

NAME = "quality"


class OnHold(Refused):
    """Blocked data of a feed that is on hold, which a rejection would remove.

    Args:
        feed: name.
        cluster: where.
        why: the reason of the hold; empty: it came while the run was under way.
    """

    code = "on_hold"

    def __init__(self, *, feed: str, cluster: str, why: str = "") -> None:
        self.feed, self.cluster, self.why = feed, cluster, why
        reason = f": {why}" if why else " since a moment ago"
        what = f"{feed} on {cluster} is on hold{reason}"
        super().__init__(f"{what}; nothing was removed. End the hold (`feedctl hold list`), then reject the data again")


class NotRemoved(Failed):
    """Rejected data that could not be removed.

    Args:
        why: of the first that could not.
    """

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(why)


def require_done(result: ActionResult[DecisionTarget, QualityItem, str]) -> DecisionPlan:
    """Return the plan of a decision that was made, or would be.

    Raises:
        FeedctlError: it was not; its exit code is that of the command.
    """
    result.require_run()
    (decided,) = result.targets
    left = [each for each in decided.items if each.outcome not in {Outcome.DONE, Outcome.PLANNED}]
    if any(each.code == SkipReason.HELD for each in left):
        raise OnHold(feed=decided.plan.target.entity, cluster=decided.plan.target.cluster)
    if left:
        raise NotRemoved(why=left[0].message or left[0].code)
    return cast("DecisionPlan", decided.plan)  # there is no other target


def chosen_result(
    tx: Transaction, feed: str, instance_key: str, *, cluster: str | None, unit: str | None
) -> ValidationResult:
    """Return the result that a person means, which is an undecided one if there is any.

    Raises:
        CannotDecide: there is none, or there are several.
    """
    of_feed = validations.newest_of(tx, feed, cluster=cluster, instance_key=instance_key)
    found = [each for each in of_feed if not each.is_by_hand and unit in {None, each.unit}]
    undecided = [each for each in found if each.state in UNDECIDED] or found
    name = unit or f"{feed} {instance_key}"
    if not undecided:
        raise CannotDecide(unit=name, why="the ledger has no validation result of it")
    if len(undecided) > 1:
        units = ", ".join(f"{each.unit} on {each.cluster}" for each in undecided)
        raise CannotDecide(unit=name, why=f"several are meant ({units}); say --cluster and --unit")
    return undecided[0]


@dataclass(frozen=True, kw_only=True)
class DecisionAction(Action[DecisionTarget, QualityItem, str]):
    """Releases or rejects blocked data; see `Action`.

    A plan that cannot be made raises the error that the user is told, since the run has no other target.

    Attributes:
        decision: of the person.
        holds: as they were read.
        new_holds: that were added since.
    """

    decision: Decision
    holds: Sequence[Hold] = ()
    new_holds: NewHolds = field(default_factory=NoNewHolds)
    name: str = NAME
    life_cycle: LifeCycle = LifeCycle.REVIEW

    def leases(self, target: DecisionTarget) -> tuple[Wanted, ...]:
        """Return the leases of the action that wrote the data."""
        return target.leases

    def conditions(self, plan: DecisionPlan, work: RunContext) -> tuple[HoldWatch, ...]:
        """Return the holds that stop a rejection; a release removes nothing, and its publisher checks holds itself."""
        if self.decision.state is ValidationState.RELEASED:
            return ()
        target = plan.target
        pairs, bases = ((target.entity, target.cluster),), target.places.bases
        return (HoldWatch(bases=bases, pairs=pairs, storage=work.stores, new_holds=self.new_holds),)

    def blank_plan(self, target: DecisionTarget) -> DecisionPlan:
        """Return the plan of a target that is not looked at."""
        return TargetPlan(target=target, detail="")

    def plan(self, target: DecisionTarget, work: RunContext) -> DecisionPlan:
        """Return the plan of a decision.

        Raises:
            CannotDecide: nothing is blocked there, or the data are others than were validated.
            OnHold: a rejection would remove data of a feed that is on hold.
            CatalogError, StorageError: it is unknown where the data are, or what they are.
        """
        work.guard.run.check()
        found = target.found
        if self.decision.state is ValidationState.REJECTED:
            self._require_free(target, work)
        places = target.places.named(found.unit, found.place)
        digest = digest_of(places, target.feed, work)
        wanted = self._items(target, places, work)
        unfinished = self._unfinished(target, wanted, digest, work)
        if not unfinished:
            self._require_decidable(found, digest)
        return TargetPlan(target=target, detail=digest, items=unfinished or wanted)

    def _require_free(self, target: DecisionTarget, work: RunContext) -> None:
        pair, instant = (target.entity, target.cluster), parse_instant(target.instance_key)
        why = next((each.reason for each in self.holds if each.concerns(*pair) and each.covers(instant)), None)
        hold_file = hold_file_in(target.places.bases, work.stores) if why is None else None
        if why is not None or hold_file is not None:
            raise OnHold(feed=target.entity, cluster=target.cluster, why=why or str(hold_file))

    def _items(
        self, target: DecisionTarget, places: Sequence[CanonicalPath], work: RunContext
    ) -> tuple[QualityItem, ...]:
        kind, key = self.decision.state.value, target.instance_key
        if self.decision.state is ValidationState.RELEASED:
            return (QualityItem(kind=kind, instance_key=key, uri=target.found.unit),)
        return tuple(
            QualityItem(kind=kind, instance_key=key, uri=str(each.place), removal=each)
            for each in removals(places, target, work)
        )

    def _unfinished(
        self, target: DecisionTarget, wanted: tuple[QualityItem, ...], digest: str, work: RunContext
    ) -> tuple[QualityItem, ...]:
        """Return the rest of an interrupted run with this decision; the ledger only says which of the items."""
        found = target.found
        if found.state is not self.decision.state:
            return ()
        if self.decision.state is ValidationState.REJECTED and digest == found.data_digest:
            return wanted
        key = (self.life_cycle, target.entity, target.cluster, target.counterpart)
        left = self.decision.ledger.read(lambda tx: items.unsettled(tx, *key))
        named = {(each.kind, path_of(each.path)) for each in left if each.instance_key == target.instance_key}
        unfinished = tuple(each for each in wanted if (each.kind, each.uri) in named)
        for each in unfinished:
            if each.removal is not None:
                require_rejected(each.removal, found, work)
        return unfinished

    def _require_decidable(self, found: ValidationResult, digest: str) -> None:
        if not digest:
            raise CannotDecide(unit=found.unit, why=f"nothing lies at {found.place} any more; run the action again")
        why = self.decision.ledger.read(lambda tx: validations.why_not(tx, found.verdict_id, digest))
        if why:
            raise CannotDecide(unit=found.unit, why=why)

    def recover(self, plan: DecisionPlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        """Settle the items of an interrupted decision on the same data: the plan has them again."""
        del work
        own = {(each.kind, each.uri, each.instance_key) for each in plan.items}
        left = [each for each in open_items if (each.kind, path_of(each.path), each.instance_key) in own]
        if not left:
            return Recovery()
        note = f"recovered from an interrupted decision: {len(left)} unfinished items are done again"
        return Recovery(settled=tuple(left_over(each, is_done=False) for each in left), notes=(note,))

    def batches(self, plan: DecisionPlan, work: RunContext) -> tuple[DecisionBatch, ...]:
        """Return one batch, since the decision is made once."""
        return (DecisionBatch(decision=self.decision, plan=plan, work=work),)
