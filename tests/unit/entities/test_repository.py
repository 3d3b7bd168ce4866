from __future__ import annotations

import pytest

from tests.unit.entities.config_repo import CLUSTER, FEED, PROCESS, repository
from toolkit.el import ElError, format_instant
from toolkit.entities import Area, EntityGraph, LocationType, UnknownName, not_implemented
from toolkit.errors import NotImplementedYet

IMPORT = "    import: {source: {name: shop, table_name: t, extract: {type: full}}}\n"
MORE = {
    "feeds/clicks.yaml": FEED + IMPORT,
    "feeds/summary.yaml": FEED.replace("clicks", "summary"),
    "processes/clicks_hourly.yaml": PROCESS + 'outputs: {out: {feed: summary, instance: "now(0,0)"}}\n',
}


def test_the_graph_goes_both_ways() -> None:
    graph = repository(MORE).graph
    assert graph.depends_on("clicks_hourly") == ("clicks", "primary", "summary")
    assert graph.depends_on("clicks_hourly", transitive=True) == ("clicks", "primary", "shop", "summary")
    assert graph.depended_on_by("shop") == ("clicks",)
    assert graph.depended_on_by("shop", transitive=True) == ("clicks", "clicks_hourly")
    assert graph.depended_on_by("clicks_hourly", transitive=True) == ()


def test_a_feed_depends_on_the_cluster_of_its_archive() -> None:
    archive = 'archive: {cluster: cold, locations: {data: "/old/${YEAR}/${MONTH}/${DAY}/${HOUR}"}}'
    feed = FEED.replace("{limit: days(10)}", f"{{limit: days(10), action: archive, {archive}}}")
    cold = CLUSTER.replace("name: primary", "name: cold")
    repo = repository({"feeds/clicks.yaml": feed, "clusters/cold.yaml": cold})
    assert repo.graph.depended_on_by("cold") == ("clicks",)
    archived = repo.feed("clicks").archive_on("primary")
    assert archived is not None
    assert [each.name for each in archived.clusters] == ["cold"]


def test_the_graph_of_nothing_knows_nobody() -> None:
    with pytest.raises(UnknownName, match="no entity named 'clicks'"):
        EntityGraph.of([]).depends_on("clicks")


def test_a_path_belongs_to_the_feed_whose_instance_it_is_in() -> None:
    repo = repository()
    for path in (
        "/data/clicks/2026/03/01/05",
        "/data/clicks/2026/03/01/05/part-0",
        "file:///data/clicks/2026/03/01/05",
    ):
        (owner,) = repo.lookup_path(path)
        assert (owner.feed, owner.cluster, owner.location) == ("clicks", "primary", LocationType.DATA)
        assert owner.period is not None
        assert format_instant(owner.period.first) == "2026-03-01T05:00Z"


@pytest.mark.parametrize(
    "path", ["/data/clicks", "/data/clicks/2026", "/data/clicks/2026/13/01/05", "/data/other", "hdfs://nn/data/clicks"]
)
def test_a_path_outside_of_all_instances_belongs_to_nobody(path: str) -> None:
    assert repository().lookup_path(path) == ()


def test_an_undated_location_owns_what_is_in_it() -> None:
    text = FEED.replace("clusters:", "  meta: /meta/${cluster.colo}\nclusters:")
    (owner,) = repository({"feeds/clicks.yaml": text}).lookup_path("/meta/east/x")
    assert (owner.location, owner.period) == (LocationType.META, None)
    assert repository({"feeds/clicks.yaml": text}).lookup_path("/meta/west/x") == ()


def test_a_path_is_looked_for_below_the_root_of_the_cluster() -> None:
    rooted = CLUSTER.replace("file:///", "file:///tmp/demo")
    repo = repository({"clusters/primary.yaml": rooted})
    assert len(repo.lookup_path("file:///tmp/demo/data/clicks/2026/03/01/05", "primary")) == 1
    assert len(repo.lookup_path("/data/clicks/2026/03/01/05")) == 1
    assert repo.lookup_path("file:///data/clicks/2026/03/01/05") == ()


def test_a_path_is_looked_for_under_all_names_of_its_store() -> None:
    conf = "hadoop_conf: {dfs.nameservices: ns1, dfs.namenode.rpc-address.ns1: 'nn1:8020'}\n"
    repo = repository({"clusters/primary.yaml": CLUSTER.replace("file:///", "hdfs://ns1") + conf})
    for root in ("", "hdfs:", "hdfs://ns1", "hdfs://nn1", "hdfs://nn1:8020"):
        assert len(repo.lookup_path(f"{root}/data/clicks/2026/03/01/05", "primary")) == 1, root
    assert repo.lookup_path("webhdfs://nn1:8020/data/clicks/2026/03/01/05", "primary") == ()


def test_a_lookup_needs_an_absolute_path_and_a_known_cluster() -> None:
    with pytest.raises(ElError):
        repository().lookup_path("data/clicks")
    with pytest.raises(UnknownName):
        repository().lookup_path("/data/clicks", "primry")


ELSEWHERE = FEED.replace('"/data/', '"viewfs://all/data/')


def test_what_has_no_action_yet_is_found_by_area_and_cluster() -> None:
    feed = repository({"feeds/clicks.yaml": ELSEWHERE + IMPORT}).feed("clicks")
    assert [(each.value, each.pointer) for each in not_implemented(feed, Area.RETENTION)] == [
        ("storage viewfs://all", ("locations", "data")),
    ]
    assert not_implemented(feed, Area.IMPORT) == ()
    assert len(not_implemented(feed)) == len(not_implemented(feed, cluster="primary")) == 1
    assert not_implemented(feed, cluster="backup") == ()


def test_what_has_no_action_yet_is_refused_with_what_to_do_instead() -> None:
    (found,) = not_implemented(repository({"feeds/clicks.yaml": ELSEWHERE}).feed("clicks"))
    error = found.error("feed clicks")
    assert isinstance(error, NotImplementedYet)
    assert str(error).startswith("feed clicks: storage viewfs://all is not implemented yet; name the store behind it")


def test_falcon_engines_have_no_action_yet() -> None:
    process = repository({"processes/clicks_hourly.yaml": PROCESS.replace("spark_sql", "oozie")}).process(
        "clicks_hourly"
    )
    assert [each.value for each in not_implemented(process)] == ["engine: oozie"]


def test_usual_entities_need_nothing_that_is_missing() -> None:
    repo = repository()
    assert [not_implemented(each) for each in repo.entities()] == [()] * 4
    assert not_implemented(repo.settings) == ()
