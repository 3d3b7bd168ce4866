"""Silences: alerts that are recorded and not told for a while (issue 32)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

import sqlalchemy as sa

from toolkit.errors import InvalidInput
from toolkit.ledger.database import Transaction
from toolkit.ledger.tables import silence

MATCHED = ("entity", "cluster", "instance", "kind", "owner", "tag")
"""Fields of an alert that a silence can match."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertSilence:
    """A silence; the fields are the columns of the table `silence`, where each is explained."""

    silence_id: int
    match: Mapping[str, str]
    until: datetime
    reason: str
    created_by: str
    created_at: datetime
    ended_at: datetime | None

    def matches(self, subject: Mapping[str, Collection[str]]) -> bool:
        """Return whether the silence is about an alert: each of its patterns fits one of the alert's values.

        Args:
            subject: values of the alert, by the names of `MATCHED`.
        """
        return all(
            any(fnmatchcase(value, pattern) for value in subject.get(name, ())) for name, pattern in self.match.items()
        )


class UnknownSilence(InvalidInput):
    """The ledger has no silence of this number.

    Args:
        silence_id: as given.
    """

    code = "unknown_silence"

    def __init__(self, *, silence_id: int) -> None:
        self.silence_id = silence_id
        super().__init__(
            f"the ledger has no silence {silence_id}; `feedctl alert silences --all` shows all and their numbers"
        )


def add(tx: Transaction, match: Mapping[str, str], until: datetime, reason: str, who: str) -> AlertSilence:
    """Add a silence from now on.

    Args:
        tx: the transaction.
        match: patterns with ``*`` and ``?``, by the names of `MATCHED`; at least one.
        until: when it ends.
        reason: why.
        who: sets it.
    """
    values = {"match": json.dumps(dict(match), sort_keys=True), "until": until, "reason": reason, "created_by": who}
    insert = sa.insert(silence).values(**values, created_at=tx.now()).returning(silence)
    return _silence(tx.execute(insert).mappings().one())


def end(tx: Transaction, silence_id: int) -> bool:
    """End a silence now.

    Returns:
        Whether that changed anything: False if it was over.

    Raises:
        UnknownSilence: there is no silence of this number.
    """
    now, named = tx.now(), silence.c.silence_id == silence_id
    ends = sa.update(silence).where(named, silence.c.ended_at.is_(None), silence.c.until > now).values(ended_at=now)
    if tx.execute(ends).rowcount:
        return True
    if tx.execute(sa.select(silence.c.silence_id).where(named)).first() is None:
        raise UnknownSilence(silence_id=silence_id)
    return False


def active(tx: Transaction, at: datetime) -> list[AlertSilence]:
    """Return the silences that are not over at a time, in the order of adding."""
    goes_on = silence.c.ended_at.is_(None) | (silence.c.ended_at > at)
    return _silences(tx, sa.select(silence).where(silence.c.until > at, goes_on))


def all_silences(tx: Transaction) -> list[AlertSilence]:
    """Return all silences, in the order of adding."""
    return _silences(tx, sa.select(silence))


def _silences(tx: Transaction, wanted: sa.Select[Any]) -> list[AlertSilence]:
    return [_silence(row) for row in tx.execute(wanted.order_by(silence.c.silence_id)).mappings()]


def _silence(row: sa.RowMapping) -> AlertSilence:
    return AlertSilence(**{**row, "match": json.loads(row["match"])})
