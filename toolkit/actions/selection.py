"""Selection of the entities and clusters of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.entities import UnknownName
from toolkit.entities.errors import NotInEnvironment
from toolkit.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from toolkit.entities import Cluster, Environment, Feed


_FEED_CHOICES = "--feed NAME ..., --all, or --group NAME / --tag KEY=VALUE"


class WrongChoice(InvalidInput):
    """No way of choosing feeds was given, or more than one; or more than one of choosing clusters.

    Args:
        given: the options that were given.
        expected: what may be given.
    """

    def __init__(self, *, given: tuple[str, ...], expected: str = _FEED_CHOICES) -> None:
        self.given = given
        found = " and ".join(given) if given else "nothing that chooses feeds"
        super().__init__(f"found {found}; expected one of: {expected}")


class NothingChosen(InvalidInput):
    """No feed matches; a misspelt filter must not look like a run with nothing to do.

    Args:
        wanted: the filters.
        known: what the feeds have instead.
    """

    def __init__(self, *, wanted: str, known: Iterable[str]) -> None:
        self.wanted, self.known = wanted, tuple(known)
        super().__init__(f"no feed has {wanted}; the feeds have: {', '.join(self.known) or 'none of them'}")


class ClusterNeeded(InvalidInput):
    """A feed is on more than one cluster and none was named.

    Args:
        feed: name.
        clusters: those that the run could be about.
    """

    def __init__(self, *, feed: str, clusters: Iterable[str]) -> None:
        self.feed, self.clusters = feed, tuple(clusters)
        found = f"feed {feed} is on the clusters {', '.join(self.clusters)}"
        super().__init__(f"{found}; name one or more with --cluster, or take all with --all-clusters")


@dataclass(frozen=True, kw_only=True, slots=True)
class EntitySelection:
    """Selection by the user: by name, everything, or by groups and tags; `NO_FEED` is none of them.

    Attributes:
        names: of feeds.
        everything: all feeds of the repo.
        groups: a feed must be in all of them.
        tags: key and value; a feed must have all of them.
        clusters: each feed on those of them that it is on; none when each feed, or the environment, leaves only one.
        all_clusters: each feed on all of its clusters that the environment allows.
        is_about_feeds: False: the action is about something else.

    Raises:
        WrongChoice: not exactly one way.
    """

    names: tuple[str, ...] = ()
    everything: bool = False
    groups: tuple[str, ...] = ()
    tags: tuple[tuple[str, str], ...] = ()
    clusters: tuple[str, ...] = ()
    all_clusters: bool = False
    is_about_feeds: bool = True

    def __post_init__(self) -> None:
        if not self.is_about_feeds:
            return
        filters = "/".join(option for option, given in (("--group", self.groups), ("--tag", self.tags)) if given)
        choices = (("--feed", bool(self.names)), ("--all", self.everything), (filters, bool(filters)))
        given = tuple(option for option, is_given in choices if is_given)
        if len(given) != 1:
            raise WrongChoice(given=given)
        if self.clusters and self.all_clusters:
            raise WrongChoice(given=("--cluster", "--all-clusters"), expected="--cluster NAME ..., --all-clusters")


NO_FEED = EntitySelection(is_about_feeds=False)
"""Selection of an action on other entities than feeds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EntitySelector:
    """Finds feeds and their clusters.

    Attributes:
        feeds: by name.
        clusters: by name.
        environment: bounds the clusters; None: no bound.
    """

    feeds: Mapping[str, Feed]
    clusters: Mapping[str, Cluster]
    environment: Environment | None

    def choose(self, choice: EntitySelection) -> tuple[tuple[Feed, Cluster], ...]:
        """The feeds in the order of their names, each with each of its clusters.

        Raises:
            InvalidInput: unknown names, a cluster that is missing or not allowed, filters that no feed matches.
        """
        if not choice.is_about_feeds:
            return ()
        for name in choice.clusters:
            self._check_cluster(name)
        pairs = [(feed, cluster) for feed in self._matching(choice) for cluster in self._clusters_of(feed, choice)]
        unused = [name for name in choice.clusters if not any(cluster.name == name for _, cluster in pairs)]
        if unused or not pairs:
            wanted = f"cluster {unused[0]}" if unused else "a cluster of the environment"
            raise NothingChosen(wanted=wanted, known=sorted(self.clusters))
        return tuple(pairs)

    def _check_cluster(self, name: str) -> None:
        if name not in self.clusters:
            raise UnknownName(what="cluster", name=name, known=self.clusters)
        if name not in self._allowed():
            raise self._not_allowed(what=f"cluster {name}")

    def _allowed(self) -> tuple[str, ...]:
        environment = self.environment
        return tuple(name for name in self.clusters if environment is None or environment.allows(name))

    def _not_allowed(self, *, what: str) -> NotInEnvironment:
        name = "" if self.environment is None else self.environment.name
        return NotInEnvironment(what=what, environment=name, clusters=self._allowed())

    def _matching(self, choice: EntitySelection) -> Iterator[Feed]:
        if choice.names:
            return self._named(choice.names)
        if choice.everything:
            return self._named(self.feeds)
        return self._filtered(choice)

    def _named(self, names: Iterable[str]) -> Iterator[Feed]:
        for name in sorted(set(names)):
            if name not in self.feeds:
                raise UnknownName(what="feed", name=name, known=self.feeds)
            yield self.feeds[name]

    def _filtered(self, choice: EntitySelection) -> Iterator[Feed]:
        wanted = [*(f"group {name}" for name in choice.groups), *(f"tag {key}={value}" for key, value in choice.tags)]
        feeds = [self.feeds[name] for name in sorted(self.feeds)]
        for label in wanted:
            feeds = [feed for feed in feeds if label in _labels(feed)]
            if not feeds:
                known = sorted({each for feed in self.feeds.values() for each in _labels(feed)})
                raise NothingChosen(wanted=" and ".join(wanted), known=known)
        return iter(feeds)

    def _clusters_of(self, feed: Feed, choice: EntitySelection) -> tuple[Cluster, ...]:
        """The chosen clusters of a feed; none when the feed was not named and is on none of them."""
        on = [each.name for each in feed.clusters]
        allowed = [name for name in on if name in (choice.clusters or self._allowed())]
        if len(allowed) > 1 and not choice.clusters and not choice.all_clusters:
            raise ClusterNeeded(feed=feed.name, clusters=allowed)
        if allowed or not choice.names:
            return tuple(self.clusters[name] for name in allowed)
        if choice.clusters:
            raise UnknownName(what="cluster", name=choice.clusters[0], known=on, where=f"feed {feed.name}")
        raise self._not_allowed(what=f"feed {feed.name} (on {', '.join(on)})")


def _labels(feed: Feed) -> set[str]:
    """Return the labels that filters can ask for, as the user writes them."""
    return {f"group {group}" for group in feed.groups} | {f"tag {key}={value}" for key, value in feed.tags.items()}
