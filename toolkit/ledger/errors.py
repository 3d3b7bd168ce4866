"""Errors of the ledger itself; the errors of its calls are beside the calls."""

from __future__ import annotations

from datetime import UTC, datetime

from toolkit.errors import FeedctlError, InvalidInput, Unavailable
from toolkit.ledger.vocabulary import RunStatus


def moment(instant: datetime | None) -> str:
    """An instant to the second, for people: ``2026-03-20T12:00:05Z``."""
    return "?" if instant is None else instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class LedgerUnavailable(Unavailable):
    """The database cannot be used now: unreachable, full, read-only, or locked for too long.

    Args:
        place: the ledger's URL, without its password.
        why: in the database's words.
        todo: what brings it back; None: only time does.
    """

    code = "ledger_unavailable"

    def __init__(self, *, place: str, why: str, todo: str | None = None) -> None:
        self.place, self.why, self.todo = place, why, todo
        what = todo or "try again when it is back"
        super().__init__(
            f"the ledger {place} cannot be used: {why}; nothing is started without it; {what}, "
            "or give --no-ledger to act without"
        )


class LedgerConflict(Unavailable):
    """Other runs kept getting in the way of a transaction, in all its tries.

    Args:
        place: the ledger's URL, without its password.
        why: in the database's words.
    """

    code = "ledger_conflict"

    def __init__(self, *, place: str, why: str) -> None:
        self.place, self.why = place, why
        super().__init__(f"the ledger {place} is busy: {why}; nothing was changed, try again")


class UnusableLedger(InvalidInput):
    """A ledger that this feedctl must not use.

    Args:
        place: the ledger's URL, without its password.
        found: what is wrong with it.
        todo: what to do.
    """

    code = "unusable_ledger"

    def __init__(self, *, place: str, found: str, todo: str) -> None:
        self.place, self.found, self.todo = place, found, todo
        super().__init__(f"the ledger {place} {found}; {todo}")


class NotUtf8(InvalidInput):
    """A text of a command that no database keeps; nothing was changed.

    Args:
        text: as it was given.
    """

    code = "not_utf8"

    def __init__(self, *, text: str) -> None:
        self.text = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        super().__init__(f"found {self.text}, which is not UTF-8; nothing was changed, give the text in UTF-8")


class IllegalTransition(FeedctlError):  # noqa: N818 - named for what was asked, as its siblings
    """A change of status that `TRANSITIONS` does not have; nothing was changed.

    Args:
        subject: the run.
        old: its status.
        new: what was wanted.
    """

    code = "illegal_transition"

    def __init__(self, *, subject: str, old: RunStatus, new: RunStatus) -> None:
        self.subject, self.old, self.new = subject, old, new
        super().__init__(f"{subject} is {old} and cannot become {new}; nothing was changed")
