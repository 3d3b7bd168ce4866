"""Who makes and who reads each feed, on which cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from toolkit.entities import Feed, Kind, Process, Repository
from toolkit.entities.source_files import entity_kind
from toolkit.linter.context import LintContext
from toolkit.linter.once import once

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
        """Whether it is certain who makes and who reads a feed."""
        return self.complete and feed.name not in self.hidden

    def made_on(self, feed: Feed) -> frozenset[str]:
        """The clusters on which a process makes the feed, or an import does."""
        imported = {each.name for each in feed.clusters if each.import_ is not None}
        return frozenset(imported | {cluster for _, cluster in self.makers.get(feed.name, ())})


@once
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
