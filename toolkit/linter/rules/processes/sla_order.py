"""The earlier time of an SLA is the shorter one."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities import Feed, FeedSla, Pointer, Process, ProcessSla
from toolkit.linter.bounds import always_longer
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for feed in context.repository.feeds.values():
        for pointer, feed_sla in _feed_places(feed):
            if always_longer(feed_sla.low, feed_sla.high):
                yield _hit(feed.name, (*pointer, "low"), f"low is {feed_sla.low}, longer than high, {feed_sla.high}")
    for process in context.repository.processes.values():
        for pointer, sla in _process_places(process):
            start, end = sla.should_start_in, sla.should_end_in
            if start is not None and end is not None and always_longer(start, end):
                message = f"should_start_in is {start}, longer than should_end_in, {end}"
                yield _hit(process.name, (*pointer, "should_start_in"), message)


def _feed_places(feed: Feed) -> Iterator[tuple[Pointer, FeedSla]]:
    if feed.sla is not None:
        yield ("sla",), feed.sla
    for index, each in enumerate(feed.clusters):
        if each.sla is not None:
            yield ("clusters", index, "sla"), each.sla


def _process_places(process: Process) -> Iterator[tuple[Pointer, ProcessSla]]:
    if process.sla is not None:
        yield ("sla",), process.sla
    for index, each in enumerate(process.clusters):
        if each.sla is not None:
            yield ("clusters", index, "sla"), each.sla


def _hit(subject: str, pointer: Pointer, message: str) -> Hit:
    return Hit(subject=subject, pointer=pointer, message=message, hint="exchange the two, or correct one of them")


RULE = Rule(
    id="sla-order",
    name="An SLA warns before it is broken, and a run should start before it should end",
    severity=Severity.ERROR,
    rationale="With low above high the breach comes before its warning; a run that may start later than it should end "
    "breaks its SLA although nothing is wrong.",
    bad="""\
# feeds/clicks.yaml
sla: {low: hours(4), high: hours(2)}
""",
    good="""\
# feeds/clicks.yaml
sla: {low: hours(2), high: hours(4)}
""",
    source="Falcon feature list, Entity schema: sla",
    check=_check,
)
