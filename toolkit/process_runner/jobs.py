"""The ledger writes of an instance's steps: the calls of run metadata, on the run that the kernel has begun."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolkit.errors import InvalidInput
from toolkit.ledger import fingerprints
from toolkit.ledger.batches.rows import FeedInstance
from toolkit.ledger.batches.updates import JobUpdates
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.fingerprints import ReadInput
from toolkit.ledger.jobs import current, job_end, job_start, steps
from toolkit.ledger.jobs.rows import JobRef, key_of
from toolkit.ledger.registry import lookup
from toolkit.ledger.registry.registration import UnknownProcess
from toolkit.ledger.runs import leases, queries
from toolkit.ledger.runs.errors import LeaseLost
from toolkit.ledger.trigger_causes import Cause, causes_of_instance
from toolkit.process_runner.errors import StepRefused
from toolkit.runs.recorder import LedgerWrite

_MADE = "outputs"
"""Category of the log entry that has the digests of outputs, see `StepSuccess.made`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AttemptChain:
    """Progress of the attempts at an instance.

    Attributes:
        due: the names of the steps that have to run; None: the ledger does not know the process yet, so all of them.
        made: the outputs that the steps which need not run again had written when the last of them succeeded: the
            digest of each by name, see `written_outputs`.
        attempts: the numbers of the attempts that this one continues; none when all steps run again by order.
        starts_over: an attempt that was to run all steps again, by order, has come to nothing since they succeeded, and
            may have removed what they had written.
        has_begun: an earlier attempt has begun a step since the instance last succeeded, and may have written.
    """

    due: frozenset[str] | None = None
    made: Mapping[str, str] = field(default_factory=dict)
    attempts: frozenset[int] = frozenset()
    starts_over: bool = False
    has_begun: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class StepSuccess:
    """A step that has succeeded, and what is recorded with that.

    Attributes:
        step: its name.
        made: the outputs that it and the steps before it have written, see `AttemptChain.made`.
    """

    step: str
    made: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Opening:
    """Start of a job.

    Attributes:
        inputs: the instances that its steps read.
        consumed: what they are now; None: an earlier attempt has read them, and this one goes on from there.
        is_forced: it starts at the first step, whatever succeeded before.
    """

    inputs: Sequence[FeedInstance]
    consumed: Sequence[ReadInput] | None
    is_forced: bool


def attempt_chain(ledger: Ledger | None, ref: JobRef, *, is_forced: bool) -> AttemptChain:
    """Return how far the attempts at an instance have come; a dry run has no ledger, perhaps. Changes nothing."""
    return AttemptChain() if ledger is None else ledger.read(lambda tx: _chain(tx, ref, is_forced=is_forced))


def opened(ref: JobRef, opening: Opening) -> LedgerWrite:
    """Make a run the job of its instance; the write raises `StepRefused` when the ledger has no such process."""
    return _write_of(lambda tx: _open(tx, ref, opening))


def begun(ref: JobRef, step: str, log: Path) -> LedgerWrite:
    """A step begins, whose log finds it again; the write raises `StepRefused` when the ledger has no such step."""
    return _write_of(lambda tx: steps.init_step(tx, ref, step, log_location=str(log)))


def causes_of(ledger: Ledger | None, ref: JobRef) -> Sequence[Cause]:
    """Return the events that caused the newest triggered attempt at an instance; changes nothing."""
    key = key_of(ref.site, ref.instance_key or "")
    return () if ledger is None else ledger.read(lambda tx: causes_of_instance(tx, key))


def known_as(ref: JobRef, step: str, application: str | None) -> LedgerWrite:
    """Spark or YARN knows a step that runs by this number."""
    return _write_of(lambda tx: steps.name_application(tx, ref, step, application))


def _require_lease(tx: Transaction, ref: JobRef) -> None:
    """Return when a run still holds its leases; else retention may have removed what it has written.

    Raises:
        LeaseLost: it does not.
    """
    if not leases.is_owned(tx, _run_id(ref)):
        raise LeaseLost(run=queries.get(tx, _run_id(ref)))


