"""Times and paths of migrated instances over a year, against the specification's rules, stepped on our own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count, takewhile
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from dateutil.relativedelta import relativedelta
from dateutil.tz import resolve_imaginary

from tests.unit.migration.migrated import cluster, feed, make_of
from toolkit.el import format_instant
from toolkit.entities.templates import path_template
from toolkit.planning.process_io import ProcessSite

START, END = datetime(2026, 1, 31, 8, 30, tzinfo=UTC), datetime(2027, 2, 1, tzinfo=UTC)
VALIDITY = f'start="{format_instant(START)}" end="{format_instant(END)}"'
PATH = "/data/${YEAR}-${MONTH}-${DAY}-${HOUR}-${MINUTE}"
ZONES = ("UTC", "America/Los_Angeles", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata")


def stepped(unit: str, number: int, zone: str) -> Iterator[datetime]:
    """Start, start + f, start + 2f ... strictly before the end; days and months on the wall of the zone."""
    local = START.astimezone(ZoneInfo(zone))
    for position in takewhile(lambda n: _at(local, unit, n * number) < END, count()):
        yield _at(local, unit, position * number)


def _at(local: datetime, unit: str, number: int) -> datetime:
    if unit in {"minutes", "hours"}:
        return local.astimezone(UTC) + timedelta(**{unit: number})
    wall = local + (relativedelta(days=number) if unit == "days" else relativedelta(months=number))
    return resolve_imaginary(wall.replace(fold=0)).astimezone(UTC)


def path_of(instant: datetime) -> str:
    """Falcon names paths in UTC."""
    return f"/data/{instant:%Y-%m-%d-%H-%M}"


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(("unit", "number"), [("minutes", 90), ("hours", 1), ("days", 1), ("days", 7), ("months", 1)])
def test_a_years_instances_of_a_feed_and_their_paths(tmp_path: Path, zone: str, unit: str, number: int) -> None:
    text = feed(frequency=f"{unit}({number})", path=PATH, validity=VALIDITY, more=f"<timezone>{zone}</timezone>")
    found = make_of(tmp_path, c=cluster(), f=text).repository.feeds["clicks"]
    instants = list(found.instances_on("main"))
    expected = list(stepped(unit, number, zone))
    assert instants == expected
    assert len(expected) > 12
    template = path_template(found.locations_on("main").data or "", found.path_timezone)
    assert [template.render(each) for each in instants] == [path_of(each) for each in expected]


@pytest.mark.parametrize("zone", ZONES)
def test_a_years_instances_of_a_process_and_what_they_read_and_make(tmp_path: Path, zone: str) -> None:
    on_the_hour = 'start="2026-01-01T00:00Z" end="2030-01-01T00:00Z"'
    job = f"""<process name="job" xmlns="uri:falcon:process:0.1">
      <clusters><cluster name="main"><validity {VALIDITY}/></cluster></clusters>
      <frequency>days(1)</frequency><timezone>{zone}</timezone>
      <inputs><input name="in" feed="clicks" start="yesterday(0,0)" end="today(-1,0)"/></inputs>
      <outputs><output name="out" feed="counts" instance="now(0,0)"/></outputs>
      <workflow engine="pig" path="/a.pig"/></process>"""
    counts = feed("counts", "days(1)", PATH.replace("data", "out"), f"<timezone>{zone}</timezone>", "", VALIDITY)
    clicks = feed(path=PATH, validity=on_the_hour)
    repository = make_of(tmp_path, c=cluster(), i=clicks, o=counts, p=job).repository
    process = repository.processes["job"]
    site = ProcessSite(process=process, cluster=repository.clusters["main"], feeds=repository.feeds)
    instants = list(process.instances_on("main"))
    assert instants == list(stepped("days", 1, zone))
    for instant in instants[1:]:
        (read,), (made,) = site.inputs(instant), site.outputs(instant)
        assert list(read.paths()) == [path_of(each) for each in _hours_of_yesterday(instant, zone)]
        assert list(made.instance.paths.values()) == [path_of(instant).replace("data", "out")]


def _hours_of_yesterday(instant: datetime, zone: str) -> Iterator[datetime]:
    """From the instance at or before yesterday's midnight to the one an hour before today's."""
    today = instant.astimezone(ZoneInfo(zone)).replace(hour=0, minute=0)
    first = (today - timedelta(days=1)).astimezone(UTC)  # on the wall, as Python counts within a zone
    last = today.astimezone(UTC) - timedelta(hours=1)
    at, end = (each.replace(minute=0) for each in (first, last))
    while at <= end:
        yield at
        at += timedelta(hours=1)
