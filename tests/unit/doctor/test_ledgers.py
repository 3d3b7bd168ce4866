from __future__ import annotations

import pytest

from toolkit.doctor.findings import CheckStatus
from toolkit.doctor.records import ledger_findings
from toolkit.ledger.opening import BEGIN_ANEW, LedgerExamination, LedgerState


def _examined(state: LedgerState) -> LedgerExamination:
    return LedgerExamination(place="sqlite:////l.db", state=state, why="gone")


@pytest.mark.parametrize(
    ("state", "status", "todo"),
    [
        (LedgerState.READY, CheckStatus.OK, ""),
        (LedgerState.ABSENT, CheckStatus.OK, ""),
        (LedgerState.OUTDATED, CheckStatus.FAILED, "run feedctl ledger upgrade"),
        (LedgerState.UNKNOWN, CheckStatus.FAILED, "use the feedctl that upgraded it"),
        (LedgerState.UNRELEASED, CheckStatus.FAILED, BEGIN_ANEW),
        (LedgerState.UNREACHABLE, CheckStatus.FAILED, "see whether the database is up and lets this user in"),
    ],
)
def test_a_ledger_that_feedctl_cannot_work_with_is_a_failure(
    state: LedgerState, status: CheckStatus, todo: str
) -> None:
    (found,) = ledger_findings(lambda: _examined(state), lambda: "")
    assert (found.status, found.todo) == (status, todo)
    assert "sqlite:////l.db" in found.found


@pytest.mark.parametrize("state", [LedgerState.READY, LedgerState.ABSENT])
def test_a_file_that_an_action_could_not_make_or_change_is_a_failure(state: LedgerState) -> None:
    (found,) = ledger_findings(lambda: _examined(state), lambda: "/ is read-only")
    assert (found.status, "/ is read-only" in found.found) == (CheckStatus.FAILED, True)
    assert "FEEDCTL_LEDGER" in found.todo
