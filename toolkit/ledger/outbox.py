"""Outbox: messages that are written in the transaction that causes them, and sent afterwards (issue 32).

One process at a time sends through a channel, so that a recipient gets messages in their order. A process that dies
between sending a message and its mark leaves it to the next one, which sends it again, with the same id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import sqlalchemy as sa

from toolkit.el import Frequency, OutOfRange, shift
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.statements import if_new
from toolkit.ledger.tables import outbox, outbox_channel

CLAIM_SECONDS = 60.0
"""So long a process may be silent while it sends through a channel; then another one may send."""
KEPT = timedelta(days=30)
"""A message that was sent or given up is shown for so long."""
_LONGEST_WAIT = timedelta(days=3650)
_IS_WAITING = outbox.c.sent_at.is_(None) & outbox.c.dead_at.is_(None)
EXPIRED = "expired before a receiver took it"
"""Error of a message that nothing else is known of."""


class OutboxState(StrEnum):
    """State of a message in the outbox."""

    WAITING = "waiting"
    """Not sent yet."""
    SENT = "sent"
    """The receiver has it."""
    DEAD = "dead"
    """Given up: expired, refused for good, or dropped by a person."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewMessage:
    """A message for one recipient.

    Attributes:
        message_id: receivers drop a second message with the same id.
        channel: name of the channel that sends it.
        recipient: an address or a topic; empty: the channel has only one.
        body: the message as JSON, before a channel gives it its form.
        expires: it is given up when it has waited for so long.
        alert_id: the alert that it is about.
        run_id: the run that it is about.
    """

    message_id: str
    channel: str
    recipient: str
    body: str
    expires: Frequency
    alert_id: int | None = None
    run_id: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class OutboxMessage:
    """A message in the outbox; the fields are columns of the table `outbox`, where each is explained."""

    outbox_id: int
    message_id: str
    channel: str
    recipient: str
    body: str
    alert_id: int | None
    run_id: int | None
    created_at: datetime
    expires_at: datetime
    tries: int
    sent_at: datetime | None
    dead_at: datetime | None
    error: str | None

    @property
    def state(self) -> OutboxState:
        """The state of the message."""
        if self.sent_at is not None:
            return OutboxState.SENT
        return OutboxState.WAITING if self.dead_at is None else OutboxState.DEAD


@dataclass(frozen=True, kw_only=True, slots=True)
class ChannelState:
    """A channel that has sent or has to send.

    Attributes:
        channel: its name.
        waiting: messages that wait.
        failures: tries that failed in a row.
        next_try_at: nothing is sent before; None: at once.
        error: of the last try that failed.
    """

    channel: str
    waiting: int
    failures: int = 0
    next_try_at: datetime | None = None
    error: str | None = None


def put(tx: Transaction, messages: Iterable[NewMessage]) -> None:
    """Write messages that are to be sent when the transaction has ended.

    A message that is there already, with the same id, channel and recipient, stays as it is.
    """
    now = tx.now()
    for message in messages:
        values = {name: getattr(message, name) for name in _GIVEN}
        expires_at = _expiry(now, message.expires)
        tx.insert_if_new(outbox, {**values, "created_at": now, "expires_at": expires_at})


def _expiry(now: datetime, expires: Frequency) -> datetime:
    """Return when a message is given up; one that would outlive the calendar must not fail the run that it is about."""
    try:
        return shift(now, expires, 1)
    except OutOfRange:
        return now + _LONGEST_WAIT


_GIVEN = tuple(name for name in NewMessage.__dataclass_fields__ if name != "expires")


def channels_due(tx: Transaction) -> list[str]:
    """Return the channels that have messages and are not to rest after a failure, in the order of their names."""
    rests = outbox_channel.c.next_try_at > tx.now()
    wanted = sa.select(outbox.c.channel).distinct().where(_IS_WAITING)
    wanted = wanted.where(outbox.c.channel.not_in(sa.select(outbox_channel.c.channel).where(rests)))
    return list(tx.execute(wanted.order_by(outbox.c.channel)).scalars())


