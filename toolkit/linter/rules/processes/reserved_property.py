"""A property, an input or an output has none of the names that feedctl gives a value."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities import Cluster, Feed, LocationType, Process, Properties
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule

_OF_A_RUN = frozenset({"nominalTime", "timeStamp", "timestamp", "feedNames", "feedInstancePaths"})
"""What a workflow is told about its run (Falcon entity specification, Inputs and Outputs)."""

_OF_A_CLUSTER = frozenset({"nameNode", "jobTracker"})
"""What a workflow is told about its cluster (Falcon entity specification, Workflow)."""

_PREFIX = "falcon_"
_TEMPLATE_NAMES = frozenset({"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "cluster.name", "cluster.colo"})


def _check(context: LintContext) -> Iterator[Hit]:
    for process in context.repository.processes.values():
        yield from _of_process(process)
    for feed in context.repository.feeds.values():
        yield from _of_templates(feed, feed.properties)
    for cluster in context.repository.clusters.values():
        yield from _of_templates(cluster, cluster.properties)


def _of_process(process: Process) -> Iterator[Hit]:
    reasons = dict(_published(process)) if process.properties else {}
    for name in process.properties:
        reason = reasons.get(name) or _reserved(name)
        if reason is not None:
            yield _hit(process.name, ("properties", name), f"the property {name!r} is {reason}")
    for side, names in (("inputs", process.inputs), ("outputs", process.outputs)):
        for name in names:
            reason = _reserved(name)
            if reason is not None:
                yield _hit(process.name, (side, name), f"the name {name!r} is {reason}")


def _published(process: Process) -> Iterator[tuple[str, str]]:
    """The properties that inputs and outputs become."""
    for side, names in (("input", process.inputs), ("output", process.outputs)):
        for name in names:
            reason = f"what the {side} {name} becomes"
            yield name, reason
            yield f"{name}_filter", reason
            yield from ((f"{name}.{location}", reason) for location in LocationType)


def _reserved(name: str) -> str | None:
    if name in _OF_A_RUN:
        return "what a workflow is told about its run"
    if name in _OF_A_CLUSTER:
        return "what a workflow is told about its cluster"
    return f"one of those that begin with {_PREFIX}, which feedctl sets" if name.startswith(_PREFIX) else None


def _of_templates(entity: Feed | Cluster, properties: Properties) -> Iterator[Hit]:
    for name in properties:
        if name in _TEMPLATE_NAMES:
            yield _hit(entity.name, ("properties", name), f"the property {name!r} has a meaning in templates already")


def _hit(subject: str, pointer: tuple[str | int, ...], message: str) -> Hit:
    return Hit(subject=subject, pointer=pointer, message=message, hint="choose another name", on_key=True)


RULE = Rule(
    id="reserved-property",
    name="A property, an input or an output has none of the names that feedctl gives a value",
    severity=Severity.ERROR,
    rationale="A workflow would see one of the two values and never know which: its own, or the paths of its input.",
    bad="""\
# processes/hourly_job.yaml
inputs:
  clicks: {feed: clicks, start: "now(0,0)", end: "now(0,0)"}
properties: {clicks: /data/other, nominalTime: noon}
""",
    good="""\
# processes/hourly_job.yaml
inputs:
  clicks: {feed: clicks, start: "now(0,0)", end: "now(0,0)"}
properties: {other_clicks: /data/other}
""",
    source="Falcon entity specification, Process, Inputs, Outputs and Properties; DESIGN section 3",
    check=_check,
)
