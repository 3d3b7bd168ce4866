"""The rule about columns that a changed schema of a feed drops, although a workflow reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.entities import Engine, Feed, UnknownName
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Check, LintContext
from toolkit.linter.rules.base_effects import pointer_on
from toolkit.planning.feed_columns import feed_columns, table_name
from toolkit.planning.process_io import ProcessSite


def dropped_column(context: LintContext) -> Iterator[Hit]:
    """Find columns that a schema drops against the base, and that a script of SQL still names."""
    clusters, feeds = context.repository.clusters, context.repository.feeds
    for _, process in sorted(context.repository.processes.items()):
        for each in process.clusters:
            if each.name in clusters:
                yield from _on_cluster(context, ProcessSite(process=process, cluster=clusters[each.name], feeds=feeds))


def _on_cluster(context: LintContext, site: ProcessSite) -> Iterator[Hit]:
    cluster, names = site.cluster.name, {each.feed for each in site.process.inputs.values()}
    read = [each for name, each in sorted(site.feeds.items()) if name in names and each.find_cluster(cluster)]
    dropped = {each.name: gone for each in read if (gone := _dropped(context, each, cluster))}
    if not dropped or context.columns_read is None:
        return
    columns = {table_name(each, cluster): _before(context, each, cluster) or () for each in read}
    for file in dict.fromkeys(_scripts(site)):
        script = context.snapshot.texts.get(file, b"").decode("utf-8", "replace")
        try:
            found = context.columns_read(site, script, {name: each for name, each in columns.items() if each})
        except UnknownName:  # another rule finds it
            continue
        for name, gone in dropped.items():
            feed = site.feeds[name]
            named = {column for table, column in found or () if table == table_name(feed, cluster)}
            for column in sorted(gone & named):
                yield _hit(context, site, feed, f"the column {column} of {name} is dropped, but {file} reads it")
            if found is None:
                message = f"sqlglot, which reads {file}, is not installed: it may read a dropped column of {name}"
                yield _hit(context, site, feed, message, Severity.INFO)


def _dropped(context: LintContext, feed: Feed, cluster: str) -> frozenset[str]:
    before, now = _before(context, feed, cluster), feed_columns(feed, cluster, context.snapshot.texts.get)
    return frozenset(before or ()) - frozenset(now) if now else frozenset()


def _before(context: LintContext, feed: Feed, cluster: str) -> tuple[str, ...] | None:
    base = context.base
    old = None if base is None else base.repository.feeds.get(feed.name)
    is_there = base is not None and old is not None and old.find_cluster(cluster) is not None
    return feed_columns(old, cluster, base.snapshot.texts.get) if base and old and is_there else None


def _scripts(site: ProcessSite) -> Iterator[str]:
    workflow = site.process.workflow
    if workflow.engine is Engine.SPARK_SQL and workflow.path is not None:
        yield workflow.path
    yield from (step.path for step in workflow.steps if step.engine is Engine.SPARK_SQL)


def _hit(context: LintContext, site: ProcessSite, feed: Feed, message: str, severity: Severity | None = None) -> Hit:
    is_ingested = feed.cluster(site.cluster.name).ingest is not None
    key = ("ingest", "columns") if is_ingested else ("schema", "location")
    return Hit(
        subject=feed.name,
        pointer=pointer_on(context.repository.entries[feed.name].document, site.cluster.name, key),
        message=f"{message} (process {site.process.name} on {site.cluster.name})",
        hint="change the script first, or keep the column until no workflow reads it",
        severity=severity,
        related=(site.process.name,),
    )


CHECKS: Mapping[str, Check] = {"dropped-column": dropped_column}
