"""Rules about who makes and who reads the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from toolkit.entities import ClusterRole, ExtractType, Feed, Input, Kind, Process, Repository
from toolkit.entities.source_files import entity_kind
from toolkit.linter.durations import longest
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Check, LintContext, remembered

Users = Mapping[str, tuple[tuple[str, str], ...]]
"""Pairs of a process and a cluster by feed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pipelines:
    """The processes on both sides of each feed.

    Attributes:
        makers: the processes with their clusters that make a feed.
        readers: the processes with their clusters that read a feed.
        hidden: the feeds that a process with problems of its own may make or read.
        complete: every process could be read at least as YAML; else nothing is known about who is missing.
    """

    makers: Users
    readers: Users
    hidden: frozenset[str]
    complete: bool

    @classmethod
    def of(cls, context: LintContext) -> Pipelines:
        """The pipelines of a config repo."""
        read = {entry.file for entry in context.repository.entries.values()}
        complete = all(file in read for file in context.snapshot.files if entity_kind(file) is Kind.PROCESS)
        return replace(_pipelines(context.repository), complete=complete)

    def knows(self, feed: Feed) -> bool:
        """Return whether the producers and consumers of a feed are certain."""
        return self.complete and feed.name not in self.hidden

    def made_on(self, feed: Feed) -> frozenset[str]:
        """The clusters on which a process makes the feed, or an import or an ingest does."""
        others = {each.name for each in feed.clusters if each.import_ is not None or each.ingest is not None}
        return frozenset(others | {cluster for _, cluster in self.makers.get(feed.name, ())})


@remembered
def _pipelines(repository: Repository) -> Pipelines:
    processes = repository.processes.values()
    entries = repository.entries.values()
    broken = [entry.document for entry in entries if entry.kind is Kind.PROCESS and entry.entity is None]
    return Pipelines(
        makers=_users((process, each.feed) for process in processes for each in process.outputs.values()),
        readers=_users((process, each.feed) for process in processes for each in process.inputs.values()),
        hidden=frozenset(name for document in broken for name in _feeds_in(document)),
        complete=True,
    )


def process_names(users: tuple[tuple[str, str], ...]) -> str:
    """The processes in words, each once."""
    return ", ".join(sorted({process for process, _ in users}))


def _users(pairs: Iterator[tuple[Process, str]]) -> Users:
    found: dict[str, list[tuple[str, str]]] = {}
    for process, feed in pairs:
        found.setdefault(feed, []).extend((process.name, each.name) for each in process.clusters)
    return {feed: tuple(users) for feed, users in found.items()}


def _feeds_in(document: Mapping[str, object]) -> Iterator[str]:
    """The feeds that a document names, whatever else is wrong with it."""
    for side in ("inputs", "outputs"):
        named = document.get(side)
        for each in named.values() if isinstance(named, Mapping) else ():
            feed = each.get("feed") if isinstance(each, Mapping) else None
            if isinstance(feed, str):
                yield feed


def feed_without_producer(context: LintContext) -> Iterator[Hit]:
    """Check that a feed that is read has a producer."""
    pipelines = Pipelines.of(context)
    for feed in context.repository.feeds.values():
        readers = pipelines.readers.get(feed.name, ())
        if readers and not feed.external and not pipelines.made_on(feed) and pipelines.knows(feed):
            names = process_names(readers)
            yield Hit(
                subject=feed.name,
                message=f"{names} reads {feed.name}, but nothing writes it: it is no output of a process, has no "
                "import and is not external",
                hint="add external: true when something outside of this repo writes it",
                related=tuple(names.split(", ")),
            )


def feed_without_consumer(context: LintContext) -> Iterator[Hit]:
    """Check that a feed that is made has a consumer."""
    pipelines = Pipelines.of(context)
    for feed in context.repository.feeds.values():
        makers = pipelines.makers.get(feed.name, ())
        if makers and not _is_read(feed, pipelines) and pipelines.knows(feed):
            yield Hit(
                subject=feed.name,
                message=f"{process_names(makers)} makes {feed.name}, and no process or export of this repo reads it",
                hint="remove it if it has no readers elsewhere either",
            )


def _is_read(feed: Feed, pipelines: Pipelines) -> bool:
    return feed.name in pipelines.readers or any(each.export is not None for each in feed.clusters)


def external_but_produced(context: LintContext) -> Iterator[Hit]:
    """An external feed is made outside of the repo."""
    pipelines = Pipelines.of(context)
    for feed in context.repository.feeds.values():
        makers = process_names(pipelines.makers.get(feed.name, ()))
        imported = [each.name for each in feed.clusters if each.import_ is not None]
        if feed.external and (makers or imported):
            how = f"{makers} makes it" if makers else f"it is imported on {', '.join(imported)}"
            yield Hit(
                subject=feed.name,
                pointer=("external",),
                message=f"{feed.name} is marked external, but {how}",
                hint="remove external: true, or the output of the process",
            )


