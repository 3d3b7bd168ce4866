"""Commands as the tests give them."""

from __future__ import annotations

from tests.unit.management.repo import managed
from tests.unit.management.runs import requested
from toolkit.ledger.database import Ledger
from toolkit.ledger.state import commands as recorded
from toolkit.management.commands import CommandOutcome, CommandRequest, command_instances
from toolkit.management.decisions import InstanceCommand
from toolkit.management.locations import ManagedEntity

AT = "2026-03-05T02:00Z"


def give(
    ledger: Ledger,
    command: InstanceCommand,
    start: str = AT,
    end: str | None = None,
    *,
    of: ManagedEntity | None = None,
    is_forced: bool = False,
) -> tuple[CommandOutcome, ...]:
    """Give a command and return what it did."""
    request = CommandRequest(
        command=command,
        managed=of or managed("count_job"),
        requested=requested(start, end),
        who="ada",
        reason="because",
        is_forced=is_forced,
    )
    return command_instances(ledger, request).answers


def one(ledger: Ledger, command: InstanceCommand, *, is_forced: bool = False) -> tuple[str, str, bool]:
    """Give a command to the instance at `AT`: its status before and after, and whether something was changed."""
    (answer,) = give(ledger, command, is_forced=is_forced)
    return answer.before, answer.after, answer.is_changed


def last_commands(ledger: Ledger, number: int = 1) -> list[tuple[str, str, str, bool, str | None]]:
    """Return what was written down about the last commands."""
    found = ledger.read(lambda tx: recorded.recent(tx, number))
    return [(each.command, each.subject, each.who, each.has_changed, each.detail) for each in found]
