"""Columns of a feed, as far as the config repo has them: of an ingest, or of a schema file in the repo."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from toolkit.el import ElError, TableUri
from toolkit.foreign_json import BadJson, parse_json

if TYPE_CHECKING:
    from toolkit.entities import Feed

_MOST_BYTES = 1 << 20


def feed_columns(feed: Feed, cluster: str, read: Callable[[str], bytes | None]) -> tuple[str, ...] | None:
    """Return the columns of a feed on a cluster in lower case, partition keys last; None: nothing here has them.

    Args:
        feed: the feed.
        cluster: one of its clusters.
        read: reads a file of the config repo by its path; None: there is no such file.
    """
    ingest = feed.cluster(cluster).ingest
    found: tuple[str, ...] | None = None
    if ingest is not None:
        found = tuple(each.name.lower() for each in ingest.columns)
    elif feed.schema is not None:
        data = read(feed.schema.location)
        found = None if data is None else schema_columns(data)
    table = _table(feed, cluster)
    keys = [] if table is None else [each.lower() for each in table.partition_keys]
    return None if found is None else (*found, *(each for each in keys if each not in found))


def schema_columns(data: bytes) -> tuple[str, ...] | None:
    """Return the fields of a schema of Avro, or of Spark in JSON; None: it is something else."""
    try:
        schema = parse_json(data, most_bytes=_MOST_BYTES)
    except BadJson:
        return None
    fields = schema.get("fields") if isinstance(schema, dict) else None
    names = (
        [each.get("name") if isinstance(each, dict) else None for each in fields] if isinstance(fields, list) else []
    )
    texts = [each.lower() for each in names if isinstance(each, str)]
    return tuple(texts) if texts and len(texts) == len(names) else None


def table_name(feed: Feed, cluster: str) -> str:
    """Return the name of a feed's data in column lineage: ``database.table``, or of a path feed its own name."""
    table = _table(feed, cluster)
    return feed.name if table is None else f"{table.database}.{table.table}".lower()


def _table(feed: Feed, cluster: str) -> TableUri | None:
    text = feed.table_on(cluster)
    try:
        return None if text is None else TableUri(text)
    except ElError:
        return None
