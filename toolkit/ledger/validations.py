"""Validation results of data before it is published: each on exactly the validated files (ADR 0049)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from toolkit.errors import InvalidInput
from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.tables import run, verdict, verdict_finding
from toolkit.ledger.vocabulary import LifeCycle, ValidationState

PUBLISHABLE = (ValidationState.PASSED, ValidationState.WARNED, ValidationState.RELEASED)
"""States of data that may be published."""
UNDECIDED = (ValidationState.BLOCKED, ValidationState.UNKNOWN)
"""States on which a person may decide."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitAddress:
    """Address of data that is validated at once; the fields are columns of `verdict`."""

    feed: str
    cluster: str
    instance_key: str
    unit: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NewValidationResult:
    """A result to be recorded; the fields are columns of `verdict`, where each is explained."""

    run_id: int | None
    life_cycle: LifeCycle | None
    entity: str
    feed: str
    cluster: str
    instance_key: str
    unit: str
    counterpart: str
    data_digest: str
    layout_digest: str
    suites_digest: str
    suites: tuple[str, ...]
    state: ValidationState
    is_by_hand: bool
    rows: int | None
    files: int
    bytes: int
    place: str
    page: str | None
    engine: str | None
    seconds: float
    reason: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidationResult(NewValidationResult):
    """A result of the ledger."""

    verdict_id: int
    recorded_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    decision: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredFinding:
    """Result of one expectation; the fields are columns of `verdict_finding`, where each is explained."""

    suite: str
    position: int
    type: str
    column_name: str
    severity: str
    success: bool
    observed: str
    rows: int | None
    unexpected: int | None
    examples: tuple[str, ...]
    error: str
    kwargs: dict[str, Any]

    @property
    def is_left_out(self) -> bool:
        """True if the expectation was not evaluated, since it needs a number that no earlier instance gives."""
        return self.success and bool(self.error)


class CannotDecide(InvalidInput):
    """Error for a decision about a result that is decided already, or that is about other data.

    Args:
        unit: see `UnitAddress`.
        why: what stands against it.
    """

    code = "cannot_decide"

    def __init__(self, *, unit: str, why: str) -> None:
        self.unit, self.why = unit, why
        super().__init__(f"{unit}: {why}; nothing was changed")


def record(tx: Transaction, new: NewValidationResult, findings: Sequence[StoredFinding]) -> int:
    """Keep a result with all that was found, and return its number."""
    values = {**asdict(new), "suites": json.dumps(new.suites)}
    number = tx.insert(verdict, **values, recorded_at=tx.now())
    rows = [{**asdict(each), "verdict_id": number, **_packed(each)} for each in findings]
    if rows:
        tx.execute(sa.insert(verdict_finding), rows)
    return number


def on_data(tx: Transaction, address: UnitAddress, data_digest: str, suites_digest: str) -> ValidationResult | None:
    """The newest result on exactly this data by exactly these suites; what was validated by hand does not count."""
    exact = (verdict.c.data_digest == data_digest, verdict.c.suites_digest == suites_digest)
    return _newest(tx, *_of(address), *exact, ~verdict.c.is_by_hand)


def on_layout(tx: Transaction, address: UnitAddress, layout_digest: str, suites_digest: str) -> ValidationResult | None:
    """Do as `on_data` does, for data that were copied since, so that only names and sizes are the same."""
    exact = (verdict.c.layout_digest == layout_digest, verdict.c.suites_digest == suites_digest)
    return _newest(tx, *_of(address), *exact, ~verdict.c.is_by_hand)


