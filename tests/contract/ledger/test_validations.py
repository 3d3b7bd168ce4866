"""Verdicts on data, on both databases: whose they are, what a person may decide, and what is remembered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.contract.ledger.samples import begun, key
from tests.contract.ledger_jobs.plans import executed, scans
from toolkit.ledger import validations
from toolkit.ledger.database import Ledger
from toolkit.ledger.validations import CannotDecide, NewValidationResult, StoredFinding, UnitAddress, ValidationResult
from toolkit.ledger.vocabulary import LifeCycle, ValidationState

NOON, ONE = "2026-03-01T12:00Z", "2026-03-01T13:00Z"
UNIT = UnitAddress(feed="clicks", cluster="primary", instance_key=NOON, unit="hdfs://ns1/clicks/12")
BLOCKED = NewValidationResult(
    run_id=None,
    life_cycle=LifeCycle.EXECUTION,
    entity="p",
    feed="clicks",
    cluster="primary",
    instance_key=NOON,
    unit=UNIT.unit,
    counterpart="",
    data_digest="d1",
    layout_digest="l1",
    suites_digest="s1",
    suites=("clicks", "shape"),
    state=ValidationState.BLOCKED,
    is_by_hand=False,
    rows=10,
    files=2,
    bytes=100,
    place="hdfs://ns1/clicks/.feedctl-staging/12",
    page=None,
    engine="gx",
    seconds=1.5,
    reason="user_id",
)
FOUND = StoredFinding(
    suite="clicks",
    position=0,
    type="expect_column_values_to_not_be_null",
    column_name="user_id",
    severity="critical",
    success=False,
    observed="0.1",
    rows=10,
    unexpected=1,
    examples=("null",),
    error="",
    kwargs={"column": "user_id", "mostly": 0.99},
)


def recorded(ledger: Ledger, new: NewValidationResult = BLOCKED, *findings: StoredFinding) -> int:
    return ledger.write(lambda tx: validations.record(tx, new, findings))


def on_data(ledger: Ledger, data: str = "d1", suites: str = "s1") -> ValidationResult | None:
    return ledger.read(lambda tx: validations.on_data(tx, UNIT, data, suites))


def decide(ledger: Ledger, number: int, state: ValidationState, data: str = "d1") -> None:
    ledger.write(lambda tx: validations.decide(tx, number, state, data, who="ann", reason="known bug"))


def test_a_verdict_comes_back_with_what_was_found(ledger: Ledger) -> None:
    run = begun(ledger, key(NOON, entity="p", life_cycle=LifeCycle.EXECUTION))
    new = replace(BLOCKED, run_id=run.run_id)
    number = recorded(ledger, new, FOUND, replace(FOUND, position=1, success=True))
    found = on_data(ledger)
    assert found is not None
    assert {name: getattr(found, name) for name in NewValidationResult.__dataclass_fields__} == {
        name: getattr(new, name) for name in NewValidationResult.__dataclass_fields__
    }
    assert ledger.read(lambda tx: validations.findings_of(tx, [number])) == {
        number: [FOUND, replace(FOUND, position=1, success=True)]
    }
    assert ledger.read(lambda tx: validations.run_instance(tx, run.run_id)) == NOON


def test_only_the_same_data_and_the_same_suites_have_the_verdict(ledger: Ledger) -> None:
    recorded(ledger)
    assert on_data(ledger, data="d2") is None
    assert on_data(ledger, suites="s2") is None
    assert ledger.read(lambda tx: validations.on_data(tx, replace(UNIT, unit="hdfs://ns1/other"), "d1", "s1")) is None
    by_layout = ledger.read(lambda tx: validations.on_layout(tx, UNIT, "l1", "s1"))
    assert by_layout is not None
    assert by_layout.state is ValidationState.BLOCKED


def test_the_newest_verdict_counts_and_none_by_hand(ledger: Ledger) -> None:
    recorded(ledger)
    second = recorded(ledger, replace(BLOCKED, state=ValidationState.WARNED))
    recorded(ledger, replace(BLOCKED, state=ValidationState.PASSED, is_by_hand=True))
    found = on_data(ledger)
    assert found is not None
    assert (found.verdict_id, found.state) == (second, ValidationState.WARNED)


@pytest.mark.parametrize("state", [ValidationState.RELEASED, ValidationState.REJECTED])
def test_a_person_decides_once_with_a_reason_and_for_exactly_this_data(ledger: Ledger, state: ValidationState) -> None:
    number = recorded(ledger)
    with pytest.raises(CannotDecide, match="have changed since"):
        decide(ledger, number, state, data="d2")
    decide(ledger, number, state)
    found = on_data(ledger)
    assert found is not None
    assert (found.state, found.decided_by, found.decision, found.reason) == (state, "ann", "known bug", "user_id")
    assert found.decided_at is not None
    with pytest.raises(CannotDecide, match=f"the data are {state}"):
        decide(ledger, number, ValidationState.RELEASED)


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (replace(BLOCKED, state=ValidationState.PASSED), "the data are passed"),
        (replace(BLOCKED, is_by_hand=True), "made by hand"),
    ],
)
def test_what_is_not_blocked_cannot_be_decided(ledger: Ledger, new: NewValidationResult, why: str) -> None:
    number = recorded(ledger, new)
    with pytest.raises(CannotDecide, match=why):
        decide(ledger, number, ValidationState.RELEASED)


def test_a_verdict_that_a_newer_one_has_replaced_cannot_be_decided(ledger: Ledger) -> None:
    first = recorded(ledger)
    recorded(ledger, replace(BLOCKED, data_digest="d2"))
    with pytest.raises(CannotDecide, match="is newer than"):
        decide(ledger, first, ValidationState.RELEASED)
    with pytest.raises(CannotDecide, match="no such validation result"):
        decide(ledger, 77, ValidationState.RELEASED)


def test_the_newest_of_each_unit_is_shown_newest_instance_first(ledger: Ledger) -> None:
    recorded(ledger)
    again = recorded(ledger, replace(BLOCKED, data_digest="d2"))
    later = recorded(ledger, replace(BLOCKED, instance_key=ONE))
    by_hand = recorded(ledger, replace(BLOCKED, is_by_hand=True))

    def newest(cluster: str | None = None, instance_key: str | None = None) -> list[int]:
        found = ledger.read(lambda tx: validations.newest_of(tx, "clicks", cluster=cluster, instance_key=instance_key))
        return [each.verdict_id for each in found]

    assert newest() == [later, by_hand, again]
    assert newest(instance_key=ONE) == [later]
    assert newest(cluster="backup") == []


def test_the_history_of_an_expectation_goes_over_the_instances(ledger: Ledger) -> None:
    first = recorded(ledger, BLOCKED, FOUND, replace(FOUND, position=1, type="expect_other"))
    second = recorded(ledger, replace(BLOCKED, instance_key=ONE), replace(FOUND, success=True))
    found = ledger.read(lambda tx: validations.history(tx, "clicks", FOUND.type))
    assert [(each.verdict_id, finding.success) for each, finding in found] == [(second, True), (first, False)]


def test_the_rows_of_the_newest_older_instance_that_was_admitted_are_known(ledger: Ledger) -> None:
    def previous(instance: str) -> int | None:
        return ledger.read(lambda tx: validations.previous_rows(tx, "clicks", "primary", instance))

    recorded(ledger, replace(BLOCKED, state=ValidationState.PASSED, rows=5))
    recorded(ledger, replace(BLOCKED, state=ValidationState.PASSED, rows=7))
    recorded(ledger, replace(BLOCKED, state=ValidationState.WARNED, rows=3, unit="another"))
    recorded(ledger, replace(BLOCKED, instance_key=ONE))
    recorded(ledger, replace(BLOCKED, instance_key=ONE, state=ValidationState.PASSED, is_by_hand=True))
    assert previous(NOON) is None
    assert previous(ONE) == 10
    assert previous("2026-03-01T14:00Z") == 10


def test_a_verdict_is_found_without_reading_all_of_them(ledger: Ledger) -> None:
    recorded(ledger)
    with executed(ledger) as statements:
        on_data(ledger)
        ledger.read(lambda tx: validations.previous_rows(tx, "clicks", "primary", ONE))
    assert scans(ledger, statements) == []
