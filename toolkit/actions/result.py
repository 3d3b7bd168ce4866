"""Results of an action: typed outcomes, and a status derived from them (DESIGN section 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeAlias

from toolkit.actions.model import D, I, ItemResult, NoTarget, T, TargetPlan
from toolkit.errors import Skipped
from toolkit.result import ExitCode, Outcome, Status, derive_status

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.config_source import SnapshotId
    from toolkit.errors import Refused
    from toolkit.runs.errors import Stopped
    from toolkit.runs.recorder import RecordedRun

AnyPlan: TypeAlias = TargetPlan[T, I, D] | TargetPlan[NoTarget, I, D]
"""A plan for a target, or why there is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ActionRequest:
    """Request for one run of an action.

    Attributes:
        nominal_time: for which it acts.
        dry_run: plan only.
        approve: digest of the plan that may exceed the limits; None: none was approved.
        environment: name, for the record.
        snapshot: which state of the config repo was read, for the record.
        tzdata: version of the time zone data, for the record.
        ledger: its URL without password, for the record; None: none is used.
        notes: what the user should know, for the record.
        parallel: so many targets are at work at once.
    """

    nominal_time: datetime
    dry_run: bool
    approve: str | None
    environment: str | None
    snapshot: SnapshotId
    tzdata: str
    ledger: str | None = None
    notes: tuple[str, ...] = ()
    parallel: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetResult(Generic[T, I, D]):
    """Outcome of one target: its plan, and its items with their outcomes.

    Attributes:
        run: that was recorded for it; None: there was none, as in a dry run.
        stopped: why its run was ended before its time.
    """

    plan: AnyPlan[T, I, D]
    items: tuple[ItemResult[I], ...] = ()
    run: RecordedRun | None = None
    stopped: Stopped | None = None

    @property
    def counts(self) -> Mapping[Outcome, int]:
        """Items by outcome; every outcome is there."""
        counted = Counter(result.outcome for result in self.items)
        return {outcome: counted[outcome] for outcome in Outcome}

    @property
    def is_well(self) -> bool:
        """True if no user action is needed: the target was worked on to its end, and nothing of it failed."""
        plan = self.plan
        problems = (plan.failed, plan.skipped, plan.waiting, plan.refused, self.stopped)
        return all(each is None for each in problems) and not (self.counts[Outcome.FAILED] or plan.drifted)

    def outcomes(self) -> Iterator[Outcome]:
        """Yield what counts for the status: the whole target if it failed or nothing was due, else its items.

        Planning is what a dry run does, so that for it a planned item is a done one. A target that was skipped, or
        waits, counts for nothing.
        """
        plan = self.plan
        is_failed = plan.failed is not None or plan.refused is not None
        if is_failed or plan.drifted or self.stopped is not None:
            yield Outcome.FAILED
        if is_failed or plan.skipped is not None or plan.waiting is not None:
            return
        worked_on = [result.outcome for result in self.items if result.outcome is not Outcome.SKIPPED]
        for outcome in worked_on or [Outcome.DONE]:
            yield Outcome.DONE if outcome is Outcome.PLANNED else outcome


class NotStarted(Skipped):
    """A run that could not start.

    Args:
        why: what stands against it.
    """

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(why)


@dataclass(frozen=True, kw_only=True, slots=True)
class ActionResult(Generic[T, I, D]):
    """Result of a run of an action.

    Attributes:
        action: its name.
        request: what it was asked.
        digest: of the plan.
        targets: in the order of their names.
        refusal: the safety limit that refused the run.
        stopped: who or what ended the run before its time, for all of its targets that it had started.
        drifted: the plan file that is applied has targets that the run does not have, as the notes name.
    """

    action: str
    request: ActionRequest
    digest: str = ""
    targets: tuple[TargetResult[T, I, D], ...] = ()
    refusal: Refused | None = None
    stopped: Stopped | None = None
    drifted: bool = False

    def require_run(self) -> None:
        """Return when no target was skipped or stopped; for commands about one target that print no result.

        Raises:
            Stopped: the run was ended before its time.
            NotStarted: it was skipped.
        """
        if self.stopped is not None:
            raise self.stopped
        for each in self.targets:
            if each.plan.skipped is not None:
                raise NotStarted(why=each.plan.skipped.message)

    def with_notes(self, *more: str) -> ActionResult[T, I, D]:
        """Return the same with further notes for the user."""
        return replace(self, request=replace(self.request, notes=(*self.request.notes, *more)))

    @property
    def items(self) -> Iterator[ItemResult[I]]:
        """All items of all targets."""
        return (result for target in self.targets for result in target.items)

    @property
    def status(self) -> Status:
        """Derived from what happened, never counted by hand."""
        if self.stopped is not None:
            return self.stopped.status
        if self.refusal is not None:
            return Status.REFUSED
        outcomes = [outcome for target in self.targets for outcome in target.outcomes()]
        if self.drifted:
            outcomes.append(Outcome.FAILED)
        if Outcome.FAILED not in outcomes:
            if any(target.plan.waiting is not None for target in self.targets):
                return Status.NOT_YET
            if self._are_all_skipped:
                return Status.SKIPPED
        status = derive_status(outcomes)
        return Status.REFUSED if status is Status.FAILED and self._are_all_refused else status

    @property
    def _are_all_refused(self) -> bool:
        """True if every target that is not done is refused by a limit of its own."""
        failing = [each for each in self.targets if Outcome.FAILED in each.outcomes()]
        return all(each.plan.refused is not None and each.stopped is None for each in failing)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the process."""
        return self.status.exit_code if self.stopped is None else self.stopped.exit_code

    @property
    def _are_all_skipped(self) -> bool:
        """True if every target that the run could reach was skipped."""
        targets = [(each.plan.target, each.plan.skipped) for each in self.targets]
        could_run = [why for target, why in targets if not isinstance(target, NoTarget) or target.could_start]
        skipped = [why is not None and not why.is_settled for why in could_run]
        return bool(skipped) and all(skipped)
