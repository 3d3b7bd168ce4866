"""The comparison of a table feed on two clusters, wired: reads both metastores and stores, changes nothing."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.selection import EntitySelection
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, opened_context
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.hive import catalog_of
from toolkit.entities.errors import UnknownName
from toolkit.entities.not_implemented import Area
from toolkit.hive.resolve import name_of, uri_of
from toolkit.hive.table_diff import TableComparison

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolkit.clock import Clock
    from toolkit.entities import Cluster, Feed
    from toolkit.hive.table_diff import TableDiff
    from toolkit.runs.stop import StopSignal


@dataclass(frozen=True, kw_only=True, slots=True)
class DiffOptions:
    """Options of a comparison.

    Attributes:
        feed: name.
        first: cluster from which the other is thought to be copied.
        second: the other cluster.
        with_files: files are compared as well.
        repo: the config repo, and the variables of the process.
    """

    feed: str
    first: str
    second: str
    with_files: bool
    repo: RepoRequest


def table_diff(request: DiffOptions, clock: Clock, process: StopSignal) -> TableDiff:
    """The differences.

    Raises:
        InvalidInput: unknown names, a feed of paths, a cluster without a metastore, a location that cannot be resolved.
        CatalogError, StorageError: a metastore or a store refuses, or does not answer.
    """
    with ExitStack() as stack:
        context = opened_context(
            _options(request, clock), clock, process, Area.REPLICATION, stack, partial(_both_ends, request)
        )
        feed, work = context.repository.feeds[request.feed], context.look(process)
        clusters = [_cluster(context, feed, name) for name in (request.first, request.second)]
        readers = [catalog_of(cluster).reader(work, as_source=True) for cluster in clusters]
        names = [name_of(uri_of(feed, cluster)) for cluster in clusters]
        comparison = TableComparison(
            first=readers[0], second=readers[1], names=(names[0], names[1]), with_files=request.with_files
        )
        return comparison.compared()


def _both_ends(request: DiffOptions, context: ActionContext) -> Iterator[tuple[Feed, Cluster]]:
    feed = context.repository.feeds[request.feed]
    return ((feed, _cluster(context, feed, name)) for name in (request.first, request.second))


def _cluster(context: ActionContext, feed: Feed, name: str) -> Cluster:
    known = [each.name for each in feed.clusters]
    if name not in known:
        raise UnknownName(what="cluster", name=name, known=known, where=f"feed {feed.name}")
    return context.repository.clusters[name]


def _options(request: DiffOptions, clock: Clock) -> ActionOptions:
    return ActionOptions(
        selection=EntitySelection(names=(request.feed,), all_clusters=True),
        repo=request.repo,
        nominal_time=clock.now().replace(second=0, microsecond=0),
        dry_run=True,
        allow_dirty=False,
    )
