from __future__ import annotations

import pytest

from toolkit.doctor.findings import CheckStatus
from toolkit.doctor.ledgers import ledger_findings
from toolkit.ledger.examining import LedgerExamination, LedgerState


@pytest.mark.parametrize(
    ("state", "status", "todo"),
    [
        (LedgerState.READY, CheckStatus.OK, ""),
        (LedgerState.ABSENT, CheckStatus.OK, ""),
        (LedgerState.OUTDATED, CheckStatus.FAILED, "run feedctl ledger upgrade"),
        (LedgerState.UNKNOWN, CheckStatus.FAILED, "use the feedctl that upgraded it"),
        (LedgerState.UNREACHABLE, CheckStatus.FAILED, "see whether the database is up and lets this user in"),
    ],
)
def test_a_ledger_that_feedctl_cannot_work_with_is_a_failure(
    state: LedgerState, status: CheckStatus, todo: str
) -> None:
    (found,) = ledger_findings(lambda: LedgerExamination(place="sqlite:////l.db", state=state, why="gone"))
    assert (found.status, found.todo) == (status, todo)
    assert "sqlite:////l.db" in found.found
