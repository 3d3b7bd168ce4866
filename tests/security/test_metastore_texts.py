"""Against who writes tables in a metastore: what it has as a path is none of this machine's, and nobody else's.

Each text that feedctl takes out of a metastore as a path is tried: locations of tables, partitions and databases, the
address of a schema, the query of a view, parameters.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import of_spark, partition_of, table_of
from tests.unit.hive.exports import exported, imported
from tests.unit.hive.test_table_import import FROM, TO, Scene
from tests.unit.retention.tables import BASE, TableSite, done
from tests.unit.runs.fakes import left_item
from toolkit.availability import DataAccess
from toolkit.bootstrap.catalogs import catalog_for_reading, open_catalog
from toolkit.bootstrap.hive import catalog_of
from toolkit.catalog import opening
from toolkit.catalog.errors import ForeignLocation
from toolkit.catalog.export_metadata import METADATA
from toolkit.catalog.location_policy import LocationPolicy
from toolkit.catalog.model import Serde, StorageDescriptor, Table, TableKind, TableName
from toolkit.catalog.restricted import RestrictedMetastore
from toolkit.el import CanonicalPath
from toolkit.entities import Cluster, ClusterLocations, Interface, Interfaces
from toolkit.ledger.runs.items import NewItem
from toolkit.ledger.vocabulary import ItemState
from toolkit.process_runner.late_fingerprint import fingerprint_at
from toolkit.result import Status
from toolkit.retention import ItemKind
from toolkit.storage import FileSystem

OLD = "2026-03-01"
PRIVATE = "/home/op/private"
AVRO = Serde(library="org.apache.hadoop.hive.serde2.avro.AvroSerDe")


def _cluster(endpoint: str, *tables: str, readonly: str = "", **conf: str) -> Cluster:
    interfaces = Interfaces(
        write=Interface(endpoint=endpoint), readonly=Interface(endpoint=readonly) if readonly else None
    )
    return Cluster(name="primary", interfaces=interfaces, locations=ClusterLocations(tables=tables), hadoop_conf=conf)


class _OnHdfs(TableSite):
    """A cluster whose only store is HDFS; all stores of the test are one tree."""

    tables: tuple[str, ...] = ()

    @property
    def cluster(self) -> Cluster:
        return _cluster("hdfs://ns1", *self.tables)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.move(f"hdfs://ns1{BASE}")

    def move(self, location: str) -> None:
        """Give the table another place."""
        self.table = replace(self.table, storage=replace(self.table.storage, location=location))
        self.metastore.alter_table(self.table)

    def put(self, day: str, location: str) -> None:
        """A partition with a file, wherever it says."""
        self.metastore.add_partitions(self.table.name, [partition_of(self.table, day, location=location)])
        self.system.put(f"{CanonicalPath.parse(location, 'hdfs://ns1').path}/part")


@pytest.mark.parametrize(
    "location",
    [f"file:{PRIVATE}", f"file://localhost{PRIVATE}", f"FILE:{PRIVATE}", f"hdfs://other{PRIVATE}", "s3a://b/x"],
)
def test_a_partition_on_another_store_goes_without_its_data(location: str) -> None:
    site = _OnHdfs()
    site.put(OLD, location)
    files = dict(site.system.files)
    result = site.run()
    assert site.names == []
    assert dict(site.system.files) == files
    assert result.status is Status.SUCCEEDED
    assert done(result) == [f"catalog:logs:clicks#ds={OLD}"]
    (target,) = result.targets
    assert any("data stays" in note and f"ds={OLD}" in note for note in target.plan.notes)


def test_data_outside_of_the_tables_directory_goes_only_below_what_the_cluster_names() -> None:
    site = _OnHdfs()
    site.put(OLD, "hdfs://ns1/data/one")
    assert site.run().status is Status.SUCCEEDED
    assert site.names == []
    assert "/data/one/part" in site.system.files

    site = _OnHdfs()
    site.tables = ("/data",)
    site.put(OLD, "hdfs://ns1/data/one")
    site.put("2026-03-02", "hdfs://ns1/database/two")  # a name that begins alike
    assert site.run().status is Status.SUCCEEDED
    assert site.names == []
    assert "/data/one/part" not in site.system.files
    assert "/database/two/part" in site.system.files


def test_a_partition_beside_others_that_go_whole_is_the_only_one_whose_data_stay() -> None:
    site = _OnHdfs()
    for day in ("01", "02", "04"):
        site.put(f"2026-03-{day}", f"hdfs://ns1{BASE}/ds=2026-03-{day}")
    site.put("2026-03-03", f"file:{PRIVATE}")
    dry = site.run(dry_run=True)
    kinds = [item.type for target in dry.targets for item in target.plan.items]
    assert kinds.count(ItemKind.PARTITION_ENTRY) == 1
    assert site.run().status is Status.SUCCEEDED
    assert site.names == []
    assert [name for name in site.system.files if name.endswith("/part")] == [f"{PRIVATE}/part"]
    assert site.run().status is Status.SUCCEEDED


def test_a_run_that_died_at_a_partition_whose_data_stay_is_settled_by_the_next() -> None:
    site = _OnHdfs()
    site.system.put(f"{PRIVATE}/part")
    path = f"catalog:logs:clicks#ds={OLD}"
    left = left_item(NewItem(position=0, kind="partition:data", path=path, instance_key=f"{OLD}T00:00Z"), 7)
    site.run(left=[left])
    (settled,) = site.recorder.settled_left
    assert settled.item.state is ItemState.DONE
    assert f"{PRIVATE}/part" in site.system.files


def test_a_table_with_a_local_directory_is_left_alone() -> None:
    site = _OnHdfs()
    site.move(f"file:{PRIVATE}")
    site.put(OLD, f"file:{PRIVATE}/ds={OLD}")
    before = site.system.tree()
    (target,) = site.run().targets
    assert target.plan.failed is not None
    assert target.plan.failed.code == "foreign_location"
    assert "local files" in target.plan.failed.message
    assert (site.names, site.system.tree()) == ([f"ds={OLD}"], before)


def test_a_table_whose_directory_moves_between_plan_and_drop_keeps_its_partitions_data() -> None:
    site = _OnHdfs()
    site.put(OLD, f"hdfs://ns1{BASE}/ds={OLD}")

    class Moving(MemoryMetastore):
        """Its owner moves the table once the plan was made."""

        requested = 0

        def partitions(self, name, names):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
            self.requested += 1
            if self.requested > 1:
                site.move("hdfs://ns1/elsewhere/clicks")
            return super().partitions(name, names)

    moving = Moving(["logs", "web"])
    moving.create_table(site.table)
    moving.add_partitions(site.table.name, [partition_of(site.table, OLD, location=f"hdfs://ns1{BASE}/ds={OLD}")])
    site.metastore = moving
    site.run()
    assert f"{BASE}/ds={OLD}/part" in site.system.files
    assert site.names == [f"ds={OLD}"]


@pytest.mark.parametrize(
    ("cluster", "text", "is_used"),
    [
        (_cluster("hdfs://ns1"), "/user/x", True),
        (_cluster("hdfs://ns1"), "hdfs://ns1:8020/user/x", True),
        (_cluster("hdfs://ns1"), "hdfs://ns2/user/x", False),
        (
            _cluster("hdfs://ns1", **{"dfs.nameservices": "ns2", "dfs.namenode.rpc-address.ns2": "n:8020"}),
            "hdfs://n/x",
            True,
        ),
        (_cluster("webhdfs://nn:9870"), "hdfs://nn:8020/x", True),
        (_cluster("webhdfs://nn:9870"), "hdfs://mm:8020/x", False),
        (_cluster("hdfs://ns1", readonly="webhdfs://nn:9870"), "webhdfs://nn:9870/x", True),
        (_cluster("hdfs://ns1", readonly="file:///mnt"), "file:/mnt/x", False),
        (_cluster("hdfs://ns1", "file:///mnt"), "file:/mnt/x", False),
        (_cluster("hdfs://ns1", "s3a://bucket/dir"), "s3://bucket/dir/x", True),
        (_cluster("hdfs://ns1", "s3a://bucket/dir"), "s3://bucket/other", False),
        (_cluster("hdfs://ns1"), "file:/proc/self/environ", False),
        (_cluster("hdfs://ns1"), "/user/../x", False),
        (_cluster("hdfs://ns1"), "har://hdfs-ns1/x", False),
        (_cluster("hdfs://ns1"), "hdfs://user:secret@ns1/x", False),
        (_cluster("file:///srv/data"), "file:/srv/data/x", True),
        (_cluster("file:///srv/data"), "file:/srv/data2/x", False),
        (_cluster("file:///srv/data"), f"file:{PRIVATE}", False),
        (_cluster("file:///srv/data"), "hdfs://ns1/x", False),
        (_cluster("s3a://bucket/team"), "s3a://bucket/team/x", True),
        (_cluster("s3a://bucket/team"), "s3a://bucket/x", False),
    ],
)
def test_which_places_are_on_a_file_system_of_a_cluster(cluster: Cluster, text: str, *, is_used: bool) -> None:
    why = LocationPolicy(cluster=cluster).why_not_stored(text)
    assert (why == "") is is_used, why
    assert "user:secret" not in why


@pytest.mark.parametrize("location", [f"file:{PRIVATE}", "hdfs://ns1/elsewhere"])
def test_what_a_process_reads_is_not_looked_for_elsewhere(location: str) -> None:
    inner = MemoryMetastore(["logs"])
    table = table_of(TableName("logs", "clicks"), "hdfs://ns1/clicks", ds="string")
    inner.create_table(table)
    inner.add_partitions(table.name, [partition_of(table, OLD, location=location)])
    cluster = _cluster("hdfs://ns1")
    opened = RestrictedMetastore(inner, lambda: None, LocationPolicy(cluster=cluster))

    def nothing(path: CanonicalPath) -> FileSystem:
        pytest.fail(f"{path} was opened")

    data = DataAccess(stores=nothing, metastores=lambda _: opened)
    with pytest.raises(ForeignLocation, match=f"ds={OLD}"):
        fingerprint_at(data, cluster, f"hcat://m:9083/logs/clicks/ds={OLD}")


def test_every_metastore_that_a_run_opens_is_restricted_to_its_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_adapter", lambda _: MemoryMetastore(["logs"], warehouse=f"file:{PRIVATE}"))
    registry = Interface(endpoint=f"thrift://{OLD}:9083")
    cluster = replace(
        _cluster("hdfs://ns1"), interfaces=Interfaces(write=Interface(endpoint="hdfs://ns1"), registry=registry)
    )
    catalog = catalog_of(cluster)
    opened = [open_catalog(cluster), catalog_for_reading(cluster), catalog.metastore, catalog.bound(lambda: None)]
    for metastore in opened:
        with pytest.raises(ForeignLocation):
            metastore.database_location("logs")


def test_no_location_elsewhere_comes_out_of_a_metastore() -> None:
    """Whoever opens one gets it so: every other call is about names."""
    inner = MemoryMetastore(["logs"], warehouse=f"file:{PRIVATE}")
    policy = LocationPolicy(cluster=_cluster("hdfs://ns1"))
    metastore = RestrictedMetastore(inner, lambda: None, policy)
    good = table_of(TableName("logs", "good"), "hdfs://ns1/good", ds="string")
    for name, table in (
        ("bad", replace(good, storage=replace(good.storage, location=f"file:{PRIVATE}"))),
        ("good", good),
    ):
        inner.create_table(replace(table, name=TableName("logs", name)))
    spark = of_spark(replace(good, name=TableName("logs", "spark")), f"file:{PRIVATE}")
    inner.create_table(spark)
    inner.create_table(of_spark(replace(table_of(TableName("logs", "hidden"), f"file:{PRIVATE}")), "hdfs://ns1/x"))
    inner.add_partitions(good.name, [partition_of(good, "1", location=f"file:{PRIVATE}"), partition_of(good, "2")])
    with pytest.raises(ForeignLocation, match="local files"):
        metastore.database_location("logs")
    for name in ("bad", "spark", "hidden"):
        with pytest.raises(ForeignLocation, match=f"logs.{name}"):
            metastore.table(TableName("logs", name))
    found = {
        good.partition_name(each): (each.location, bool(each.refusal))
        for each in metastore.partitions(good.name, ["ds=1", "ds=2"])
    }
    assert found == {"ds=1": ("", True), "ds=2": ("hdfs://ns1/good/ds=2", False)}
    assert metastore.drop_partitions(good.name, ["ds=1"]) == ("ds=1",)


def _scene(tmp_path: Path, *tables: str) -> Scene:
    """Both sides of a copy are below one directory; beside it is the operator's own."""
    (tmp_path / "private").mkdir(mode=0o700)
    (tmp_path / "private/key").write_text("a secret")
    root = tmp_path / "cluster"
    root.mkdir()
    return Scene(root=root, cluster=_cluster(f"file://{root}", *tables))


