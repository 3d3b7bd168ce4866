"""A process's trigger: it goes with a schedule, and each entry names one thing that is where the process runs."""

from collections.abc import Iterable, Iterator

from toolkit.el import ElError, dataset_uri
from toolkit.entities.checks.context import Context
from toolkit.entities.feed import Feed
from toolkit.entities.nearest import suggestion
from toolkit.entities.process import Process
from toolkit.entities.trigger import TriggerEntry
from toolkit.entities.trigger_names import TriggerNames
from toolkit.entities.trigger_vocabulary import GroupBy, ScheduleMode
from toolkit.entities.violation import Violation
from toolkit.entities.vocabulary import Kind
from toolkit.entities.yaml_location import Pointer

_MODES = "also (frequency or data), and (frequency, once its data was updated) or never (data alone)"


def check_schedule(process: Process) -> Iterator[Violation]:
    """A trigger and a schedule that looks at it go together, and the trigger has one condition."""
    trigger, schedule = process.trigger, process.schedule
    if trigger is None and schedule is not ScheduleMode.ONLY:
        yield Violation(
            pointer=("schedule",),
            rule="trigger-schedule",
            message=f"schedule: {schedule} without a trigger",
            hint="add trigger: {all: [...]}, or write schedule: only",
        )
    elif trigger is not None and schedule is ScheduleMode.ONLY:
        yield Violation(
            pointer=("trigger",),
            rule="trigger-schedule",
            message="found a trigger with schedule: only, which starts nothing by data",
            hint=f"write schedule: {_MODES}",
            on_key=True,
        )
    elif trigger is not None and schedule is ScheduleMode.AND and trigger.by is GroupBy.ANY_UPDATE:
        yield Violation(
            pointer=("trigger", "by"),
            rule="trigger-schedule",
            message="by: any_update with schedule: and, which waits for data of each instance",
            hint="write by: key, or schedule: also",
        )


def check_condition(process: Process) -> Iterator[Violation]:
    """The trigger has exactly one of all and any."""
    condition = None if process.trigger is None else process.trigger.condition
    if condition is not None and bool(condition.all) == bool(condition.any):
        found = "both" if condition.all else "none"
        message = f"expected exactly one of all and any, found {found}"
        hint = "nest one in the other: all: [x, {any: [y, z]}]" if condition.all else "add all: [...] with its entries"
        yield Violation(pointer=("trigger",), rule="trigger-entry", message=message, hint=hint, on_key=True)


def check_inputs(process: Process) -> Iterator[Violation]:
    """An entry `input: NAME` names an input of the process."""
    for pointer, entry in _entries(process):
        if entry.input is not None and entry.input not in process.inputs:
            yield Violation(
                pointer=(*pointer, "input"),
                rule="unknown-input",
                message=f"found the input {entry.input!r}, expected one of the process's inputs",
                hint=suggestion(entry.input, process.inputs),
            )
        if entry.cluster is not None and entry.feed is None and entry.group is None:
            yield Violation(
                pointer=(*pointer, "cluster"),
                rule="trigger-entry",
                message="found a cluster without a feed or group",
                hint="remove it: an input is on the process's own cluster, a URI names its own",
            )


def check_outlets(process: Process) -> Iterator[Violation]:
    """An outlet is data that feedctl does not manage: a feed is made as an output."""
    for index, uri in enumerate(process.outlets):
        feed = dataset_uri.parse(uri).feed
        if feed is not None:
            yield Violation(
                pointer=("outlets", index),
                rule="dataset-feed",
                message=f"found the feed {feed} as an outlet",
                hint=f"make it an output: outputs: {{NAME: {{feed: {feed}, instance: ...}}}}",
            )


