"""Every action starts by the same rules, in the same order."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import ORIGIN, alone, begun, changed, key, started
from tests.databases.ledgers import HandClock
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import attempts
from toolkit.ledger.runs.errors import InstanceSuspended, LeaseHeld, RunIsActive
from toolkit.ledger.state import start_check
from toolkit.ledger.state.start_check import EntityIsSuspended, SafeModeIsOn
from toolkit.ledger.tables import lease, run
from toolkit.ledger.vocabulary import RunStatus

pytestmark = pytest.mark.both_databases


def _safe_mode(ledger: Ledger, *, on: bool) -> bool:
    return ledger.write(lambda tx: start_check.switch_safe_mode(tx, on=on, who="root", reason="upgrade of HDFS"))


def _suspend(ledger: Ledger, cluster: str | None) -> bool:
    return ledger.write(lambda tx: start_check.suspend(tx, "clicks", cluster, "bob", "bad data"))


def _rows(ledger: Ledger) -> tuple[int, int]:
    def count(table: sa.Table) -> int:
        rows: int = ledger.read(lambda tx: tx.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())
        return rows

    return count(run), count(lease)


def test_a_run_starts_with_its_row_and_its_leases(ledger: Ledger) -> None:
    start = started(ledger, wanted=alone("a", "b"))
    assert (start.run.status, start.run.attempt, start.taken_over) == (RunStatus.RUNNING, 1, ())
    assert _rows(ledger) == (1, 2)


def test_a_run_without_leases_has_no_owner_that_could_be_missed(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    start = started(clocked_ledger, wanted=())
    hand_clock.forward(1e6)
    with pytest.raises(RunIsActive):
        started(clocked_ledger, wanted=())
    assert _rows(clocked_ledger) == (1, 0)
    assert start.run.status is RunStatus.RUNNING


def test_nothing_starts_in_safe_mode(ledger: Ledger) -> None:
    _safe_mode(ledger, on=True)
    with pytest.raises(
        SafeModeIsOn, match=r"switched on by root at .*: upgrade of HDFS; `feedctl admin safe-mode off`"
    ):
        started(ledger)
    assert _rows(ledger) == (0, 0)
    _safe_mode(ledger, on=False)
    started(ledger)


@pytest.mark.parametrize("cluster", ["primary", None])
def test_nothing_of_a_suspended_entity_starts(ledger: Ledger, cluster: str | None) -> None:
    _suspend(ledger, cluster)
    with pytest.raises(
        EntityIsSuspended, match=r"clicks is suspended on .* by bob since .*: bad data; `feedctl entity"
    ):
        started(ledger)
    assert _rows(ledger) == (0, 0)


def test_an_entity_suspended_elsewhere_starts_here_and_others_start_everywhere(ledger: Ledger) -> None:
    _suspend(ledger, "backup")
    started(ledger)
    started(ledger, key(entity="orders", cluster="backup"), alone("b"))
    with pytest.raises(EntityIsSuspended):
        started(ledger, key(cluster="backup"), alone("c"))


def test_safe_mode_is_told_before_suspension_and_suspension_before_leases_and_leases_before_the_key(
    ledger: Ledger,
) -> None:
    held = started(ledger).run
    _suspend(ledger, None)
    _safe_mode(ledger, on=True)
    with pytest.raises(SafeModeIsOn):
        started(ledger)
    _safe_mode(ledger, on=False)
    with pytest.raises(EntityIsSuspended):
        started(ledger)
    ledger.write(lambda tx: start_check.resume(tx, "clicks", None, "bob"))
    with pytest.raises(LeaseHeld):
        started(ledger)
    with pytest.raises(RunIsActive) as caught:
        started(ledger, wanted=alone("other"))
    assert caught.value.run == held


def test_an_instance_suspended_ahead_does_not_start_and_its_leases_stay_free(ledger: Ledger) -> None:
    ledger.write(lambda tx: attempts.suspend_ahead(tx, key(), ORIGIN))
    with pytest.raises(InstanceSuspended):
        started(ledger)
    assert _rows(ledger) == (1, 0)


def test_the_next_start_takes_what_was_ordered(ledger: Ledger) -> None:
    changed(ledger, begun(ledger), RunStatus.FAILED)
    ready = ledger.write(lambda tx: attempts.queue_again(tx, key(), ORIGIN, is_forced=True))
    start = started(ledger)
    assert (start.run.run_id, start.run.is_forced) == (ready.run_id, True)
