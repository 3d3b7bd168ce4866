"""Which feeds on which clusters a run is about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.retention.feeds import FeedText, cluster
from toolkit.entities import Environment, Feed
from toolkit.errors import InvalidInput
from toolkit.retention import Chooser, FeedChoice


def _feed(name: str, *clusters: str, groups: tuple[str, ...] = (), tags: dict[str, str] | None = None) -> Feed:
    feed = FeedText(name=name).feed()
    on = tuple(replace(feed.clusters[0], name=each) for each in clusters)
    return replace(feed, clusters=on, groups=groups, tags=tags or {})


FEEDS = [
    _feed("clicks", "primary", groups=("online", "bi"), tags={"pii": "yes"}),
    _feed("views", "primary", "backup", groups=("online",), tags={"pii": "no"}),
    _feed("sales", "backup"),
]


def _choose(choice: FeedChoice, *, environment: tuple[str, ...] | None = None) -> list[tuple[str, str]]:
    chooser = Chooser(
        feeds={feed.name: feed for feed in FEEDS},
        clusters={name: cluster(name) for name in ("primary", "backup")},
        environment=None if environment is None else Environment(name="dev", clusters=environment),
    )
    return [(feed.name, on.name) for feed, on in chooser.choose(choice)]


def test_a_feed_on_one_cluster_needs_no_cluster_option() -> None:
    assert _choose(FeedChoice(names=("clicks", "clicks"))) == [("clicks", "primary")]


def test_a_feed_on_two_clusters_needs_one() -> None:
    with pytest.raises(InvalidInput, match="primary, backup; name one with --cluster"):
        _choose(FeedChoice(names=("views",)))
    assert _choose(FeedChoice(names=("views",), cluster="backup")) == [("views", "backup")]


def test_an_environment_with_one_cluster_decides() -> None:
    assert _choose(FeedChoice(everything=True), environment=("backup",)) == [("sales", "backup"), ("views", "backup")]


def test_a_cluster_chooses_among_all_feeds() -> None:
    assert _choose(FeedChoice(everything=True, cluster="primary")) == [("clicks", "primary"), ("views", "primary")]


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        (FeedChoice(groups=("online",), cluster="primary"), ["clicks", "views"]),
        (FeedChoice(groups=("online", "bi")), ["clicks"]),
        (FeedChoice(tags=(("pii", "yes"),)), ["clicks"]),
        (FeedChoice(groups=("online",), tags=(("pii", "yes"),)), ["clicks"]),
    ],
)
def test_groups_and_tags_must_all_be_there(choice: FeedChoice, names: list[str]) -> None:
    assert [name for name, _ in _choose(choice)] == names


@pytest.mark.parametrize(
    ("choice", "environment", "message"),
    [
        (FeedChoice(names=("clik",)), None, "no feed named 'clik'; did you mean clicks?"),
        (FeedChoice(names=("clicks",), cluster="primry"), None, "no cluster named 'primry'; did you mean primary?"),
        (FeedChoice(names=("clicks",), cluster="backup"), None, "feed clicks has no cluster named 'backup'"),
        (FeedChoice(names=("clicks",), cluster="primary"), ("backup",), "cluster primary is not in environment dev"),
        (FeedChoice(names=("clicks",)), ("backup",), r"feed clicks \(on primary\) is not in environment dev"),
        (FeedChoice(groups=("onlin",)), None, "no feed has group onlin; the feeds have: group bi, group online, tag"),
        (FeedChoice(groups=("bi",), tags=(("pii", "no"),)), None, "no feed has group bi and tag pii=no"),
        (FeedChoice(groups=("bi",), cluster="backup"), None, "no feed has cluster backup"),
    ],
)
def test_a_choice_that_cannot_be_met_is_an_error_that_helps(
    choice: FeedChoice, environment: tuple[str, ...] | None, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        _choose(choice, environment=environment)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "found nothing that chooses feeds"),
        ({"names": ("a",), "everything": True}, "found --feed and --all"),
        ({"names": ("a",), "groups": ("b",)}, "found --feed and --group"),
        ({"everything": True, "tags": (("a", "b"),), "groups": ("c",)}, "found --all and --group/--tag"),
    ],
)
def test_exactly_one_way_of_choosing_is_taken(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        FeedChoice(**options)  # type: ignore[arg-type]