def newest_of(
    tx: Transaction, feed: str, *, cluster: str | None = None, instance_key: str | None = None, most: int = 100
) -> list[ValidationResult]:
    """The newest result on each unit of a feed, newest instance first; by hand and not, each by itself.

    Args:
        tx: of the ledger.
        feed: name.
        cluster: only there; None: everywhere.
        instance_key: only this instance; None: all.
        most: so many at most.
    """
    wanted = [verdict.c.feed == feed]
    if cluster is not None:
        wanted.append(verdict.c.cluster == cluster)
    if instance_key is not None:
        wanted.append(verdict.c.instance_key == instance_key)
    of_unit = (verdict.c.cluster, verdict.c.instance_key, verdict.c.unit, verdict.c.is_by_hand)
    newest = sa.select(sa.func.max(verdict.c.verdict_id)).where(*wanted).group_by(*of_unit)
    order = (verdict.c.instance_key.desc(), verdict.c.cluster, verdict.c.unit, verdict.c.verdict_id.desc())
    found = tx.execute(sa.select(verdict).where(verdict.c.verdict_id.in_(newest)).order_by(*order).limit(most))
    return [_result(row) for row in found.mappings()]


def recent_results(tx: Transaction, most: int) -> list[ValidationResult]:
    """Return the newest results of all feeds, the newest first, those that wait for a decision before all others."""
    waits = sa.case((is_one_of(verdict.c.state, *UNDECIDED) & ~verdict.c.is_by_hand, 0), else_=1)
    found = tx.execute(sa.select(verdict).order_by(waits, verdict.c.verdict_id.desc()).limit(most))
    return [_result(row) for row in found.mappings()]


def findings_of(tx: Transaction, verdict_ids: Sequence[int]) -> dict[int, list[StoredFinding]]:
    """Return the results of expectations by result, suite and position."""
    found: dict[int, list[StoredFinding]] = {each: [] for each in verdict_ids}
    of = verdict_finding.c
    for chunk in in_chunks(verdict_ids):
        wanted = sa.select(verdict_finding).where(of.verdict_id.in_(chunk))
        for row in tx.execute(wanted.order_by(of.verdict_id, of.suite, of.position)).mappings():
            found[row["verdict_id"]].append(_finding(row))
    return found


def history(
    tx: Transaction, feed: str, expectation: str, *, cluster: str | None = None, most: int = 1000
) -> list[tuple[ValidationResult, StoredFinding]]:
    """Return the results of one type of expectation over a feed's instances, the newest result first.

    Args:
        tx: of the ledger.
        feed: name.
        expectation: its type, for example ``expect_column_mean_to_be_between``.
        cluster: only there; None: everywhere.
        most: so many at most.
    """
    of = verdict_finding.c
    wanted = [verdict.c.feed == feed, of.type == expectation]
    if cluster is not None:
        wanted.append(verdict.c.cluster == cluster)
    rows = sa.select(of.verdict_id, of.suite, of.position).join(verdict, verdict.c.verdict_id == of.verdict_id)
    order = (verdict.c.instance_key.desc(), of.verdict_id.desc(), of.suite, of.position)
    keys = [tuple(each) for each in tx.execute(rows.where(*wanted).order_by(*order).limit(most))]
    numbers = list(dict.fromkeys(number for number, _, _ in keys))
    results = {
        row["verdict_id"]: _result(row)
        for chunk in in_chunks(numbers)
        for row in tx.execute(sa.select(verdict).where(verdict.c.verdict_id.in_(chunk))).mappings()
    }
    known = {
        (number, each.suite, each.position): each
        for number, findings in findings_of(tx, numbers).items()
        for each in findings
    }
    return [(results[key[0]], known[key]) for key in keys]


def previous_rows(tx: Transaction, feed: str, cluster: str, instance_key: str) -> int | None:
    """The rows of the newest older instance that was published, all its units together; None: none is known."""
    of = verdict.c
    older = (of.feed == feed, of.cluster == cluster, of.instance_key < instance_key, ~of.is_by_hand)
    publishable = (is_one_of(of.state, *PUBLISHABLE), of.rows.is_not(None))
    key = tx.execute(sa.select(sa.func.max(of.instance_key)).where(*older, *publishable)).scalar_one()
    if key is None:
        return None
    newest = sa.select(sa.func.max(of.verdict_id)).where(
        of.feed == feed, of.cluster == cluster, of.instance_key == key, ~of.is_by_hand, *publishable
    )
    found = tx.execute(sa.select(sa.func.sum(of.rows)).where(of.verdict_id.in_(newest.group_by(of.unit)))).scalar_one()
    return None if found is None else int(found)


