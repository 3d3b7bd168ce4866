"""What is done to one instance, within the transaction of a command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from toolkit.ledger.jobs.ending import abort_job
from toolkit.ledger.runs.attempts import queue_again, suspend_ahead
from toolkit.ledger.runs.requests import ask
from toolkit.ledger.runs.rows import Origin, Run, RunKey
from toolkit.ledger.runs.status import change, resume
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import RunStatus
from toolkit.runs.management.decisions import REQUESTS, Deed, InstanceCommand
from toolkit.runs.management.rows import InstanceRow


@dataclass(frozen=True, kw_only=True, slots=True)
class Doer:
    """Does to instances what was decided.

    Attributes:
        tx: the transaction.
        who: gave the command.
        reason: why, if they said so.
        is_forced: a rerun starts at the first step.
    """

    tx: Transaction
    who: str
    reason: str | None
    is_forced: bool

    def do(self, deed: Deed, command: InstanceCommand, key: RunKey, row: InstanceRow) -> RunStatus:
        """Do it, and return the status that the instance has then."""
        if deed is Deed.NOTHING:
            return row.status
        if row.run is None:
            return self._without_run(deed, key).status
        if deed is Deed.ASK:
            ask(self.tx, row.run.run_id, REQUESTS[command], self.who)
            return row.status
        return self._with_run(deed, key, row.run).status

    def _without_run(self, deed: Deed, key: RunKey) -> Run:
        ahead = suspend_ahead(self.tx, key, Origin(who=self.who), self._why("suspended"))
        return (
            change(self.tx, ahead.run_id, RunStatus.KILLED, reason=self._why("killed"))
            if (deed is Deed.KILL_AHEAD)
            else ahead
        )

    def _with_run(self, deed: Deed, key: RunKey, run: Run) -> Run:
        tx, origin, number = self.tx, Origin(who=self.who), run.run_id
        deeds: dict[Deed, Callable[[], Run]] = {
            Deed.SUSPEND_AHEAD: lambda: suspend_ahead(tx, key, origin, self._why("suspended")),
            Deed.SUSPEND: lambda: change(tx, number, RunStatus.SUSPENDED, reason=self._why("suspended")),
            Deed.RESUME: lambda: resume(tx, number),
            Deed.REQUEUE: lambda: self._requeue(key, run),
            Deed.KILL: lambda: self._kill(run),
            Deed.RERUN: lambda: queue_again(tx, key, origin, is_forced=self.is_forced),
        }
        return deeds[deed]()

    def _requeue(self, key: RunKey, run: Run) -> Run:
        """By a new attempt: the dead owner's items keep their positions, and are settled once its own is over."""
        change(self.tx, run.run_id, RunStatus.KILLED, reason=f"{self._why('resumed')}; its owner was gone by then")
        return queue_again(self.tx, key, Origin(who=self.who), is_forced=run.is_forced)

    def _kill(self, run: Run) -> Run:
        if run.mode is not None:
            return abort_job(self.tx, run.run_id, reason=self._why("killed"))
        return change(self.tx, run.run_id, RunStatus.KILLED, reason=self._why("killed"))

    def _why(self, verb: str) -> str:
        by = f"{verb} by {self.who}"
        return f"{by}: {self.reason}" if self.reason else by
