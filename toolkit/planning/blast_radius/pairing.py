"""Which feed on which cluster was what before: kept, renamed, new, gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from toolkit.entities.repository import Repository
from toolkit.planning.blast_radius.sides import Side

_Key = tuple[str, str]
"""A feed and a cluster."""

_Data = tuple[str, tuple[str, ...]]
"""A cluster, and the names of a feed's instances there."""


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """The feeds on clusters of a config repo before and after a change.

    What has problems of its own on one of the sides is left out of both: nobody can tell what it is.

    Attributes:
        before: the config repo as it was.
        after: as it is, in the same environment.
    """

    before: Repository
    after: Repository

    def kept(self) -> Iterator[tuple[Side, Side]]:
        """Both sides of every feed on a cluster that is different, or has another name for the same data."""
        for key in sorted(self._old.keys() & self._new.keys()):
            yield from self._both(key, key)
        for old, new in self._renamed.items():
            yield from self._both(old, new)

    def gone(self) -> Iterator[Side]:
        """The feeds that are on a cluster no more."""
        for key in sorted(self._old.keys() - self._new.keys() - self._renamed.keys()):
            side = self._side(self.before, key)
            if side.is_resolved and _is_known(self.after, key):
                yield side

    def new(self) -> Iterator[Side]:
        """The feeds that are new on a cluster."""
        for key in sorted(self._new.keys() - self._old.keys() - set(self._renamed.values())):
            side = self._side(self.after, key)
            if side.is_resolved and _is_known(self.before, key):
                yield side

    @cached_property
    def _old(self) -> Mapping[_Key, None]:
        return dict.fromkeys(self._pairs(self.before))

    @cached_property
    def _new(self) -> Mapping[_Key, None]:
        return dict.fromkeys(self._pairs(self.after))

    def _pairs(self, repository: Repository) -> Iterator[_Key]:
        """Only clusters that the environment may act on have retention runs."""
        environment = self.after.environment
        for feed in repository.feeds.values():
            for each in feed.clusters:
                if each.name in repository.clusters and (environment is None or environment.allows(each.name)):
                    yield feed.name, each.name

    @cached_property
    def _renamed(self) -> Mapping[_Key, _Key]:
        """Old feeds on a cluster to new ones with the same data there."""
        old_only, new_only = self._old.keys() - self._new.keys(), self._new.keys() - self._old.keys()
        gone = [key for key in sorted(old_only) if key[0] not in self.after.entries]
        added = [key for key in sorted(new_only) if key[0] not in self.before.entries]
        by_data = {self._data(self.after, key): key for key in added} if gone else {}
        found = ((key, self._data(self.before, key)) for key in gone)
        return {key: by_data[data] for key, data in found if data is not None and data in by_data}

    def _data(self, repository: Repository, key: _Key) -> _Data | None:
        side = self._side(repository, key)
        main = side.main if side.is_resolved else None
        return None if main is None else (key[1], (*main.names_text, main.timezone))

    def _both(self, old: _Key, new: _Key) -> Iterator[tuple[Side, Side]]:
        before, after = self._side(self.before, old), self._side(self.after, new)
        if before != after and before.is_resolved and after.is_resolved:
            yield before, after

    def _side(self, repository: Repository, key: _Key) -> Side:
        return Side.of(repository, *key, self._default_fs(key[1]))

    def _default_fs(self, cluster: str) -> str:
        """One file system for both sides: that an end point changed is told by itself, and may be a new name only."""
        clusters = self.before.clusters if cluster in self.before.clusters else self.after.clusters
        return clusters[cluster].default_fs


def _is_known(repository: Repository, key: _Key) -> bool:
    """Whether a repo says for sure that the feed is not on the cluster."""
    feed, cluster = key
    return (feed in repository.feeds or feed not in repository.entries) and (
        cluster in repository.clusters or cluster not in repository.entries
    )