def decide(
    tx: Transaction, verdict_id: int, state: ValidationState, data_digest: str, *, who: str, reason: str
) -> None:
    """Release or reject what is blocked, or what could not be validated.

    Args:
        tx: of the ledger.
        verdict_id: the newest result on the data.
        state: `ValidationState.RELEASED` or `ValidationState.REJECTED`.
        data_digest: of the data as they lie there now.
        who: decides.
        reason: for it.

    Raises:
        CannotDecide: the result is about other data, is not the newest, or was decided.
    """
    found = tx.row(_Decided, tx.locked(_with_number(verdict_id)))
    why = _against(tx, found, data_digest)
    if why:
        raise CannotDecide(unit=f"validation result {verdict_id}" if found is None else found.unit, why=why)
    values = {"state": state, "decision": reason, "decided_by": who, "decided_at": tx.now()}
    tx.execute(sa.update(verdict).where(verdict.c.verdict_id == verdict_id).values(**values))


def why_not(tx: Transaction, verdict_id: int, data_digest: str) -> str:
    """Return what stands against a decision, or an empty text; arguments as of `decide`."""
    return _against(tx, tx.row(_Decided, _with_number(verdict_id)), data_digest)


def state_of(tx: Transaction, verdict_id: int) -> ValidationState | None:
    """Return the state of a result, or None if there is none of that number."""
    found = tx.row(_Decided, _with_number(verdict_id))
    return None if found is None else found.state


def run_instance(tx: Transaction, run_id: int) -> str | None:
    """The instance key, or nominal time, of the run that wrote some data; None: unknown."""
    found: str | None = tx.execute(sa.select(run.c.instance_key).where(run.c.run_id == run_id)).scalar_one_or_none()
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class _Decided(UnitAddress):
    """Subject of a decision."""

    verdict_id: int
    state: ValidationState
    data_digest: str
    is_by_hand: bool


_DECIDED = [verdict.c[each.name] for each in fields(_Decided)]


def _with_number(verdict_id: int) -> sa.Select[tuple[Any, ...]]:
    return sa.select(*_DECIDED).where(verdict.c.verdict_id == verdict_id)


def _against(tx: Transaction, found: _Decided | None, data_digest: str) -> str:
    """Return the reason against a decision; empty: there is none."""
    if found is None:
        return "there is no such validation result"
    newest = _newest(tx, *_of(found), ~verdict.c.is_by_hand)
    if found.is_by_hand:
        return f"validation result {found.verdict_id} was made by hand, and nothing is published because of one"
    if newest is not None and newest.verdict_id != found.verdict_id:
        return f"validation result {newest.verdict_id} ({newest.state}) is newer than {found.verdict_id}"
    if found.state not in UNDECIDED:
        return f"the data are {found.state}, and only what is blocked or unknown can be released or rejected"
    if found.data_digest != data_digest:
        return "the data have changed since they were validated; run the action again, which validates them anew"
    return ""


def _newest(tx: Transaction, *where: sa.ColumnElement[bool]) -> ValidationResult | None:
    found = tx.execute(sa.select(verdict).where(*where).order_by(verdict.c.verdict_id.desc()).limit(1)).mappings()
    row = found.first()
    return None if row is None else _result(row)


def _of(address: UnitAddress) -> list[sa.ColumnElement[bool]]:
    return [verdict.c[each.name] == getattr(address, each.name) for each in fields(UnitAddress)]


def _packed(found: StoredFinding) -> dict[str, str]:
    return {"examples": json.dumps(found.examples), "kwargs": json.dumps(found.kwargs, sort_keys=True)}


def _result(row: sa.RowMapping) -> ValidationResult:
    return ValidationResult(**{**row, "suites": tuple(json.loads(row["suites"]))})


def _finding(row: sa.RowMapping) -> StoredFinding:
    values = {each.name: row[each.name] for each in fields(StoredFinding)}
    unpacked = {"examples": tuple(json.loads(values["examples"])), "kwargs": json.loads(values["kwargs"])}
    return StoredFinding(**values | unpacked)
