"""Inputs, outputs and properties of a process instance, as far as its data is there (DESIGN 3 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from toolkit.el import Availability, format_instant
from toolkit.entities import Feed
from toolkit.planning.process_io import PlannedInput, PlannedOutput, ProcessSite
from toolkit.planning.process_properties import instance_properties
from toolkit.process_runner.staging_places import as_written

StateOf = Callable[[Feed, datetime], str]
"""In which state an instance of a feed is that is not available, in one word: ``missing``, ``partial``, ``empty``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MissingInput:
    """Instance that a compulsory input waits for.

    Attributes:
        input: its name.
        feed: the feed's name.
        instance_key: the instance that is not available; empty when any further one would do (`latest`, `future`).
        uri: where that instance would be; empty as the key is.
        state: in which state it is; ``too_few`` when any further one would do.
        reason: what the input needs, in words for an operator; the same for all instances of one input.
    """

    input: str
    feed: str
    instance_key: str
    uri: str
    state: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedInstance:
    """An instance of a process on a cluster, resolved.

    Attributes:
        cluster: name.
        nominal_time: UTC.
        inputs: in the process's order; one that waits has no instances.
        outputs: in the process's order.
        properties: of the workflow, sorted by name: of validated outputs, the staging places; empty while
            something is missing, since `latest` and `future` have no answer yet.
        missing: what compulsory inputs wait for; empty: the instance can run.
        left_out: the names of the optional inputs of which nothing is there.
    """

    cluster: str
    nominal_time: datetime
    inputs: tuple[PlannedInput, ...]
    outputs: tuple[PlannedOutput, ...]
    properties: Mapping[str, str]
    missing: tuple[MissingInput, ...]
    left_out: tuple[str, ...]


def resolve_instance(
    site: ProcessSite,
    nominal_time: datetime,
    availability_of: Callable[[Feed], Availability],
    state_of: StateOf | None = None,
    *,
    is_off_grid: bool = False,
) -> ResolvedInstance:
    """The instance with what it reads and makes, or with what it waits for.

    Args:
        site: the process on the cluster.
        nominal_time: of the instance, UTC.
        availability_of: which instances of a feed are available on the process's cluster; asked once for each feed.
        state_of: in which state an unavailable instance is; None: all of them are called ``missing``.
        is_off_grid: an update of data caused the run, whose time need not be one of the process's frequency.

    Raises:
        NotAnInstance: the process has no such instance on the cluster.
        ElError: an expression or a property that cannot be evaluated.
        UnknownName: a feed, or the process, is not on the cluster.
    """
    if not is_off_grid:
        site.process.instances_on(site.cluster.name).index(nominal_time)
    feeds = dict.fromkeys(each.feed for each in site.process.inputs.values())
    inputs = site.inputs(nominal_time, {name: availability_of(site.feeds[name]) for name in feeds})
    outputs = site.outputs(nominal_time)
    missing = tuple(found for each in inputs for found in _missing(site, each, state_of))
    return ResolvedInstance(
        cluster=site.cluster.name,
        nominal_time=nominal_time,
        inputs=inputs,
        outputs=outputs,
        properties={} if missing else instance_properties(site, nominal_time, inputs, _written(site, outputs)),
        missing=missing,
        left_out=tuple(each.name for each in inputs if each.optional and not each.instances),
    )


def _written(site: ProcessSite, outputs: Iterable[PlannedOutput]) -> Iterator[PlannedOutput]:
    return (as_written(site, each) for each in outputs)


def _missing(site: ProcessSite, each: PlannedInput, state_of: StateOf | None) -> Iterator[MissingInput]:
    if each.waiting is None:
        return
    feed, reason = site.feeds[each.storage.feed], each.waiting.reason
    if not each.waiting.missing:
        yield MissingInput(input=each.name, feed=feed.name, instance_key="", uri="", state="too_few", reason=reason)
    for instant in each.waiting.missing:
        yield MissingInput(
            input=each.name,
            feed=feed.name,
            instance_key=format_instant(instant),
            uri=site.uri(each.storage, each.storage.at(instant)),
            state="missing" if state_of is None else state_of(feed, instant),
            reason=reason,
        )