def claim(tx: Transaction, channel: str, owner: str, is_gone: Callable[[str], bool]) -> bool:
    """Claim a channel for a process, which alone sends through it then; False: another one does, or it has to rest.

    Args:
        tx: the transaction.
        channel: its name.
        owner: the process that sends.
        is_gone: says of another process whether it has ended for certain, so that its claim counts no longer.
    """
    tx.execute(if_new(outbox_channel), {"channel": channel, "failures": 0})
    of_channel = outbox_channel.c.channel == channel
    row = tx.execute(tx.locked(sa.select(outbox_channel).where(of_channel))).mappings().one()
    now = tx.now()
    holder, until = row["claimed_by"], row["claimed_until"]
    is_held = holder not in {None, owner} and until is not None and until > now and not is_gone(holder)
    if is_held or (row["next_try_at"] is not None and row["next_try_at"] > now):
        return False
    until = now + timedelta(seconds=CLAIM_SECONDS)
    tx.execute(sa.update(outbox_channel).where(of_channel).values(claimed_by=owner, claimed_until=until))
    return True


def waiting(tx: Transaction, channel: str, *, after: int = 0, most: int = 100) -> Sequence[OutboxMessage]:
    """Return messages of a channel that wait, oldest first.

    Args:
        tx: the transaction.
        channel: its name.
        after: only those behind this number.
        most: at most so many.
    """
    wanted = sa.select(outbox).where(_IS_WAITING, outbox.c.channel == channel, outbox.c.outbox_id > after)
    return tuple(tx.rows(OutboxMessage, wanted.order_by(outbox.c.outbox_id).limit(most)))


def note(
    tx: Transaction, message: OutboxMessage, owner: str, *, error: str | None = None, is_refused: bool = False
) -> bool:
    """Write down what became of a try, and keep the claim of the channel for longer.

    Args:
        tx: the transaction.
        message: that was to be sent.
        owner: the process that has claimed the channel.
        error: why it was not sent; None: the receiver has it.
        is_refused: it would not be taken later either.

    Returns:
        False: another process has claimed the channel meanwhile, so that this one must stop.
    """
    now = tx.now()
    values: dict[str, object] = {"sent_at": now, "error": None}
    if error is not None:
        values = {"tries": outbox.c.tries + 1, "error": error, "dead_at": now if is_refused else None}
    tx.execute(sa.update(outbox).where(outbox.c.outbox_id == message.outbox_id, _IS_WAITING).values(values))
    until = now + timedelta(seconds=CLAIM_SECONDS)
    of_owner = (outbox_channel.c.channel == message.channel, outbox_channel.c.claimed_by == owner)
    return tx.execute(sa.update(outbox_channel).where(*of_owner).values(claimed_until=until)).rowcount == 1


def release(
    tx: Transaction, channel: str, owner: str, *, error: str | None = None, pauses: Sequence[float] = (0.0,)
) -> None:
    """Give the claim of a channel back.

    Args:
        tx: the transaction.
        channel: its name.
        owner: the process that has claimed it.
        error: why the channel cannot send now; None: it can.
        pauses: seconds for which it rests after the first failure, the second in a row, and so on; the last stays.
    """
    of_owner = (outbox_channel.c.channel == channel, outbox_channel.c.claimed_by == owner)
    failures = tx.execute(tx.locked(sa.select(outbox_channel.c.failures).where(*of_owner))).scalar()
    if failures is None:
        return
    values: dict[str, object] = {"claimed_by": None, "claimed_until": None, "error": error}
    if error is None:
        values |= {"failures": 0, "next_try_at": None}
    else:
        pause = timedelta(seconds=pauses[min(failures, len(pauses) - 1)])
        values |= {"failures": failures + 1, "next_try_at": tx.now() + pause}
    tx.execute(sa.update(outbox_channel).where(*of_owner).values(values))