def check_names(process: Process, context: Context) -> Iterator[Violation]:
    """Each plain text means one thing; feeds, groups and clusters of entries exist, where the process runs."""
    names = TriggerNames(feeds=context.names[Kind.FEED], groups=context.groups, datasets=context.datasets)
    for pointer, entry in _entries(process):
        if entry.name is None:
            yield from _entry_findings(process, entry, pointer, context)
            continue
        try:
            meanings = names.meanings(entry.name, process)
        except ElError as error:
            yield Violation(pointer=pointer, rule="bad-dataset-pattern", message=f"an entry of the trigger: {error}")
            continue
        if len(meanings) == 1:
            yield from _entry_findings(process, meanings[0], pointer, context)
        else:
            yield _unclear(entry.name, meanings, process, names, pointer)


def _unclear(
    text: str, meanings: tuple[TriggerEntry, ...], process: Process, names: TriggerNames, pointer: Pointer
) -> Violation:
    if meanings:
        found = " and ".join(f"{'an' if each.input else 'a'} {_what(each)}" for each in meanings)
        hint = "say which: " + " or ".join(f"{{{_what(each)}: {text}}}" for each in meanings)
        message = f"the entry {text!r} is the name of {found}"
        return Violation(pointer=pointer, rule="trigger-entry", message=message, hint=hint)
    known = {*process.inputs, *names.feeds, *names.groups, *names.datasets}
    return Violation(
        pointer=pointer,
        rule="unknown-input",
        message=f"found the entry {text!r}, expected the name of an input, feed, group or listed dataset, or a URI",
        hint=suggestion(text, known),
    )


def _what(entry: TriggerEntry) -> str:
    return next(key for key in ("input", "feed", "group", "uri") if getattr(entry, key) is not None)


def _entry_findings(process: Process, entry: TriggerEntry, pointer: Pointer, context: Context) -> Iterator[Violation]:
    """Yield the findings about the feed or group of an entry, and its cluster."""
    if entry.cluster is not None:
        yield from context.reference(Kind.CLUSTER, entry.cluster, (*pointer, "cluster"))
    wanted = [each.name for each in process.clusters] if entry.cluster is None else [entry.cluster]
    clusters = [each for each in wanted if each in context.names[Kind.CLUSTER]]
    if entry.feed is not None:
        place: Pointer = (*pointer, "feed") if entry.name is None else pointer
        yield from context.reference(Kind.FEED, entry.feed, place)
        yield from _elsewhere(context.feeds.get(entry.feed), clusters, place)
    elif entry.group is not None:
        yield from _group_findings(entry.group, clusters, (*pointer, "group"), context)
    elif entry.uri is not None and not dataset_uri.is_glob(entry.uri):
        uri = dataset_uri.parse(entry.uri)
        if uri.feed is not None and uri.cluster is not None:
            yield from context.reference(Kind.FEED, uri.feed, (*pointer, "uri"))
            yield from _elsewhere(context.feeds.get(uri.feed), [uri.cluster], (*pointer, "uri"))


def _group_findings(group: str, clusters: list[str], pointer: Pointer, context: Context) -> Iterator[Violation]:
    if group not in context.groups:
        yield Violation(
            pointer=pointer,
            rule="unknown-group",
            message=f"found the group {group!r}, expected one that a feed is in",
            hint=suggestion(group, context.groups),
        )
    for feed in context.feeds.values():
        if group in feed.groups:
            yield from _elsewhere(feed, clusters, pointer)


def _elsewhere(feed: Feed | None, clusters: Iterable[str], pointer: Pointer) -> Iterator[Violation]:
    there = [] if feed is None else [each.name for each in feed.clusters]
    for cluster in clusters:
        if feed is not None and cluster not in there:
            yield Violation(
                pointer=pointer,
                rule="feed-not-on-cluster",
                message=f"the feed {feed.name} is not on the cluster {cluster}",
                hint=f"the feed is on {', '.join(sorted(there))}",
            )


def _entries(process: Process) -> Iterator[tuple[Pointer, TriggerEntry]]:
    """Yield every entry with its place."""
    if process.trigger is not None:
        for place, entry in process.trigger.condition.placed():
            yield ("trigger", *place), entry


OWN_CHECKS = (check_schedule, check_condition, check_inputs, check_outlets)
CROSS_CHECKS = (check_names,)
