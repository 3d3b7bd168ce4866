"""Which instances are still to be looked at for late data, on both databases."""

from __future__ import annotations

from datetime import timedelta

from tests.contract.ledger.test_fingerprints import NOON, read, worked
from tests.contract.ledger_jobs.plans import executed, scans
from toolkit.ledger import late_checks
from toolkit.ledger.database import Ledger
from toolkit.ledger.late_checks import MadeCheck, OpenInstance
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import LateCheckResult, RunStatus

TWELVE, ONE = "2026-03-01T12:00Z", "2026-03-01T13:00Z"


def checked(
    ledger: Ledger, hours: int, *, is_last: bool = False, instance: str = TWELVE, by: Run | None = None
) -> MadeCheck:
    """Note a check of an instance, so many hours after noon."""
    check = MadeCheck(
        process="p",
        cluster="primary",
        instance_key=instance,
        due_at=NOON + timedelta(hours=hours),
        is_last=is_last,
        verdict=LateCheckResult.UNCHANGED if by is None else LateCheckResult.LATE,
        cause=None if by is None else "added b",
        run_id=None if by is None else by.run_id,
    )
    ledger.write(lambda tx: late_checks.record(tx, [check]))
    return check


def still_open(ledger: Ledger) -> list[OpenInstance]:
    return ledger.read(lambda tx: late_checks.open_instances(tx, "p", "primary"))


def test_an_instance_is_open_from_its_first_success_until_its_last_check(ledger: Ledger) -> None:
    worked(ledger, RunStatus.FAILED, read("a"))
    assert still_open(ledger) == []
    succeeded = worked(ledger, RunStatus.SUCCEEDED, read("a"))
    open_now = OpenInstance(instance_key=TWELVE, run_id=succeeded.run_id, ends={"clicks": "2026-03-01T11:00Z"})
    assert still_open(ledger) == [open_now]
    made = checked(ledger, 1)
    (after,) = still_open(ledger)
    assert after.last_check == made.due_at
    checked(ledger, 2, is_last=True)
    assert still_open(ledger) == []


def test_the_newest_success_counts_with_the_newest_instance_that_each_input_read(ledger: Ledger) -> None:
    worked(ledger, RunStatus.SUCCEEDED, read("a"))
    wide = [read("a"), read("b", instance="2026-03-01T09:00Z"), read("c", name="users", instance="2026-02-01T00:00Z")]
    second = worked(ledger, RunStatus.SUCCEEDED, *wide)
    worked(ledger, RunStatus.FAILED, read("d"))
    (found,) = still_open(ledger)
    assert (found.run_id, found.ends) == (
        second.run_id,
        {"clicks": "2026-03-01T11:00Z", "users": "2026-02-01T00:00Z"},
    )


def test_of_an_instance_whose_last_success_has_noted_nothing_nobody_knows_what_it_read(ledger: Ledger) -> None:
    worked(ledger, RunStatus.SUCCEEDED, read("a"))
    worked(ledger, RunStatus.SUCCEEDED)
    assert still_open(ledger) == []


def test_a_check_of_one_instance_says_nothing_of_another(ledger: Ledger) -> None:
    worked(ledger, RunStatus.SUCCEEDED, read("a"))
    worked(ledger, RunStatus.SUCCEEDED, read("a"), instance=ONE)
    checked(ledger, 1, is_last=True)
    (found,) = still_open(ledger)
    assert (found.instance_key, found.last_check) == (ONE, None)


def test_a_check_is_noted_once_with_what_it_led_to(ledger: Ledger) -> None:
    again = worked(ledger, RunStatus.SUCCEEDED, read("a", "b"))
    made = checked(ledger, 1, by=again)
    checked(ledger, 1)
    assert ledger.read(lambda tx: late_checks.made_for(tx, "p", "primary", TWELVE)) == [made]


def test_what_is_open_is_found_without_reading_all_that_ever_ran(ledger: Ledger) -> None:
    worked(ledger, RunStatus.SUCCEEDED, read("a"))
    with executed(ledger) as statements:
        assert len(still_open(ledger)) == 1
    assert len(statements) <= 5
    assert scans(ledger, statements) == []
