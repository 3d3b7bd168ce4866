"""Clusters and feeds of a process, whether they are migrated too or in the config repo already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from toolkit.entities import Document, Pointer, Value
from toolkit.entities.pointers import value_at


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """Merged documents of entities, by name."""

    clusters: Mapping[str, Document] = field(default_factory=dict)
    feeds: Mapping[str, Document] = field(default_factory=dict)

    def endpoint(self, cluster: str, interface: str) -> str | None:
        """An end point of a cluster; None: it has none, or is not known."""
        found = value_at(self.clusters.get(cluster, {}), ("interfaces", interface, "endpoint"))
        return found if isinstance(found, str) else None

    def is_table(self, feed: str) -> bool:
        """Return whether a feed's instances are partitions of a table."""
        return "table" in self.feeds.get(feed, {})


def names_in(document: Document, pointer: Pointer) -> list[str]:
    """The names of a list of named items, or the keys of a mapping."""
    found = value_at(document, pointer)
    if isinstance(found, Mapping):
        return list(found)
    return list(_names(found)) if isinstance(found, list) else []


def _names(items: list[Value]) -> Iterator[str]:
    for each in items:
        name = each.get("name") if isinstance(each, Mapping) else None
        if isinstance(name, str):
            yield name
