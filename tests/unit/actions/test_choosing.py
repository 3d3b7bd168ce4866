"""Which feeds on which clusters a run is about."""

from __future__ import annotations

from typing import Any

import pytest

from toolkit.actions.selection import EntitySelection, EntitySelector
from toolkit.el import Frequency, parse_instant
from toolkit.entities import Cluster, Environment, Feed, FeedCluster, Interface, Interfaces, Validity
from toolkit.errors import InvalidInput


def _feed(name: str, *clusters: str, groups: tuple[str, ...] = (), tags: dict[str, str] | None = None) -> Feed:
    validity = Validity(start=parse_instant("2026-01-01T00:00Z"), end=parse_instant("2099-01-01T00:00Z"))
    on = tuple(FeedCluster(name=each, validity=validity) for each in clusters)
    return Feed(name=name, frequency=Frequency.parse("days(1)"), clusters=on, groups=groups, tags=tags or {})


def _cluster(name: str) -> Cluster:
    return Cluster(name=name, interfaces=Interfaces(write=Interface(endpoint="file:///")))


FEEDS = [
    _feed("clicks", "primary", groups=("online", "bi"), tags={"pii": "yes"}),
    _feed("views", "primary", "backup", groups=("online",), tags={"pii": "no"}),
    _feed("sales", "backup"),
]


def _choose(choice: EntitySelection, *, environment: tuple[str, ...] | None = None) -> list[tuple[str, str]]:
    chooser = EntitySelector(
        feeds={feed.name: feed for feed in FEEDS},
        clusters={name: _cluster(name) for name in ("primary", "backup")},
        environment=None if environment is None else Environment(name="dev", clusters=environment),
    )
    return [(feed.name, on.name) for feed, on in chooser.choose(choice)]


def test_a_feed_on_one_cluster_needs_no_cluster_option() -> None:
    assert _choose(EntitySelection(names=("clicks", "clicks"))) == [("clicks", "primary")]


def test_a_feed_on_two_clusters_needs_one() -> None:
    with pytest.raises(
        InvalidInput, match="primary, backup; name one or more with --cluster, or take all with --all-clusters"
    ):
        _choose(EntitySelection(names=("views",)))
    assert _choose(EntitySelection(names=("views",), clusters=("backup",))) == [("views", "backup")]


def test_an_environment_with_one_cluster_decides() -> None:
    assert _choose(EntitySelection(everything=True), environment=("backup",)) == [
        ("sales", "backup"),
        ("views", "backup"),
    ]


def test_a_cluster_chooses_among_all_feeds() -> None:
    assert _choose(EntitySelection(everything=True, clusters=("primary",))) == [
        ("clicks", "primary"),
        ("views", "primary"),
    ]


BOTH = [("clicks", "primary"), ("sales", "backup"), ("views", "primary"), ("views", "backup")]


@pytest.mark.parametrize(
    "clusters", [{"clusters": ("primary", "backup")}, {"clusters": ("backup", "primary")}, {"all_clusters": True}]
)
def test_many_clusters_choose_each_feed_on_each_of_them_that_it_is_on(clusters: dict[str, Any]) -> None:
    assert _choose(EntitySelection(everything=True, **clusters)) == BOTH
    assert _choose(EntitySelection(names=("views",), **clusters)) == BOTH[2:]
    assert _choose(EntitySelection(groups=("online",), **clusters)) == [BOTH[0], *BOTH[2:]]


def test_all_clusters_are_those_of_the_environment() -> None:
    everything = EntitySelection(everything=True, all_clusters=True)
    assert _choose(everything, environment=("backup",)) == [("sales", "backup"), ("views", "backup")]


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        (EntitySelection(groups=("online",), clusters=("primary",)), ["clicks", "views"]),
        (EntitySelection(groups=("online", "bi")), ["clicks"]),
        (EntitySelection(tags=(("pii", "yes"),)), ["clicks"]),
        (EntitySelection(groups=("online",), tags=(("pii", "yes"),)), ["clicks"]),
    ],
)
def test_groups_and_tags_must_all_be_there(choice: EntitySelection, names: list[str]) -> None:
    assert [name for name, _ in _choose(choice)] == names


@pytest.mark.parametrize(
    ("choice", "environment", "message"),
    [
        (EntitySelection(names=("clik",)), None, "no feed named 'clik'; did you mean clicks?"),
        (
            EntitySelection(names=("clicks",), clusters=("primry",)),
            None,
            "no cluster named 'primry'; did you mean primary?",
        ),
        (EntitySelection(names=("clicks",), clusters=("backup",)), None, "feed clicks has no cluster named 'backup'"),
        (
            EntitySelection(names=("clicks",), clusters=("primary",)),
            ("backup",),
            "cluster primary is not in environment dev",
        ),
        (EntitySelection(names=("clicks",)), ("backup",), r"feed clicks \(on primary\) is not in environment dev"),
        (
            EntitySelection(groups=("onlin",)),
            None,
            "no feed has group onlin; the feeds have: group bi, group online, tag",
        ),
        (EntitySelection(groups=("bi",), tags=(("pii", "no"),)), None, "no feed has group bi and tag pii=no"),
        (EntitySelection(groups=("bi",), clusters=("backup",)), None, "no feed has cluster backup"),
        (EntitySelection(groups=("bi",), clusters=("primary", "backup")), None, "no feed has cluster backup"),
        (EntitySelection(names=("clicks",), clusters=("primary", "backup")), None, "no feed has cluster backup"),
        (EntitySelection(names=("sales", "clicks"), clusters=("primary", "primry")), None, "did you mean primary?"),
        (
            EntitySelection(names=("sales", "clicks"), clusters=("primary",)),
            None,
            "feed sales has no cluster named 'primary'",
        ),
        (
            EntitySelection(names=("clicks",), all_clusters=True),
            ("backup",),
            r"feed clicks \(on primary\) is not in environment dev",
        ),
    ],
)
def test_a_choice_that_cannot_be_met_is_an_error_that_helps(
    choice: EntitySelection, environment: tuple[str, ...] | None, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        _choose(choice, environment=environment)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "found nothing that chooses feeds"),
        ({"names": ("a",), "everything": True}, "found --feed and --all"),
        ({"names": ("a",), "groups": ("b",)}, "found --feed and --group"),
        ({"everything": True, "clusters": ("a",), "all_clusters": True}, "found --cluster and --all-clusters"),
        ({"everything": True, "tags": (("a", "b"),), "groups": ("c",)}, "found --all and --group/--tag"),
    ],
)
def test_exactly_one_way_of_choosing_is_taken(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        EntitySelection(**options)  # type: ignore[arg-type]
