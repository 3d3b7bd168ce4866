"""Entities downstream of one: those that refer to it, or are made from it, directly or through others."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities.repository import Repository


def downstream_of(name: str, repository: Repository) -> tuple[str, ...]:
    """Return the entities that refer to an entity, or are made from it, transitively; sorted, without itself."""
    reached, pending = {name}, [name]
    while pending:
        each = pending.pop()
        found = {*repository.graph.depended_on_by(each), *_made_by(each, repository)} - reached
        reached |= found
        pending.extend(other for other in found if not _only_makes(other, each, repository))
    return tuple(sorted(reached - {name}))


def _made_by(name: str, repository: Repository) -> Iterator[str]:
    process = repository.processes.get(name)
    if process is not None:
        yield from (each.feed for each in process.outputs.values() if each.feed in repository.feeds)


def _only_makes(name: str, feed: str, repository: Repository) -> bool:
    """Return whether an entity is a process that makes the feed and does not read it; other outputs are the same."""
    process = repository.processes.get(name)
    if process is None or feed not in repository.feeds:
        return False
    return all(each.feed != feed for each in process.inputs.values())
