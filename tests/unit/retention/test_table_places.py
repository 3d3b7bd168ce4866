"""Locations of partitions: what another partition or anybody else shares, is in or holds is never removed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import of_spark, partition_of, table_of
from tests.unit.retention.feeds import FeedText
from tests.unit.retention.tables import BASE, TableSite, done, kept
from toolkit.catalog.errors import AccessDenied
from toolkit.catalog.model import Partition, StorageDescriptor, TableName
from toolkit.el import CanonicalPath, Frequency, parse_instant
from toolkit.entities import (
    Archive,
    Cluster,
    ClusterLocations,
    ExpiryAction,
    Feed,
    Hold,
    Interface,
    Interfaces,
    Locations,
    Retention,
)
from toolkit.result import Status
from toolkit.retention import RetentionResolver
from toolkit.retention.partition_places import PartitionPlaces

OLD, YOUNG = "2026-03-01", "2026-03-20"


def _stays(site: TableSite, why: str) -> None:
    before = site.system.tree()
    result = site.run()
    assert f"ds={OLD}" in site.names
    assert site.system.tree() == before
    reason, detail = kept(result)[f"ds={OLD}"]
    assert reason == "shared_location"
    assert why in detail
    assert result.status is Status.SUCCEEDED


@pytest.mark.parametrize(
    ("old", "young"),
    [
        pytest.param("/data/x/one", "/data/x/one", id="one place"),
        pytest.param("/data/x/one", "/data/x/one/in", id="holds it"),
        pytest.param("/data/x/one/in", "/data/x/one", id="is in it"),
        pytest.param("", f"{BASE}/ds={OLD}", id="its default place is another one's"),
        pytest.param("", BASE, id="another one is at the table's own"),
    ],
)
def test_what_a_partition_that_stays_has_a_part_in_stays_as_a_whole(old: str, young: str) -> None:
    site = TableSite()
    site.add(OLD, location=old)
    site.add(YOUNG, location=young)
    _stays(site, f"data of the partition ds={YOUNG}, which stays, are at file://{young}")


def test_a_name_that_begins_alike_is_another_place() -> None:
    site = TableSite()
    site.add(OLD, location="/data/x/one")
    site.add(YOUNG, location="/data/x/one-more")
    site.run()
    assert site.names == [f"ds={YOUNG}"]
    assert "/data/x/one-more/part" in site.system.files
    assert "/data/x/one/part" not in site.system.files


def test_a_partition_that_does_not_conform_keeps_its_place_too() -> None:
    site = TableSite()
    site.add(OLD, location="/data/x/one")
    site.add("__HIVE_DEFAULT_PARTITION__", location="/data/x/one")
    _stays(site, "ds=__HIVE_DEFAULT_PARTITION__")


def test_partitions_in_one_place_go_when_all_of_them_do() -> None:
    site = TableSite()
    for day, place in (("01", "/data/x/one"), ("02", "/data/x/one"), ("03", "/data/x/one/in"), ("04", "/data/x/two")):
        site.add(f"2026-03-{day}", location=place)
    result = site.run()
    assert site.names == []
    assert [each for each in done(result) if each.startswith("file")] == ["file:///data/x/one", "file:///data/x/two"]
    assert site.system.tree() == ["/data", "/data/x", "/wh", "/wh/logs.db", BASE]


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("/", "is, or holds, the directory of the whole table"),
        ("/data", "top-level directory"),
        (BASE, "is, or holds, the directory of the whole table"),
        ("/wh/logs.db", "is, or holds, the directory of the whole table"),
        ("/wh/web.db/other", "the directory of the table web.other"),
        ("/wh/web.db", "the directory of the table web.other"),
        ("/wh/web.db/other/x=1", "the directory of the table web.other"),
        ("/feeds/clicks/2026", "data of the feed raw"),
        ("/feeds", "top-level"),
        ("/feeds/clicks", "data of the feed raw"),
    ],
)
def test_a_place_that_is_not_the_partitions_own_stays(place: str, why: str) -> None:
    raw = FeedText(name="raw", data="/feeds/clicks/${YEAR}/${MONTH}/${DAY}").feed()
    site = TableSite(others=(raw,))
    site.metastore.create_table(table_of(TableName("web", "other"), "file:/wh/web.db/other", x="int"))
    site.metastore.create_table(replace(table_of(TableName("web", "view"), ""), storage=StorageDescriptor()))
    site.add(OLD, location=place)
    _stays(site, why)


def test_tables_that_may_not_be_looked_at_may_be_anywhere_outside() -> None:
    class Denied(MemoryMetastore):
        def directories(self, database: str) -> dict[str, str]:
            if database == "secret":
                raise AccessDenied(about=database)
            return super().directories(database)

    site = TableSite(metastore=Denied(["logs", "secret"]))
    site.add(OLD, location="/data/x/one")
    _stays(site, "the location of the table secret.* is not known")
    site.add_days("02")
    site.run()
    assert site.names == [f"ds={OLD}"]


@pytest.mark.parametrize("place", [BASE, f"{BASE}/ds={OLD}", f"{BASE}/ds={OLD}/x=1", "/wh"])
def test_data_below_the_table_that_are_another_tables_too_stay(place: str) -> None:
    site = TableSite()
    site.metastore.create_table(table_of(TableName("web", "other"), f"file:{place}", x="int"))
    site.add_days("01")
    _stays(site, "the directory of the table web.other")


def test_other_tables_are_asked_for_once_and_only_when_something_goes() -> None:
    class Counted(MemoryMetastore):
        requested = 0

        def databases(self) -> tuple[str, ...]:
            self.requested += 1
            return super().databases()

    metastore = Counted(["logs"])
    site = TableSite(metastore=metastore)
    site.add(YOUNG)
    site.run()
    assert metastore.requested == 0
    site.add_days("01", "02")
    site.run()
    assert (site.names, metastore.requested) == ([f"ds={YOUNG}"], 1)


def test_locations_that_are_no_paths_stop_the_table_and_are_all_named() -> None:
    site = TableSite()
    site.add_days("01")
    table = site.table
    for day, location in (("19", "s3a://b//x"), ("20", "/x/../y")):
        values = (f"2026-03-{day}",)
        partition = Partition(values=values, storage=replace(table.storage, location=location))
        site.metastore.add_partitions(table.name, [partition])
    (target,) = site.run().targets
    assert target.plan.failed is not None
    assert target.plan.failed.code == "unreadable_location"
    assert all(part in target.plan.failed.message for part in ("ds=2026-03-19", "ds=2026-03-20", "s3a://b//x"))
    assert len(site.names) == 3


@pytest.mark.parametrize("location", ["file:/", "file:/data"])
@pytest.mark.parametrize("place", ["/data/raw/one", "/elsewhere/one"])
def test_nothing_of_a_table_goes_whose_directory_is_a_whole_store_or_a_top_level_one(location: str, place: str) -> None:
    site = TableSite()
    site.metastore.alter_table(replace(site.table, storage=replace(site.table.storage, location=location)))
    for top in ("/", "/data"):
        site.system.make(top)
    site.add(OLD, location=place)
    _stays(site, f"the table's own directory {location.replace(':', '://')} is a whole store, or a top-level directory")


@pytest.mark.parametrize(
    "data",
    [
        f"{BASE}/ds={OLD}/${{YEAR}}/${{MONTH}}/${{DAY}}",
        f"{BASE}/${{YEAR}}/${{MONTH}}/${{DAY}}",
        f"{BASE}/ds=${{YEAR}}-${{MONTH}}-${{DAY}}/${{HOUR}}",
        "/wh/${YEAR}/${MONTH}/${DAY}",
    ],
)
def test_data_of_path_feeds_stay_below_the_table_too(data: str) -> None:
    site = TableSite(others=(FeedText(name="raw", data=data).feed(),))
    site.add_days("01")
    _stays(site, "data of the feed raw on primary")


def test_a_path_feed_of_the_same_instances_is_the_table_by_another_name_and_its_holds_count() -> None:
    raw = FeedText(name="raw", data=f"{BASE}/ds=${{YEAR}}-${{MONTH}}-${{DAY}}").feed()
    site = TableSite(others=(raw,))
    site.add_days("01", "02")
    held = site.run(holds=[Hold(feed="raw", start=parse_instant("2026-03-02T00:00Z"), reason="case 7")])
    assert site.names == ["ds=2026-03-02"]
    assert kept(held)["ds=2026-03-02"][1].endswith("hold of feed raw: case 7")
    (target,) = held.targets
    assert any("feed raw shares this data" in note for note in target.plan.notes)
    site.run()
    assert site.names == []


def test_the_directory_of_a_table_of_spark_is_where_spark_keeps_it() -> None:
    site = TableSite()
    site.metastore.alter_table(of_spark(site.table, "file:/wh/logs.db/clicks-__PLACEHOLDER__"))
    site.add(OLD, location=BASE)
    _stays(site, f"file://{BASE} is, or holds, the directory of the whole table")


def test_a_hold_file_in_the_directory_of_a_table_of_spark_counts() -> None:
    site = TableSite()
    site.metastore.alter_table(of_spark(site.table, "file:/wh/logs.db/clicks-__PLACEHOLDER__"))
    site.add_days("01")
    site.system.put(f"{BASE}/.feedctl-hold")
    site.run()
    assert site.names == [f"ds={OLD}"]


class _Linked(TableSite):
    """`/data` is a link to `/mnt/d1`."""

    def resolver(self, holds: Iterable[Hold] = ()) -> RetentionResolver:
        def real(path: CanonicalPath) -> CanonicalPath:
            moved = f"/mnt/d1{path.path.removeprefix('/data')}" if path.path.startswith("/data/") else path.path
            return replace(path, path=moved)

        resolver = super().resolver(holds)
        return replace(resolver, shared_data=replace(resolver.shared_data, real=real))


@pytest.mark.parametrize("place", ["/data/raw/2026", "/mnt/d1/raw/2026"])
def test_a_path_feed_behind_a_link_is_found_by_either_name(place: str) -> None:
    site = _Linked(others=(FeedText(name="raw", data="/data/raw/${YEAR}/${MONTH}/${DAY}").feed(),))
    site.add(OLD, location=place)
    _stays(site, "data of the feed raw on primary")


def _archived(feed: Feed, data: str) -> Feed:
    (on,) = feed.clusters
    archive = Archive(cluster="primary", locations=Locations(data=data))
    retention = Retention(limit=Frequency.parse("days(10)"), action=ExpiryAction.ARCHIVE, archive=archive)
    return replace(feed, clusters=(replace(on, retention=retention),))


@pytest.mark.parametrize("place", ["/archive/raw/2026", "/archive/raw"])
def test_archives_of_feeds_stay(place: str) -> None:
    raw = FeedText(name="raw", data="/feeds/raw/${YEAR}/${MONTH}/${DAY}").feed()
    site = TableSite(others=(_archived(raw, "/archive/raw/${YEAR}/${MONTH}/${DAY}"),))
    site.add(OLD, location=place)
    _stays(site, "the archive of the feed raw on primary")


@pytest.mark.parametrize("kind", ["staging", "temp", "working"])
def test_directories_of_feedctls_own_work_stay(kind: str) -> None:
    own = {"staging": "", "temp": "", "working": "", kind: "/apps/feedctl"}
    work = ClusterLocations(
        staging=own["staging"] or None, temp=own["temp"] or None, working=own["working"] or None, tables=("/",)
    )
    site = TableSite(work=work)
    site.add(OLD, location="/apps/feedctl/one")
    _stays(site, f"the {kind} directory of the cluster primary")


def test_what_is_outside_on_a_disk_that_is_not_mounted_does_not_count_as_gone() -> None:
    site = TableSite()
    site.add_days("02")
    for day, disk in (("01", "disk2"), ("03", "disk3")):
        site.add(f"2026-03-{day}", location=f"/mnt/{disk}/one")
        site.system.files.pop(f"/mnt/{disk}/one/part")
        site.system.directories -= {f"/mnt/{disk}", f"/mnt/{disk}/one"}
    (target,) = site.run().targets
    assert target.plan.failed is not None
    assert target.plan.failed.code == "not_found"
    assert all(part in target.plan.failed.message for part in ("/mnt/disk2", "/mnt/disk3", "mount its disk"))
    assert len(site.names) == 3
    site.system.make("/mnt/disk2", "/mnt/disk3")
    site.run()
    assert site.names == []


class _OnHdfs(TableSite):
    @property
    def cluster(self) -> Cluster:
        conf = {"dfs.nameservices": "ns1,ns2", "dfs.namenode.rpc-address.ns2": "nn9:8020"}
        interfaces = Interfaces(write=Interface(endpoint="hdfs://ns1"))
        return Cluster(name="primary", interfaces=interfaces, hadoop_conf=conf, locations=self.work)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.table = replace(self.table, storage=replace(self.table.storage, location=f"hdfs://ns1{BASE}"))
        self.metastore.alter_table(self.table)

    def put(self, day: str, location: str) -> None:
        self.metastore.add_partitions(self.table.name, [partition_of(self.table, day, location=location)])
        self.system.put(f"/{location.split('/', 3)[3]}/part")


_UNLISTED = ["hdfs://nn1", "hdfs://nn1:9000", "webhdfs://nn1:9870", "swebhdfs://nn1:9871", "viewfs://all"]


@pytest.mark.parametrize("store", _UNLISTED)
@pytest.mark.parametrize("path", ["/ext/one", "/ext/one/in", "/ext"])
def test_one_path_in_hdfs_is_one_place_when_nobody_lists_the_store(store: str, path: str) -> None:
    site = _OnHdfs()
    site.put(OLD, "hdfs://ns1/ext/one")
    site.put(YOUNG, f"{store}{path}")
    _stays(site, f"data of the partition ds={YOUNG}, which stays, are at {store}{path}")


@pytest.mark.parametrize("store", _UNLISTED)
def test_other_tables_and_the_own_directory_are_found_on_a_store_that_nobody_lists(store: str) -> None:
    site = _OnHdfs()
    site.metastore.create_table(table_of(TableName("web", "other"), f"{store}/ext/one", x="int"))
    site.put(OLD, "hdfs://ns1/ext/one/x=1")
    _stays(site, "the directory of the table web.other")
    own = _OnHdfs()
    own.put(OLD, f"{store}{BASE}/ds={OLD}")
    _stays(own, f"the table's own directory hdfs://ns1{BASE} by another name")


def test_one_path_on_two_stores_that_the_cluster_lists_is_two_places() -> None:
    site = _OnHdfs()
    site.put(OLD, "hdfs://ns1/ext/one")
    site.put(YOUNG, "hdfs://nn9:8020/ext/one")
    site.run()
    assert site.names == [f"ds={YOUNG}"]


@pytest.mark.parametrize(
    ("place", "goes"),
    [("s3://bucket/clicks", True), ("s3://bucket/", False), ("hdfs://nn/clicks", False), ("hdfs://nn/wh/clicks", True)],
)
def test_a_table_at_the_top_of_a_bucket_has_a_directory_of_its_own(place: str, *, goes: bool) -> None:
    table = CanonicalPath.parse(place)
    old = table.child("ds=2026-03-01")
    divided = PartitionPlaces(table=table, owner_of=lambda *_, **__: "").divided({"ds=2026-03-01": old}, {})
    assert ([each.root for each in divided.groups] == [old], bool(divided.stays)) == (goes, not goes)
