"""Commands to instances: suspend, resume, kill, rerun (Falcon overview, Instance Management; DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import IllegalTransition, LedgerConflict
from toolkit.ledger.jobs.job_end import abort_job
from toolkit.ledger.runs.attempts import queue_again, suspend_ahead
from toolkit.ledger.runs.errors import InstanceSuspended, NotTerminal, RunIsActive, RunIsOver
from toolkit.ledger.runs.queries import RunFilter, find
from toolkit.ledger.runs.rows import Origin, Run, RunKey
from toolkit.ledger.runs.status import ask_owner, change, lock, resume
from toolkit.ledger.state import start_check
from toolkit.ledger.state.commands import record
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.management.decisions import REQUESTS, CommandEffect, InstanceCommand, InstanceState, decide
from toolkit.management.locations import ManagedEntity, RequestedRange, key_after, stretches
from toolkit.management.questions import require_recorded
from toolkit.management.rows import InstanceRow, View, instance_rows, recorded_runs, with_owners


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandExecutor:
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

    def execute(self, effect: CommandEffect, command: InstanceCommand, key: RunKey, row: InstanceRow) -> RunStatus:
        """Do it, and return the status that the instance has then."""
        if effect is CommandEffect.NOTHING:
            return row.status
        if row.run is None:
            return self._without_run(effect, key).status
        if effect is CommandEffect.ASK:
            ask_owner(self.tx, row.run.run_id, REQUESTS[command], self.who)
            return row.status
        return self._with_run(effect, key, row.run).status

    def _without_run(self, effect: CommandEffect, key: RunKey) -> Run:
        ahead = suspend_ahead(self.tx, key, Origin(who=self.who), self._why("suspended"))
        return (
            change(self.tx, ahead.run_id, RunStatus.KILLED, reason=self._why("killed"))
            if (effect is CommandEffect.KILL_AHEAD)
            else ahead
        )

    def _with_run(self, effect: CommandEffect, key: RunKey, run: Run) -> Run:
        tx, origin, number = self.tx, Origin(who=self.who), run.run_id
        effects: dict[CommandEffect, Callable[[], Run]] = {
            CommandEffect.SUSPEND_AHEAD: lambda: suspend_ahead(tx, key, origin, self._why("suspended")),
            CommandEffect.SUSPEND: lambda: change(tx, number, RunStatus.SUSPENDED, reason=self._why("suspended")),
            CommandEffect.RESUME: lambda: resume(tx, number),
            CommandEffect.REQUEUE: lambda: self._requeue(key, run),
            CommandEffect.KILL: lambda: self._kill(run),
            CommandEffect.RERUN: lambda: queue_again(tx, key, origin, is_forced=self.is_forced),
        }
        return effects[effect]()

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


CHUNK = 100
"""So many instances one transaction deals with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandRequest:
    """A command to the instances of an entity.

    Attributes:
        command: what is to be done.
        managed: the entity, its life cycle and its locations.
        requested: which instances.
        view: of these, only those with its statuses, and what began then or later.
        who: gives the command.
        reason: why, if they say so.
        is_forced: a rerun starts at the first step, whatever has succeeded (Falcon overview, rerun).
    """

    command: InstanceCommand
    managed: ManagedEntity
    requested: RequestedRange
    view: View = field(default_factory=View)
    who: str
    reason: str | None = None
    is_forced: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandOutcome:
    """Effect of a command on one instance.

    Attributes:
        key: the instance.
        before: its status until then.
        after: its status now; what its owner was asked for has not happened yet.
        is_changed: False: it was so already, or it was in the wrong state, and nothing was changed.
        why: in words.
    """

    key: RunKey
    before: RunStatus
    after: RunStatus
    is_changed: bool
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandResult:
    """Effects of a command on instances, oldest first."""

    command: InstanceCommand
    name: str
    life_cycle: LifeCycle
    answers: tuple[CommandOutcome, ...]

    @property
    def changed(self) -> int:
        """Return how many instances it did something to."""
        return sum(each.is_changed for each in self.answers)


def command_instances(ledger: Ledger, request: CommandRequest) -> CommandResult:
    """Carry out a command on each instance of a range.

    Raises:
        OutsideValidity, NotAnInstance: see `ranges.stretches`.
        NotRecorded: one nominal time was asked for, and nothing is recorded for it.
        SafeModeIsOn: and it does not allow the command.
        LedgerUnavailable: the ledger cannot be used now; the instances before that have been dealt with.
    """
    keys = ledger.read(lambda tx: _keys(tx, request))
    answers = [answer for chunk in _chunks(keys) for answer in _answers(ledger, request, chunk)]
    return CommandResult(
        command=request.command,
        name=request.managed.name,
        life_cycle=request.managed.life_cycle,
        answers=tuple(answers),
    )


