"""Contract between the kernel and one action (DESIGN section 10)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, runtime_checkable

from toolkit.actions.model import INTERRUPTED, D, I, ItemResult, Problem, T, Target, TargetPlan
from toolkit.actions.progress import NoProgress
from toolkit.actions.validation import NoValidator, Validator
from toolkit.el import CanonicalPath, ElError
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs import counters
from toolkit.ledger.runs.items import SettledItem
from toolkit.ledger.vocabulary import ItemState
from toolkit.runs.output_use import OutputUse
from toolkit.runs.patience import Patience, impatient
from toolkit.runs.recorder import SettledLeftOver, path_of, path_text

if TYPE_CHECKING:
    from toolkit.actions.guard import Condition, Guard
    from toolkit.actions.progress import Progress
    from toolkit.errors import Refused
    from toolkit.ledger.database import Transaction
    from toolkit.ledger.runs.items import Item, NewItem
    from toolkit.ledger.runs.leases import Wanted
    from toolkit.ledger.vocabulary import EventKind, LifeCycle
    from toolkit.runs.audit_lines import AuditLine
    from toolkit.runs.recorder import LedgerWrite
    from toolkit.storage import FileSystem
    from toolkit.threads import WorkerPool
    from toolkit.transfer.port import ExecutorPool
    from toolkit.transfer.spread_copy import SharedCopying


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """Context of ONE run of an action; two runs share nothing of it but clients of stores.

    Attributes:
        stores: the store that a path is on, whose every effect asks this run's guard and then the store's rate; while a
            plan is made, in a dry run, and in a recovery that must not touch anything, effects are refused.
        guard: asked before each effect.
        pool: threads for the store that a path is on.
        copying: threads and executors that copy files, shared by all runs.
        rate: so many changes a second the store that a path is on is asked for.
        wait_for_rate: waits until the rate of changes of the store that a path is on allows one more.
        executors: opens other machines; None: there are none. Raises `Unavailable` when they cannot be had.
        seconds_left: so long effects may start, by the run's lease.
        check_remote: as the guard's `check`, for work on other machines: it raises `PauseRequested` instead of resting,
            since they would not.
        let_others_work: called before effects of the run begin on other machines; raises `Stopped` when they must not.
        close: called once, when the run is over.
        progress: told how much was copied, of `TargetPlan.volume`.
        run_name: is in the names of what the run makes for itself, and tells it from what others do: its number in the
            ledger, where it has one.
        validator: validates what was written before it is published, of feeds with `quality`.
        outputs: tells which instances other runs write or remove at this moment.
        patiently: calls what needs the ledger, and waits for a ledger that is away as long as the run's lease lasts.
        write_ledger: writes to the ledger in the middle of a batch; raises `Stopped` when the run must not go on.
    """

    stores: Callable[[CanonicalPath], FileSystem]
    guard: Guard
    pool: Callable[[CanonicalPath], WorkerPool]
    copying: SharedCopying
    rate: Callable[[CanonicalPath], float]
    wait_for_rate: Callable[[CanonicalPath], None]
    executors: Callable[[], ExecutorPool] | None = None
    seconds_left: Callable[[], float] = lambda: inf
    check_remote: Callable[[], None] = lambda: None
    let_others_work: Callable[[], None] = lambda: None
    close: Callable[[], None] = lambda: None
    progress: Progress = field(default_factory=NoProgress)
    run_name: str = "none"
    validator: Validator = field(default_factory=NoValidator)
    outputs: OutputUse = field(default_factory=OutputUse)
    patiently: Patience = impatient
    write_ledger: Callable[[LedgerWrite], None] = lambda _: None


@dataclass(frozen=True, kw_only=True, slots=True)
class Applied(Generic[I]):
    """Outcome of a batch.

    Attributes:
        results: of its items, in their order.
        open: positions whose outcome is unknown now; they stay open in the ledger, and `recover` of the next run
            sees what became of them.
        beside: results of what went with them and is no item of the plan; the user is told.
        events: what it means for consumers.
        audit_only: effects that went with them, as when a directory was emptied; only the audit file has them.
        audit_lines: what else the audit file says, after the results.
        writes: what else the ledger keeps of them, in the transaction that records the results.
        notes: for the user.
        failed: why the target as a whole has failed, although its items are done; None: it has not.
        waiting: what the target waits for, so that its run ends here and another one goes on; None: nothing.
    """

    results: tuple[ItemResult[I], ...]
    open: frozenset[int] = frozenset()
    beside: tuple[ItemResult[I], ...] = ()
    events: tuple[NewEvent, ...] = ()
    audit_only: tuple[tuple[NewItem, SettledItem], ...] = ()
    audit_lines: tuple[AuditLine, ...] = ()
    writes: tuple[LedgerWrite, ...] = ()
    notes: tuple[str, ...] = ()
    failed: Problem | None = None
    waiting: Problem | None = None


class Batch(Protocol[I]):
    """Items that are written down together, before the first of them begins and after the last is over."""

    @property
    def positions(self) -> range:
        """The positions of its items in the plan."""
        ...

    def apply(self, advance: Callable[[int], None]) -> Applied[I]:
        """Do what the batch says, and nothing else; called once, in a thread of its own, one batch after the other.

        Every effect asks the guard. A stop makes results of what was not begun (`Guard.refusal`); a batch that raises
        it instead leaves all of its items open.

        Args:
            advance: is told that so many more of the items are over; called from any thread.

        Raises:
            Stopped: the run ended in its middle, and it is unknown what was done.
        """
        ...


@runtime_checkable
class RecordedBatch(Batch[I], Protocol[I]):
    """Batch of which the ledger keeps more than its items, before the first of them begins."""

    @property
    def intended_writes(self) -> Sequence[LedgerWrite]:
        """The ledger writes in the transaction that records the items as intended.

        A write that raises `Stopped` undoes that transaction: the batch does not begin, and the run ends.
        """
        ...


Batches: TypeAlias = Sequence[Batch[I]] | Generator[Batch[I], Applied[I], None]
"""The batches of a plan.

