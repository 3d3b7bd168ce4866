"""Instances that other runs write stay, and directories above them do not go as a whole; the rest goes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.unit.retention.feeds import HOURLY, NOMINAL, FeedText, acted, cluster, context_on, request_of, retention
from tests.unit.retention.memory import AtomicMemory
from tests.unit.runs.fakes import THEN
from toolkit.actions.action import RunContext
from toolkit.actions.guard import Condition
from toolkit.el import parse_instant
from toolkit.ledger.runs.errors import LeaseHeld
from toolkit.ledger.runs.outputs import HeldOutput, output_resource
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.retention import Resolver, RetentionResult, SharedDataIndex
from toolkit.runs.output_use import OutputUse
from toolkit.runs.stop import StopSignal

HOUR = "/data/clicks/2026/03/01/{:02}"
_NONE: Any = None
RUN = Run(
    run_id=7, life_cycle=LifeCycle.EXECUTION, entity="make", cluster="primary", counterpart="", who="ada",
    instance_key="2026-03-01T01:00Z", attempt=1, status=RunStatus.RUNNING, suspended_from=None, is_forced=False,
    created_at=THEN, **dict.fromkeys((
        "process_id", "mode", "target_batch_id", "target_marking", "snapshot", "digest", "versions", "host", "pid",
        "owner_mark", "application_id", "log_location", "exit_code", "reason", "started_at", "heartbeat_at", "ended_at",
    ), _NONE),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Held(OutputUse):
    """A ledger in which one run holds one instance."""

    key: str
    feed: str = "clicks"

    def held(self, places: Collection[tuple[str, str]], also: Collection[str] = ()) -> list[HeldOutput]:
        del also
        if (self.feed, "primary") not in places:
            return []
        resource = output_resource(self.feed, "primary", self.key)
        held = LeaseHeld(resource=resource, holder=RUN, since=THEN, until=THEN)
        return [HeldOutput(feed=self.feed, cluster="primary", instance_key=self.key, held=held)]


def _run(system: AtomicMemory, use: OutputUse, *others: FeedText) -> RetentionResult:
    feeds = FeedText(data=HOURLY, frequency="hours(1)"), *others
    every = tuple(each.feed() for each in feeds)
    resolver = Resolver(
        nominal_time=parse_instant(NOMINAL),
        keep_beyond_validity=True,
        holds=(),
        storage=lambda _: system,
        shared_data=SharedDataIndex(feeds=every, clusters=(cluster(),)),
    )

    def opened(run: StopSignal, conditions: Sequence[Condition]) -> RunContext:
        return replace(context_on(system, run, conditions), outputs=use)

    return acted(retention(), resolver.resolve([(every[0], cluster())], must_all_work=True), request_of(), opened)


def _left(system: AtomicMemory, hours: Sequence[int]) -> list[int]:
    return [hour for hour in hours if f"{HOUR.format(hour)}/part" in system.files]


@pytest.fixture
def system() -> AtomicMemory:
    memory = AtomicMemory()
    memory.put(*(f"{HOUR.format(hour)}/part" for hour in range(4)))
    return memory


def test_an_instance_in_a_directory_that_should_go_whole_stays(system: AtomicMemory) -> None:
    result = _run(system, Held(key="2026-03-01T01:00Z"))
    assert _left(system, range(4)) == [1]
    (skipped,) = [each for each in result.items if each.code]
    assert (skipped.code, result.exit_code) == ("lease_held", 0)
    assert "run 7 (" in skipped.message


def test_a_directory_in_which_a_new_instance_is_being_written_does_not_go(system: AtomicMemory) -> None:
    """Its instances go one by one: the writer may make its own between the last look and the call."""
    _run(system, Held(key="2026-03-01T09:00Z"))
    assert _left(system, range(4)) == []
    deleted = [each.split()[1] for each in system.effects if each.startswith("delete ")]
    assert sorted(deleted) == [HOUR.format(hour) for hour in range(4)]


@pytest.mark.parametrize("key", ["nonsense", "2026-03-01T00:30Z x"])
def test_a_lease_that_the_repo_knows_nothing_of_keeps_all(system: AtomicMemory, key: str) -> None:
    _run(system, Held(key=key))
    assert _left(system, range(4)) == [0, 1, 2, 3]


def test_a_writer_of_a_feed_that_shares_the_data_counts(system: AtomicMemory) -> None:
    daily = FeedText(name="daily", data=HOURLY.removesuffix("/${HOUR}"))
    _run(system, Held(key="2026-03-01T00:00Z", feed="daily"), daily)
    assert _left(system, range(4)) == [0, 1, 2, 3]
