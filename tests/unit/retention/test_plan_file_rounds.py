"""Random evictions by plan files: what goes is in the file and due now, whatever the file says and protections keep."""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from tests.unit.retention.feeds import FeedText, acted, context_on, request_of, resolved, retention
from tests.unit.retention.memory import MemoryFileSystem
from toolkit.actions.plan_file import PlanFile
from toolkit.actions.plan_item import FileItem
from toolkit.el import Frequency, InstanceSequence
from toolkit.entities import ProtectionName
from toolkit.ledger.runs.rows import Origin
from toolkit.retention import RetentionResult
from toolkit.retention.protection import Protector
from toolkit.retention.review import RetentionReview

NOMINAL = datetime(2026, 3, 20, 12, tzinfo=UTC)
LIMIT = 10
FIRST = datetime(2026, 2, 1, tzinfo=UTC)
DAYS = [FIRST + timedelta(days=number) for number in range(50)]
"""Two months: one of them may go as a whole directory."""
READERS = (ProtectionName.UNREAD_BATCHES, ProtectionName.UNREPLICATED, ProtectionName.UNREAD_CONSUMERS)


@dataclass(frozen=True, kw_only=True)
class World:
    """Instances of a feed, and who needs which of them; for how many days a protection lasts, if it ends.

    Late data has come into some of the instances.
    """

    there: frozenset[datetime]
    late: frozenset[datetime] = frozenset()
    needed: Mapping[ProtectionName, tuple[frozenset[datetime], int | None]]
    keep_last: int

    @classmethod
    def of(cls, chance: random.Random, keep_last: int) -> World:
        """Return a random one."""
        needed = {name: (_some(chance, DAYS), chance.choice([None, 12, 25, 90])) for name in READERS}
        return cls(there=_some(chance, DAYS), late=_some(chance, DAYS), needed=needed, keep_last=keep_last)

    @property
    def due(self) -> frozenset[datetime]:
        """Return the instances that go by the rules in the docs; it uses no code of the product."""
        past = sorted((each for each in self.there if each <= NOMINAL), reverse=True)
        newest = set(past[: self.keep_last])
        return frozenset(each for each in self.there if each < _ago(LIMIT) and each not in newest | self._protected)

    @property
    def _protected(self) -> set[datetime]:
        return {each for needed, days in self.needed.values() for each in needed if days is None or each >= _ago(days)}

    @property
    def system(self) -> MemoryFileSystem:
        """Return a store with the instances."""
        system = MemoryFileSystem()
        for each in self.there:
            system.put(f"{_path(each)}/part", *([f"{_path(each)}/late/part"] if each in self.late else []))
        return system

    def file(self, *, limit: int = LIMIT) -> PlanFile:
        """Return the plan of an eviction as a file has it."""
        review = RetentionReview(storage=lambda _: self.system, check=lambda: None).of
        return PlanFile.of(self.run(limit=limit)[0], lambda _: Origin(who="alice"), NOMINAL, review)

    def run(self, *, limit: int = LIMIT, file: PlanFile | None = None) -> tuple[RetentionResult, frozenset[datetime]]:
        """Plan an eviction, or apply a file; return the result and what is left."""
        system = self.system
        feed = FeedText(limit=f"days({limit})", keep_last=self.keep_last or None)
        targets = resolved(system, [feed])
        (target,) = targets.to_do
        protectors = [_protector(target.instances, name, *each) for name, each in self.needed.items()]
        targets = replace(targets, to_do=(replace(target, protectors=tuple(protectors)),))
        request = request_of(dry_run=file is None)
        result = acted(retention(), targets, request, partial(context_on, system), plan_file=file)
        return result, frozenset(each for each in DAYS if f"{_path(each)}/part" in system.tree())


def _some(chance: random.Random, days: Sequence[datetime]) -> frozenset[datetime]:
    share = chance.random()
    return frozenset(each for each in days if chance.random() < share)


def _ago(days: int) -> datetime:
    return NOMINAL - timedelta(days=days)


def _path(day: datetime) -> str:
    return f"/data/clicks/{day:%Y/%m/%d}"


def _protector(
    instances: InstanceSequence, name: ProtectionName, needed: Collection[datetime], days: int | None
) -> Protector:
    return Protector(
        feed="clicks",
        cluster="primary",
        name=name,
        instances=instances,
        timezone="UTC",
        max_age=None if days is None else Frequency.parse(f"days({days})"),
        needed=lambda instants: {each: "a reader" for each in instants if each in needed},
    )


def _forged(file: PlanFile) -> PlanFile:
    """Return the file with all instances there can be, as somebody would write it who wants them gone."""
    nothing = World(there=frozenset(DAYS), needed={}, keep_last=0)
    (everything,) = nothing.file(limit=1).plans
    (plan,) = file.plans
    return replace(file, plans=(replace(plan, items=everything.items),))


def _days(items: Sequence[FileItem]) -> frozenset[datetime]:
    return frozenset(each for each in DAYS if any(item.uri == f"file://{_path(each)}" for item in items))


def _round(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    keep_last = chance.choice([0, 0, 1, 30])
    before, after = World.of(chance, keep_last), World.of(chance, keep_last)
    if chance.random() < 0.5:
        after = replace(after, there=before.there)
    if chance.random() < 0.5:
        after = replace(after, late=before.late)
    file, late = before.file(), before.late
    assert _days(file.plans[0].items) == before.due
    if chance.random() < 0.3:
        file, late = _forged(file), frozenset()
    file = PlanFile.parse("".join(file.lines()).encode())
    _, left = after.run(file=file)
    same = {each for each in DAYS if (each in late) == (each in after.late)}
    assert after.there - left == after.due & _days(file.plans[0].items) & same


@pytest.mark.parametrize("rounds", [15, pytest.param(2000, marks=[pytest.mark.soak, pytest.mark.timeout(0)])])
def test_a_plan_file_removes_what_is_in_it_and_due_now(rounds: int) -> None:
    first = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={first}")  # noqa: T201 - how to repeat it
    for seed in range(first, first + rounds):
        _round(seed)
