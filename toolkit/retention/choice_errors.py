"""Why a choice of feeds and clusters cannot be met."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable


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
