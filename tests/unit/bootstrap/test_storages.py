"""From a path to the store that it is on: the settings of its cluster, and nobody else's."""

from __future__ import annotations

import pytest

from tests.unit.planning.entities import validity
from toolkit.bootstrap.storages import StoreChoice, storage_spec
from toolkit.bootstrap.store_settings import ConflictingHadoopConf
from toolkit.el import CanonicalPath, Frequency
from toolkit.entities import Cluster, Feed, FeedCluster, Interface, Interfaces, Locations
from toolkit.storage import LocalFileSystem, ReadOnlyFileSystem, StorageSpec
from toolkit.storage.hadoop_conf import SecretInSettings

NAME_SERVICE = {
    "dfs.nameservices": "ns1",
    "dfs.ha.namenodes.ns1": "nn1",
    "dfs.namenode.rpc-address.ns1.nn1": "nn1host:8020",
}


def _cluster(name: str, write: str, readonly: str | None = None, **conf: str | bool) -> Cluster:
    interface = None if readonly is None else Interface(endpoint=readonly)
    settings = {key.replace("__", "."): value for key, value in conf.items()}
    return Cluster(
        name=name,
        interfaces=Interfaces(write=Interface(endpoint=write), readonly=interface),
        hadoop_conf=settings,
    )


def _feed(name: str, cluster: str, template: str) -> Feed:
    locations = Locations(data=template)
    on_cluster = FeedCluster(name=cluster, validity=validity())
    return Feed(name=name, frequency=Frequency.parse("days(1)"), locations=locations, clusters=(on_cluster,))


def _spec(path: str, *clusters: Cluster) -> StorageSpec:
    return storage_spec(CanonicalPath.parse(path), clusters)


def test_a_store_has_the_settings_of_the_cluster_that_it_is_the_write_end_point_of() -> None:
    one = _cluster("one", "hdfs://nn1:8020", dfs__a="1")
    two = _cluster("two", "hdfs://nn2:8020/root", dfs__a="2")
    assert _spec("hdfs://nn1/x", one, two) == StorageSpec(scheme="hdfs", authority="nn1", hadoop_conf={"dfs.a": "1"})
    assert _spec("hdfs://nn2/x", one, two).hadoop_conf == {"dfs.a": "2"}


def test_the_readonly_end_point_is_the_clusters_too() -> None:
    one = _cluster("one", "hdfs://nn1:8020", readonly="webhdfs://nn1:9870", dfs__a="1")
    two = _cluster("two", "hdfs://nn2:8020", dfs__a="2")
    assert _spec("webhdfs://nn1:9870/x", one, two).hadoop_conf == {"dfs.a": "1"}


def test_only_settings_of_the_stores_kind_count() -> None:
    conf = {"dfs__a": "1", "hadoop__b": "2", "fs__c": "3", "other": "4"}
    objects = {"fs__s3a__endpoint": "http://a", "fs__gs__x": "5", "fs__azure__y": "6", "fs__abfs__z": "7"}
    one = _cluster("one", "hdfs://nn1", **conf, **objects)
    assert _spec("hdfs://nn1/x", one).hadoop_conf == {"dfs.a": "1", "hadoop.b": "2", "fs.c": "3"}
    assert _spec("s3a://b/x", one).hadoop_conf == {"fs.s3a.endpoint": "http://a"}
    assert _spec("gs://b/x", one).hadoop_conf == {"fs.gs.x": "5"}
    assert _spec("abfs://c@a.dfs.core.windows.net/x", one).hadoop_conf == {"fs.azure.y": "6", "fs.abfs.z": "7"}


def test_another_store_has_the_settings_that_all_clusters_of_the_run_agree_on() -> None:
    one = _cluster("one", "hdfs://nn1:8020", dfs__a="1", fs__s3a__endpoint="http://a")
    two = _cluster("two", "hdfs://nn2", dfs__a="2", fs__s3a__endpoint="http://a")
    assert _spec("s3a://bucket/x", one, two).hadoop_conf == {"fs.s3a.endpoint": "http://a"}


def test_a_setting_of_one_cluster_never_leads_to_the_store_of_another() -> None:
    """The feed on `aws` means Amazon's bucket; that of the same name on the other cluster's server is not its own."""
    onprem, aws = _cluster("onprem", "hdfs://nn1", fs__s3a__endpoint="http://minio"), _cluster("aws", "hdfs://nn2")
    assert _spec("s3a://logs/x", aws).hadoop_conf == {}
    for clusters in ((onprem, aws), (aws, onprem)):
        with pytest.raises(ConflictingHadoopConf, match=r"(?s)aws does not set it.*--cluster") as error:
            _spec("s3a://logs/x", *clusters)
        assert error.value.values == {"onprem": "'http://minio'", "aws": None}


def test_a_name_service_that_only_one_cluster_describes_may_be_two() -> None:
    settings = {key.replace(".", "__"): value for key, value in NAME_SERVICE.items()}
    with pytest.raises(ConflictingHadoopConf, match=r"two does not set it"):
        _spec("hdfs://ns1/x", _cluster("one", "hdfs://ns1", **settings), _cluster("two", "hdfs://ns1"))