def _everything(root: Path) -> str:
    return "".join(each.read_text(errors="replace") for each in sorted(root.rglob("*")) if each.is_file())


def test_an_export_has_no_data_from_elsewhere(tmp_path: Path) -> None:
    scene = _scene(tmp_path)
    scene.filled()
    table = scene.source.table(FROM)
    scene.source.add_partitions(FROM, [partition_of(table, "2026-03-09", "x", location=f"file:{tmp_path}/private")])
    (problem,) = exported(scene, scene.root / "export")
    assert problem.code == "foreign_location"
    assert "ds=2026-03-09/region=x" in problem.message
    assert "a secret" not in _everything(scene.root)


def test_a_replication_leaves_out_the_partition_and_says_so(tmp_path: Path) -> None:
    scene = _scene(tmp_path)
    scene.filled()
    table, values = scene.source.table(FROM), ("2026-03-01", "z")
    scene.source.add_partitions(FROM, [partition_of(table, *values, location=f"file:{tmp_path}/private")])
    results = list(scene.ran(whole=True))
    results += scene.plan.unreadable
    failed = {each.code for each in results if each.code}
    assert failed == {"foreign_location"}
    assert len(scene.target.partition_names(TO)) == 2
    assert "a secret" not in _everything(scene.root)


def test_a_partition_of_the_target_that_is_elsewhere_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    scene = _scene(tmp_path)
    scene.filled()
    list(scene.ran(whole=True))
    name = scene.target.partition_names(TO)[0]
    (there,) = scene.target.partitions(TO, [name])
    moved = replace(there, storage=replace(there.storage, location=f"file:{tmp_path}/private"))
    scene.target.alter_partitions(TO, [moved])
    results = [*scene.ran(whole=True), *scene.plan.unreadable]
    assert [each.code for each in results] == ["foreign_location"]
    assert (tmp_path / "private/key").read_text() == "a secret"
    assert scene.target.partitions(TO, [name]) == (moved,)


