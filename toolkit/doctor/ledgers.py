"""What `feedctl ledger status` says, as a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from toolkit.doctor.findings import Finding, failed, ok
from toolkit.ledger.examining import LedgerExamination, LedgerState
from toolkit.ledger.revision import HEAD


def ledger_findings(examined: Callable[[], LedgerExamination]) -> Iterator[Finding]:
    """Whether this feedctl can work with the ledger.

    Raises:
        InvalidInput: none is named, or it must not be used from here.
    """
    found = examined()
    match found.state:
        case LedgerState.READY:
            yield ok(f"{found.place}: revision {found.revision}")
        case LedgerState.ABSENT:
            yield ok(f"{found.place} is not there yet: the first action that changes something makes it")
        case LedgerState.OUTDATED:
            what = "no tables" if found.revision is None else f"revision {found.revision}"
            yield failed(f"{found.place} has {what}, this feedctl needs {HEAD}", todo="run feedctl ledger upgrade")
        case LedgerState.UNKNOWN:
            todo = "use the feedctl that upgraded it"
            yield failed(f"{found.place}: revision {found.revision} is not known here", todo=todo)
        case LedgerState.UNREACHABLE:
            yield failed(f"{found.place}: {found.why}", todo="see whether the database is up and lets this user in")
