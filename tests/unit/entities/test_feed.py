from __future__ import annotations

import pytest

from tests.unit.entities.config_repo import CLUSTER, FEED, repository
from toolkit.el import format_instant
from toolkit.entities import Feed, FeedMaxDelete, UnknownName

TWO_CLUSTERS = FEED.replace("clusters:", "  meta: /meta\nclusters:") + (
    "  - name: backup\n"
    "    validity: {start: 2026-02-01T00:30Z, end: 2026-02-01T03:00Z}\n"
    '    locations: {data: "/mnt/clicks/${YEAR}-${MONTH}-${DAY}-${HOUR}"}\n'
    "    sla: {low: hours(1), high: hours(2)}\n"
    "sla: {low: hours(3), high: hours(4)}\n"
    "properties: {region: own, parallel: 3, job.counter: true}\n"
)


@pytest.fixture
def feed() -> Feed:
    backup = CLUSTER.replace("name: primary", "name: backup")
    return repository({"clusters/backup.yaml": backup, "feeds/clicks.yaml": TWO_CLUSTERS}).feed("clicks")


def test_a_clusters_locations_lie_over_the_feeds_type_by_type(feed: Feed) -> None:
    assert feed.locations_on("primary").data == "/data/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}"
    assert feed.locations_on("backup").data == "/mnt/clicks/${YEAR}-${MONTH}-${DAY}-${HOUR}"
    assert feed.locations_on("backup").meta == "/meta"
    assert [str(kind) for kind, _ in feed.locations_on("backup").by_type()] == ["data", "meta"]


def test_instances_lie_in_the_validity_of_the_cluster(feed: Feed) -> None:
    sequence = feed.instances_on("backup")
    assert format_instant(sequence[0]) == "2026-02-01T00:30Z"
    assert [format_instant(each) for each in sequence.between(sequence[0], sequence[2])] == [
        "2026-02-01T00:30Z",
        "2026-02-01T01:30Z",
    ]


def test_a_clusters_sla_replaces_the_feeds(feed: Feed) -> None:
    own, others = feed.sla_on("backup"), feed.sla_on("primary")
    assert own is not None
    assert others is not None
    assert (str(own.low), str(others.low)) == ("hours(1)", "hours(3)")


def test_a_clusters_limits_of_deletion_lie_over_the_feeds_key_by_key_and_both_over_defaults() -> None:
    files = {
        "defaults.yaml": "feed: {max_delete: {instances: 5, bytes: 9}}\n",
        "feeds/clicks.yaml": FEED.replace("{limit: days(10)}", "{limit: days(10), max_delete: {instances: 7}}")
        + "max_delete: {bytes: 8, fraction: 0.5}\n",
    }
    loaded = repository(files)
    own, others = loaded.feed("clicks").max_delete_on("primary"), repository({}).feed("clicks").max_delete
    assert own == FeedMaxDelete(instances=7, fraction=0.5, bytes=8)
    assert others == FeedMaxDelete()
    own_place, place = ("clusters", 0, "retention", "max_delete"), ("max_delete",)
    places = [loaded.place("clicks", (*own_place, key), (*place, key)) for key in ("instances", "bytes", "rows")]
    assert places == ["feeds/clicks.yaml:9", "feeds/clicks.yaml:10", "feeds/clicks.yaml"]


def test_a_cluster_that_the_feed_is_not_on_names_the_nearest(feed: Feed) -> None:
    with pytest.raises(UnknownName, match=r"feed clicks has no cluster named 'primry'; did you mean primary\?"):
        feed.locations_on("primry")


def test_template_variables_come_from_the_feed_then_the_cluster(feed: Feed) -> None:
    cluster = repository({"clusters/primary.yaml": CLUSTER + "properties: {region: theirs, zone: 7}\n"}).cluster(
        "primary"
    )
    assert feed.variables_on(cluster) == {
        "region": "own",
        "parallel": "3",
        "job.counter": "true",
        "zone": "7",
        "cluster.name": "primary",
        "cluster.colo": "east",
    }
