"""The calls as a Python API (BDRE, Metadata DB APIs)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from tests.contract.ledger_jobs.calls import NOON, ORIGIN, Calls, instance, ref
from tests.contract.ledger_jobs.pipelines import CLUSTER, feed, process, step
from tests.contract.ledger_jobs.plans import committed, executed
from toolkit.ledger.batches.rows import NewFile
from toolkit.ledger.jobs.errors import JobNotRunning, StepIsRunning
from toolkit.ledger.registry.registration import Site
from toolkit.ledger.vocabulary import RunStatus
from toolkit.runs.job_calls import RunMetadata


@pytest.fixture
def metadata(calls: Calls) -> RunMetadata:
    """The API, on a ledger that knows a pipeline."""
    calls.register(
        feed("a"),
        process("p", step("one", "a"), step("two", "a"), properties={"spark.cores": "2"}),
        process("q", step("main", "p")),
    )
    return RunMetadata(ledger=calls.ledger, origin=ORIGIN)


def new(path: str) -> NewFile:
    return NewFile(server="primary", path=path, size=10)


def test_a_workflow_from_its_file_to_its_downstream(metadata: RunMetadata) -> None:
    enqueued = metadata.enqueue(Site(name="a", cluster=CLUSTER), new("/in/1"), instance=instance("a"))
    started = metadata.init_job(ref("p"), max_batches=1)
    assert started.run.who == ORIGIN.who
    assert metadata.files_of_job(started.run.run_id) == (enqueued.file,)
    for name in started.steps_to_run:
        metadata.init_step(ref("p"), name, application_id="application_1")
        metadata.halt_step(ref("p"), name)
    made = metadata.register_file(new("/out/1"), batch_id=started.target_batch_id)
    line = metadata.write_log(started.run.run_id, "import", "1 row", step="one")
    assert metadata.read_log(started.run.run_id) == (line,)
    halted = metadata.halt_job(ref("p"), outputs=[instance("sums")])
    assert [each.process for each in halted.downstream] == ["q"]
    assert metadata.init_job(ref("q")).files == (made,)
    first, last = enqueued.batch_id, halted.batch_id
    assert metadata.get_files(first, last) == (enqueued.file, made)
    assert metadata.get_etl_driver(first, last).count(";") == 1
    assert [each.value for each in metadata.get_properties(Site(name="p", cluster=CLUSTER), "spark")] == ["2"]


def test_a_failure_and_the_newest_job(metadata: RunMetadata) -> None:
    with pytest.raises(JobNotRunning):
        metadata.newest_job(ref("p"))
    metadata.enqueue(Site(name="a", cluster=CLUSTER), new("/in/1"))
    metadata.init_job(ref("p"))
    metadata.init_step(ref("p"), "one")
    assert metadata.term_step(ref("p"), "one").status is RunStatus.FAILED
    failed = metadata.term_job(ref("p"), reason="disk full")
    assert metadata.newest_job(ref("p")) == failed


def test_the_end_of_a_step_and_the_begin_of_the_next_happen_together(metadata: RunMetadata) -> None:
    metadata.init_job(ref("p", NOON))
    metadata.init_step(ref("p", NOON), "one")
    with executed(metadata.ledger) as statements, metadata.transaction() as together:
        together.halt_step(ref("p", NOON), "one")
        begun = together.init_step(ref("p", NOON), "two")
    assert [each for each, _ in statements if each.startswith("BEGIN")] in ([], ["BEGIN IMMEDIATE"])
    assert begun.started_at >= metadata.newest_job(ref("p", NOON)).created_at
    metadata.halt_step(ref("p", NOON), "two")
    assert metadata.halt_job(ref("p", NOON)).run.status is RunStatus.SUCCEEDED


def test_an_error_undoes_all_that_was_to_happen_together(metadata: RunMetadata) -> None:
    metadata.init_job(ref("p", NOON))
    metadata.init_step(ref("p", NOON), "one")

    def twice() -> None:
        with metadata.transaction() as together:
            together.term_step(ref("p", NOON), "one")
            together.init_step(ref("p", NOON), "one")
            together.init_step(ref("p", NOON), "one")

    with pytest.raises(StepIsRunning):
        twice()
    assert metadata.halt_step(ref("p", NOON), "one").attempt == 1


@pytest.mark.usefixtures("commits_wait_for_disks")
def test_only_what_begins_and_ends_steps_does_not_wait_for_the_disk(metadata: RunMetadata) -> None:
    def lasting(call: Callable[[], object]) -> bool:
        with committed(metadata.ledger) as seen:
            call()
        return seen == [True]

    assert lasting(lambda: metadata.init_job(ref("p", NOON)))
    for name in ("one", "two"):
        assert not lasting(partial(metadata.init_step, ref("p", NOON), name))
        assert not lasting(partial(metadata.halt_step, ref("p", NOON), name))
    assert lasting(lambda: metadata.halt_job(ref("p", NOON)))
