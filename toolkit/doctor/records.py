"""Checks that the audit file and the ledger can be used; nothing is made or written for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from toolkit.doctor.access import obstacle_to_making
from toolkit.doctor.findings import CheckResult, failed, ok
from toolkit.ledger.opening import BEGIN_ANEW, LedgerExamination, LedgerState
from toolkit.ledger.schema_version import HEAD
from toolkit.runs.audit import AuditPlace, require_appendable, why_not


def audit_findings(place: AuditPlace, obstacle: Callable[[Path], str] = obstacle_to_making) -> Iterator[CheckResult]:
    """Check that an action could append to the audit file; without it no action that changes data starts.

    Args:
        place: of the file.
        obstacle: why a file that is not there could not be made; empty: it could.
    """
    file, is_there = place.file, os.path.lexists(place.file)
    why = _refusal(place) if is_there else obstacle(file)
    if why:
        todo = "make it writable for this user, or name another with `audit_file` in repo.yaml or FEEDCTL_AUDIT"
        yield failed(f"{file} cannot be written: {why}", todo=todo)
    elif is_there:
        yield ok(f"{file} can be appended to")
    else:
        yield ok(f"{file} is not there yet: the first action that changes something makes it")


def _refusal(place: AuditPlace) -> str:
    try:
        require_appendable(place)
    except OSError as error:
        return why_not(error)
    return ""


_PLACE = "let this user write there, or name another place in repo.yaml or FEEDCTL_LEDGER"


def ledger_findings(examined: Callable[[], LedgerExamination], obstacle: Callable[[], str]) -> Iterator[CheckResult]:
    """Check that this feedctl can work with the ledger.

    Args:
        examined: looks at it.
        obstacle: why its file could not be made or changed; empty: it could, or the ledger is no file.

    Raises:
        InvalidInput: none is named, or it must not be used from here.
    """
    found = examined()
    match found.state:
        case LedgerState.READY:
            why = obstacle()
            about = f"{found.place}: revision {found.revision}"
            yield failed(f"{about}; {why}", todo=_PLACE) if why else ok(about)
        case LedgerState.ABSENT:
            why, about = obstacle(), f"{found.place} is not there yet"
            made = ok(f"{about}: the first action that changes something makes it")
            yield failed(f"{about} and cannot be made: {why}", todo=_PLACE) if why else made
        case LedgerState.OUTDATED:
            what = "no tables" if found.revision is None else f"revision {found.revision}"
            yield failed(f"{found.place} has {what}, this feedctl needs {HEAD}", todo="run feedctl ledger upgrade")
        case LedgerState.UNKNOWN:
            todo = "use the feedctl that upgraded it"
            yield failed(f"{found.place}: revision {found.revision} is not known here", todo=todo)
        case LedgerState.UNRELEASED:
            about = (
                f"{found.place}: revision {found.revision} is from before the first release, this feedctl needs {HEAD}"
            )
            yield failed(about, todo=BEGIN_ANEW)
        case LedgerState.UNREACHABLE:
            yield failed(f"{found.place}: {found.why}", todo="see whether the database is up and lets this user in")
