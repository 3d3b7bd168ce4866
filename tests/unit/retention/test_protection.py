"""Protections: what somebody still needs stays, until it is too old, which is then reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import pytest

from tests.unit.retention.feeds import HOURLY, FeedText, context_on, days, resolved, retention
from tests.unit.retention.feeds import cluster as named_cluster
from tests.unit.retention.memory import MemoryFileSystem
from tests.unit.retention.tables import TableSite
from toolkit.el import Frequency, format_instant, parse_instant
from toolkit.entities import Protection, ProtectionName
from toolkit.planning.retention import KeepReason
from toolkit.retention import FeedPlan, FeedTarget
from toolkit.retention.explain import Explainer
from toolkit.retention.protection import Protector, unknown_protectors
from toolkit.runs.stop import NeverStopped

DAY = "2026-03-{:02}T00:00Z"


class Needs:
    """A protection that keeps some instances, and remembers what it was called with."""

    def __init__(self, *keys: str) -> None:
        self.keys = set(keys)
        self.calls: list[list[str]] = []

    def __call__(self, instants: Sequence[datetime]) -> Mapping[datetime, str]:
        self.calls.append([format_instant(each) for each in instants])
        return {each: f"sums of {format_instant(each)}" for each in instants if format_instant(each) in self.keys}


def _protector(
    target: FeedTarget,
    needs: Needs,
    max_age: str | None = None,
    name: ProtectionName = ProtectionName.UNREAD_CONSUMERS,
) -> Protector:
    return Protector(
        feed="clicks",
        cluster="primary",
        name=name,
        instances=target.instances,
        timezone="UTC",
        max_age=None if max_age is None else Frequency.parse(max_age),
        needed=needs,
    )


def _plan(
    system: MemoryFileSystem, feed: FeedText, needs: Needs, max_age: str | None = None, *more: Protector
) -> FeedPlan:
    (target,) = resolved(system, [feed]).to_do
    target = replace(target, protectors=(_protector(target, needs, max_age), *more))
    return retention().plan(target, context_on(system, NeverStopped()))


def _days(*numbers: int) -> MemoryFileSystem:
    system = MemoryFileSystem()
    for number in numbers:
        system.put(*days(number, number))
    return system


def _going(plan: FeedPlan) -> list[str]:
    return [item.instance_key for item in plan.items]


def test_what_somebody_needs_stays_and_says_why() -> None:
    plan = _plan(_days(1, 2, 3, 19), FeedText(), Needs(DAY.format(2)))
    assert _going(plan) == [DAY.format(1), DAY.format(3)]
    (kept,) = plan.detail.kept
    assert (kept.reason, kept.detail) == (KeepReason.UNREAD_CONSUMERS, f"sums of {DAY.format(2)}")


def test_protections_are_looked_up_once_for_all_that_would_go_and_for_nothing_else() -> None:
    needs = Needs()
    _plan(_days(1, 2, 3, 19), FeedText(), needs)
    assert needs.calls == [[DAY.format(number) for number in (1, 2, 3)]]
    late = Needs()
    assert _going(_plan(_days(1, 2, 3, 19), FeedText(cut_off="days(30)"), late)) == []
    assert late.calls == []


def test_a_path_that_stands_for_several_instances_stays_for_one_of_them() -> None:
    hourly = FeedText(frequency="hours(1)")
    assert _going(_plan(_days(1, 2), hourly, Needs("2026-03-01T07:00Z"))) == ["2026-03-02T23:00Z"]


@pytest.mark.parametrize(("max_age", "going"), [("days(19)", [1]), ("days(20)", []), (None, [])])
def test_what_is_too_old_goes_and_is_reported(max_age: str | None, going: list[int]) -> None:
    plan = _plan(_days(1, 2), FeedText(), Needs(DAY.format(1), DAY.format(2)), max_age)
    assert _going(plan) == [DAY.format(number) for number in going]
    reports = [note for note in plan.notes if "max_age days(19)" in note]
    assert [note.startswith("1 instances go although unread_consumers would keep them") for note in reports] == (
        [True] if going else []
    )


def test_what_another_protection_keeps_is_not_reported_as_gone() -> None:
    system, feed, old = _days(1), FeedText(), Needs(DAY.format(1))
    (target,) = resolved(system, [feed]).to_do
    other = _protector(target, Needs(DAY.format(1)), None, ProtectionName.UNREPLICATED)
    plan = _plan(system, feed, old, "days(3)", other)
    assert ([each.reason for each in plan.detail.kept], plan.notes) == ([KeepReason.UNREPLICATED], ())


def test_a_late_window_that_has_ended_by_its_age_is_reported() -> None:
    plan = _plan(_days(1, 2), FeedText(cut_off="days(30)", late_max_age="days(12)"), Needs())
    assert _going(plan) == [DAY.format(1), DAY.format(2)]
    assert any(note.startswith("2 instances go although late_window would keep them") for note in plan.notes)


def test_explain_names_the_protection_and_its_place() -> None:
    plan = _plan(_days(1, 2), FeedText(), Needs(DAY.format(2)))
    explainer = Explainer(plan=plan, place_of=lambda _, key: f"<{key}>", kind_at=lambda _: None)
    (found,) = explainer.of_instance(parse_instant(DAY.format(2)))
    assert (found.reason, found.decision) == ("unread_consumers", "stays")
    assert f"sums of {DAY.format(2)} (unread_consumers, <protect>)" in found.why


def test_every_location_of_a_protected_instance_stays() -> None:
    feed = FeedText(data=HOURLY, frequency="hours(1)", others={"stats": "/stats/clicks/${YEAR}/${MONTH}/${DAY}"})
    system = MemoryFileSystem()
    system.put("/data/clicks/2026/03/01/07/part", "/stats/clicks/2026/03/01/part", "/stats/clicks/2026/03/02/part")
    plan = _plan(system, feed, Needs("2026-03-01T07:00Z"))
    assert [str(item.path) for item in plan.items] == ["file:///stats/clicks/2026/03/02"]


def test_a_partition_that_somebody_needs_stays() -> None:
    site = TableSite()
    site.add_days("01", "02")
    target = site.target()
    needs = Needs(DAY.format(1))
    target = replace(target, protectors=(_protector(target, needs),))
    plan = retention().plan(target, context_on(site.system, NeverStopped()))
    assert {item.partition.name for item in plan.items if item.partition} == {"ds=2026-03-02"}
    assert [each.reason for each in plan.detail.kept] == [KeepReason.UNREAD_CONSUMERS]


def test_without_anything_that_tells_all_protections_keep_everything() -> None:
    protect = tuple(Protection(name=each) for each in ProtectionName)
    on = FeedText().feed()
    (cluster,) = on.clusters
    assert cluster.retention is not None
    feed = replace(on, clusters=(replace(cluster, retention=replace(cluster.retention, protect=protect)),))
    found = unknown_protectors(feed, named_cluster())
    instant = parse_instant(DAY.format(1))
    assert [each.name for each in found] == [each for each in ProtectionName if each is not ProtectionName.LATE_WINDOW]
    assert all(instant in each.needed([instant]) for each in found)
