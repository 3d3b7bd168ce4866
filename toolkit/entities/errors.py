"""Errors of asking loaded entities for something that they do not have."""

from collections.abc import Collection, Iterable

from toolkit.entities.nearest import suggestion
from toolkit.errors import InvalidInput


class UnknownName(InvalidInput):
    """A name that nothing has.

    Args:
        what: the kind of thing that was looked for, for example ``feed``.
        name: the name as given.
        known: the names that exist.
        where: who was asked, for example ``feed clicks``.
    """

    def __init__(self, *, what: str, name: str, known: Collection[str], where: str = "the config repo") -> None:
        self.what, self.name, self.known, self.where = what, name, tuple(sorted(known)), where
        hint = suggestion(name, known)
        super().__init__(f"{where} has no {what} named {name!r}" + (f"; {hint}" if hint else ""))


class UnfitFeed(InvalidInput):
    """A feed that an action cannot do what was asked for with.

    Args:
        feed: name.
        why: what was found, what is expected, and what to do.
    """

    def __init__(self, *, feed: str, why: str) -> None:
        self.feed, self.why = feed, why
        super().__init__(f"feed {feed} {why}")


class NotInEnvironment(InvalidInput):
    """The environment may not act on a cluster.

    Args:
        what: that was asked for, for example ``cluster backup``.
        environment: name.
        clusters: those that it may act on.
    """

    def __init__(self, *, what: str, environment: str, clusters: Iterable[str]) -> None:
        self.what, self.environment, self.clusters = what, environment, tuple(clusters)
        allowed = ", ".join(self.clusters)
        super().__init__(
            f"{what} is not in environment {environment}, which may act on: {allowed}; choose another --env"
        )