def test_two_values_for_one_setting_are_refused_with_the_names_of_the_clusters() -> None:
    one = _cluster("one", "hdfs://nn1", fs__s3a__endpoint="http://a")
    two = _cluster("two", "hdfs://nn2", fs__s3a__endpoint="http://b")
    with pytest.raises(ConflictingHadoopConf, match=r"fs\.s3a\.endpoint for s3://bucket: one says 'http://a' and two"):
        _spec("s3a://bucket/x", one, two)
    assert _spec("hdfs://nn1/x", one, two).hadoop_conf == {}


def test_clusters_on_one_store_must_agree_on_it() -> None:
    with pytest.raises(ConflictingHadoopConf) as error:
        _spec("hdfs://nn1/x", _cluster("one", "hdfs://nn1", dfs__a="1"), _cluster("two", "hdfs://nn1:8020", dfs__a="2"))
    assert error.value.values == {"one": "'1'", "two": "'2'"}


def test_an_owner_outside_the_run_still_says_how_its_store_is_reached() -> None:
    """The answer must not depend on whether the run is for one cluster or for all."""
    owner = _cluster("owner", "s3a://lake", fs__s3a__endpoint="http://a")
    place, user = CanonicalPath.parse("s3a://lake/x"), _cluster("user", "hdfs://nn1")
    assert storage_spec(place, [user], [owner]).hadoop_conf == {"fs.s3a.endpoint": "http://a"}
    assert storage_spec(place, [user, owner], [owner]).hadoop_conf == {"fs.s3a.endpoint": "http://a"}
    with pytest.raises(ConflictingHadoopConf):
        storage_spec(place, [_cluster("user", "hdfs://nn1", fs__s3a__endpoint="http://b")], [owner])


def test_clusters_whose_feeds_are_elsewhere_need_not_agree() -> None:
    one = _cluster("one", "hdfs://nn1", fs__s3a__endpoint="http://a")
    two = _cluster("two", "hdfs://nn2")
    pairs = [(_feed("clicks", "one", "s3a://logs/${YEAR}"), one), (_feed("views", "two", "/views/${YEAR}"), two)]
    storages = StoreChoice(clusters=(one, two), pairs=pairs)
    assert storages.spec_of(CanonicalPath.parse("s3a://logs/x")).hadoop_conf == {"fs.s3a.endpoint": "http://a"}
    with pytest.raises(ConflictingHadoopConf):
        storages.spec_of(CanonicalPath.parse("s3a://other/x"))
    pairs.append((_feed("more", "two", "s3a://logs/${YEAR}"), two))
    storages = StoreChoice(clusters=(one, two), pairs=pairs)
    with pytest.raises(ConflictingHadoopConf):
        storages.spec_of(CanonicalPath.parse("s3a://logs/x"))


def test_a_conflict_shows_no_secret() -> None:
    key = "hadoop__ldap__password"
    one, two = (_cluster(name, "hdfs://nn1", **{key: f"hunter{name}"}) for name in ("one", "two"))
    with pytest.raises(ConflictingHadoopConf, match=r"hadoop\.ldap\.password .*one says \(not shown\)") as error:
        _spec("hdfs://nn1/x", one, two)
    assert "hunter" not in f"{error.value}{error.value.values}"
    address = {"fs__s3a__endpoint": "https://AKIA:SECRET@minio"}
    with pytest.raises(ConflictingHadoopConf, match="minio") as error:
        _spec("s3a://b/x", _cluster("one", "hdfs://nn1", **address), _cluster("two", "hdfs://nn2"))
    assert "SECRET" not in f"{error.value}{error.value.values}"


@pytest.mark.parametrize("path", ["s3a://b/x", "gs://b/x", "abfs://c@a.dfs.core.windows.net/x"])
def test_a_secret_of_any_object_store_is_refused_for_all_of_them(path: str) -> None:
    with pytest.raises(SecretInSettings, match=r"fs\.azure\.account\.key\.acc"):
        _spec(path, _cluster("one", "hdfs://nn1", fs__azure__account__key__acc="hunter2"))


def test_values_become_text_as_hadoop_writes_it() -> None:
    assert _spec("s3a://b/x", _cluster("one", "s3a://b", fs__s3a__flag=True, fs__s3a__other=False)).hadoop_conf == {
        "fs.s3a.flag": "true",
        "fs.s3a.other": "false",
    }


def test_a_name_service_and_its_name_nodes_are_one_store() -> None:
    settings = {key.replace(".", "__"): value for key, value in NAME_SERVICE.items()}
    one = _cluster("one", "hdfs://nn1host:8020/", **settings)
    place = one.place("/data")
    assert str(place) == "hdfs://ns1/data"
    assert storage_spec(place, [one, _cluster("two", "hdfs://ns2", dfs__a="2")]).hadoop_conf == NAME_SERVICE


def test_the_local_disk_needs_no_settings() -> None:
    clusters = (_cluster("one", "file:///", a="1"), _cluster("two", "file:///", a="2"))
    assert _spec("file:///x", *clusters) == StorageSpec(scheme="file")


def test_each_store_is_opened_once_and_only_for_reading_when_asked() -> None:
    storages = StoreChoice(clusters=[_cluster("one", "file:///")]).shared().bound(lambda: None, read_only=True)
    system = storages.of(CanonicalPath.parse("file:///a"))
    assert isinstance(system, ReadOnlyFileSystem)
    assert isinstance(system.inner, LocalFileSystem)
    assert storages.of(CanonicalPath.parse("file:///b")) is system
