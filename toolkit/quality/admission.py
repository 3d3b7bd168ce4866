"""Admission of data by its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.actions.gate import QUALITY_FAILED, QUALITY_UNKNOWN, Admitted, QualityFailed
from toolkit.entities.vocabulary import OnFailure
from toolkit.ledger.verdicts import ADMITTING, Verdict
from toolkit.ledger.vocabulary import VerdictState

if TYPE_CHECKING:
    from toolkit.actions.gate import Written
    from toolkit.entities.quality import Quality
    from toolkit.ledger.verdicts import NewVerdict


def without_ledger(written: Written) -> Admitted:
    """Return what a run without a ledger may announce.

    Raises:
        QualityFailed: the feed blocks what has no verdict.
    """
    why = "without the ledger (--no-ledger) nobody could know its verdict"
    if written.quality.on_failure is OnFailure.BLOCK:
        raise QualityFailed(unit=written.unit, why=why, code=QUALITY_UNKNOWN)
    return Admitted(digest="", notes=(f"{written.unit} was not judged: {why}",))


def admitted(written: Written, known: NewVerdict, notes: tuple[str, ...] = ()) -> Admitted:
    """Return what a verdict means for the run that asked for it.

    Args:
        written: the data.
        known: the verdict.
        notes: of a verdict that was just made: what was left out.

    Raises:
        QualityFailed: the data must not be announced.
    """
    why, page = known.reason or "", f"; {known.page}" if known.page else ""
    if isinstance(known, Verdict) and known.state is VerdictState.RELEASED:
        note = f"{written.unit} was released by {known.decided_by} ({known.decision}) in spite of: {why}"
        return Admitted(digest=known.data_digest, notes=(note,))
    if isinstance(known, Verdict) and known.state is VerdictState.REJECTED:
        why = f"{known.decided_by} has rejected it ({known.decision})"
        raise QualityFailed(unit=written.unit, why=why, digest=known.data_digest, page=known.page or "")
    if may_pass(known, written.quality):
        has_note = known.state is not VerdictState.PASSED
        own = (f"{written.unit}: {why}{page}",) if has_note else ()
        return Admitted(digest=known.data_digest, notes=(*own, *notes))
    command = f"`feedctl quality show {known.feed} --key {known.instance_key}`"
    code = QUALITY_UNKNOWN if known.state is VerdictState.UNKNOWN else QUALITY_FAILED
    why = "; ".join((why, *notes, command)) + page
    raise QualityFailed(unit=written.unit, why=why, code=code, digest=known.data_digest, page=known.page or "")


def may_pass(known: NewVerdict, quality: Quality) -> bool:
    """Whether data with a verdict may be announced; unknown data may where the feed only warns."""
    only_told = known.state is VerdictState.UNKNOWN and quality.on_failure is OnFailure.WARN
    return known.state in ADMITTING or only_told