def _keys(tx: Transaction, request: CommandRequest) -> list[RunKey]:
    """The instances of the range, recorded or not, oldest first."""
    if not request.command.is_safe:
        start_check.refuse_in_safe_mode(tx)
    managed = request.managed
    parts = stretches(managed, request.requested, tx.now())
    runs = recorded_runs(tx, managed, parts)
    if not runs:
        require_recorded(managed, request.requested)
    rows = [row for row in instance_rows(managed, parts, runs) if request.view.wants(row)]
    rows.sort(key=lambda row: (row.instance_key, row.cluster, row.counterpart))
    return [_key(managed, row) for row in rows]


def _key(managed: ManagedEntity, row: InstanceRow) -> RunKey:
    return RunKey(
        life_cycle=managed.life_cycle,
        entity=managed.name,
        cluster=row.cluster,
        counterpart=row.counterpart,
        instance_key=row.instance_key,
    )


def _chunks(keys: list[RunKey]) -> Iterator[list[RunKey]]:
    """At least one, since a command that finds nothing is recorded too."""
    return (keys[at : at + CHUNK] for at in range(0, max(1, len(keys)), CHUNK))


def _answers(ledger: Ledger, request: CommandRequest, keys: list[RunKey]) -> list[CommandOutcome]:
    def act(tx: Transaction) -> list[CommandOutcome]:
        try:
            return _act(tx, request, keys)
        except (IllegalTransition, InstanceSuspended, NotTerminal, RunIsActive, RunIsOver) as moved:
            # Another command changed an instance between the look at it and the effect: all of it is decided anew.
            raise LedgerConflict(place=ledger.place, why=str(moved)) from moved

    return ledger.write(act)


def _act(tx: Transaction, request: CommandRequest, keys: list[RunKey]) -> list[CommandOutcome]:
    if not request.command.is_safe:
        start_check.refuse_in_safe_mode(tx)
    rows = _locked(tx, request.managed, keys)
    executor = CommandExecutor(tx=tx, who=request.who, reason=request.reason, is_forced=request.is_forced)
    answers = [_answer(executor, request.command, key, rows[key]) for key in keys if request.view.wants(rows[key])]
    record(
        tx,
        f"instance {request.command}",
        f"{request.managed.life_cycle} of {request.managed.name}",
        request.who,
        changed=any(each.is_changed for each in answers),
        detail=_detail(request, keys),
    )
    return answers


def _answer(executor: CommandExecutor, command: InstanceCommand, key: RunKey, row: InstanceRow) -> CommandOutcome:
    decision = decide(command, _state(row))
    after = executor.execute(decision.effect, command, key, row)
    return CommandOutcome(key=key, before=row.status, after=after, is_changed=decision.is_change, why=decision.why)


def _state(row: InstanceRow) -> InstanceState:
    run = row.run
    if run is None:
        return InstanceState(status=None)
    return InstanceState(
        status=row.status,
        suspended_from=run.suspended_from,
        is_owned=bool(row.is_owned),
        is_job=run.mode is not None,
        open_request=row.open_request,
    )


def _locked(tx: Transaction, managed: ManagedEntity, keys: Sequence[RunKey]) -> dict[RunKey, InstanceRow]:
    """The newest attempts of these keys, locked; what came between the look and the lock is seen as well.

    Those without an attempt are waiting.
    """
    if not keys:
        return {}
    wanted = RunFilter(
        entity=managed.name,
        life_cycle=managed.life_cycle,
        clusters=managed.clusters,
        start_key=keys[0].instance_key,
        end_key=key_after(keys[-1].instance_key),
    )
    among = frozenset(keys)
    lock(tx, [run for run in find(tx, wanted) if run.key in among])
    rows = with_owners(tx, [InstanceRow.of(run) for run in find(tx, wanted) if run.key in among])
    return {**{key: InstanceRow.waiting(key) for key in keys}, **{_key(managed, row): row for row in rows}}


def _detail(request: CommandRequest, keys: Sequence[RunKey]) -> str:
    ends = f"{keys[0].instance_key} to {keys[-1].instance_key}" if keys else "nothing recorded"
    where = f"{request.requested} on {', '.join(request.managed.clusters)} ({len(keys)} instances: {ends})"
    forced = ", from the first step" if request.is_forced else ""
    return f"{where}{forced}: {request.reason}" if request.reason else f"{where}{forced}"