_ENOUGH = 0.9
"""One month may be this much shorter than another, and thirty days than a month."""


def instances_never_made(context: LintContext) -> Iterator[Hit]:
    """The processes that make a feed run as often as it has instances."""
    pipelines = Pipelines.of(context)
    for feed in context.repository.feeds.values():
        if feed.external or not pipelines.knows(feed):
            continue
        for cluster, makers in _by_cluster(pipelines, feed).items():
            share = sum(_share(context.repository, feed, name) * outputs for name, outputs in makers.items())
            if share < _ENOUGH:
                yield _hit(context.repository, feed, cluster, makers, share)


def _by_cluster(pipelines: Pipelines, feed: Feed) -> dict[str, Counter[str]]:
    """Return the number of outputs by process that make the feed, on clusters without an import."""
    imported = {each.name for each in feed.clusters if each.import_ is not None}
    found: dict[str, Counter[str]] = {}
    for process, cluster in pipelines.makers.get(feed.name, ()):
        if cluster not in imported:
            found.setdefault(cluster, Counter())[process] += 1
    return found


def _share(repository: Repository, feed: Feed, process: str) -> float:
    """The part of a feed's instances that one output of a process makes."""
    return longest(feed.frequency) / longest(repository.process(process).frequency)


def _hit(repository: Repository, feed: Feed, cluster: str, makers: Counter[str], share: float) -> Hit:
    each = ", ".join(f"{name} every {repository.process(name).frequency}" for name in sorted(makers))
    first = min(makers)
    outputs = repository.process(first).outputs
    output = next(name for name, output in outputs.items() if output.feed == feed.name)
    return Hit(
        subject=first,
        pointer=("outputs", output, "feed"),
        message=f"{feed.name} has an instance every {feed.frequency}, but on {cluster} only {each} makes it: "
        f"about 1 in {1 / share:.0f} instances ever comes",
        hint="let the process run as often as the feed has instances, or give the feed the process's frequency",
        related=(feed.name,),
    )


def pipeline_cut(context: LintContext) -> Iterator[Hit]:
    """Find inputs that are neither written on the process's cluster nor copied there."""
    pipelines = Pipelines.of(context)
    for process in context.repository.processes.values():
        for name, each in process.inputs.items():
            feed = context.repository.feeds.get(each.feed)
            if feed is not None and not feed.external and pipelines.knows(feed):
                yield from _cuts(process, name, each, feed, pipelines.made_on(feed))


def _cuts(process: Process, name: str, each: Input, feed: Feed, made_on: frozenset[str]) -> Iterator[Hit]:
    for cluster in process.clusters if made_on else ():
        if cluster.name not in made_on and not _is_copied(feed, cluster.name, made_on):
            places = ", ".join(sorted(made_on))
            yield Hit(
                subject=process.name,
                pointer=("inputs", name, "feed"),
                message=f"the process runs on {cluster.name}, but {feed.name} is made on {places} only and is not "
                f"copied from there to {cluster.name}" + ("" if each.optional else ": no instance ever starts there"),
                hint=f"in {feed.name} give {places} type: source and {cluster.name} type: target, "
                "or run the process where the feed is made",
                severity=Severity.WARNING if each.optional else Severity.ERROR,
                related=(feed.name,),
            )


def _is_copied(feed: Feed, cluster: str, made_on: frozenset[str]) -> bool:
    if feed.cluster(cluster).type is not ClusterRole.TARGET:
        return False
    return any(each.type is ClusterRole.SOURCE and each.name in made_on for each in feed.clusters)


def merge_without_full(context: LintContext) -> Iterator[Hit]:
    """Yield merged imports of tables that no feed imports in full, so that rows deleted there stay here."""
    feeds = [feed for _, feed in sorted(context.repository.feeds.items())]
    places = [(feed, index, each.import_) for feed in feeds for index, each in enumerate(feed.clusters)]
    sources = [(feed, index, found.source) for feed, index, found in places if found is not None]
    full = {(each.name, each.table_name) for _, _, each in sources if each.extract.type is ExtractType.FULL}
    for feed, index, each in sources:
        if each.extract.is_merge and (each.name, each.table_name) not in full:
            yield Hit(
                subject=feed.name,
                pointer=("clusters", index, "import", "source", "extract"),
                message=f"changed rows of {each.table_name} are merged, and no feed imports the table in full: "
                "rows that are deleted there stay here",
                hint="add a feed that imports the table in full, or ignore this rule where no row is ever deleted",
            )


CHECKS: Mapping[str, Check] = {
    "merge-without-full": merge_without_full,
    "feed-without-producer": feed_without_producer,
    "feed-without-consumer": feed_without_consumer,
    "external-but-produced": external_but_produced,
    "instances-never-made": instances_never_made,
    "pipeline-cut": pipeline_cut,
}
