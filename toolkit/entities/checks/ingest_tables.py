"""Tables of streaming ingest: each is written by one feed on one cluster, and has a name of its own in the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from toolkit.el import ElError
from toolkit.entities.checks.context import Context
from toolkit.entities.feed import Feed
from toolkit.entities.ingest import IcebergSettings
from toolkit.entities.templates import table_uri
from toolkit.entities.violation import Violation


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    """A table that a feed is ingested to on a cluster."""

    feed: str
    cluster: str
    catalog: IcebergSettings
    name: str

    @property
    def place(self) -> tuple[str, str]:
        """Return for which of two tables one is seen first."""
        return (self.feed, self.cluster)


def check_table(feed: Feed, context: Context) -> Iterator[Violation]:
    """No two feeds or clusters write one table, or two that the ledger would take for one."""
    tables = list(_tables(feed, context))
    every = [each for other in (context.feeds.values() if tables else ()) for each in _tables(other, context)]
    for own in tables:
        others = sorted((each for each in every if _clash(own, each)), key=lambda each: each.place)
        for other in others[:1]:
            position = next(at for at, each in enumerate(feed.clusters) if each.name == own.cluster)
            yield Violation(
                pointer=("clusters", position, "ingest"),
                rule="ingest",
                message=_message(own, other),
                hint=_hint(own, other),
            )


def _tables(feed: Feed, context: Context) -> Iterator[_Table]:
    for each in feed.clusters:
        cluster, text = context.clusters.get(each.name), feed.table_on(each.name)
        catalog = None if cluster is None else cluster.interfaces.iceberg
        if each.ingest is not None and catalog is not None and text is not None:
            with suppress(ElError):
                table = table_uri(text, feed.path_timezone)
                name = f"{table.database}.{table.table}"
                yield _Table(feed=feed.name, cluster=each.name, catalog=catalog, name=name)


def _clash(own: _Table, other: _Table) -> bool:
    is_other = own.place != other.place and own.name == other.name
    return is_other and (own.catalog.name == other.catalog.name or own.catalog.uri == other.catalog.uri)


def _message(own: _Table, other: _Table) -> str:
    writer = f"the feed {other.feed} on {other.cluster}"
    if own.catalog.uri == other.catalog.uri:
        return f"{writer} writes the table {own.name} of the catalog {own.catalog.uri} too; a table has one writer"
    name = f"{own.catalog.name}.{own.name}"
    return f"{writer} writes {name} too, in another catalog; the ledger would take both tables for one"


def _hint(own: _Table, other: _Table) -> str:
    if own.catalog.uri == other.catalog.uri:
        return "name another table, or ingest on one cluster alone"
    return f"give the catalog of {own.cluster} or of {other.cluster} another interfaces.iceberg.name"


CROSS_CHECKS = (check_table,)
