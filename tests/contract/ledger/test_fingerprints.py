"""Tests of what runs of processes read, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.contract.ledger.samples import begun, changed, key
from toolkit.ledger import fingerprints
from toolkit.ledger.database import Ledger
from toolkit.ledger.fingerprints import Fingerprint, ListedFile, ReadInput
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import LifeCycle, RunStatus

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


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


def test_a_run_that_goes_on_in_the_middle_keeps_what_the_one_before_it_had_read(ledger: Ledger) -> None:
    first = worked(ledger, RunStatus.FAILED, read("a"), read("u", name="users"))
    again = run(ledger)
    reads(ledger, again, read("a", "late"))
    ledger.write(lambda tx: fingerprints.keep(tx, again.run_id, first.run_id))
    found = ledger.read(lambda tx: fingerprints.of_runs(tx, [again.run_id]))
    assert found == {again.run_id: [read("a", "late"), read("u", name="users")]}
