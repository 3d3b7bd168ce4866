from __future__ import annotations

from itertools import islice, pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.linter.repos import lint_texts
from toolkit.el import Frequency, InstanceSequence, parse_instant, resolve

RULE = "output-written-twice"
RUNS = 36

PROCESS = """\
kind: process
name: hourly_job
frequency: {frequency}
timezone: {timezone}
clusters:
  - name: primary
    validity: {{start: 2026-03-28T00:00Z, end: 2099-01-01T00:00Z}}
outputs:
  counts: {{feed: clicks_hourly, instance: "{instance}"}}
workflow: {{engine: spark_sql, path: workflows/hourly.sql}}
"""

FEED = """\
kind: feed
name: clicks_hourly
frequency: {frequency}
timezone: {timezone}
locations:
  data: "/data/clicks_hourly/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}-${{MINUTE}}"
clusters:
  - name: primary
    validity: {{start: 2026-01-31T05:00Z, end: 2099-01-01T00:00Z}}
"""

frequencies = st.sampled_from(
    ["minutes(30)", "minutes(60)", "hours(1)", "hours(5)", "hours(20)", "hours(24)", "days(1)", "days(2)", "months(1)"]
)
zones = st.sampled_from(["UTC", "Europe/Berlin", "America/St_Johns"])
instances = st.sampled_from(
    ["now(0,0)", "now(-1,-7)", "today(0,0)", "today(23,30)", "yesterday(2,0)", "currentMonth(0,0,0)", "instanceTime()"]
)


def written_twice(runs: InstanceSequence, grid: InstanceSequence, instance: str) -> bool:
    made = [resolve(instance, run, grid, runs.timezone) for run in islice(runs, RUNS)]
    return any(one == other for one, other in pairwise(made))


@given(frequencies, zones, frequencies, zones, instances)
def test_it_finds_what_every_run_makes_twice(own: str, zone: str, theirs: str, other: str, instance: str) -> None:
    report = lint_texts(
        {
            "processes/hourly_job.yaml": PROCESS.format(frequency=own, timezone=zone, instance=instance),
            "feeds/clicks_hourly.yaml": FEED.format(frequency=theirs, timezone=other),
        },
        select=(RULE,),
    )
    runs = InstanceSequence(parse_instant("2026-03-28T00:00Z"), Frequency.parse(own), zone)
    grid = InstanceSequence(parse_instant("2026-01-31T05:00Z"), Frequency.parse(theirs), other)
    assert bool(report.findings) == written_twice(runs, grid, instance)
