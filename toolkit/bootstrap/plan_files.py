"""Files of plans in a run of an action: one is written, or one is applied, once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.approval import PlanApplied
from toolkit.actions.model import D, I, T
from toolkit.actions.plan_file import PlanFile
from toolkit.ledger.state import commands
from toolkit.runs.errors import Stopped
from toolkit.runs.recorder import current_user

if TYPE_CHECKING:
    from toolkit.actions.result import ActionRequest, ActionResult
    from toolkit.actions.runner import ActionRunner
    from toolkit.clock import Clock
    from toolkit.entities import Cluster, Feed
    from toolkit.ledger.database import Ledger, Transaction

_APPLY = "apply plan"
"""The command by which the ledger knows plan files that were applied, each by its checksum."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanOptions:
    """Files of plans that a run writes or applies.

    Attributes:
        keep: gets the plan of a dry run; None: it is not kept.
        file: only what it says as well is done; None: all that is planned.
    """

    keep: Callable[[PlanFile], None] | None = None
    file: PlanFile | None = None

    def applied_by(
        self,
        runner: ActionRunner[T, I, D],
        request: ActionRequest,
        pairs: Iterable[tuple[Feed, Cluster]],
        ledger: Ledger | None,
    ) -> ActionRunner[T, I, D]:
        """Return a runner that applies the file.

        Raises:
            Refused: the file is for another run, or was applied before.
        """
        if self.file is None:
            return runner
        chosen = {(feed.name, cluster.name) for feed, cluster in pairs}
        self.file.require_same(runner.action.name, request, chosen, runner.origin_of)
        if ledger is None:  # only a dry run does without
            return replace(runner, plan_file=self.file)
        ledger.read(partial(_refuse_applied, file=self.file))
        return replace(runner, plan_file=self.file, claim=lambda file: ledger.write(partial(_claim, file=file)))

    def kept(self, result: ActionResult[T, I, D], runner: ActionRunner[T, I, D], clock: Clock) -> ActionResult[T, I, D]:
        """Keep the plan of a dry run that came to its end, and return its result."""
        if self.keep is None or result.stopped is not None:
            return result
        try:
            file = PlanFile.of(result, runner.origin_of, clock.now(), runner.review)
        except Stopped as stopped:
            return replace(result, stopped=stopped)
        self.keep(file)
        return result


NO_PLAN_FILES = PlanOptions()


def _claim(tx: Transaction, file: PlanFile) -> None:
    """Write down that a file is applied; its runs hold their leases, so that no other process applies it now."""
    _refuse_applied(tx, file)
    detail = f"{file.action} at {file.nominal_time}"
    commands.record(tx, _APPLY, file.checksum, current_user(), changed=True, detail=detail)


def _refuse_applied(tx: Transaction, file: PlanFile) -> None:
    found = commands.first(tx, _APPLY, file.checksum)
    if found is not None:
        raise PlanApplied(when=found.at, who=found.who)
