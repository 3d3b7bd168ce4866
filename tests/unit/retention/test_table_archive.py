"""Partitions that are archived: an export in Hive's layout is whole before the metastore forgets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of, table_of
from tests.unit.retention.archiving import DAY, Dead, Dying
from tests.unit.retention.feeds import NOMINAL, FeedText, cluster, context_on, retention
from tests.unit.runs.fakes import THEN
from toolkit.catalog.export_metadata import METADATA, metadata_text, read_metadata
from toolkit.catalog.location_policy import LocationPolicy
from toolkit.catalog.model import Table, TableName
from toolkit.catalog.restricted import RestrictedMetastore
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import Archive, Cluster, ClusterLocations, ExpiryAction, Feed, Locations
from toolkit.hive.export_layout import read_export
from toolkit.ledger.runs.items import Item
from toolkit.ledger.vocabulary import ItemState
from toolkit.result import Outcome
from toolkit.retention import FeedPlan, FeedTarget, RetentionResolver, SharedDataIndex
from toolkit.retention.shared_tables import SharedTables
from toolkit.retention.tables.retention import TableRetention
from toolkit.runs.stop import NeverStopped
from toolkit.storage import FileSystem, LocalFileSystem

NAME = TableName("logs", "clicks")
URI = "catalog:logs:clicks#ds=${YEAR}-${MONTH}-${DAY}"
FILES = {"part-0": "some", "part-1": "more"}


@dataclass
class ArchivedTable:
    """A table on a local disk whose partitions are archived.

    Attributes:
        root: of everything.
        archive: template of the exports.
    """

    root: Path
    archive: str = ""
    metastore: MemoryMetastore = field(default_factory=lambda: MemoryMetastore(["logs"]))
    table: Table = field(init=False)

    def __post_init__(self) -> None:
        table = table_of(NAME, f"file:{self.root}/wh/clicks", ds="string", region="string")
        self.table = replace(table, parameters={**table.parameters, "transient_lastDdlTime": "1772323200"})
        self.metastore.create_table(self.table)
        (self.root / "archive").mkdir()
        (self.root / "wh/clicks").mkdir(parents=True)

    def add(self, day: str, region: str = "us", files: Mapping[str, str] = FILES) -> Path:
        """Add a partition with its files, and return its directory."""
        partition = partition_of(self.table, f"2026-03-{day}", region)
        self.metastore.add_partitions(NAME, [partition])
        place = Path(partition.location.removeprefix("file:"))
        place.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (place / name).write_text(text)
        return place

    @property
    def cluster(self) -> Cluster:
        return replace(cluster(), locations=ClusterLocations(tables=("/",)))

    @property
    def feed(self) -> Feed:
        """Keeps ten days."""
        place = self.archive or f"{self.root}/archive/{DAY}"
        archive = Archive(cluster="primary", locations=Locations(data=place))
        feed = replace(FeedText().feed(), locations=None, table=URI)
        (each,) = feed.clusters
        assert each.retention is not None
        archived = replace(each.retention, action=ExpiryAction.ARCHIVE, archive=archive)
        return replace(feed, clusters=(replace(each, retention=archived),))

    def target(self, feed: Feed | None = None) -> FeedTarget:
        """Return the feed as a run works on it."""
        resolver = RetentionResolver(
            nominal_time=parse_instant(NOMINAL),
            keep_beyond_validity=True,
            holds=(),
            storage=lambda _: LocalFileSystem(),
            archives={"primary": self.cluster},
            shared_data=SharedDataIndex(feeds=(self.feed,), clusters=(self.cluster,)),
            shared_tables=SharedTables(feeds=(self.feed,), clusters=(self.cluster,)),
            metastore=lambda on: RestrictedMetastore(self.metastore, lambda: None, LocationPolicy(cluster=on)),
        )
        (target,) = resolver.resolve([(feed or self.feed, self.cluster)], must_all_work=True).to_do
        return target

    def plan(self) -> FeedPlan:
        """Return the plan of a run."""
        return retention().plan(self.target(), context_on(LocalFileSystem(), NeverStopped()))

    def run(self, system: FileSystem | None = None, left: tuple[Item, ...] = (), run_id: str = "7") -> list[str]:
        """Evict, and return the messages of what failed."""
        plan = self.plan()
        assert plan.failed is None, plan.failed
        assert plan.target.table is not None
        assert plan.detail.base is not None
        work = replace(context_on(system or LocalFileSystem(), NeverStopped()), run_name=run_id)
        evicting = TableRetention(plan=plan, table=plan.target.table, base=plan.detail.base, work=work)
        evicting.recover(left)
        done = [result for batch in evicting.batches() for result in batch.apply(lambda _: None).results]
        return [each.message for each in done if each.outcome is Outcome.FAILED]

    @property
    def names(self) -> list[str]:
        """The partitions that the metastore has."""
        return sorted(self.metastore.partition_names(NAME))

    def exported(self, day: str) -> dict[str, dict[str, str]]:
        """Return the files of the partitions that the export of a day describes."""
        export = self.root / f"archive/2026/03/{day}"
        table, partitions = read_metadata((export / METADATA).read_bytes())
        names = [table.partition_name(each) for each in partitions]
        return {name: {each.name: each.read_text() for each in (export / name).iterdir()} for name in names}


@pytest.fixture
def site(tmp_path: Path) -> ArchivedTable:
    return ArchivedTable(root=tmp_path)


def test_old_partitions_are_in_an_export_of_their_instance_and_gone_from_the_table(site: ArchivedTable) -> None:
    old = [site.add("01", "us"), site.add("01", "in", {"part-0": "other"}), site.add("02")]
    young = site.add("19")
    assert site.run() == []
    assert site.names == ["ds=2026-03-19/region=us"]
    assert ([each.exists() for each in old], young.exists()) == ([False] * 3, True)
    assert site.exported("01") == {"ds=2026-03-01/region=in": {"part-0": "other"}, "ds=2026-03-01/region=us": FILES}
    assert site.exported("02") == {"ds=2026-03-02/region=us": FILES}
    export = read_export(LocalFileSystem(), CanonicalPath.parse(f"file://{site.root}/archive/2026/03/01"))
    assert sorted(export.partitions) == ["ds=2026-03-01/region=in", "ds=2026-03-01/region=us"]


def test_the_plan_names_the_place_in_the_archive(site: ArchivedTable) -> None:
    site.add("01")
    place = f"file://{site.root}/archive/2026/03/01/ds=2026-03-01/region=us"
    assert [None if item.archive is None else str(item.archive) for item in site.plan().items] == [place, None]


def test_a_later_partition_of_an_instance_joins_its_export(site: ArchivedTable) -> None:
    site.add("01", "us")
    site.run()
    site.add("01", "in")
    assert site.run() == []
    assert site.exported("01") == dict.fromkeys(["ds=2026-03-01/region=in", "ds=2026-03-01/region=us"], FILES)


def test_a_partition_that_came_back_with_other_data_does_not_replace_the_first(site: ArchivedTable) -> None:
    site.add("01")
    site.run()
    site.add("01", files={"part-0": "changed"})
    assert site.run() == []
    (name,) = site.exported("01")
    assert site.exported("01")[name] == FILES
    version = site.root / "archive/2026/03/01/ds=2026-03-01/.feedctl-version-2-region=us"
    assert (version / "part-0").read_text() == "changed"


@pytest.mark.parametrize("text", ["no JSON", None])
def test_an_export_of_something_else_keeps_the_partitions(site: ArchivedTable, text: str | None) -> None:
    place = site.add("01")
    export = site.root / "archive/2026/03/01"
    export.mkdir(parents=True)
    if text is None:
        text = metadata_text(replace(site.table, name=TableName("web", "clicks")), []).decode()
    (export / METADATA).write_text(text)
    (message,) = site.run()
    assert "not archived, so it stays" in message
    assert (site.names, place.exists(), (export / METADATA).read_text()) == (["ds=2026-03-01/region=us"], True, text)


def test_a_copy_that_fails_keeps_its_partition_and_not_the_others(site: ArchivedTable) -> None:
    site.add("01", "us")
    site.add("01", "in")
    site.add("02", "us")
    blocked = site.root / "archive/2026/03/02"
    blocked.parent.mkdir(parents=True)
    blocked.write_text("a file")
    (message,) = site.run()
    assert "not archived, so it stays" in message
    assert site.names == ["ds=2026-03-02/region=us"]
    assert len(site.exported("01")) == 2


def test_an_archive_that_is_not_there_or_is_in_the_table_evicts_nothing(tmp_path: Path) -> None:
    site = ArchivedTable(root=tmp_path)
    site.add("01")
    (tmp_path / "archive").rmdir()
    plan = site.plan()
    assert (plan.items, plan.failed is not None and plan.failed.code) == ((), "not_found")
    site.archive = f"{tmp_path}/wh/clicks/archive/{DAY}"
    (tmp_path / "wh/clicks/archive").mkdir()
    plan = site.plan()
    assert plan.items == ()
    assert plan.failed is not None
    assert "overlaps with the table" in plan.failed.message


def test_a_run_that_dies_anywhere_loses_nothing_and_is_finished_by_the_next(tmp_path: Path) -> None:
    for effects in range(400):
        root = tmp_path / str(effects)
        root.mkdir()
        site = ArchivedTable(root=root)
        site.add("01", "us")
        site.add("01", "in", {"part-0": "other"})
        system = Dying(effects)
        whole = {"ds=2026-03-01/region=in": {"part-0": "other"}, "ds=2026-03-01/region=us": FILES}
        plan = site.plan()
        try:
            site.run(system)
        except Dead:
            left = tuple(_left(position, item.uri, item.kind) for position, item in enumerate(plan.items))
            if set(site.names) != set(whole):
                assert site.exported("01") == whole
            assert site.run(left=left, run_id="8") == []
            assert (site.names, site.exported("01")) == ([], whole)
            hidden = [path.name for path in (root / "archive").rglob(".feedctl-copy*")]
            assert hidden == []
            continue
        assert system.left >= 0
        return
    pytest.fail("the run never ends")


def _left(position: int, path: str, kind: str) -> Item:
    return Item(
        run_id=7,
        position=position,
        kind=kind,
        path=path,
        instance_key="2026-03-01T00:00Z",
        state=ItemState.INTENDED,
        code=None,
        message=None,
        intended_at=THEN,
        settled_at=None,
    )
