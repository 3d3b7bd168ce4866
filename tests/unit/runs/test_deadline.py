"""Until when effects may start, by a clock that nobody sets."""

from __future__ import annotations

import math
import time

import pytest

from tests.unit.runs.fakes import HandClock
from toolkit.runs.errors import BadLeaseTime
from toolkit.runs.lease import Deadline, lease_seconds, machine_clock


def test_a_lease_is_good_for_its_time_less_one_beat() -> None:
    clock = HandClock()
    deadline = Deadline(seconds=60, clock=clock)
    clock.forward(49.9)
    assert not deadline.is_over()
    clock.forward(0.1)
    assert deadline.is_over()


def test_a_renewal_counts_from_before_it_was_sent() -> None:
    clock = HandClock()
    deadline = Deadline(seconds=60, clock=clock)
    clock.forward(10)
    sent_at = deadline.now()
    clock.forward(30)  # so long the ledger took to answer
    deadline.renewed(sent_at)
    clock.forward(19.9)
    assert not deadline.is_over()
    clock.forward(0.1)
    assert deadline.is_over()


def test_an_answer_that_comes_after_a_later_one_takes_nothing_away() -> None:
    clock = HandClock()
    deadline = Deadline(seconds=60, clock=clock)
    first = deadline.now()
    clock.forward(30)
    deadline.renewed(deadline.now())
    deadline.renewed(first)
    clock.forward(49)
    assert not deadline.is_over()


def test_without_a_lease_there_is_no_deadline() -> None:
    clock = HandClock()
    deadline = Deadline(seconds=math.inf, clock=clock)
    clock.forward(1e9)
    assert not deadline.is_over()


def test_the_machine_clock_counts_seconds_forward() -> None:
    before = machine_clock()
    time.sleep(0.02)
    assert 0.02 <= machine_clock() - before < 10


@pytest.mark.parametrize(("text", "seconds"), [("", 60), ("2", 2), ("1.5", 1.5), ("86400", 86400)])
def test_the_environment_may_set_how_long_leases_last(text: str, seconds: float) -> None:
    assert lease_seconds({"FEEDCTL_LEASE_SECONDS": text}) == seconds


def test_leases_last_a_minute() -> None:
    assert lease_seconds({}) == 60


@pytest.mark.parametrize("text", ["0", "0.5", "-1", "86401", "nan", "inf", "one minute"])
def test_a_time_that_no_run_could_keep_is_refused(text: str) -> None:
    with pytest.raises(BadLeaseTime, match="expected a number of seconds from 1 to 86400"):
        lease_seconds({"FEEDCTL_LEASE_SECONDS": text})
