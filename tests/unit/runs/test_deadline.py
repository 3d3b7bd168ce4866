"""Until when effects may start, by a clock that nobody sets."""

from __future__ import annotations

import math
import time

from tests.unit.runs.fakes import HandClock
from toolkit.runs.lease import Deadline, machine_clock


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
