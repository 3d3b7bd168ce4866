"""Alerts and silences by command: acknowledged, silenced, and told again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from toolkit.el import ElError, Frequency, parse_instant, shift
from toolkit.errors import InvalidInput
from toolkit.ledger import alerts, silences
from toolkit.ledger.alert_rows import Alert
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.silences import MATCHED, AlertSilence
from toolkit.ledger.state.commands import record


class BadMatch(InvalidInput):
    """A text that says of no alert which one is meant.

    Args:
        text: as given.
    """

    code = "bad_match"

    def __init__(self, *, text: str) -> None:
        self.text = text
        names = ", ".join(MATCHED)
        super().__init__(f"{text!r} is no match; write NAME=PATTERN with one of {names}, for example entity=clicks*")


class SilenceOver(InvalidInput):
    """A silence that would have ended before it began.

    Args:
        until: as given.
    """

    code = "silence_over"

    def __init__(self, *, until: str) -> None:
        self.until = until
        super().__init__(f"--until {until} is in the past; give a later instant, or how long, for example hours(4)")


def parse_match(texts: Iterable[str]) -> dict[str, str]:
    """Return what a silence matches, from texts like ``entity=clicks*``.

    Raises:
        BadMatch: a text has another form, or a name stands twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, pattern = text.partition("=")
        if not equals or not pattern or name not in MATCHED or name in found:
            raise BadMatch(text=text)
        found[name] = pattern
    return found


def acknowledge_alerts(ledger: Ledger, numbers: Iterable[int], who: str, reason: str) -> list[tuple[Alert, bool]]:
    """Write down who takes care of alerts, all or none, and return each with whether it changed.

    Raises:
        UnknownAlert: the ledger has no alert of a number.
        LedgerUnavailable: the ledger cannot be used now.
    """

    def work(tx: Transaction) -> list[tuple[Alert, bool]]:
        found = []
        for number in sorted(set(numbers)):
            alert, changed = alerts.acknowledge(tx, number, who, reason)
            record(tx, "alert ack", f"alert {number}", who, changed=changed, detail=reason)
            found.append((alert, changed))
        return found

    return ledger.write(work)


def add_silence(ledger: Ledger, match: Mapping[str, str], until: str, reason: str, who: str) -> AlertSilence:
    """Keep messages of alerts back for a while.

    Args:
        ledger: the ledger.
        match: which alerts, by patterns.
        until: an instant, or how long from now on, as ``hours(4)``.
        reason: why.
        who: sets it.

    Raises:
        ElError: `until` is neither an instant nor a frequency.
        SilenceOver: it is in the past.
        LedgerUnavailable: the ledger cannot be used now.
    """

    def work(tx: Transaction) -> AlertSilence:
        now = tx.now()
        end = _end(until, now)
        if end <= now:
            raise SilenceOver(until=until)
        made = silences.add(tx, match, end, reason, who)
        record(tx, "alert silence", f"silence {made.silence_id}", who, changed=True, detail=reason)
        return made

    return ledger.write(work)


def end_silence(ledger: Ledger, number: int, who: str) -> bool:
    """End a silence now, and return whether that changed anything.

    Raises:
        UnknownSilence: the ledger has no silence of this number.
        LedgerUnavailable: the ledger cannot be used now.
    """

    def work(tx: Transaction) -> bool:
        changed = silences.end(tx, number)
        record(tx, "alert unsilence", f"silence {number}", who, changed=changed)
        return changed

    return ledger.write(work)


def _end(until: str, now: datetime) -> datetime:
    try:
        return shift(now, Frequency.parse(until), 1)
    except ElError:
        return parse_instant(until)