Of a sequence, the next batch is written down while one works. A generator receives the results of each batch before it
makes the next one, which is written down together with them.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovery:
    """Outcome of the unfinished items of earlier runs.

    Attributes:
        settled: those of which it is known by now; the others stay open.
        notes: for the user, when that could be written down.
        failed: what could not be finished now; the run has failed by that much, and the next one tries again.
        audit_only: effects that went with them, as when a directory was emptied; only the audit file has them.
    """

    settled: tuple[SettledLeftOver, ...] = ()
    notes: tuple[str, ...] = ()
    failed: tuple[ItemResult[Any], ...] = ()
    audit_only: tuple[SettledLeftOver, ...] = ()

    @classmethod
    def of(cls, settled: Sequence[SettledLeftOver], noun: str) -> Recovery:
        """Return the recovery of items, each of which was finished or is to be done again.

        Args:
            settled: their outcomes; without any nothing was recovered.
            noun: names them in the note.
        """
        if not settled:
            return cls()
        done = sum(each.item.state is ItemState.DONE for each in settled)
        note = (
            f"an earlier run died: of its {len(settled)} open {noun} {done} had been finished; the others are made anew"
        )
        return cls(settled=tuple(settled), notes=(note,))


def feed_event(kind: EventKind, target: Target, uri: str, instance_key: str = "") -> NewEvent:
    """Return the event of an instance of the feed of a target, by default of the target's own."""
    key = instance_key or target.instance_key
    return NewEvent(kind=kind, feed=target.entity, cluster=target.cluster, instance_key=key, uri=path_text(uri))


def copy_counters(counted: Mapping[str, int]) -> LedgerWrite:
    """Return the ledger write of what a run has copied by now: ``TIMETAKEN``, ``COPY`` and ``BYTESCOPIED``."""
    values = dict(counted)

    def write(tx: Transaction, run_id: int) -> None:
        counters.replace(tx, run_id, values)

    return write


def left_over(left: Item, *, is_done: bool, event: NewEvent | None = None) -> SettledLeftOver:
    """Return the outcome of an unfinished item: it was finished, or is to be done again."""
    state, code = (ItemState.DONE, None) if is_done else (ItemState.FAILED, INTERRUPTED)
    item = SettledItem(position=left.position, state=state, code=code)
    return SettledLeftOver(left=left, item=item, event=event)


UNKNOWN_PLACE = "unknown_place"
"""The code of an unfinished item whose row names a place that the action does not compute: nothing there is touched."""


