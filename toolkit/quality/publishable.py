"""Decision whether data may be published, by its validation result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.actions.validation import QUALITY_FAILED, QUALITY_UNKNOWN, Publishable, QualityFailed
from toolkit.entities.vocabulary import OnFailure
from toolkit.ledger.validations import PUBLISHABLE, ValidationResult
from toolkit.ledger.vocabulary import ValidationState

if TYPE_CHECKING:
    from toolkit.actions.validation import Written
    from toolkit.entities.quality import Quality
    from toolkit.ledger.validations import NewValidationResult


def without_ledger(written: Written) -> Publishable:
    """Return what a run without a ledger may publish.

    Raises:
        QualityFailed: the feed blocks what has no result.
    """
    why = "without the ledger (--no-ledger) its validation result cannot be recorded"
    if written.quality.on_failure is OnFailure.BLOCK:
        raise QualityFailed(unit=written.unit, why=why, code=QUALITY_UNKNOWN)
    return Publishable(digest="", notes=(f"{written.unit} was not validated: {why}",))


def publishable(written: Written, known: NewValidationResult, notes: tuple[str, ...] = ()) -> Publishable:
    """Return that data may be published, by its result.

    Args:
        written: the data.
        known: the result.
        notes: of a result that was just made: what was left out.

    Raises:
        QualityFailed: the data must not be announced.
    """
    why, page = known.reason or "", f"; {known.page}" if known.page else ""
    if isinstance(known, ValidationResult) and known.state is ValidationState.RELEASED:
        note = f"{written.unit} was released by {known.decided_by} ({known.decision}) in spite of: {why}"
        return Publishable(digest=known.data_digest, notes=(note,))
    if isinstance(known, ValidationResult) and known.state is ValidationState.REJECTED:
        why = f"{known.decided_by} has rejected it ({known.decision})"
        raise QualityFailed(unit=written.unit, why=why, digest=known.data_digest, page=known.page or "")
    if may_pass(known, written.quality):
        has_note = known.state is not ValidationState.PASSED
        own = (f"{written.unit}: {why}{page}",) if has_note else ()
        return Publishable(digest=known.data_digest, notes=(*own, *notes))
    command = f"`feedctl quality show {known.feed} --time {known.instance_key}`"
    code = QUALITY_UNKNOWN if known.state is ValidationState.UNKNOWN else QUALITY_FAILED
    why = "; ".join((why, *notes, command)) + page
    raise QualityFailed(unit=written.unit, why=why, code=code, digest=known.data_digest, page=known.page or "")


def may_pass(known: NewValidationResult, quality: Quality) -> bool:
    """Return whether data with a result may be published; unknown data may where the feed only warns."""
    only_warns = known.state is ValidationState.UNKNOWN and quality.on_failure is OnFailure.WARN
    return known.state in PUBLISHABLE or only_warns
