"""The Kerberos ticket of this user, as `klist` tells it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from toolkit.doctor.findings import CheckResult, failed, ok, skipped
from toolkit.variables import Variables

_SECONDS = 5
_PRINCIPAL = re.compile(r"^Default principal: (\S+)", re.MULTILINE)
_TICKET = re.compile(r"^(?P<from>\S+ \S+)  (?P<to>\S+ \S+)  krbtgt/", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ticket:
    """Kerberos ticket, as `klist` shows it.

    Attributes:
        principal: whose ticket it is; empty: there is none.
        ends: as `klist` words it, in the machine's zone; empty: unknown.
        is_valid: it has not expired.
    """

    principal: str = ""
    ends: str = ""
    is_valid: bool = False


Klist = Callable[[], Ticket | None]
"""Asks; None: there is no `klist` here."""


def klist(variables: Variables) -> Ticket | None:
    """The ticket in the cache that the environment names."""
    command = shutil.which("klist")
    if command is None:
        return None
    # Dates as `_TICKET` knows them.
    plain = {**variables, "LC_ALL": "C"}
    try:
        listed = subprocess.run(  # noqa: S603 - found on PATH, as the operator's shell would
            [command], capture_output=True, text=True, check=False, timeout=_SECONDS, env=plain
        )
        is_valid = subprocess.run([command, "-s"], check=False, timeout=_SECONDS, env=plain).returncode == 0  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ticket_of(listed.stdout, is_valid=is_valid)


def ticket_of(text: str, *, is_valid: bool) -> Ticket:
    """Return the ticket in a listing of `klist`."""
    principal, ticket = _PRINCIPAL.search(text), _TICKET.search(text)
    return Ticket(principal=principal[1] if principal else "", ends=ticket["to"] if ticket else "", is_valid=is_valid)


def ticket_findings(klist: Klist, *, is_needed: bool) -> Iterator[CheckResult]:
    """The ticket, and whether it will do.

    Args:
        klist: asks `klist`.
        is_needed: a cluster asks for Kerberos, and there is no delegation token.
    """
    ticket = klist()
    todo = "run kinit, or give a delegation token by HADOOP_TOKEN_FILE_LOCATION"
    if ticket is None or not ticket.principal:
        found = "there is no klist here to ask" if ticket is None else "there is no ticket"
        yield failed(found, todo=todo) if is_needed and ticket is not None else skipped(found, todo=todo * is_needed)
        return
    until = f" until {ticket.ends}" if ticket.ends else ""
    if ticket.is_valid:
        yield ok(f"{ticket.principal}{until}")
    elif is_needed:
        yield failed(f"{ticket.principal}, expired{until.replace('until', 'at')}", todo=todo)
    else:
        yield skipped(f"{ticket.principal}, expired, and no cluster asks for it")
