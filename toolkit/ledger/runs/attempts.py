"""Attempts of a run key: begin one, order another, skip one, or suspend before it begins."""

from __future__ import annotations

from dataclasses import asdict

from toolkit.ledger.errors import IllegalTransition
from toolkit.ledger.runs import finding, numbering, status
from toolkit.ledger.runs.beginning import begin
from toolkit.ledger.runs.errors import NotTerminal, RunIsActive
from toolkit.ledger.runs.rows import Origin, Run, RunKey
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import RunStatus

__all__ = ["begin", "queue_again", "skip", "suspend_ahead"]


def queue_again(tx: Transaction, key: RunKey, origin: Origin, *, is_forced: bool) -> Run:
    """Order another attempt of what is over: a READY row, which the next `begin` takes.

    It stays a job of the same process, and of the same target batch unless that was made with success.

    Raises:
        NotTerminal: the newest attempt is not over, or there is none; nothing was changed.
    """
    while True:
        newest = finding.newest(tx, key)
        if newest is None or not newest.status.is_terminal:
            raise NotTerminal(key=key, run=newest)
        ordered = {"status": RunStatus.READY, "is_forced": is_forced, "created_at": tx.now()}
        added = numbering.add(tx, key, newest, origin, {**numbering.job_of(newest), **ordered})
        if added is not None:
            return added


def skip(tx: Transaction, key: RunKey, origin: Origin, reason: str) -> Run:
    """Record that a start was skipped, unless the key has a story already.

    Returns:
        An attempt with the status SKIPPED: a new one, or the newest with the new reason when that was skipped too, so
        that a scheduler which asks every minute does not fill the ledger. Any other attempt stays as it is and is
        returned: if it is open, its story goes on; if it is over, its outcome is what the newest attempt has to tell.
    """
    while True:
        newest = finding.newest(tx, key)
        if newest is not None and newest.status is not RunStatus.SKIPPED:
            return newest
        now = tx.now()
        told: dict[str, object] = {"reason": reason, "ended_at": now}
        if newest is not None:
            return numbering.update(tx, newest, {**asdict(origin), **told})
        skipped = {**told, "status": RunStatus.SKIPPED, "is_forced": False, "created_at": now}
        added = numbering.add(tx, key, newest, origin, skipped)
        if added is not None:
            return added


def suspend_ahead(tx: Transaction, key: RunKey, origin: Origin, reason: str | None = None) -> Run:
    """Suspend what has not begun: a SUSPENDED row for an instance that has none, or whose newest waits or is ready.

    Returns:
        The suspended attempt; one that was suspended already stays as it is.

    Raises:
        RunIsActive: it runs; nothing was changed.
        IllegalTransition: it is over; nothing was changed.
    """
    while True:
        newest = finding.newest(tx, key)
        if newest is None:
            suspended = _add_suspended(tx, key, origin, reason)
        elif newest.status is RunStatus.SUSPENDED:
            return newest
        else:
            suspended = _suspend_before_begin(tx, newest, reason)
        if suspended is not None:
            return suspended


def _add_suspended(tx: Transaction, key: RunKey, origin: Origin, reason: str | None) -> Run | None:
    """An instance without a row waits, so that is where a resume leads back to."""
    status_of = {"status": RunStatus.SUSPENDED, "suspended_from": RunStatus.WAITING}
    values = {**status_of, "is_forced": False, "reason": reason, "created_at": tx.now()}
    return numbering.add(tx, key, None, origin, values)


def _suspend_before_begin(tx: Transaction, found: Run, reason: str | None) -> Run | None:
    if found.status is RunStatus.RUNNING:
        raise RunIsActive(run=found)
    if found.status.is_terminal:
        raise IllegalTransition(subject=str(found), old=found.status, new=RunStatus.SUSPENDED)
    if not numbering.is_still_not_begun(tx, found):
        return None
    return status.change(tx, found.run_id, RunStatus.SUSPENDED, reason=reason)
