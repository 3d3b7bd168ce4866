"""Validation results: as JSON, and as rows and lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from toolkit.ledger.errors import moment
from toolkit.ledger.validations import PUBLISHABLE, UNDECIDED, ValidationResult
from toolkit.ledger.vocabulary import ValidationState
from toolkit.quality.messages import phrase
from toolkit.rendering.action_result import Document
from toolkit.rendering.columns import Columns, ResultColumn
from toolkit.result import ExitCode

if TYPE_CHECKING:
    from toolkit.ledger.validations import NewValidationResult, StoredFinding
    from toolkit.quality.documents import Question

COLUMNS = ("instance", "cluster", "state", "validated", "rows", "suites", "not as expected", "by")
HISTORY_COLUMNS = ("instance", "cluster", "suite", "column", "holds", "observed", "unexpected", "rows", "state")


def validation_document(found: NewValidationResult, findings: Sequence[StoredFinding] = ()) -> Document:
    """Return a validation result with its findings, and of one of the ledger with the decision of a person."""
    return {
        **({"verdict": found.verdict_id} if isinstance(found, ValidationResult) else {}),
        **_RESULT.document(found),
        "findings": _FINDING.documents(findings),
        **(_DECISION.document(found) if isinstance(found, ValidationResult) else {}),
    }


_FINDING: Columns[StoredFinding] = Columns(
    *("suite", "position", "type", "column=column_name?", "severity", "success", "observed?", "rows", "unexpected"),
    *("examples", "error?", "kwargs"),
)


def question_document(question: Question, notes: Sequence[str]) -> Document:
    """Return the request that the validation process would get."""
    return {
        "parts": [{"uri": each.uri, "keys": dict(each.keys)} for each in question.parts],
        "format": question.format,
        "sample": question.sample,
        "expectations": [
            {"suite": each.suite, "type": each.type, "severity": each.severity, "kwargs": dict(each.kwargs)}
            for each in question.expectations
        ],
        "notes": list(notes),
    }


def question_lines(question: Question, notes: Sequence[str]) -> Iterator[str]:
    """Yield the request that the validation process would get, for people."""
    yield from (f"{question.format} at {each.uri}" for each in question.parts)
    for each in question.expectations:
        yield f"  {each.suite}: {each.type} [{each.severity}] {json.dumps(dict(each.kwargs), default=str)}"
    yield from notes


def validation_exit(found: NewValidationResult, findings: Sequence[StoredFinding]) -> ExitCode:
    """0: what is critical holds; 1: it does not, also where the feed only warns, or it is unknown."""
    fails = any(not each.success and each.severity == "critical" for each in findings)
    is_good = found.state in {ValidationState.PASSED, ValidationState.WARNED} and not fails
    return ExitCode.DONE if is_good else ExitCode.FAILED


_IN_HISTORY: Columns[ValidationResult] = Columns(
    *("instance=instance_key", "cluster", "unit", "state", "by_hand=is_by_hand", "recorded_at")
)


def history_document(found: Sequence[tuple[ValidationResult, StoredFinding]]) -> list[Document]:
    """Return an expectation over the instances, the newest first."""
    return [{**_IN_HISTORY.document(result), **_FINDING.document(finding)} for result, finding in found]


def validation_rows(
    found: Sequence[ValidationResult], findings: Mapping[int, Sequence[StoredFinding]]
) -> Iterator[tuple[str, ...]]:
    """Return a row for each validation result; the columns are `COLUMNS`."""
    for each in found:
        of_it = findings[each.verdict_id]
        failed = sum(not one.success for one in of_it)
        yield (
            each.instance_key,
            each.cluster,
            f"{each.state.value} (by hand)" if each.is_by_hand else each.state.value,
            moment(each.recorded_at),
            _number(each.rows),
            ", ".join(each.suites),
            f"{failed} of {len(of_it)}" if of_it else "",
            each.decided_by or "",
        )


def validation_lines(found: ValidationResult, findings: Sequence[StoredFinding]) -> Iterator[str]:
    """Yield the whole validation result, for people."""
    yield f"{found.unit} on {found.cluster}"
    yield from _lines(found, findings)
    if found.decided_by is not None:
        yield f"  {found.state.value} by {found.decided_by}: {found.decision}"


def made_lines(found: NewValidationResult, findings: Sequence[StoredFinding], notes: Sequence[str]) -> Iterator[str]:
    """Yield a validation result that was just made, for people."""
    yield f"{found.unit} on {found.cluster}"
    yield from _lines(found, findings)
    yield from (f"  {each}" for each in notes)


def history_rows(found: Sequence[tuple[ValidationResult, StoredFinding]]) -> Iterator[tuple[str, ...]]:
    """A row for each instance; the columns are `HISTORY_COLUMNS`."""
    for result, finding in found:
        yield (
            result.instance_key,
            result.cluster,
            finding.suite,
            finding.column_name,
            "-" if finding.is_left_out else "yes" if finding.success else "no",
            finding.error or finding.observed,
            _number(finding.unexpected),
            _number(finding.rows),
            result.state.value,
        )


def _lines(found: NewValidationResult, findings: Sequence[StoredFinding]) -> Iterator[str]:
    by_hand = " (by hand: nothing is announced because of it)" if found.is_by_hand else ""
    yield f"  {found.instance_key}: {found.state.value}{by_hand}"
    if found.reason and not findings:
        yield f"  {found.reason}"
    for each in findings:
        state = "left out" if each.is_left_out else "holds" if each.success else "FAILS"
        yield f"  {state}  {phrase(each)}"
        if each.examples:
            yield f"         for example {', '.join(each.examples)}"
    rows = "" if found.rows is None else f", {found.rows} rows"
    yield f"  {found.files} files, {found.bytes} bytes{rows}; data {found.data_digest[:12]}"
    yield from (f"  {each}" for each in _where(found))
    if found.page:
        yield f"  page: {found.page}"


def _places(found: NewValidationResult) -> list[str]:
    return found.place.split("\n")


def _is_there(found: NewValidationResult) -> bool:
    """Return whether the data is where it was validated: it is blocked, or was validated in its final place."""
    return found.is_by_hand or found.state in UNDECIDED or (found.state in PUBLISHABLE and found.place == found.unit)


_RESULT: Columns[NewValidationResult] = Columns(
    *("feed", "cluster", "instance=instance_key", "unit", "state", "by_hand=is_by_hand", "suites", "reason", "rows"),
    *("files", "bytes"),
    ResultColumn("place", lambda found: _places(found) if _is_there(found) else []),
    ResultColumn("judged_at", _places),
    *("data_digest", "suites_digest", "page", "engine", "seconds", "run=run_id"),
)
_DECISION: Columns[ValidationResult] = Columns("recorded_at", "decided_by", "decided_at", "decision")


def _where(found: NewValidationResult) -> Iterator[str]:
    """Return the place of the data after its state; only the store could tell what a killed run has left."""
    for each in _places(found):
        if found.state is ValidationState.REJECTED:
            yield f"removed from {each}"
        elif found.is_by_hand or each == found.unit:
            yield f"lies at {each}"
        elif found.state is ValidationState.BLOCKED:
            yield f"waits at {each}"
        elif found.state is ValidationState.UNKNOWN:
            yield f"waits at {each}; with on_failure: warn it is published as {found.unit}"
        else:
            yield f"validated at {each}, published as {found.unit}"


def _number(value: int | None) -> str:
    return "" if value is None else str(value)
