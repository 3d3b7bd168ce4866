"""The effects of a decision on blocked data: the decision in the ledger, then the removal of what is rejected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.action import Applied
from toolkit.actions.attempt import attempted
from toolkit.actions.model import ItemResult
from toolkit.actions.staged_unit import StagedUnit
from toolkit.ledger import validations
from toolkit.ledger.state.commands import record
from toolkit.ledger.validations import CannotDecide
from toolkit.ledger.vocabulary import ValidationState
from toolkit.result import Outcome
from toolkit.runs.recorder import current_user
from toolkit.storage import StorageError

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.ledger.database import Transaction
    from toolkit.quality.decision_targets import Decision, DecisionPlan, QualityItem, Removal
    from toolkit.runs.audit_lines import AuditLine

_VERBS = {ValidationState.RELEASED: "release", ValidationState.REJECTED: "reject"}


@dataclass(frozen=True, kw_only=True, slots=True)
class DecisionBatch:
    """Batch of a decision and its removals."""

    decision: Decision
    plan: DecisionPlan
    work: RunContext

    @property
    def positions(self) -> range:
        """All items of the plan."""
        return range(len(self.plan.items))

    def apply(self, advance: Callable[[int], None]) -> Applied[QualityItem]:
        """Record the decision, then remove; items that are not removed stay open for the next run."""
        wanted = self.plan.items
        refused = self._refused()
        results = refused or tuple(map(self._removed, wanted))
        advance(len(wanted))
        if refused:
            return Applied(results=refused)
        is_open = frozenset(at for at, each in enumerate(results) if each.outcome is not Outcome.DONE)
        return Applied(results=results, open=is_open, audit_lines=tuple(self._audit_lines(is_complete=not is_open)))

    def _refused(self) -> tuple[ItemResult[QualityItem], ...]:
        """Record the decision; return results only if it must not be made, and then nothing is removed."""
        wanted = self.plan.items
        base = next((each.removal.base for each in wanted if each.removal is not None), None)
        refusal = None if base is None else self.work.guard.refusal(base, items=len(wanted), must_look=True)
        if refusal is not None:
            return tuple(refusal.of(each) for each in wanted)
        try:
            if self.plan.target.found.state is not self.decision.state:
                self.work.patiently(lambda is_repeated: self._record(is_repeated=is_repeated))
        except CannotDecide as error:  # by a program without a lease, such as a tool of the database
            return tuple(ItemResult.failed(each, error.code, str(error)) for each in wanted)
        self.decision.tell_page(self.plan.target.found)
        return ()

    def _record(self, *, is_repeated: bool) -> None:
        """Record the decision and the command; a call that is repeated may have been committed before."""
        decision, found, who = self.decision, self.plan.target.found, current_user()
        about = f"{found.cluster} {found.instance_key} {found.unit}, data {found.data_digest}, "
        about += f"suites {found.suites_digest}: {decision.reason}"
        digest = self.plan.detail

        def write(tx: Transaction) -> None:
            if is_repeated and validations.state_of(tx, found.verdict_id) is decision.state:
                return
            validations.decide(tx, found.verdict_id, decision.state, digest, who=who, reason=decision.reason)
            record(tx, f"quality {_VERBS[decision.state]}", found.feed, who, changed=True, detail=about)

        decision.ledger.write(write)

    def _removed(self, item: QualityItem) -> ItemResult[QualityItem]:
        if item.removal is None:
            return ItemResult.done(item)
        refusal = self.work.guard.refusal(item.removal.base, items=0)
        if refusal is not None:
            return refusal.of(item)
        remove_it = partial(self._remove, item.removal)
        failed = attempted(self.work, remove_it, failures=(StorageError,))
        return ItemResult.done(item) if failed is None else failed.of(item)

    def _remove(self, removal: Removal) -> None:
        unit = StagedUnit(work=self.work, unit=removal.unit, base=removal.base, top=removal.top)
        unit.clear(in_place=removal.unit == removal.place)

    def _audit_lines(self, *, is_complete: bool) -> Iterator[AuditLine]:
        yield self._audit_line(self.decision.state)
        if is_complete and self.decision.state is ValidationState.REJECTED:
            yield self._audit_line("removed")

    def _audit_line(self, state: str) -> AuditLine:
        found = self.plan.target.found
        return {
            "what": "quality",
            "state": str(state),
            "run": int(self.work.run_name),
            "entity": found.feed,
            "cluster": found.cluster,
            "instance_key": found.instance_key,
            "path": found.unit,
            "verdict": found.verdict_id,
            "data": found.data_digest,
            "suites": found.suites_digest,
            "reason": self.decision.reason,
        }