def _avro(table: Table, address: str, *, serde: Serde = AVRO, in_table: bool = False) -> Table:
    parameters = {"avro.schema.url": address}
    if in_table:
        storage = replace(table.storage, serde=serde)
        return replace(table, parameters={**table.parameters, **parameters}, storage=storage)
    return replace(table, storage=replace(table.storage, serde=replace(serde, parameters=parameters)))


@pytest.mark.parametrize("in_table", [False, True])
@pytest.mark.parametrize("serde", [AVRO, Serde(library="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe")])
def test_the_environment_of_a_run_is_no_schema(tmp_path: Path, serde: Serde, *, in_table: bool) -> None:
    scene = _scene(tmp_path)
    scene.filled()
    scene.source.alter_table(
        _avro(scene.source.table(FROM), "file:///proc/self/environ", serde=serde, in_table=in_table)
    )
    (problem,) = exported(scene, scene.root / "export")
    assert problem.code == "foreign_location"
    assert not (scene.root / "export" / METADATA).exists()


@pytest.mark.parametrize(
    ("text", "is_schema"),
    [
        ('{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]}', True),
        ('{"type": "record", "name": "r", "fields": {}}', False),
        ('{"type": "service_account", "private_key": "a secret"}', False),
        ('"string"', False),
        ("HOME=/root\0TOKEN=a secret\0", False),
        ("[" * 100_000, False),
        ("", False),
    ],
)
def test_what_is_no_schema_of_avro_is_not_copied(tmp_path: Path, text: str, *, is_schema: bool) -> None:
    scene = _scene(tmp_path)
    scene.filled()
    (scene.root / "schema").write_text(text)
    scene.source.alter_table(_avro(scene.source.table(FROM), f"file:{scene.root}/schema"))
    found = exported(scene, scene.root / "export")
    assert [each.code for each in found] == ([] if is_schema else ["unsupported_table"])
    assert not any("secret" in each.message for each in found)
    if not is_schema:
        assert not (scene.root / "export" / METADATA).exists()