def place_named(left: Item, parse: Callable[[str], CanonicalPath] = CanonicalPath.parse) -> CanonicalPath | None:
    """Return the place that the row of an unfinished item names; None: the text is not a place.

    A row names one of the places that an action computes from the config repo, the stores and the metastore. Use the
    result for the comparison with those, and for nothing else.
    """
    try:
        return parse(path_of(left.path))
    except ElError:
        return None


def unknown_place(left: Item) -> SettledLeftOver:
    """Result of an unfinished item that cannot be finished, since its row names a place outside of the action."""
    message = f"{left.path} is not a place of this instance, so nothing there was touched; look at it by hand"
    item = SettledItem(position=left.position, state=ItemState.FAILED, code=UNKNOWN_PLACE, message=message)
    return SettledLeftOver(left=left, item=item)


def unknown_places_note(unknown: Sequence[SettledLeftOver]) -> str:
    """Return the note about items that no run can finish.

    Args:
        unknown: those items; at least one.
    """
    return (
        f"{len(unknown)} unfinished items of an interrupted run name places that this action does not use, the first "
        f"{unknown[0].left.path}: nothing there was touched, and no run will check them again; check them by hand"
    )


class Action(Protocol[T, I, D]):
    """An action; safe between threads, as several targets may be at work at once."""

    @property
    def name(self) -> str:
        """In results, for example ``retention``."""
        ...

    @property
    def life_cycle(self) -> LifeCycle:
        """In the ledger."""
        ...

    def leases(self, target: T) -> tuple[Wanted, ...]:
        """Return the leases that a run of the target must hold."""
        ...

    def conditions(self, plan: TargetPlan[T, I, D], work: RunContext) -> tuple[Condition, ...]:
        """Return what may stand against the effects of a plan besides the end of the run.

        Asked once for a run, after the plan and before its first effect.

        Args:
            plan: of this run.
            work: with which the plan was made; of it no effect passes.
        """
        ...

    def blank_plan(self, target: T) -> TargetPlan[T, I, D]:
        """The plan of a target that is not looked at, with what is to be said of it anyhow."""
        ...

    def plan(self, target: T, work: RunContext) -> TargetPlan[T, I, D]:
        """List and decide; changes nothing. What stops the looking at one target is a failure of its plan.

        Raises:
            Stopped: the run must not go on.
        """
        ...

    def limit(
        self, plans: Sequence[TargetPlan[T, I, D]], work: RunContext
    ) -> tuple[Sequence[TargetPlan[T, I, D]], ExceededLimit | None]:
        """The plans of the targets that are within limits of their own, and the safety limit that they exceed together.

        By default there is none. A target whose state is unknown gives a plan without items that failed. None may be
        left out: the digest has to name all that is applied.

        Raises:
            Stopped: the process must not go on.
        """
        del work
        return plans, None

    def target_limit(self, plan: TargetPlan[T, I, D], work: RunContext) -> ExceededLimit | None:
        """Return the limit of its own that a target's plan exceeds, by default none; other targets are not refused.

        Raises:
            Stopped: the process must not go on.
        """
        del plan, work
        return None

    def recover(self, plan: TargetPlan[T, I, D], open_items: Sequence[Item], work: RunContext) -> Recovery:
        """Finish what earlier runs began, or find out what became of it; the plan was made just before.

        Not called for a plan that failed or was refused: a run that may apply its plan recovers them.

        Args:
            plan: of this run, whose lease is held; it is going to be applied.
            open_items: of earlier runs about the same instance, or about any of the entity when the plan
                `covers_all`; oldest first, at least one.
            work: of this run.

        Raises:
            Stopped: the run must not go on.
        """
        ...

    def batches(self, plan: TargetPlan[T, I, D], work: RunContext) -> Batches[I]:
        """Return batches with the items of a plan in their order, each once.

        A batch that depends on the results of those before it comes from a generator, which changes no data itself.
        """
        ...


@runtime_checkable
class DivisibleAction(Protocol[T, I, D]):
    """Action whose targets can be applied in part; another one applies all items of a target or none."""

    def part(self, plan: TargetPlan[T, I, D], positions: frozenset[int]) -> TargetPlan[T, I, D]:
        """Return the plan with the items at some positions, in order, as far as they may go without the others."""
        ...


class ExceededLimit(Protocol):
    """A safety limit that plans exceed."""

    def refusal(self, digest: str) -> Refused:
        """The error that names it, and the digest that would lift it once."""
        ...
