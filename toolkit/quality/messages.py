"""Validation results in words: for the ledger, for messages, and for people who look at both."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolkit.ledger.validations import StoredFinding
from toolkit.quality.documents import ExpectationResult
from toolkit.quality.substitution import LeftOut
from toolkit.runs.recorder import message_text

_NAMED = 3
"""So many expectations are named in a message; the page and the ledger have them all."""


def stored(found: ExpectationResult) -> StoredFinding:
    """A finding as the ledger keeps it."""
    return StoredFinding(
        suite=found.suite,
        position=found.position,
        type=found.type,
        column_name=message_text(found.column),
        severity=found.severity,
        success=found.success and not found.error,
        observed=message_text(found.observed),
        rows=found.rows,
        unexpected=found.unexpected,
        examples=tuple(map(message_text, found.values)),
        error=message_text(found.error),
        kwargs=kwargs_stored(found.kwargs),
    )


def stored_left_out(left_out: LeftOut) -> StoredFinding:
    """Return the finding of an expectation that was not asked; it blocks nothing."""
    requested = left_out.expectation
    return StoredFinding(
        suite=requested.suite,
        position=requested.position,
        type=requested.type,
        column_name=message_text(str(requested.kwargs.get("column", ""))),
        severity=requested.severity,
        success=True,
        observed="",
        rows=None,
        unexpected=None,
        examples=(),
        error=message_text(f"left out: {left_out.why}"),
        kwargs=kwargs_stored(requested.kwargs),
    )


def kwargs_stored(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as the ledger keeps them."""
    stored: dict[str, Any] = json.loads(json.dumps(dict(kwargs), default=str))
    return stored


def why_of(findings: Sequence[StoredFinding]) -> str:
    """Return which expectations do not hold, in one line without values; empty: all do."""
    failed = [each for each in findings if not each.success]
    if not failed:
        return ""
    worst = sorted(failed, key=lambda each: each.severity != "critical")
    named = "; ".join(map(phrase, worst[:_NAMED]))
    more = f"; and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
    requested = sum(not each.is_left_out for each in findings)
    return f"{len(failed)} of {requested} expectations do not hold: {named}{more}"


def phrase(found: StoredFinding) -> str:
    """An expectation, and how it failed."""
    about = f"({found.column_name})" if found.column_name else ""
    head = f"{found.suite}: {found.type}{about}"
    if found.severity != "critical":
        head += f" [{found.severity}]"
    if found.is_left_out:
        return f"{head}, {found.error}"
    if found.error:
        return f"{head} could not be computed: {found.error}"
    if found.unexpected is not None and found.rows is not None:
        return f"{head}, {found.unexpected} of {found.rows} rows"
    return f"{head}, found {found.observed}" if found.observed else head