def test_a_table_of_another_format_has_no_schema_to_read(tmp_path: Path) -> None:
    scene = _scene(tmp_path)
    scene.filled()
    (scene.root / "schema").write_text('{"type": "record", "name": "r", "fields": []}')
    table = scene.source.table(FROM)
    scene.source.alter_table(_avro(table, f"file:{scene.root}/schema", serde=table.storage.serde))
    assert exported(scene, scene.root / "export") == []
    assert "avro.schema.literal" not in (scene.root / "export" / METADATA).read_text()


_QUERIES = [
    "SELECT * FROM text.`file:{root}/../private/key`",
    "SELECT * FROM csv.`FILE:///etc/passwd`",
    "SELECT * FROM parquet.`har://file-localhost/etc`",
    "SELECT in_file('root', 'file:/etc/passwd') FROM src.clicks",
    "SELECT * FROM json.`hdfs://elsewhere/x`",
]


@pytest.mark.parametrize("query", _QUERIES)
def test_a_view_of_files_elsewhere_is_not_copied(tmp_path: Path, query: str) -> None:
    scene = _scene(tmp_path)
    view = Table(
        name=FROM,
        kind=TableKind.VIEW,
        storage=StorageDescriptor(),
        view_original="SELECT 1",
        view_expanded=query.format(root=scene.root),
    )
    scene.source.create_table(view)
    (problem,) = exported(scene, scene.root / "export")
    assert problem.code == "foreign_location"


