"""Effects of a config change on the ingest of a feed: files that are read twice, rows that are as they were."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.el import without_credentials
from toolkit.entities.ingest import Ingest
from toolkit.planning.blast_radius.before_after import BeforeAfter, FeedState
from toolkit.planning.blast_radius.effects import Effect, EffectKind


def ingest_effects(pair: BeforeAfter) -> Iterator[Effect]:
    """The effects of a change on what an ingest reads, and on the rows that it has written.

    Files are known by their paths, in a property of the table: with another path, or in another table, they are new.
    So are the records of a topic with another name; only the brokers know whether one at other brokers is the same.
    """
    before, after = pair.before.on_cluster.ingest, pair.after.on_cluster.ingest
    if before is None or after is None:
        return
    for kind, key, old, new in (
        (EffectKind.INGEST_REREAD, ("ingest", "source"), _source(before), _source(after)),
        (EffectKind.INGEST_REREAD, ("ingest",), _catalog(pair.before), _catalog(pair.after)),
        (EffectKind.INGEST_REREAD, ("table",), pair.before.feed.name, pair.after.feed.name),
        (EffectKind.INGEST_ROWS, ("ingest", "columns"), _columns(before), _columns(after)),
        (EffectKind.INGEST_ROWS, ("ingest", "event_time"), before.event_time, after.event_time),
    ):
        if old != new and old:
            yield pair.effect(kind, key=key, before=old, after=new)


def _source(ingest: Ingest) -> str:
    if ingest.files is not None:
        return f"{ingest.files.directory.rstrip('/')}/{ingest.files.pattern}"
    if ingest.topic is None:
        return ""
    brokers = sorted(each.strip() for each in ingest.topic.bootstrap.split(","))
    return f"topic {ingest.topic.kafka} at {','.join(brokers)}"


def _catalog(state: FeedState) -> str:
    catalog = state.cluster.interfaces.iceberg
    if catalog is None:
        return ""
    return " ".join((catalog.type, without_credentials(catalog.uri), catalog.warehouse, catalog.name))


def _columns(ingest: Ingest) -> str:
    """Return the columns by name: their order is of no importance to a table."""
    return ", ".join(
        sorted(f"{each.name} {each.type}{' required' if each.required else ''}" for each in ingest.columns)
    )
