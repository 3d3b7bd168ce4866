"""Replay: passes by the minute, by the hour, or one for all open and close the same alerts with the same times."""

from __future__ import annotations

import os
import random
import secrets
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.contract.monitoring.sla_world import (
    START,
    VALID,
    TimedAction,
    World,
    at,
    ended,
    event,
    feed,
    minutes_of,
    process,
    repo,
    started,
    update,
)
from tests.databases.ledgers import open_ledger, sqlite_url
from toolkit.entities.repository import Repository
from toolkit.ledger.database import Ledger
from toolkit.monitoring.series import SlaSeries, watched_series

PRICES = "s3://others/prices"
DAILY = 'sla: {deadline: {cron: "30 2 * * *", timezone: Europe/Berlin, calendar: business, after: hours(20)}}'
BERLIN = "validity: {start: 2026-01-31T23:00Z, end: 2099-01-01T00:00Z}"
ENDING = "validity: {start: 2026-01-01T00:00Z, end: 2026-03-01T03:00Z}"


def world_repo(*, is_dense: bool) -> Repository:
    """Feeds of all rhythms; dense ones have more instances in a few hours than a month could have."""
    frequency = "minutes(20)" if is_dense else "hours(8)"
    hourly = "sla: {low: minutes(7), high: minutes(41)}" if is_dense else "sla: {low: hours(3), high: hours(11)}"
    kept = f"{VALID}, retention: {{limit: {'hours(3)' if is_dense else 'days(9)'}}}"
    return repo(
        feed(more=hourly, frequency=frequency, on=kept),
        feed("daily", more=f"timezone: Europe/Berlin\n{DAILY}", frequency="days(1)", on=BERLIN),
        feed(
            "monthly",
            more="timezone: Europe/Berlin\nsla: {low: days(1), high: months(1)}",
            frequency="months(1)",
            on=BERLIN,
        ),
        feed("ending", more=hourly, frequency=frequency, on=ENDING),
        process(more="sla: {should_start_in: minutes(10), should_end_in: minutes(50)}"),
        process("make_daily", output="daily"),
        process("make_monthly", output="monthly"),
        process("make_ending", output="ending"),
        {"calendars/business.yaml": "holidays: [2026-03-09]\n"},
        settings=f"datasets: [{{uri: '{PRICES}', sla: {{updated_every: minutes(95)}}}}]\n",
    )


def happenings(found: Repository, minutes: int, chance: random.Random) -> Iterator[TimedAction]:
    """Yield what happens: data comes early, in time, late, never, again, or is retracted; runs start, fail and end."""
    for series in watched_series(found).by_key.values():
        if series.key.cluster:
            yield from _of_series(series, minutes, chance)
    for _ in range(chance.randint(0, minutes // 60)):
        yield update(chance.uniform(-30, minutes), PRICES)


def _of_series(series: SlaSeries, minutes: int, chance: random.Random) -> Iterator[TimedAction]:
    name, before = series.key.entity, timedelta(days=40 if series.key.entity in ("daily", "monthly") else 1)
    for instant in series.sequence.between(START - before, at(minutes)):
        key, begin = f"{instant:%Y-%m-%dT%H:%MZ}", (instant - START).total_seconds() / 60
        last = max((series.moments(instant).last or instant) - instant, timedelta(minutes=60)).total_seconds() / 60
        came = begin + chance.choice([-0.2, 0.1, 0.3, 0.7, 1.0, 1.3, 3.0]) * last + chance.choice([0, 0, 0.01])
        if chance.random() < 0.2:
            continue
        if name == "make_clicks":
            yield started(came, key)
            yield ended(came + chance.uniform(1, last), key, status=chance.choice(["succeeded", "succeeded", "failed"]))
            continue
        yield event(came, key, name=name)
        if chance.random() < 0.3:
            yield event(came + 0.2 * last, key, "retracted", name=name)
            if chance.random() < 0.7:
                yield event(came + 0.5 * last, key, "updated", name=name)


def replayed(ledger: Ledger, seed: int, times: Sequence[datetime], minutes: int, *, is_dense: bool) -> World:
    """Return a world after passes at these times; all begin with one at the start."""
    found, chance = world_repo(is_dense=is_dense), random.Random(seed)  # noqa: S311 - repeatable on purpose
    actions = [each for each in happenings(found, minutes, chance) if each.time <= at(minutes)]
    return World(ledger, actions).watch(found, START, *times)


def ledgers(template: Path, folder: Path, count: int) -> list[Ledger]:
    """Return new ledgers."""
    files = [folder / f"ledger-{number}.db" for number in range(count)]
    for file in files:
        shutil.copy(template, file)
    return [open_ledger(sqlite_url(file)) for file in files]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_rhythm_of_passes_changes_no_alert(sqlite_template: Path, tmp_path: Path, seed: int) -> None:
    minutes = 5 * 60
    once, hourly, every_minute = (
        replayed(ledger, seed, minutes_of(step, minutes, step), minutes, is_dense=True)
        for step, ledger in zip((minutes, 60, 1), ledgers(sqlite_template, tmp_path, 3), strict=True)
    )
    assert len(once.alerts()) > 20
    assert (hourly.alerts(), hourly.states()) == (once.alerts(), once.states())
    assert (every_minute.alerts(), every_minute.states()) == (once.alerts(), once.states())


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_month_by_the_minute_by_the_hour_and_at_once_is_the_same(sqlite_template: Path, tmp_path: Path) -> None:
    minutes, seed = 31 * 24 * 60, int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    once, hourly, every_minute = (
        replayed(ledger, seed, minutes_of(step, minutes, step), minutes, is_dense=False)
        for step, ledger in zip((minutes, 60, 1), ledgers(sqlite_template, tmp_path, 3), strict=True)
    )
    assert (hourly.alerts(), hourly.states()) == (once.alerts(), once.states())
    assert (every_minute.alerts(), every_minute.states()) == (once.alerts(), once.states())
