"""From what was chosen to the targets of a run; what cannot be done is told beside the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.actions.model import D, I, NoTarget, Problem, T, TargetPlan
from toolkit.actions.runner import Targets
from toolkit.el import format_instant
from toolkit.errors import InvalidInput, NotImplementedYet

if TYPE_CHECKING:
    from toolkit.entities import Cluster, Feed
    from toolkit.planning.replication import Route


def of_route(route: Route, nominal: datetime) -> NoTarget:
    """Return how a route is called in the result when nothing is pulled on it."""
    return NoTarget(
        entity=route.feed.name,
        cluster=route.target.cluster.name,
        counterpart=route.source.cluster.name,
        instance_key=format_instant(nominal),
    )


def of_pair(feed: Feed, cluster: Cluster, nominal: datetime) -> NoTarget:
    """Return how a feed on a cluster is called in the result when none of its instances is due."""
    return NoTarget(entity=feed.name, cluster=cluster.name, instance_key=format_instant(nominal))


def resolved(
    chosen: Iterable[tuple[NoTarget, Callable[[], Iterable[T]]]],
    detail: Callable[[], D],
    *,
    refusal: str,
    must_all_work: bool,
) -> Targets[T, I, D]:
    """The targets of all that was chosen.

    Args:
        chosen: how each is called in the result when it has none, and its targets.
        detail: makes that of a plan with nothing in it.
        refusal: the code of what cannot be done, but for what does not exist yet.
        must_all_work: the user named the feeds; else those that cannot be done are reported beside the others.

    Raises:
        InvalidInput: a named feed cannot be done, or none can.
    """
    found: list[T] = []
    settled: list[TargetPlan[NoTarget, I, D]] = []
    refused: list[InvalidInput] = []
    for blank, targets in chosen:
        plan: TargetPlan[NoTarget, I, D] = TargetPlan(target=blank, detail=detail())
        try:
            own = list(targets())
        except InvalidInput as error:
            refused.append(error)
            code = "not_implemented" if isinstance(error, NotImplementedYet) else refusal
            settled.append(replace(plan, failed=Problem(code=code, message=str(error))))
            continue
        if not own:
            settled.append(replace(plan, notes=("no instance is due that is not there",)))
        found += own
    if refused and (must_all_work or not found):
        raise refused[0]
    return Targets(to_do=tuple(found), settled=tuple(settled))
