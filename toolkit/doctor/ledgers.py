"""What `feedctl ledger status` says, as a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from toolkit.doctor.findings import Finding, failed, ok
from toolkit.ledger.opening import LedgerExamination, LedgerState
from toolkit.ledger.schema_version import HEAD

_PLACE = "let this user write there, or name another place in repo.yaml or FEEDCTL_LEDGER"


def ledger_findings(examined: Callable[[], LedgerExamination], obstacle: Callable[[], str]) -> Iterator[Finding]:
    """Whether this feedctl can work with the ledger.

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
        case LedgerState.UNREACHABLE:
            yield failed(f"{found.place}: {found.why}", todo="see whether the database is up and lets this user in")
