"""A table feed, its metastore and its files in memory, and one call that evicts it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of, table_of
from tests.unit.retention.acting import SharedStore
from tests.unit.retention.feeds import NOMINAL, FeedText, acted, cluster, context_on, request_of, retention
from tests.unit.runs.fakes import AuditMemory, MemoryRecorder
from toolkit.actions.action import RunContext
from toolkit.actions.guard import Condition
from toolkit.actions.hold_watch import NewHolds, NoNewHolds
from toolkit.catalog.location_policy import LocationPolicy
from toolkit.catalog.model import Table, TableName
from toolkit.catalog.port import Metastore
from toolkit.catalog.restricted import RestrictedMetastore
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import Cluster, ClusterLocations, Feed, FeedMaxDelete, Hold
from toolkit.errors import NotImplementedYet
from toolkit.ledger.runs.items import Item
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.result import Outcome
from toolkit.retention import FeedTarget, RetentionResolver, RetentionResult, SharedDataIndex
from toolkit.retention.shared_tables import SharedTables
from toolkit.runs.output_use import OutputUse
from toolkit.runs.stop import StopSignal
from toolkit.storage import FileSystem

MADE = "1772323200"
"""When the table was made, in seconds: long before any run."""
BASE = "/wh/logs.db/clicks"
DS = "catalog:logs:clicks#ds=${YEAR}-${MONTH}-${DAY}"


@dataclass(kw_only=True)
class TableSite:
    """A table with daily partitions, on one store.

    Attributes:
        uri: of the feed.
        keys: partition keys of the table with their types.
        others: feeds of the repo that the run is not about.
        unusable: the scheme of stores that cannot be opened.
        work: directories of the cluster; partitions may have data wherever it is not said otherwise.
        outputs: what other runs write.
        new_holds: added by command since the run read the holds.
    """

    uri: str = DS
    keys: Mapping[str, str] = field(default_factory=lambda: {"ds": "string"})
    text: FeedText = field(default_factory=FeedText)
    others: Sequence[Feed] = ()
    unusable: str = ""
    work: ClusterLocations = field(default_factory=lambda: ClusterLocations(tables=("/",)))
    system: SharedStore = field(default_factory=SharedStore)
    metastore: Metastore = field(default_factory=lambda: MemoryMetastore(["logs", "web"]))
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    audit: AuditMemory = field(default_factory=AuditMemory)
    outputs: OutputUse = field(default_factory=OutputUse)
    new_holds: NewHolds = field(default_factory=NoNewHolds)
    table: Table = field(init=False)

    def __post_init__(self) -> None:
        table = table_of(TableName("logs", "clicks"), f"file:{BASE}", **self.keys)
        self.table = replace(table, parameters={**table.parameters, "transient_lastDdlTime": MADE})
        self.metastore.create_table(self.table)
        self.system.make(BASE)

    def add(self, *values: str, location: str = "") -> str:
        """A partition with a file; its directory."""
        partition = partition_of(self.table, *values, location=location and f"file:{location}")
        self.metastore.add_partitions(self.table.name, [partition])
        place = partition.location.removeprefix("file:")
        self.system.put(f"{place}/part")
        return place

    def add_days(self, *days: str) -> None:
        """Of March, named as ``01``."""
        for day in days:
            self.add(f"2026-03-{day}")

    def resolver(self, holds: Iterable[Hold] = ()) -> RetentionResolver:
        feeds, clusters = (self.feed, *self.others), (self.cluster,)
        return RetentionResolver(
            nominal_time=parse_instant(NOMINAL),
            keep_beyond_validity=True,
            holds=tuple(holds),
            storage=lambda _: self.system,
            shared_data=SharedDataIndex(feeds=feeds, clusters=clusters),
            shared_tables=SharedTables(feeds=feeds, clusters=clusters),
            metastore=lambda on: RestrictedMetastore(self.metastore, lambda: None, LocationPolicy(cluster=on)),
        )

    @property
    def feed(self) -> Feed:
        return replace(self.text.feed(), locations=None, table=self.uri)

    @property
    def cluster(self) -> Cluster:
        return replace(cluster(), locations=self.work)

    def target(self, holds: Iterable[Hold] = ()) -> FeedTarget:
        (target,) = self.resolver(holds).resolve([(self.feed, self.cluster)], must_all_work=True).to_do
        return target

    def run(
        self,
        *,
        dry_run: bool = False,
        holds: Iterable[Hold] = (),
        limits: DeleteLimits | None = None,
        stop_signal: StopSignal | None = None,
        left: Iterable[Item] = (),
        approve: str | None = None,
    ) -> RetentionResult:
        """A run of retention over the table."""
        self.recorder = MemoryRecorder(left=list(left))

        def open_context(run: StopSignal, conditions: Sequence[Condition]) -> RunContext:
            work = context_on(self.system, run, conditions)
            self.system.before_effect = work.guard.check
            return replace(work, stores=partial(self._opened, work.stores), outputs=self.outputs)

        return acted(
            retention(limits=limits, new_holds=self.new_holds),
            self.resolver(holds).resolve([(self.feed, self.cluster)], must_all_work=True),
            request_of(dry_run=dry_run, approve=approve),
            open_context,
            recorder=self.recorder,
            audit=self.audit,
            process=stop_signal,
        )

    def _opened(self, stores: Callable[[CanonicalPath], FileSystem], path: CanonicalPath) -> FileSystem:
        if path.scheme == self.unusable:
            raise NotImplementedYet(what=f"the store {path.root}", instead="another one")
        return stores(path)

    @property
    def names(self) -> list[str]:
        """Return the names of the partitions that the metastore knows."""
        return list(self.metastore.partition_names(self.table.name))

    @property
    def directories(self) -> list[str]:
        """Below the table's own."""
        return sorted(each.removeprefix(f"{BASE}/") for each in self.system.directories if each.startswith(f"{BASE}/"))


def limited(fraction: float) -> FeedMaxDelete:
    return FeedMaxDelete(fraction=fraction)


def done(result: RetentionResult) -> list[str]:
    """Return what went, or would go, by address or path."""
    return [each.item.uri for each in result.items if each.outcome in {Outcome.DONE, Outcome.PLANNED}]


def not_done(result: RetentionResult) -> list[tuple[str, str, str]]:
    return [(each.item.uri, each.outcome, each.code) for each in result.items if each.outcome is not Outcome.DONE]


def kept(result: RetentionResult) -> dict[str, tuple[str, str]]:
    """Reason and detail of what is old and stays, by partition."""
    (target,) = result.targets
    return {each.candidate.partition: (each.reason, each.detail) for each in target.plan.detail.kept}
