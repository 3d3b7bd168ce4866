"""Random feeds on a real disk against a slow oracle: undisturbed, and stopped anywhere and run again."""

from __future__ import annotations

import os
import random
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.soak.retention_oracle import FIRST, Case, tree
from tests.unit.runs.fakes import MemoryRecorder, envelope_of, left_item
from toolkit.config_source import SnapshotId, SnapshotKind
from toolkit.el import Frequency
from toolkit.entities import (
    Cluster,
    Feed,
    FeedCluster,
    Hold,
    Interface,
    Interfaces,
    LateArrival,
    Locations,
    Retention,
    Validity,
)
from toolkit.ledger.runs.items import NewItem
from toolkit.ledger.runs.rows import Origin
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.result import Outcome, Status
from toolkit.retention import FeedRuns, Resolver, RetentionRequest, RetentionResult, RetentionRun
from toolkit.runs.errors import Stopped
from toolkit.runs.heartbeat import Heartbeat
from toolkit.runs.lifeline import CurrentLifeline, Lifeline, Unbounded
from toolkit.runs.recorder import RecordedRun, SettledLeftOver, Step
from toolkit.storage import LocalFileSystem

_ROUNDS, _SOAK_ROUNDS = 20, 2000
_LEASE_SECONDS = 3600.0


class StopsAfter:
    """A lifeline that breaks after so many checks, also between the files of one instance."""

    def __init__(self, checks: int) -> None:
        self.left = checks

    def check(self) -> None:
        if self.left <= 0:
            raise Stopped(reason="the soak test")
        self.left -= 1


class _Killed(BaseException):
    """What kill -9 is to a program: nothing handles it."""


class _KilledAfter(StopsAfter):
    def check(self) -> None:
        if self.left <= 0:
            raise _Killed
        self.left -= 1


@dataclass
class _MortalRecorder(MemoryRecorder):
    """A ledger whose run may die: what it intended stays open for the next one."""

    open: dict[int, NewItem] = field(default_factory=dict)

    def record(self, run: RecordedRun, step: Step) -> None:
        super().record(run, step)
        for each in step.settled:
            del self.open[each.position]
        self.open.update((each.position, each) for each in step.intended)

    def settle_left_over(self, items: Sequence[SettledLeftOver]) -> bool:
        self.left = []
        return super().settle_left_over(items)

    def die(self) -> None:
        for each in self.open.values():
            self.left.append(left_item(each, run_id=len(self.runs)))
        self.open = {}

    def told(self) -> list[str]:
        late = [each.event for each in self.settled_left if each.event is not None]
        return [event.instance_key for event in (*self.events(), *late)]


def _seed() -> int:
    return int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))


def _feed(case: Case) -> Feed:
    hours = f"hours({case.limit_hours})"
    validity = Validity(start=FIRST.replace(year=2025), end=FIRST.replace(year=2099))
    retention = Retention(limit=Frequency.parse(hours), keep_last=case.keep_last or None)
    return Feed(
        name="soaked",
        frequency=Frequency.parse(case.frequency),
        path_timezone=case.zone,
        late_arrival=LateArrival(cut_off=Frequency.parse(f"hours({case.cut_off_hours})"))
        if case.cut_off_hours
        else None,
        locations=Locations(data=case.template),
        clusters=(FeedCluster(name="local", validity=validity, retention=retention),),
    )


def _run(
    case: Case, root: Path, lifeline: Lifeline, recorder: MemoryRecorder | None = None, *, dry_run: bool = False
) -> RetentionResult:
    current = CurrentLifeline(lifeline)
    system = LocalFileSystem(current.check)
    holds = () if case.hold is None else (Hold(feed="soaked", start=case.hold[0], end=case.hold[1], reason="soak"),)
    cluster = Cluster(name="local", interfaces=Interfaces(write=Interface(endpoint=f"file://{root}")))
    resolver = Resolver(nominal_time=case.nominal, keep_beyond_validity=True, holds=holds, storage=lambda _: system)
    request = RetentionRequest(
        nominal_time=case.nominal,
        dry_run=dry_run,
        approve=None,
        limits=DeleteLimits(instances=10_000),
        environment=None,
        snapshot=SnapshotId(kind=SnapshotKind.DIRECTORY, value="soak"),
        tzdata="",
    )
    feeds = resolver.resolve([(_feed(case), cluster)], must_all_work=True)
    retention = RetentionRun(storage=lambda _: system, lifeline=current)
    if dry_run:
        return retention.preview(request, feeds)
    recorder = recorder or MemoryRecorder()
    with Heartbeat(recorder, seconds=_LEASE_SECONDS) as heartbeat:
        envelope = envelope_of(recorder, heartbeat, process=lifeline)
        runs = FeedRuns(
            envelope=envelope,
            nominal_time=case.nominal,
            origin_of=lambda _: Origin(who="soak"),
        )
        return retention.run(request, feeds, runs)


def _one_round(seed: int, directory: Path) -> None:
    chance = random.Random(seed)  # noqa: S311 - a repeatable test, no secret
    case, root = Case.draw(chance), directory / str(seed)
    root.mkdir()
    instances = case.fill(root, chance)
    before = tree(root)
    evicted = case.evicted(instances)
    planned = _run(case, root, Unbounded(), dry_run=True)
    assert {_name(root, each.item.path.path) for each in planned.items if each.outcome is Outcome.PLANNED} == evicted
    assert tree(root) == before
    recorder = _MortalRecorder(left_entity="soaked")
    _kill_somewhere(case, root, chance, recorder)
    stopped = _run(case, root, StopsAfter(chance.randrange(200)), recorder)
    assert stopped.status in {Status.KILLED, Status.SUCCEEDED}
    _kill_somewhere(case, root, chance, recorder)
    assert _run(case, root, Unbounded(), recorder).status is Status.SUCCEEDED
    assert tree(root) == case.expected(before, evicted)
    assert _run(case, root, Unbounded(), dry_run=True).digest == _run(case, root, Unbounded()).digest
    assert Counter(recorder.told()) == Counter({each.item.key for each in planned.items if each.item.key})


def _kill_somewhere(case: Case, root: Path, chance: random.Random, recorder: _MortalRecorder) -> None:
    try:
        _run(case, root, _KilledAfter(chance.randrange(200)), recorder)
    except _Killed:
        recorder.die()


def _name(root: Path, path: str) -> str:
    return path.removeprefix(str(root))


def _soak(rounds: int, directory: Path) -> None:
    first = _seed()
    print(f"FEEDCTL_SEED={first}")  # noqa: T201 - how to repeat it
    for seed in range(first, first + rounds):
        try:
            _one_round(seed, directory)
        except AssertionError as error:
            error.add_note(f"repeat with FEEDCTL_SEED={seed}")
            raise


def test_retention_agrees_with_a_slow_oracle(tmp_path: Path) -> None:
    _soak(_ROUNDS, tmp_path)


@pytest.mark.soak
def test_retention_agrees_with_a_slow_oracle_for_long(tmp_path: Path) -> None:
    _soak(_SOAK_ROUNDS, tmp_path)
