"""What runs of processes read, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.contract.ledger.samples import begun, changed, key
from tests.contract.ledger_jobs.plans import executed, scans
from toolkit.ledger import fingerprints
from toolkit.ledger.database import Ledger
from toolkit.ledger.fingerprints import Fingerprint, ListedFile, ReadInput
from toolkit.ledger.runs.finding import Span, Subject
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import LifeCycle, RunStatus

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = Span(
    subject=Subject(entity="p", life_cycle=LifeCycle.EXECUTION, cluster="primary"),
    start_key="2026-03-01T00:00Z",
    end_key="2026-03-02T00:00Z",
)


def read(*names: str, name: str = "clicks", instance: str = "2026-03-01T11:00Z") -> ReadInput:
    files = [ListedFile(name=each, size=1, modified=NOON) for each in names]
    return ReadInput(
        input=name,
        feed="clicks",
        cluster="primary",
        instance_key=instance,
        uri="hdfs://ns1/clicks/11",
        looked_at=NOON,
        fingerprint=Fingerprint.of(files),
    )


def run(ledger: Ledger, instance: str = "2026-03-01T12:00Z", entity: str = "p") -> Run:
    return begun(ledger, key(instance, entity=entity, life_cycle=LifeCycle.EXECUTION))


def reads(ledger: Ledger, owner: Run, *inputs: ReadInput) -> None:
    ledger.write(lambda tx: fingerprints.write(tx, owner.run_id, inputs))


def worked(ledger: Ledger, to: RunStatus, *inputs: ReadInput, instance: str = "2026-03-01T12:00Z") -> Run:
    owner = run(ledger, instance)
    reads(ledger, owner, *inputs)
    return changed(ledger, owner, to)


def test_what_a_run_read_comes_back_as_it_was(ledger: Ledger) -> None:
    owner, nothing = run(ledger), run(ledger, entity="q")
    given = [read("a", "b"), read(instance="2026-03-01T12:00Z"), read("c", name="users")]
    reads(ledger, owner, *given[::-1])
    found = ledger.read(lambda tx: fingerprints.of_runs(tx, [owner.run_id, nothing.run_id]))
    assert found == {owner.run_id: given}


def test_what_counts_is_what_the_last_success_of_each_instance_read(ledger: Ledger) -> None:
    worked(ledger, RunStatus.SUCCEEDED, read("a"))
    worked(ledger, RunStatus.SUCCEEDED, read("a", "b"))
    worked(ledger, RunStatus.FAILED, read("a", "b", "c"))
    worked(ledger, RunStatus.SUCCEEDED, read("d"), instance="2026-03-01T13:00Z")
    worked(ledger, RunStatus.SUCCEEDED, read("e"), instance="2026-03-02T00:00Z")
    worked(ledger, RunStatus.FAILED, read("f"), instance="2026-03-01T14:00Z")
    with executed(ledger) as statements:
        found = ledger.read(lambda tx: fingerprints.last_read(tx, DAY))
    assert found == {"2026-03-01T12:00Z": [read("a", "b")], "2026-03-01T13:00Z": [read("d")]}
    assert scans(ledger, statements) == []


def test_a_run_that_goes_on_in_the_middle_keeps_what_the_one_before_it_had_read(ledger: Ledger) -> None:
    first = worked(ledger, RunStatus.FAILED, read("a"), read("u", name="users"))
    again = run(ledger)
    reads(ledger, again, read("a", "late"))
    ledger.write(lambda tx: fingerprints.keep(tx, again.run_id, first.run_id))
    found = ledger.read(lambda tx: fingerprints.of_runs(tx, [again.run_id]))
    assert found == {again.run_id: [read("a", "late"), read("u", name="users")]}
