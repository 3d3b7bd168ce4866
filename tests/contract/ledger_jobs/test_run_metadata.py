"""The calls as a Python API (BDRE, Metadata DB APIs)."""

from __future__ import annotations

import pytest

from tests.contract.ledger_jobs.calls import ORIGIN, Calls, instance, ref
from tests.contract.ledger_jobs.pipelines import CLUSTER, feed, process, step
from toolkit.ledger.batches.rows import NewFile
from toolkit.ledger.jobs.errors import JobNotRunning
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
