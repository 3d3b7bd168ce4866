"""A run that was started with its leases becomes the job of its instance, and ends with what its job did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from tests.contract.ledger_jobs.calls import NOON, ONE, ORIGIN, Calls, instance, ref
from tests.contract.ledger_jobs.pipelines import feed, process, step
from toolkit.errors import FeedctlError
from toolkit.ledger import events
from toolkit.ledger.database import Transaction
from toolkit.ledger.jobs import job_end, job_start, steps
from toolkit.ledger.jobs.errors import JobIsSuspended, JobNotRunning, StepIsRunning, UnreadFeed
from toolkit.ledger.jobs.rows import JobRef, StartedJob, key_of
from toolkit.ledger.registry.registration import UnknownProcess
from toolkit.ledger.runs import attempts, leases, queries, status
from toolkit.ledger.runs.errors import UnknownRun
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.vocabulary import JobMode, LifeCycle, RunStatus
from toolkit.runs.errors import LeaseExpired
from toolkit.runs.ledger_recorder import LedgerRecorder
from toolkit.runs.recorder import RecordBatch, RecordedRun, RunOutcome

FAILED = RunOutcome(status=RunStatus.FAILED, reason="a step failed", exit_code=4)
SUCCEEDED = RunOutcome(status=RunStatus.SUCCEEDED, exit_code=0)


@dataclass(frozen=True)
class Runner:
    """Runs an instance of `p` as the kernel does: with a lease, and all of the job in the transactions of the run."""

    calls: Calls

    @property
    def recorder(self) -> LedgerRecorder:
        return LedgerRecorder(ledger=self.calls.ledger)

    def start(self, key: str = NOON) -> RecordedRun:
        of = key_of(ref("p").site, key)
        wanted = (Wanted(resource=f"run/p/primary/{key}"),)
        return self.recorder.start(StartRequest(key=of, origin=ORIGIN, leases=wanted, lease_seconds=60))

    def adopt(self, run: RecordedRun, *feeds: str, is_forced: bool = False) -> StartedJob:
        inputs = [instance(each) for each in feeds]
        return self.calls.ledger.write(lambda tx: job_start.adopt(tx, number(run), inputs, is_forced=is_forced))

    def write(self, run: RecordedRun, *writes: Callable[[Transaction, JobRef], object]) -> None:
        """These calls of the job, in the transaction that records what the run did."""
        exact = replace(ref("p", run.key.instance_key), run_id=run.run_id)

        def all_of_them(tx: Transaction, run_id: int) -> None:
            assert run_id == run.run_id
            for each in writes:
                each(tx, exact)

        self.recorder.record(run, RecordBatch(writes=[all_of_them]))

    def row(self, run: RecordedRun) -> Run:
        return self.calls.ledger.read(lambda tx: queries.get(tx, number(run)))


def number(run: RecordedRun) -> int:
    assert run.run_id is not None
    return run.run_id


def begin(name: str) -> Callable[[Transaction, JobRef], object]:
    return lambda tx, job: steps.init_step(tx, job, name)


def done(name: str) -> Callable[[Transaction, JobRef], object]:
    return lambda tx, job: steps.halt_step(tx, job, name)


def broken(name: str) -> Callable[[Transaction, JobRef], object]:
    return lambda tx, job: steps.term_step(tx, job, name)


def publish(tx: Transaction, job: JobRef) -> None:
    job_end.halt_job(tx, job, outputs=[instance("out")])


@pytest.fixture
def runner(calls: Calls) -> Runner:
    calls.register(feed("a"), process("p", step("load", "a"), step("tidy")), process("q", step("main", "p")))
    return Runner(calls)


def test_a_run_becomes_what_init_job_would_have_begun(runner: Runner) -> None:
    source = runner.calls.enqueue("a", of=instance("a")).batch_id
    run = runner.start()
    adopted = runner.adopt(run, "a")
    begun = runner.calls.init("p", ONE, inputs=[instance("a")])
    assert [each.batch_id for each in adopted.steps[0].batches] == [source]
    assert (adopted.run.run_id, adopted.run.mode) == (run.run_id, JobMode.INSTANCE)
    assert [replace(each, batches=()) for each in adopted.steps] == [replace(each, batches=()) for each in begun.steps]
    assert (adopted.files, adopted.is_rerun) == (begun.files, False)


def test_the_end_of_a_job_is_the_end_of_its_run_and_finish_leaves_it(runner: Runner) -> None:
    run = runner.start()
    made = runner.adopt(run).target_batch_id
    runner.write(run, begin("load"))
    runner.write(run, done("load"), begin("tidy"))
    runner.write(run, done("tidy"), publish)
    runner.recorder.finish(run, SUCCEEDED)
    assert runner.row(run).status is RunStatus.SUCCEEDED
    assert not runner.calls.ledger.read(lambda tx: leases.is_owned(tx, number(run)))
    assert [(each.step, each.source) for each in runner.calls.queue()] == [("main", made)]
    (event,) = runner.calls.ledger.read(lambda tx: events.after(tx, 0))
    assert (event.feed, event.run_id) == ("out", run.run_id)


def test_a_run_that_fails_leaves_its_batch_to_the_next_which_goes_on_at_the_step_that_failed(runner: Runner) -> None:
    runner.calls.enqueue("a", of=instance("a"))
    first = runner.start()
    target = runner.adopt(first, "a").target_batch_id
    runner.write(first, begin("load"), done("load"), begin("tidy"), broken("tidy"))
    runner.recorder.finish(first, FAILED)
    again = runner.adopt(runner.start(), "a")
    assert (again.run.attempt, again.target_batch_id, again.is_rerun) == (2, target, True)
    assert again.steps_to_run == ("tidy",)
    assert len(again.steps[0].batches) == 1


def test_a_step_that_runs_ends_with_the_run(runner: Runner) -> None:
    first = runner.start()
    runner.adopt(first)
    runner.write(first, begin("load"))
    runner.recorder.finish(first, FAILED)
    assert runner.adopt(runner.start()).steps_to_run == ("load", "tidy")


def test_whoever_forces_a_run_starts_it_over(runner: Runner) -> None:
    first = runner.start()
    runner.adopt(first)
    runner.write(first, begin("load"), done("load"))
    runner.recorder.finish(first, FAILED)
    forced = runner.adopt(runner.start(), is_forced=True)
    assert (forced.steps_to_run, forced.run.is_forced) == (("load", "tidy"), True)


def test_an_ordered_rerun_of_what_succeeded_makes_a_new_batch(runner: Runner) -> None:
    done = runner.calls.work("p", NOON)
    ordered = runner.calls.order_again(done.run)
    run = runner.start()
    assert run.run_id == ordered.run_id
    adopted = runner.adopt(run)
    assert (adopted.target_batch_id > done.batch_id, adopted.steps_to_run) == (True, ("load", "tidy"))


def test_who_was_taken_for_dead_ends_nothing_of_the_run_that_follows(runner: Runner) -> None:
    dead = runner.start()
    runner.adopt(dead)
    runner.write(dead, begin("load"))
    runner.calls.ledger.write(lambda tx: status.change(tx, number(dead), RunStatus.KILLED, reason="its lease expired"))
    living = runner.start()
    runner.adopt(living)
    runner.write(living, begin("load"))
    before = runner.calls.everything()
    for late in (done("load"), broken("load"), begin("tidy"), publish):
        with pytest.raises(LeaseExpired, match=f"run {dead.run_id} .* is killed"):
            runner.write(dead, late)
    assert runner.calls.everything() == before


def test_what_a_workflow_for_late_data_made_is_published_although_no_step_ran(runner: Runner) -> None:
    run = runner.start()
    made = runner.adopt(run).target_batch_id
    runner.write(run, lambda tx, job: job_end.halt_job(tx, job, is_made_otherwise=True))
    assert runner.row(run).status is RunStatus.SUCCEEDED
    assert [(each.step, each.source) for each in runner.calls.queue()] == [("main", made)]


def test_a_step_that_runs_is_waited_for_whatever_made_the_batch(runner: Runner) -> None:
    run = runner.start()
    runner.adopt(run)
    runner.write(run, begin("load"))
    with pytest.raises(StepIsRunning):
        runner.write(run, lambda tx, job: job_end.halt_job(tx, job, is_made_otherwise=True))


def _other_action(tx: Transaction) -> Run:
    key = RunKey(life_cycle=LifeCycle.EVICTION, entity="p", cluster="primary", instance_key=NOON)
    return attempts.begin(tx, key, ORIGIN)


def _of(name: str) -> Callable[[Transaction], Run]:
    return lambda tx: attempts.begin(tx, key_of(replace(ref("p").site, name=name), NOON), ORIGIN)


def _in(to: RunStatus) -> Callable[[Transaction], Run]:
    return lambda tx: status.change(tx, _of("p")(tx).run_id, to)


REFUSED: dict[str, tuple[type[FeedctlError], Callable[[Transaction], Run]]] = {
    "another action": (JobNotRunning, _other_action),
    "a process that is not registered": (UnknownProcess, _of("x")),
    "a run that is over": (JobNotRunning, _in(RunStatus.FAILED)),
    "a run that is suspended": (JobIsSuspended, _in(RunStatus.SUSPENDED)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_running_instance_of_a_process_is_no_job(runner: Runner, case: str) -> None:
    error, prepare = REFUSED[case]
    run_id = runner.calls.ledger.write(prepare).run_id
    before = runner.calls.everything()
    with pytest.raises(error):
        runner.calls.ledger.write(lambda tx: job_start.adopt(tx, run_id))
    assert runner.calls.everything() == before


def test_an_unknown_run_and_a_feed_that_no_step_reads_are_refused(runner: Runner) -> None:
    with pytest.raises(UnknownRun):
        runner.calls.ledger.write(lambda tx: job_start.adopt(tx, 99))
    with pytest.raises(UnreadFeed):
        runner.adopt(runner.start(), "out")
