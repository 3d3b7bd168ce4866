"""The inputs of all processes with their feeds, which nearly every rule of this family goes through."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities import Feed, Input, Process, Repository


def inputs(repository: Repository) -> Iterator[tuple[Process, str, Input, Feed]]:
    """Each input of each process, with its name and its feed; inputs whose feed cannot be used are left out."""
    for process in repository.processes.values():
        for name, each in process.inputs.items():
            feed = repository.feeds.get(each.feed)
            if feed is not None:
                yield process, name, each, feed


def late_inputs(repository: Repository) -> Iterator[tuple[Process, str, Input, Feed]]:
    """Those of them that late data is looked for in."""
    for found in inputs(repository):
        process, name, _, _ = found
        if process.late_process is not None and name in process.late_process.inputs:
            yield found
