"""Instances that a replication looks at are the same by the records of all as by those of what is not done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from random import Random

import sqlalchemy as sa

from tests.contract.ledger.test_history import row, seeded
from tests.contract.ledger_jobs.plans import executed, scans
from tests.unit.planning.entities import cluster, path_feed
from toolkit.bootstrap.replication import copy_records
from toolkit.el import Frequency, InstanceSequence, format_instant
from toolkit.entities import ClusterRole, Feed, Interface, Interfaces, LateArrival, Order, Retention
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs.queries import OVER
from toolkit.ledger.tables import event, item, run
from toolkit.ledger.vocabulary import EventKind, ItemState, LifeCycle, RunStatus
from toolkit.planning.due_copies import CopyRecords, DueCopies
from toolkit.planning.replication import Range, Route, Side
from toolkit.planning.retention import RetentionClock
from toolkit.replication.planner import SOURCE_EVICTED
from toolkit.replication.resolve import ReplicationResolver
from toolkit.storage import Unreachable

START = datetime(2026, 3, 1, tzinfo=UTC)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
NOMINAL = START + 40 * HOUR
CLOCK = RetentionClock(nominal_time=NOMINAL, keep_beyond_validity=True)
"""The source keeps 30 hours, late data may come for 6."""


def route_of(frequency: str = "hours(1)", /, **properties: str | bool) -> Route:
    made = path_feed("clicks", "/clicks/${YEAR}-${MONTH}-${DAY}-${HOUR}${MINUTE}", frequency)
    late = LateArrival(cut_off=Frequency.parse("hours(6)"))
    (on,) = made.clusters
    on = replace(on, validity=replace(on.validity, start=START))
    kept = Retention(limit=Frequency.parse("hours(30)"))
    source = replace(on, type=ClusterRole.SOURCE, retention=kept, delay=Frequency.parse("minutes(90)"))
    target = replace(on, name="backup", type=ClusterRole.TARGET)
    feed: Feed = replace(made, clusters=(source, target), late_arrival=late, properties={**properties})
    elsewhere = Interfaces(write=Interface(endpoint="file:///backup"))
    here, there = replace(cluster(), name="backup", interfaces=elsewhere), cluster()
    return Route(source=Side(feed=feed, cluster=there, on=source), target=Side(feed=feed, cluster=here, on=target))


@dataclass
class Stored:
    """Rows of a ledger, as the model reads them."""

    runs: list[dict[str, object]]
    items: list[dict[str, object]]
    events: list[dict[str, object]]


def history(random: Random) -> Stored:
    found = Stored([], [], [])
    of = {"life_cycle": LifeCycle.REPLICATION, "entity": "clicks", "cluster": "backup", "counterpart": "primary"}
    for hour in range(42):
        attempts = random.choice((0, 1, 1, 1, 2, 3))
        for attempt in range(1, attempts + 1):
            some = [*RunStatus] if attempt == attempts else [*OVER]
            status = random.choice([RunStatus.SUCCEEDED] * 4 + some)
            number, instant = len(found.runs) + 1, START + hour * HOUR
            reason = random.choice((f"{SOURCE_EVICTED}: gone", "held")) if status is RunStatus.SKIPPED else None
            found.runs.append(row(instant, attempt, status, **of, run_id=number, reason=reason))
            if random.random() < 0.5:
                found.items.append({"run_id": number, "position": 0, "kind": "copy", "path": "x", "instance_key": "",
                                    "state": ItemState.DONE, "intended_at": NOMINAL})  # fmt: skip
        for _ in range(random.choice((0, 0, 0, 1, 2))):
            found.events.append({"sequence": len(found.events) + 1, "dataset": "x", "feed": "clicks",
                                 "kind": random.choice(list(EventKind)), "cluster": "backup", "recorded_at": NOMINAL,
                                 "instance_key": format_instant(START + hour * HOUR)})  # fmt: skip
    return found


def store(ledger: Ledger, stored: Stored) -> None:
    foreign = [{**each, "counterpart": "other", "run_id": None} for each in stored.runs]
    with ledger.engine.begin() as connection:
        for table in (item, event, run):
            connection.execute(sa.delete(table))
        connection.execute(sa.insert(run), stored.runs)
        for table, rows in ((item, stored.items), (event, stored.events)):
            if rows:
                connection.execute(sa.insert(table), rows)
        top = len(stored.runs)
        connection.execute(sa.insert(run), [{**each, "run_id": top + at} for at, each in enumerate(foreign, 1)])


def expected(route: Route, wanted: Range, stored: Stored) -> list[datetime]:
    """Every instance, by all that is recorded of it."""
    begun = {each["run_id"] for each in stored.items}
    attempts: dict[object, list[dict[str, object]]] = {}
    for each in stored.runs:
        attempts.setdefault(each["instance_key"], []).append(each)
    last = {each["instance_key"]: each["kind"] for each in stored.events}
    order = route.feed.properties.get("order")
    due = [each for each in route.source.instances.between(START, NOMINAL) if each + 1.5 * HOUR <= NOMINAL]
    due = [each for each in due if wanted.first is None or wanted.first <= each]
    due = [each for each in due if wanted.end is None or each < wanted.end]
    if order == Order.LAST_ONLY and not wanted.is_given:
        due = due[-1:]
    found = []
    for instant in reversed(due) if order == Order.LIFO or wanted.newest_first else due:
        runs = attempts.get(format_instant(instant), [])
        whole = [_attempt(each) for each in runs if each["status"] == "succeeded"]
        dirty = [_attempt(each) for each in runs if each["status"] != "succeeded" and each["run_id"] in begun]
        is_whole = bool(whole) and max(whole) > max(dirty, default=0)
        is_given_up = bool(runs) and runs[-1]["status"] == "skipped" and "gone" in str(runs[-1]["reason"])
        is_late = instant + 6 * HOUR >= NOMINAL and route.feed.properties.get("feed.late.allowed") is not False
        is_expired = instant < NOMINAL - 30 * HOUR
        if last.get(format_instant(instant)) is EventKind.EVICTED:
            continue
        if wanted.is_given or ((is_late or not is_whole) and not (is_given_up and is_expired)):
            found.append(instant)
    return found


def _attempt(of: dict[str, object]) -> int:
    return int(str(of["attempt"]))


def test_the_same_instances_are_looked_at_as_by_all_records(ledger: Ledger) -> None:
    ranges = (Range(), Range(newest_first=True), Range(first=START + 5 * HOUR, end=START + 20 * HOUR))
    options: list[dict[str, str | bool]] = [{}, {"order": "LIFO"}, {"order": "LAST_ONLY"}, {"feed.late.allowed": False}]
    for seed in range(6):
        stored = history(seeded(str(seed)))
        store(ledger, stored)
        for wanted, properties in product(ranges, options):
            route = route_of(**properties)
            records = copy_records(ledger, "clicks", "backup", "primary")
            due = DueCopies(route=route, nominal=NOMINAL, clock=CLOCK, wanted=wanted, records=records)
            with executed(ledger) as statements:
                found = list(due.found().instants)
            assert found == expected(route, wanted, stored), (seed, wanted, properties)
            assert scans(ledger, statements) == []


def test_without_records_all_are_looked_at_that_the_delay_is_over_for() -> None:
    due = DueCopies(route=route_of(), nominal=NOMINAL, clock=CLOCK, wanted=Range(), records=CopyRecords())
    found = list(due.found().instants)
    assert (len(found), found[0], found[-1]) == (39, START, START + 38 * HOUR)


def test_a_million_instances_that_are_recorded_are_not_made_one_by_one() -> None:
    made: list[tuple[datetime, datetime]] = []

    def nothing(_: InstanceSequence, first: datetime, end: datetime) -> list[datetime]:
        made.append((first, end))
        return []

    route, nominal = route_of("minutes(1)"), START + timedelta(minutes=1_000_000)
    due = DueCopies(route=route, nominal=nominal, clock=None, wanted=Range(), records=CopyRecords(unrecorded=nothing))
    assert len(list(due.found().instants)) == 6 * 60 - 90 + 1
    assert made == [(START, nominal - 90 * MINUTE + MINUTE)]


def test_old_instances_without_a_run_are_those_that_are_listed(ledger: Ledger) -> None:
    route, nominal = route_of("minutes(5)", **{"feed.late.allowed": False}), START + 4_000 * timedelta(minutes=5)
    instants = [START + number * timedelta(minutes=5) for number in range(4_000)]
    of = {"life_cycle": LifeCycle.REPLICATION, "entity": "clicks", "cluster": "backup", "counterpart": "primary"}
    missing = {3, 500, 501, 502, 3_000, 3_900}
    rows = [row(each, 1, RunStatus.SUCCEEDED, **of) for at, each in enumerate(instants) if at not in missing]
    rows += [row(instants[502], 1, RunStatus.WAITING, **of)]
    with ledger.engine.begin() as connection:
        connection.execute(sa.insert(run), rows)
    listings: list[tuple[datetime, datetime]] = []

    def listed(periods: Sequence[tuple[datetime, datetime]]) -> set[datetime]:
        listings.extend(periods)
        return {instants[3], instants[4], instants[501]}

    records = copy_records(ledger, "clicks", "backup", "primary")
    due = DueCopies(route=route, nominal=nominal, clock=None, wanted=Range(), records=records, listed=listed)
    found = due.found()
    assert found.instants == (instants[3], instants[501], instants[502], instants[3_900])
    assert (found.absent, found.recent_from) == (2, instants[4_000 - 17 - 256])
    assert all(end - first <= 1_024 * timedelta(minutes=5) for first, end in listings)


def test_older_instances_that_cannot_be_listed_are_a_failure_beside_the_newest() -> None:
    def listed(side: Side, _: Sequence[tuple[datetime, datetime]]) -> set[datetime]:
        raise Unreachable(path=side.base, detail="no answer")

    resolver = ReplicationResolver(nominal=START + 400 * HOUR, clock=None, wanted=Range(), listed=listed)
    found = resolver.resolve([route_of()], must_all_work=True)
    assert [each.instance_key for each in found.to_do][::255] == ["2026-03-06T23:00Z", "2026-03-17T14:00Z"]
    (plan,) = found.settled
    assert plan.failed is not None
    assert plan.failed.code == Unreachable.code


def test_cut_offs_that_a_short_month_puts_out_of_order_hide_no_late_data() -> None:
    """The last four days of January plus a month are all 28 February."""
    start, nominal = datetime(2026, 1, 20, tzinfo=UTC), datetime(2026, 2, 28, 3, tzinfo=UTC)
    late = LateArrival(cut_off=Frequency.parse("months(1)"))
    for days in range(20):
        first, made = start - timedelta(days=days), route_of()
        on = [replace(each.on, validity=replace(each.on.validity, start=first)) for each in (made.source, made.target)]
        feed = replace(made.feed, late_arrival=late, clusters=tuple(on))
        source, target = (
            replace(each, feed=feed, on=own) for each, own in zip((made.source, made.target), on, strict=True)
        )
        route = Route(source=source, target=target)
        records = CopyRecords(unrecorded=lambda *_: ())
        due = DueCopies(route=route, nominal=nominal, clock=None, wanted=Range(), records=records)
        hours = [first + hour * HOUR for hour in range((nominal - first) // HOUR - 1)]
        assert list(due.found().instants) == [each for each in hours if (route.late_until(each) or START) >= nominal]
