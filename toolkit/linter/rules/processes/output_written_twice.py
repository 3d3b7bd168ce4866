"""Two runs of a process do not make the same instance."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice, pairwise

from toolkit.el import Function, Unit, format_instant, parse_expression
from toolkit.linter.bounds import always_longer, longest, shortest
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.processes.outputs import OutputSite, output_sites

_SAMPLES = 36
"""Runs that are looked at: two of them fall into one unit of a truncating function or into one coarser instance."""


def _check(context: LintContext) -> Iterator[Hit]:
    seen: set[tuple[str, str]] = set()
    for site in output_sites(context.repository):
        key = (site.process.name, site.name)
        twice = None if key in seen or _keeps_step(site) else _written_twice(site)
        if twice is not None:
            seen.add(key)
            yield _hit(site, *twice)


def _keeps_step(site: OutputSite) -> bool:
    """Whether the instance moves on with every run: the usual case, which is told without looking at any run."""
    function = parse_expression(site.output.instance).function
    own, theirs = site.process.frequency, site.feed.frequency
    if function not in (_MOVING if own.unit.is_elapsed else _MOVING_BY_DAYS):
        return False
    if own == theirs and (own.unit.is_elapsed or own.unit is Unit.DAYS):
        return own.unit.is_elapsed or site.process.timezone == site.feed.timezone
    slack = timedelta() if own.unit.is_elapsed and theirs.unit.is_elapsed else _CLOCK_CHANGES
    return longest(theirs) + slack <= shortest(own)


_MOVING = frozenset({Function.NOW, Function.INSTANCE_TIME})
_MOVING_BY_DAYS = _MOVING | {Function.TODAY, Function.YESTERDAY}
_CLOCK_CHANGES = timedelta(hours=6)
"""More than two zones' clocks are changed by."""


def _written_twice(site: OutputSite) -> tuple[datetime, datetime, datetime] | None:
    """Two runs one after the other, and the instance that both make."""
    runs = islice(site.runs, _SAMPLES)
    made = ((run, _instance(site, run)) for run in runs)
    for (one, first), (other, second) in pairwise(made):
        if first is not None and first == second:
            return one, other, first
    return None


def _instance(site: OutputSite, run: datetime) -> datetime | None:
    instant = site.instant(run)
    if instant is None or instant >= site.feed.cluster(site.cluster).validity.end:
        return None
    return site.grid.at_or_before(instant)


def _hit(site: OutputSite, one: datetime, other: datetime, instance: datetime) -> Hit:
    coarser = always_longer(site.feed.frequency, site.process.frequency)
    reason = f"{site.feed.frequency} of the feed is longer than {site.process.frequency} of the process; "
    return Hit(
        subject=site.process.name,
        pointer=site.pointer,
        message=(reason if coarser else "")
        + f"the runs {format_instant(one)} and {format_instant(other)} both make "
        + f"{format_instant(instance)} of {site.feed.name}",
        hint="let the process have the feed's frequency, or the output an instance of its own for every run",
        related=(site.feed.name,),
    )


RULE = Rule(
    id="output-written-twice",
    name="Two runs of a process do not make the same instance",
    severity=Severity.WARNING,
    rationale="The second run overwrites what the first one made, and whoever read the instance in between read "
    "something else. Meant as a running total, say so in a suppression.",
    bad="""\
# processes/hourly_job.yaml, where clicks_by_day has the frequency days(1)
frequency: hours(1)
outputs:
  day: {feed: clicks_by_day, instance: "today(0,0)"}
""",
    good="""\
# processes/daily_job.yaml, where clicks_by_day has the frequency days(1)
frequency: days(1)
outputs:
  day: {feed: clicks_by_day, instance: "yesterday(0,0)"}
""",
    source="Falcon entity specification, Process, Outputs; Falcon overview, EL: the instance immediately before it",
    check=_check,
)
