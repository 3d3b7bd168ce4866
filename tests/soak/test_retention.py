"""Random feeds on a real disk against a slow oracle: undisturbed, and stopped anywhere and run again."""

from __future__ import annotations

import os
import random
import secrets
from pathlib import Path

import pytest

from tests.soak.retention_oracle import FIRST, Case, tree
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
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.result import Outcome, Status
from toolkit.retention import Resolver, RetentionRequest, RetentionResult, RetentionRun
from toolkit.runs.errors import Stopped
from toolkit.runs.lifeline import Lifeline, Unbounded
from toolkit.storage import LocalFileSystem

_ROUNDS, _SOAK_ROUNDS = 20, 2000


class StopsAfter:
    """A lifeline that breaks after so many checks, also between the files of one instance."""

    def __init__(self, checks: int) -> None:
        self.left = checks

    def check(self) -> None:
        if self.left <= 0:
            raise Stopped(reason="the soak test")
        self.left -= 1


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


def _run(case: Case, root: Path, lifeline: Lifeline, *, dry_run: bool = False) -> RetentionResult:
    system = LocalFileSystem(lifeline.check)
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
    run = RetentionRun(storage=lambda _: system, lifeline=lifeline)
    return run.run(request, resolver.resolve([(_feed(case), cluster)], must_all_work=True))


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
    stopped = _run(case, root, StopsAfter(chance.randrange(200)))
    assert stopped.status in {Status.KILLED, Status.SUCCEEDED}
    assert _run(case, root, Unbounded()).status is Status.SUCCEEDED
    assert tree(root) == case.expected(before, evicted)
    assert _run(case, root, Unbounded(), dry_run=True).digest == _run(case, root, Unbounded()).digest


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
