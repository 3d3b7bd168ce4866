"""Wiring of runs that export instances to databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.selection import NothingChosen
from toolkit.actions.target_resolution import of_pair, resolved
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, run_action
from toolkit.bootstrap.db_import import ExchangeAdapters, pairs_with
from toolkit.bootstrap.ingested_data import data_access
from toolkit.bootstrap.messages import MessageContent
from toolkit.bootstrap.replication import ReplicationOptions
from toolkit.el import format_instant, parse_instant
from toolkit.el.segment import Segment
from toolkit.el.tokens import tokenize
from toolkit.el.zones import load_zone, to_local
from toolkit.entities.errors import UnfitFeed
from toolkit.entities.not_implemented import Area
from toolkit.exchange.export_action import DatabaseExportAction
from toolkit.exchange.export_targets import (
    DatabaseExportDetail,
    DatabaseExportItem,
    DatabaseExportTarget,
)
from toolkit.exchange.instance_files import InstanceReader
from toolkit.jdbc.dialect import parse_table_name
from toolkit.jdbc.opening import open_database
from toolkit.ledger.runs import route_keys
from toolkit.ledger.runs.history import RecordedRuns
from toolkit.ledger.runs.route_keys import CopyRoute
from toolkit.ledger.vocabulary import LifeCycle

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.actions.progress import Progress
    from toolkit.actions.runner import Targets
    from toolkit.clock import Clock
    from toolkit.entities import Cluster, Feed
    from toolkit.entities.exchange import FeedExport
    from toolkit.exchange.export_targets import DatabaseExportResult
    from toolkit.exchange.instance_files import InstanceFiles
    from toolkit.jdbc.port import Database
    from toolkit.ledger.database import Transaction
    from toolkit.runs.stop import StopSignal

_MINUTE = timedelta(minutes=1)

DatabaseExportWired = Wired[DatabaseExportTarget, DatabaseExportItem, DatabaseExportDetail]


SPARK_FOR_WRITING = ExchangeAdapters(database=partial(open_database, writes=True))


exported_pairs = partial(pairs_with, lambda on: on.export)


class NotExported(UnfitFeed):
    """A feed that cannot be exported to a database."""


def export_to_databases(
    own: ReplicationOptions,
    options: ActionOptions,
    clock: Clock,
    process: StopSignal,
    progress: Progress,
    adapters: ExchangeAdapters = SPARK_FOR_WRITING,
) -> DatabaseExportResult:
    """Export instances to databases, from the options to the result; arguments and errors are those of `run_action`."""
    _ = own.wanted
    with ExitStack() as stack:
        wire = partial(_wire, own, adapters, stack)
        return run_action(options, clock, process, progress, wire, Area.EXPORT, affected=exported_pairs)


def _wire(
    own: ReplicationOptions, adapters: ExchangeAdapters, stack: ExitStack, context: ActionContext
) -> DatabaseExportWired:
    options, pairs = context.options, exported_pairs(context)
    if not pairs:
        raise NothingChosen(wanted="an `export` of a feed", known=())
    database, rows = adapters.opened(context, pairs, stack)
    wiring = _Wiring(own=own, database=database, context=context)
    chosen = [(of_pair(*pair, options.nominal_time), partial(wiring.targets, *pair)) for pair in pairs]
    targets: Targets[DatabaseExportTarget, DatabaseExportItem, DatabaseExportDetail] = resolved(
        chosen, DatabaseExportDetail, refusal="not_exported", must_all_work=bool(options.selection.names)
    )
    action = DatabaseExportAction(rows=rows, outputs=context.use.outputs, counts_rows=options.dry_run)
    content: MessageContent[DatabaseExportTarget] = MessageContent.of_feed(
        "EXPORT", lambda target: target.uri(str(target.table))
    )
    return Wired(action=action, targets=targets, content=content)


@dataclass(frozen=True, kw_only=True)
class _Wiring:
    """Targets of a run.

    Attributes:
        own: which instances.
        database: opens a datasource, once.
        context: of the run.
    """

    own: ReplicationOptions
    database: Callable[[str], Database]
    context: ActionContext

    def targets(self, feed: Feed, cluster: Cluster) -> Iterator[DatabaseExportTarget]:
        """Yield the instances of a feed that are exported, oldest first.

        Raises:
            InvalidInput: the feed has no export there, or the datasource cannot be opened.
        """
        on = feed.cluster(cluster.name)
        export = on.export
        if export is None:
            raise NotExported(feed=feed.name, why=f"has no `export` on cluster {cluster.name}; add it to the feed")
        if on.ingest is not None:
            raise NotExported(feed=feed.name, why=f"is ingested on {cluster.name}; export it from a feed of files")
        database = self.database(export.target.name)
        reader = InstanceReader(feed=feed, cluster=cluster, format=export.format)
        for instant in self._instants(feed, cluster, export.target.name):
            slice_ = _slice(feed, cluster, export, instant)
            yield DatabaseExportTarget(
                entity=feed.name,
                cluster=cluster.name,
                counterpart=export.target.name,
                instance_key=format_instant(instant),
                export=export,
                table=parse_table_name(export.target.table_name),
                slice=slice_,
                twin=_twin(feed, cluster, export, instant) if slice_ else "",
                files=partial(self._files, reader, instant),
                database=lambda: database,
            )

    def _files(self, reader: InstanceReader, instant: datetime, work: RunContext) -> InstanceFiles:
        return reader.files(instant, data_access(work.stores, self.context.variables))

    def _instants(self, feed: Feed, cluster: Cluster, datasource: str) -> list[datetime]:
        """Return the instances that were asked for; else those after the newest recorded one, and unfinished ones."""
        sequence, nominal, wanted = feed.instances_on(cluster.name), self.context.options.nominal_time, self.own.wanted
        if wanted.first is not None and wanted.end is not None:
            return [each for each in sequence.between(wanted.first, wanted.end) if each <= nominal]
        last = sequence.at_or_before(nominal)
        if last is None:
            return []
        end = last + _MINUTE
        ledger = self.context.use.ledger
        route = CopyRoute(feed=feed.name, target=cluster.name, source=datasource, life_cycle=LifeCycle.EXPORT)

        def known(tx: Transaction) -> tuple[frozenset[str], frozenset[str]]:
            runs = RecordedRuns(tx=tx, subject=route.subject)
            recorded = runs.keys(format_instant(sequence.start), format_instant(end))
            return recorded, route_keys.unfinished_keys(tx, route)

        recorded, unfinished = (frozenset[str](), frozenset[str]()) if ledger is None else ledger.read(known)
        if not recorded:
            return [last]
        new = sequence.between(parse_instant(max(recorded)) + _MINUTE, end)
        again = (each for each in map(parse_instant, unfinished) if each <= last and each in sequence)
        return sorted({*new, *again})


def _twin(feed: Feed, cluster: Cluster, export: FeedExport, instant: datetime) -> str:
    """Return the instance beside another whose slice is the same; empty: there is none."""
    sequence, own = feed.instances_on(cluster.name), _slice(feed, cluster, export, instant)
    beside = (sequence.at_or_before(instant - _MINUTE), sequence.at_or_after(instant + _MINUTE))
    same = (each for each in beside if each is not None and _slice(feed, cluster, export, each) == own)
    return next(map(format_instant, same), "")


def _slice(feed: Feed, cluster: Cluster, export: FeedExport, instant: datetime) -> Mapping[str, str]:
    """Return the values of the slice's columns, as texts.

    Raises:
        ElError: a text is malformed, or has a variable without a value.
    """
    local, variables = to_local(instant, load_zone(feed.path_timezone)), feed.variables_on(cluster)
    texts = export.target.load.slice
    return {name: Segment(tuple(tokenize(text)), text).render(local, variables) for name, text in texts.items()}