def _open(tx: Transaction, ref: JobRef, opening: Opening) -> None:
    started = job_start.adopt(tx, _run_id(ref), opening.inputs, is_forced=opening.is_forced)
    if opening.consumed is not None:
        fingerprints.write(tx, started.run.run_id, opening.consumed)
        return
    earlier = current.chain_of(tx, started.run).earlier.values()
    if earlier:
        fingerprints.keep(tx, started.run.run_id, max(each.run_id for each in earlier))


def _run_id(ref: JobRef) -> int:
    if ref.run_id is None:
        message = "a job is begun for a run that has started"
        raise AssertionError(message)
    return ref.run_id


def _chain(tx: Transaction, ref: JobRef, *, is_forced: bool) -> AttemptChain:
    try:
        owner = lookup.any_process(tx, ref.site)
    except UnknownProcess:
        return AttemptChain()
    key = key_of(ref.site, ref.instance_key or "")
    newest = queries.newest(tx, key)
    ordered = newest is not None and newest.status in queries.OPEN and newest.is_forced
    unfinished = current.unfinished_of(tx, key)
    live = lookup.live_steps(tx, owner.process_id)
    if unfinished is None or newest is None:
        return AttemptChain(due=frozenset(each.name for each in live))
    as_job = replace(newest, run_id=0, process_id=owner.process_id, target_batch_id=unfinished)
    starts_over = is_forced or ordered
    earlier = current.chain_of(tx, as_job).earlier
    due = current.steps_to_run(live, earlier, is_forced=starts_over)
    names = frozenset(each.name for each in due)
    if starts_over:
        return AttemptChain(due=names, has_begun=bool(earlier))
    kept = live[: len(live) - len(due)]
    made = None
    if kept and current.was_forced_since(tx, key, earlier[kept[0].step_id].run_id):
        return AttemptChain(due=frozenset(each.name for each in live), starts_over=True, has_begun=True)
    if kept:
        last = kept[-1].step_id
        made = steps.newest_entry(tx, earlier[last].run_id, last, _MADE)
    return AttemptChain(
        due=names,
        made={} if made is None else json.loads(made),
        attempts=current.attempts_of(tx, unfinished),
        has_begun=bool(earlier),
    )


def _halt(tx: Transaction, ref: JobRef, success: StepSuccess) -> None:
    steps.halt_step(tx, ref, success.step)
    if success.made:
        steps.write_log(tx, _run_id(ref), _MADE, json.dumps(success.made, sort_keys=True), step_name=success.step)


def last_succeeded(
    ref: JobRef,
    step: str | None,
    outputs: Sequence[FeedInstance],
    *,
    is_made_otherwise: bool = False,
    updates: JobUpdates | None = None,
) -> LedgerWrite:
    """The job is complete, and its outputs are there.

    Args:
        ref: the job.
        step: that succeeded last; None: all had before the job began.
        outputs: what it made.
        is_made_otherwise: a late workflow made it in the place of all steps.
        updates: which outputs changed, and what else was updated; None: all outputs are announced.

    The write raises `LeaseLost` when the run no longer holds its leases, and announces nothing.
    """

    def work(tx: Transaction) -> None:
        _require_lease(tx, ref)
        if step is not None:
            steps.halt_step(tx, ref, step)
        job_end.halt_job(tx, ref, outputs=outputs, is_made_otherwise=is_made_otherwise, updates=updates)

    return _write_of(work)


def succeeded(ref: JobRef, success: StepSuccess) -> LedgerWrite:
    """A step has succeeded, and no other begins in this run."""
    return _write_of(lambda tx: _halt(tx, ref, success))


def failed(ref: JobRef, step: str) -> LedgerWrite:
    """A step has failed."""
    return _write_of(lambda tx: steps.term_step(tx, ref, step))


def without_effect(ref: JobRef, step: str) -> LedgerWrite:
    """A step that has succeeded did nothing: its success does not count, so that the next run begins with it."""
    return _write_of(lambda tx: (steps.init_step(tx, ref, step), steps.term_step(tx, ref, step)))


def _write_of(work: Callable[[Transaction], object]) -> LedgerWrite:
    """The reference says for which run."""

    def write(tx: Transaction, run_id: int) -> None:
        del run_id
        try:
            work(tx)
        except InvalidInput as error:
            raise StepRefused(reason=str(error)) from error

    return write
