"""Feeds near others are found by the texts of their locations, and none that shares data is missed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import cast

import pytest

from tests.unit.entities.config_repo import repository
from toolkit.el import CanonicalPath
from toolkit.entities import Cluster, Feed, Interface, Interfaces, Kind, Repository
from toolkit.entities.documents import Document
from toolkit.entities.entity_loading import EntityEntry
from toolkit.entities.parsing import OnDemand
from toolkit.entities.structure import structure_entity
from toolkit.planning.nearby_feeds import nearby_feeds
from toolkit.retention import SharedDataIndex

_TOPS = (*"aaaabbbbcd", "${root}")
_NAMES = (*"aabbcd", "ab", "${YEAR}", "${root}", "${cluster.colo}", "a*", "a${YEAR}")
_STORES = (*[""] * 12, "hdfs://nn1", "hdfs://nn1:8020", "s3a://b", "file:")
_SYSTEMS = (*["hdfs://nn1"] * 6, "hdfs://nn1/a", "s3://b", "file:///")
_HALF = 1 / 2
_REPOSITORIES = 60
_EMPTY = repository({"feeds/clicks.yaml": None, "processes/clicks_hourly.yaml": None})
_VALIDITY = {"start": "2026-01-01T00:00Z", "end": "2099-01-01T00:00Z"}


def _cluster(name: str, system: str) -> Cluster:
    return Cluster(name=name, colo="a", interfaces=Interfaces(write=Interface(endpoint=system)))


def _document(name: str, on: Sequence[Mapping[str, object]], **more: object) -> Document:
    clusters = [{"validity": _VALIDITY, **each} for each in on]
    return cast("Document", {"kind": "feed", "name": name, "frequency": "days(1)", "clusters": clusters, **more})


@dataclass(frozen=True)
class _Made:
    """A config repo made by chance; many of its feeds share data."""

    random: Random

    def repository(self) -> Repository:
        clusters = [_cluster(name, self.random.choice(_SYSTEMS)) for name in ("one", "other")]
        return _repository([self._feed(f"feed_{number}") for number in range(6)], clusters)

    def _feed(self, name: str) -> Document:
        more: dict[str, object] = {"locations": {"data": self._text()}}
        if self._is_so():
            more["properties"] = {"root": self.random.choice("ab")}
        first: dict[str, object] = {"name": "one"}
        if self._is_so():
            first["locations"] = {"data": self._text()}
        if self.random.random() < _HALF / 2:
            archive = {"cluster": self.random.choice(["one", "other"]), "locations": {"data": self._text()}}
            first["retention"] = {"limit": "days(10)", "action": "archive", "archive": archive}
        on: list[Mapping[str, object]] = [first, {"name": "other"}]
        return _document(name, on[: self.random.randint(1, 2)], **more)

    def _text(self) -> str:
        names = [self.random.choice(_TOPS), *self.random.choices(_NAMES, k=self.random.randint(0, 2))]
        return f"{self.random.choice(_STORES)}/{'/'.join(names)}"

    def _is_so(self) -> bool:
        return self.random.random() < _HALF


def _real(path: CanonicalPath) -> CanonicalPath:
    """Return a path where the local directories /b and /c/b are links to /a."""
    a, b, deeper = (CanonicalPath("file", "", each) for each in ("/a", "/b", "/c/b"))
    return path.moved(b, a).moved(deeper, a) if path.is_local else path


def _all_real(paths: Iterable[str]) -> Mapping[str, str]:
    return {path: _real(CanonicalPath("file", "", path)).path for path in paths}


def _repository(documents: Sequence[Document], clusters: Sequence[Cluster]) -> Repository:
    entries = {str(each["name"]): _entry(each) for each in documents}
    feeds = {name: each.entity for name, each in entries.items() if isinstance(each.entity, Feed)}
    return replace(_EMPTY, clusters={each.name: each for each in clusters}, feeds=feeds, entries=entries)


def _entry(document: Document) -> EntityEntry:
    entity = structure_entity(Kind.FEED, document)
    return EntityEntry(
        file="feeds/x.yaml", name=entity.name, kind=Kind.FEED, read_layers=tuple, document=document, entity=entity
    )


def _answers(index: SharedDataIndex, feed: Feed) -> Iterator[Sequence[object]]:
    """Yield all that retention asks about feeds that share data with one."""
    clusters = {each.name: each for each in index.clusters}
    for each in feed.clusters:
        yield index.of(feed, clusters[each.name])
        yield index.losing(feed, clusters[each.name])
        archived = feed.archive_on(each.name)
        if archived is not None:
            yield index.meeting(archived, clusters[archived.clusters[0].name])


def test_near_feeds_share_what_all_feeds_of_the_repo_share() -> None:
    smaller = sharing = 0
    for seed in range(_REPOSITORIES):
        found = _Made(Random(seed)).repository()  # noqa: S311 - no secret
        every = tuple(found.feeds.values())
        clusters = tuple(found.clusters.values())
        index = SharedDataIndex(feeds=every, clusters=clusters, real=_real)
        for feed in every:
            near = nearby_feeds(found, [feed], _all_real)
            expected = list(_answers(index, feed))
            answers = list(_answers(SharedDataIndex(feeds=near, clusters=clusters, real=_real), feed))
            assert answers == expected, f"seed {seed}, {feed.name}"
            smaller += len(near) < len(every)
            sharing += len(near) < len(every) and any(expected)
    assert min(smaller, sharing) > _REPOSITORIES


def _names(chosen: str, others: Sequence[Document], system: str = "hdfs://nn1") -> tuple[list[str], list[str]]:
    """Return the names of the feeds that are near one of a repo with others, and of those that are made besides."""
    clusters = [_cluster("one", system)]
    repo = _repository([_at("own", chosen), *others], clusters)
    made: list[str] = []

    def make(name: str) -> Feed:
        made.append(name)
        return repo.feeds[name]

    on_demand = replace(repo, feeds=OnDemand(repo.feeds, make))
    found = [each.name for each in nearby_feeds(on_demand, [repo.feeds["own"]], _all_real)]
    return found, [name for name in made if name not in found]


def _at(name: str, data: str) -> Document:
    return _document(name, [{"name": "one"}], locations={"data": data})


_OTHERS = (
    _at("same", "/data/own/${YEAR}/${MONTH}"),
    _at("inside", "/data/own/x/${YEAR}"),
    _at("above", "/data/${name}/${YEAR}"),
    _at("beside", "/data/own2/${YEAR}"),
    _at("apart", "/other/own/${YEAR}"),
    _document("table", [{"name": "one"}], table="catalog:web:clicks#ds=${YEAR}"),
)


def test_feeds_that_share_no_directory_are_not_made() -> None:
    assert _names("/data/own/${YEAR}", _OTHERS) == (["own", "same", "inside", "above", "table"], [])


_LOCAL = (
    *_OTHERS,
    _at("by_link", "/b/own/${YEAR}"),
    _at("remote", "hdfs://nn1/a/own/${YEAR}"),
)


@pytest.mark.parametrize(("data", "system"), [("/a/own/${YEAR}", "file:///"), ("file:/a/own/${YEAR}", "file:///")])
def test_local_directories_are_compared_without_links(data: str, system: str) -> None:
    assert _names(data, _LOCAL, system) == (["own", "table", "by_link"], ["above"])


def test_a_local_directory_that_variables_name_is_known_by_their_values() -> None:
    bound = {**_at("bound", "/c/${root}/own/${YEAR}"), "properties": {"root": "b"}}
    assert _names("/a/own/${YEAR}", (bound, *_OTHERS), "file:///") == (["own", "bound", "table"], ["above"])


def test_for_a_table_all_feeds_are_made_since_its_partitions_may_be_anywhere() -> None:
    repo = _repository([*_OTHERS], [_cluster("one", "hdfs://nn1")])
    assert len(nearby_feeds(repo, [repo.feeds["table"]], _all_real)) == len(_OTHERS)


def test_no_feed_is_made_when_none_is_chosen() -> None:
    assert nearby_feeds(_repository(_OTHERS, []), (), _all_real) == ()
