"""Rules about triggers and datasets: something updates what a process waits for, and no process starts itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toolkit.el import Frequency
from toolkit.entities import Kind, Pointer, Process, Repository
from toolkit.entities.nearest import did_you_mean
from toolkit.entities.source_files import REPO_FILE
from toolkit.entities.trigger import TriggerEntry
from toolkit.linter.durations import length_words, longest, sometimes_shorter
from toolkit.linter.findings import Hit
from toolkit.linter.rule import Check, LintContext, remembered
from toolkit.linter.rules.pipelines import Pipelines
from toolkit.planning.dataset_graph import DatasetGraph
from toolkit.planning.dataset_links import TriggerIndex, dataset_graph


@remembered
def _has_triggers(repository: Repository) -> bool:
    """Return whether any process has one: without, the graph is not needed, which takes a while to make."""
    return any(each.trigger is not None for each in repository.processes.values())


@remembered
def _graph(repository: Repository) -> DatasetGraph:
    return dataset_graph(repository)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Placed:
    """An entry of a process's trigger.

    Attributes:
        pointer: in the process's document.
        written: the name or URI, as the process writes it.
        entry: with its plain text resolved.
        datasets: canonical URIs of what can satisfy it.
    """

    process: Process
    pointer: Pointer
    written: str
    entry: TriggerEntry
    datasets: tuple[str, ...]


def _entries(repository: Repository) -> Iterator[_Placed]:
    if not _has_triggers(repository):
        return
    index = TriggerIndex.of(repository, _graph(repository).nodes)
    for process in repository.processes.values():
        for place, entry in process.trigger.condition.placed() if process.trigger else ():
            resolved = index.names.resolved(entry, process)
            yield _Placed(
                process=process,
                pointer=("trigger", *place),
                written=entry.name or entry.input or entry.feed or entry.group or entry.uri or "",
                entry=resolved,
                datasets=tuple(index.of_entry(resolved, process)),
            )


def trigger_without_producer(context: LintContext) -> Iterator[Hit]:
    """Each entry of a trigger has a dataset that something updates; inputs have a rule of their own."""
    if not _has_triggers(context.repository):
        return
    graph, pipelines = _graph(context.repository), Pipelines.of(context)
    updated = [uri for uri, node in graph.nodes.items() if node.has_producer]
    for each in _entries(context.repository):
        if each.entry.input is not None or not _is_certain(context, pipelines, each, graph):
            continue
        if not any(graph.nodes[uri].has_producer for uri in each.datasets):
            yield _without_producer(each, graph, updated)


def _without_producer(each: _Placed, graph: DatasetGraph, updated: list[str]) -> Hit:
    feeds = sorted({graph.nodes[uri].feed for uri in each.datasets} - {""})
    if feeds:
        message = f"nothing updates {', '.join(feeds)}: no process, import, replication or poll"
        hint = "add external: true to the feed if another system writes it"
    elif each.datasets:
        message = (
            f"nothing updates the dataset {each.written}: it is no outlet of a process, and repo.yaml does not list it"
        )
        hint = did_you_mean(each.datasets[0], updated) or "list it under datasets: if another system updates it"
    else:
        message = f"no known dataset matches {each.written}"
        hint = did_you_mean(each.written, updated) or "list it under datasets: if another system updates it"
    return Hit(
        subject=each.process.name,
        pointer=each.pointer,
        message=f"{message}; {each.process.name} may never start",
        hint=hint,
        related=tuple(feeds),
    )


def _is_certain(context: LintContext, pipelines: Pipelines, each: _Placed, graph: DatasetGraph) -> bool:
    """Return whether no process with problems of its own could be the producer."""
    feeds = [context.repository.feeds.get(graph.nodes[uri].feed) for uri in each.datasets]
    if any(feed is not None and not pipelines.knows(feed) for feed in feeds):
        return False
    broken = (entry for entry in context.repository.entries.values() if entry.entity is None)
    return pipelines.complete and not any(
        not each.datasets or (entry.kind is Kind.PROCESS and "outlets" in entry.document) for entry in broken
    )


def trigger_own_output(context: LintContext) -> Iterator[Hit]:
    """No process is triggered by what it updates itself."""
    for each in _entries(context.repository):
        graph = _graph(context.repository)
        own = [uri for uri in each.datasets if uri in graph.updates[each.process.name]]
        if own and each.process.trigger is not None and each.process.trigger.allow_cycle is None:
            yield Hit(
                subject=each.process.name,
                pointer=each.pointer,
                message=f"{each.process.name} updates {own[0]} itself, so that each run starts the next",
                hint="remove the entry, or add allow_cycle: REASON to the trigger; max_chain then bounds the runs",
            )


def trigger_cycle(context: LintContext) -> Iterator[Hit]:
    """No processes start each other in a circle."""
    if not _has_triggers(context.repository):
        return
    graph, processes = _graph(context.repository), context.repository.processes
    allowed = [name for name, each in processes.items() if each.trigger and each.trigger.allow_cycle is not None]
    for cycle in graph.cycles(allowed):
        steps = zip(cycle, (*cycle[1:], cycle[0]), strict=True)
        path = "; ".join(f"{one} updates {graph.between(one, other)}, which starts {other}" for one, other in steps)
        yield Hit(
            subject=cycle[0],
            pointer=("trigger",),
            message=f"a cycle of triggers: {path}",
            hint="remove an entry of one of them, or add allow_cycle: REASON to its trigger",
            on_key=True,
            related=cycle[1:],
        )


def trigger_valid_for(context: LintContext) -> Iterator[Hit]:
    """Updates count for at least one period of the process and of its feeds."""
    periods: dict[str, tuple[Process, list[tuple[str, Frequency]]]] = {}
    for each in _entries(context.repository):
        found = periods.setdefault(each.process.name, (each.process, [("the process", each.process.frequency)]))[1]
        for uri in each.datasets:
            feed = context.repository.feeds.get(_graph(context.repository).nodes[uri].feed)
            if feed is not None:
                found.append((f"the feed {feed.name}", feed.frequency))
    for name, (process, found) in periods.items():
        valid_for = process.trigger.valid_for if process.trigger else None
        what, frequency = max(found, key=lambda each: longest(each[1]))
        if valid_for is not None and sometimes_shorter(valid_for, frequency):
            yield Hit(
                subject=name,
                pointer=("trigger", "valid_for"),
                message=f"valid_for is {valid_for}, shorter than the frequency of {what}, {frequency}: an update may "
                "expire before the others of its period come",
                hint=f"let updates count for at least {length_words(longest(frequency))}",
            )


def unused_dataset(context: LintContext) -> Iterator[Hit]:
    """A process reads or updates each dataset that `repo.yaml` lists."""
    if not context.repository.datasets or context.is_incomplete:
        return
    graph = _graph(context.repository)
    for index, uri in enumerate(context.repository.datasets):
        node = graph.nodes[uri]
        if not node.producers and not node.consumers:
            yield Hit(
                subject=REPO_FILE,
                pointer=("datasets", index, "uri"),
                message=f"no process reads, updates or is triggered by the dataset {uri}",
                hint="remove it, or name it in a trigger, in inlets or in outlets",
            )


CHECKS: Mapping[str, Check] = {
    "trigger-without-producer": trigger_without_producer,
    "trigger-own-output": trigger_own_output,
    "trigger-cycle": trigger_cycle,
    "trigger-valid-for": trigger_valid_for,
    "unused-dataset": unused_dataset,
}