def test_a_view_that_names_addresses_in_its_texts_alone_is_copied(tmp_path: Path) -> None:
    scene = _scene(tmp_path)
    query = "SELECT a, 'https://x/y', `src`.`clicks`.`b:c` FROM src.clicks WHERE url LIKE 'ftp://%'"
    scene.source.create_table(
        Table(name=FROM, kind=TableKind.VIEW, storage=StorageDescriptor(), view_original=query, view_expanded=query)
    )
    assert exported(scene, scene.root / "export") == []
    assert imported(scene, scene.root / "export") == []
    assert scene.target.table(TO).kind is TableKind.VIEW


def _hostile_export(scene: Scene, old: str, new: str) -> Path:
    """An export in which somebody has changed a text; without a manifest, as Hive writes them."""
    export = scene.root / "export"
    assert exported(scene, export) == []
    text = (export / METADATA).read_text()
    assert old in text
    (export / METADATA).write_text(text.replace(old, new))
    for name in ("_manifest.json", ".feedctl-export"):
        (export / name).unlink()
    return export


@pytest.mark.parametrize("key", ["avro.schema.url", "location", "some.schema.path", "SCHEMA.URI"])
def test_an_import_takes_no_address_that_somebody_wrote_into_the_export(tmp_path: Path, key: str) -> None:
    scene = _scene(tmp_path)
    scene.filled()
    table = scene.source.table(FROM)
    scene.source.alter_table(replace(table, parameters={**table.parameters, "harmless": "harmless-value"}))
    export = scene.root / "export"
    export = _hostile_export(scene, "harmless-value", "file:///proc/self/environ")
    text = (export / METADATA).read_text()
    (export / METADATA).write_text(text.replace("harmless", key))
    (problem,) = imported(scene, export)
    assert problem.code == "foreign_location"
    assert key in problem.message
    assert scene.target.tables("dst") == ()


def test_an_import_takes_no_view_that_somebody_wrote_into_the_export(tmp_path: Path) -> None:
    scene = _scene(tmp_path)
    scene.source.create_table(
        Table(
            name=FROM,
            kind=TableKind.VIEW,
            storage=StorageDescriptor(),
            view_original="SELECT 1",
            view_expanded="SELECT 1",
        )
    )
    export = _hostile_export(scene, "SELECT 1", "SELECT * FROM text.`file:/etc/passwd`")
    (problem,) = imported(scene, export)
    assert problem.code == "foreign_location"
    assert scene.target.tables("dst") == ()


def test_locations_of_an_export_are_read_by_nobody(tmp_path: Path) -> None:
    scene = _scene(tmp_path)
    scene.filled()
    export = _hostile_export(scene, f"file:{scene.root}/from/clicks", f"file:{tmp_path}/private")
    assert imported(scene, export) == []
    found = scene.target.partitions(TO, scene.target.partition_names(TO))
    assert all(each.location.startswith(f"file:{scene.root}/to/") for each in found)
    assert "a secret" not in _everything(scene.root)
