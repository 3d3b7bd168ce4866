"""Which entities on which clusters a run is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.entities import UnknownName
from toolkit.entities.errors import NotInEnvironment
from toolkit.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from toolkit.entities import Cluster, Environment, Feed


class WrongChoice(InvalidInput):
    """No way of choosing feeds was given, or more than one.

    Args:
        given: the options that were given.
    """

    def __init__(self, *, given: tuple[str, ...]) -> None:
        self.given = given
        found = " and ".join(given) if given else "nothing that chooses feeds"
        super().__init__(f"found {found}; expected one of: --feed NAME ..., --all, or --group NAME / --tag KEY=VALUE")


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
        super().__init__(f"{found}; name one with --cluster")


@dataclass(frozen=True, kw_only=True, slots=True)
class EntitySelection:
    """What the user asked for; exactly one of names, everything, and groups with tags.

    Attributes:
        names: of feeds.
        everything: all feeds of the repo.
        groups: a feed must be in all of them.
        tags: key and value; a feed must have all of them.
        cluster: None when each feed, or the environment, leaves only one.

    Raises:
        WrongChoice: not exactly one way.
    """

    names: tuple[str, ...] = ()
    everything: bool = False
    groups: tuple[str, ...] = ()
    tags: tuple[tuple[str, str], ...] = ()
    cluster: str | None = None

    def __post_init__(self) -> None:
        filters = "/".join(option for option, given in (("--group", self.groups), ("--tag", self.tags)) if given)
        ways = (("--feed", bool(self.names)), ("--all", self.everything), (filters, bool(filters)))
        given = tuple(option for option, is_given in ways if is_given)
        if len(given) != 1:
            raise WrongChoice(given=given)


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
        """The feeds, each with its cluster, in the order of their names.

        Raises:
            InvalidInput: unknown names, a cluster that is missing or not allowed, filters that no feed matches.
        """
        self._check_cluster(choice.cluster)
        pairs = []
        for feed in self._matching(choice):
            cluster = self._cluster_of(feed, choice)
            if cluster is not None:
                pairs.append((feed, cluster))
        if not pairs:
            raise NothingChosen(wanted=f"cluster {choice.cluster}", known=sorted(self.clusters))
        return tuple(pairs)

    def _check_cluster(self, name: str | None) -> None:
        if name is None:
            return
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

    def _cluster_of(self, feed: Feed, choice: EntitySelection) -> Cluster | None:
        """The cluster of a feed; None when the feed was not named and is not on it."""
        on = [each.name for each in feed.clusters]
        allowed = [name for name in on if name in self._allowed()]
        if choice.cluster is not None and choice.cluster in on:
            return self.clusters[choice.cluster]
        if choice.cluster is None and len(allowed) == 1:
            return self.clusters[allowed[0]]
        if choice.cluster is None and allowed:
            raise ClusterNeeded(feed=feed.name, clusters=allowed)
        if not choice.names:
            return None
        if choice.cluster is not None:
            raise UnknownName(what="cluster", name=choice.cluster, known=on, where=f"feed {feed.name}")
        raise self._not_allowed(what=f"feed {feed.name} (on {', '.join(on)})")


def _labels(feed: Feed) -> set[str]:
    """What filters can ask for, as the user writes it."""
    return {f"group {group}" for group in feed.groups} | {f"tag {key}={value}" for key, value in feed.tags.items()}