def expire(tx: Transaction) -> int:
    """Give up the messages that have waited for too long, and return how many they are."""
    now = tx.now()
    error = sa.func.coalesce(outbox.c.error, EXPIRED)
    given_up = sa.update(outbox).where(_IS_WAITING, outbox.c.expires_at <= now)
    return tx.execute(given_up.values(dead_at=now, error=error)).rowcount


def remove_old(tx: Transaction, most: int = 1000) -> int:
    """Remove messages that are over for long, from the oldest on and only so many; return how many they were."""
    oldest = sa.select(outbox).order_by(outbox.c.outbox_id).limit(most).subquery()
    is_over = oldest.c.sent_at.is_not(None) | oldest.c.dead_at.is_not(None)
    chosen = sa.select(oldest.c.outbox_id).where(is_over, oldest.c.created_at < tx.now() - KEPT)
    return tx.execute(sa.delete(outbox).where(outbox.c.outbox_id.in_(chosen))).rowcount


def channel_states(tx: Transaction) -> list[ChannelState]:
    """Return the channels that messages wait for or that have failed, in the order of their names."""
    count = sa.select(outbox.c.channel, sa.func.count()).where(_IS_WAITING).group_by(outbox.c.channel)
    counts = dict(tx.execute(count).tuples().all())
    columns = [outbox_channel.c[name] for name in ("channel", "failures", "next_try_at", "error")]
    known = {row["channel"]: dict(row) for row in tx.execute(sa.select(*columns)).mappings()}
    names = sorted(counts.keys() | {name for name, row in known.items() if row["failures"]})
    return [ChannelState(**{"channel": name, **known.get(name, {}), "waiting": counts.get(name, 0)}) for name in names]


def listed(
    tx: Transaction, states: Iterable[OutboxState], *, channel: str | None = None, most: int = 1000
) -> list[OutboxMessage]:
    """Return messages in any of these states, newest first."""
    conditions = {
        OutboxState.WAITING: _IS_WAITING,
        OutboxState.SENT: outbox.c.sent_at.is_not(None),
        OutboxState.DEAD: outbox.c.dead_at.is_not(None),
    }
    wanted = sa.select(outbox).where(sa.or_(sa.false(), *(conditions[state] for state in states)))
    if channel is not None:
        wanted = wanted.where(outbox.c.channel == channel)
    return list(tx.rows(OutboxMessage, wanted.order_by(outbox.c.outbox_id.desc()).limit(most)))


def find(tx: Transaction, outbox_id: int) -> OutboxMessage | None:
    """Return the message with a number; None: there is none."""
    return tx.row(OutboxMessage, sa.select(outbox).where(outbox.c.outbox_id == outbox_id))


def retry(tx: Transaction, outbox_ids: Iterable[int], expires: Frequency) -> int:
    """Have messages sent again that wait or were given up, at once, and return how many they are."""
    now = tx.now()
    count = 0
    for chunk in in_chunks(tuple(outbox_ids)):
        chosen = (outbox.c.outbox_id.in_(chunk), outbox.c.sent_at.is_(None))
        names = list(tx.execute(sa.select(outbox.c.channel).distinct().where(*chosen)).scalars())
        again = sa.update(outbox).where(*chosen).values(dead_at=None, expires_at=_expiry(now, expires))
        count += tx.execute(again).rowcount
        tx.execute(sa.update(outbox_channel).where(outbox_channel.c.channel.in_(names)).values(next_try_at=None))
    return count


def drop(tx: Transaction, outbox_ids: Iterable[int], error: str) -> int:
    """Give up messages that wait, and return how many they are."""
    now = tx.now()
    count = 0
    for chunk in in_chunks(tuple(outbox_ids)):
        chosen = sa.update(outbox).where(outbox.c.outbox_id.in_(chunk), _IS_WAITING)
        count += tx.execute(chosen.values(dead_at=now, error=error)).rowcount
    return count
