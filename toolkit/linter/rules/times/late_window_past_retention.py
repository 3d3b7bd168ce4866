"""When a late run reads its inputs again, they are all still there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from toolkit.el import ElError, Frequency, InstanceSequence, format_instant, shift
from toolkit.entities import Process, Repository
from toolkit.linter.bounds import length_words, longest, shortest
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.keeping import Keeping
from toolkit.linter.reach import furthest_back, least_back
from toolkit.linter.readings import Reading, critical_runs, readings
from toolkit.linter.rule import Rule

_CLOCK_CHANGES = timedelta(hours=3)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Gone:
    """A run whose late check comes when its window is no longer complete."""

    run: datetime
    cut_off: datetime
    first: datetime
    kept_from: datetime


def _check(context: LintContext) -> Iterator[Hit]:
    group: list[Reading] = []
    for reading in readings(context.repository):
        if reading.process.late_process is None or reading.counts_available:
            continue
        if group and _site(group[0]) != _site(reading):
            yield from _hits(group, context)
            group = []
        group.append(reading)
    yield from _hits(group, context)


def _site(reading: Reading) -> tuple[str, str]:
    return reading.process.name, reading.cluster


def _hits(group: list[Reading], context: LintContext) -> Iterator[Hit]:
    """The hits of the inputs of one process on one cluster."""
    late = [each for each in group if each.feed.late_arrival and each.name in _late_inputs(each.process)]
    for reading in group if late else ():
        if not reading.input.optional and _is_close(reading, late):
            yield from _of_input(reading, late, context.repository, context.time)


def _late_inputs(process: Process) -> frozenset[str]:
    return frozenset(process.late_process.inputs if process.late_process else ())


def _is_close(reading: Reading, late: list[Reading]) -> bool:
    retention = reading.feed_cluster.retention
    if retention is None:
        return False
    wait = max(_longest_cut_off(each) - least_back(each.input.end) for each in late)
    back = furthest_back(reading.input.start) + longest(reading.feed.frequency)
    return back + max(wait, timedelta()) > shortest(retention.limit) - _CLOCK_CHANGES


def _longest_cut_off(reading: Reading) -> timedelta:
    late = reading.feed.late_arrival
    return longest(late.cut_off) if late else timedelta()


def _of_input(reading: Reading, late: list[Reading], repository: Repository, time: datetime) -> Iterator[Hit]:
    keeping = Keeping.of(reading.feed, reading.feed_cluster, repository.settings)
    if keeping is None:
        return
    runs = critical_runs(reading.runs, keeping.grid, reading.process.timezone, time)
    grids = [each.grid for each in late]
    found = [gone for run in runs if (gone := _gone(reading, keeping, _cut_off(late, grids, run), run)) is not None]
    if found:
        yield _hit(reading, keeping, max(found, key=lambda each: each.kept_from - each.first))


def _cut_off(late: list[Reading], grids: list[InstanceSequence], run: datetime) -> datetime:
    """The last late check of a run (DESIGN section 8: the latest resolved end plus its feed's cut-off)."""
    found = [run]
    for reading, grid in zip(late, grids, strict=True):
        end, arrival = reading.instant(reading.end, run), reading.feed.late_arrival
        last = None if end is None else grid.at_or_before(end)
        if last is not None and arrival is not None:
            found.append(_after(last, arrival.cut_off, reading))
    return max(found)


def _after(last: datetime, cut_off: Frequency, reading: Reading) -> datetime:
    try:
        return shift(last, cut_off, 1, reading.feed.timezone)
    except ElError:
        return last


def _gone(reading: Reading, keeping: Keeping, cut_off: datetime, run: datetime) -> _Gone | None:
    start, end = reading.instant(reading.start, run), reading.instant(reading.end, run)
    last = None if end is None else keeping.grid.at_or_before(end)
    if start is None or last is None:
        return None
    first = keeping.grid.at_or_before(start) or keeping.grid.start
    if first < keeping.kept_from(run):  # it is gone already when the run itself comes, which another rule says
        return None
    kept_from = keeping.kept_from(cut_off)
    return _Gone(run=run, cut_off=cut_off, first=first, kept_from=kept_from) if first < kept_from else None


def _hit(reading: Reading, keeping: Keeping, gone: _Gone) -> Hit:
    run, cut_off = format_instant(gone.run), format_instant(gone.cut_off)
    return Hit(
        subject=reading.process.name,
        pointer=reading.at("start"),
        message=(
            f"the run of {run} may be repeated for late data until {cut_off}; by then the retention of "
            f"{keeping.retention.limit} on {reading.cluster} has deleted what {reading.feed.name} had before "
            f"{format_instant(gone.kept_from)}, and the run reads from {format_instant(gone.first)} on"
        ),
        hint=(
            f"give {reading.feed.name} on {reading.cluster} a limit of at least "
            f"{length_words(gone.cut_off - gone.first)}, shorten the late cut-off, or begin the window later"
        ),
        related=(reading.feed.name,),
    )


RULE = Rule(
    id="late-window-past-retention",
    name="The inputs of a run are kept until its late cut-off",
    severity=Severity.ERROR,
    rationale=(
        "A run is repeated with its whole window when late data comes, until the cut-off: the latest end of its "
        "late inputs plus their feeds' cut-off. An instance that retention deletes before that makes the late run "
        "wait for ever. An input whose oldest instance is gone at the nominal time already is input-older-than- "
        "retention."
    ),
    bad="""\
# processes/weekly_report.yaml; clicks has late_arrival: {cut_off: days(3)} and retention: {limit: days(8)}
inputs:
  clicks: {feed: clicks, start: "currentWeek(MON,0,0)", end: "now(-1,0)"}
late_process: {policy: final, inputs: {clicks: workflows/weekly_late.sql}}
""",
    good="""\
# processes/weekly_report.yaml; clicks has late_arrival: {cut_off: days(3)} and retention: {limit: days(12)}
inputs:
  clicks: {feed: clicks, start: "currentWeek(MON,0,0)", end: "now(-1,0)"}
late_process: {policy: final, inputs: {clicks: workflows/weekly_late.sql}}
""",
    source="Falcon overview, Handling late input data",
    check=_check,
)
