"""Explanation of retention for one path or instance, wired: a dry run of the feeds that it belongs to."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.model import plan_digest
from toolkit.actions.selection import EntitySelection
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, opened_context
from toolkit.bootstrap.retention import evicted_and_archives, place_of, wire
from toolkit.entities.not_implemented import Area
from toolkit.errors import InvalidInput
from toolkit.planning.instance_storage import FeedStorage, on_clusters
from toolkit.retention.explain import Explainer, Explanation, of_settled
from toolkit.storage import find_status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from toolkit.actions.action import Action, RunContext
    from toolkit.clock import Clock
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster
    from toolkit.retention import FeedTarget, PlanItem, RetentionDetail
    from toolkit.runs.stop import StopSignal
    from toolkit.storage import FileKind

Pair = tuple[str, str]
"""A feed on a cluster."""


class NobodysPath(InvalidInput):
    """No feed on a cluster that may be looked at has a location at or around the path.

    Args:
        path: as the user wrote it.
        clusters: that were asked.
    """

    def __init__(self, *, path: str, clusters: tuple[str, ...]) -> None:
        self.path, self.clusters = path, clusters
        where = ", ".join(clusters) or "no cluster at all"
        super().__init__(
            f"no feed has a location at or around {path}; looked on {where}, for the path as it is written: links are "
            f"not followed, and what is below it may be a feed's"
        )


def explain(
    requested: str | datetime, options: ActionOptions, clock: Clock, process: StopSignal
) -> tuple[Explanation, ...]:
    """Return the decision of a run about a path or an instance, by feed and cluster, and why; changes nothing.

    Args:
        requested: a path, which is looked for on each chosen cluster and then on this machine, or an instance of the
            chosen feeds.
        options: of a dry run; when a path is asked for, only the clusters of its selection count.
        clock: tells the wall-clock time.
        process: ends the looking.

    Raises:
        InvalidInput: as for `run_action`; a path that no feed has, or what is no instance of the feed.
    """
    with ExitStack() as stack:
        context = opened_context(options, clock, process, Area.RETENTION, stack, evicted_and_archives)
        pairs: tuple[Pair, ...] | None = None
        if isinstance(requested, str):
            requested, pairs = _owners(requested, context)
            names, clusters = (tuple(dict.fromkeys(names)) for names in zip(*pairs, strict=True))
            selection = EntitySelection(names=names, clusters=clusters)
            context = replace(context, options=replace(options, selection=selection))
        wired, work = wire(context), context.look(process)
        found = [of_settled(plan) for plan in wired.targets.settled]
        for target in wired.targets.to_do:
            explainer = _explainer(target, wired.action, context, work)
            if isinstance(requested, str):
                found.append(explainer.of_path(context.repository.cluster(target.cluster).place(requested)))
            else:
                found.extend(explainer.of_instance(requested))
        of_pairs = [each for each in found if pairs is None or (each.feed, each.cluster) in pairs]
        return tuple(sorted(of_pairs, key=lambda each: (each.feed, each.cluster)))


def _explainer(
    target: FeedTarget,
    action: Action[FeedTarget, PlanItem, RetentionDetail],
    context: ActionContext,
    work: RunContext,
) -> Explainer:
    plan = action.plan(target, work)
    exceeded = action.target_limit(plan, work)
    return Explainer(
        plan=plan,
        place_of=partial(place_of, context.repository),
        kind_at=partial(_kind_at, work),
        refusal=None if exceeded is None else str(exceeded.refusal(plan_digest([plan]))),
    )


def _kind_at(work: RunContext, path: CanonicalPath) -> FileKind | None:
    found = find_status(work.stores(path), path)
    return None if found is None else found.kind


def _owners(path: str, context: ActionContext) -> tuple[str, tuple[Pair, ...]]:
    """The path as clusters know it, and the feeds that it is an instance of, else those with the nearest base."""
    repository, environment = context.repository, context.repository.environment
    wanted = [repository.cluster(name) for name in context.options.selection.clusters]
    candidates = wanted or [each for _, each in sorted(repository.clusters.items())]
    clusters = [each for each in candidates if environment is None or environment.allows(each.name)]
    for text in (path, f"file://{path}") if path.startswith("/") else (path,):
        by_instance = {(each.feed, each.cluster) for on in clusters for each in repository.lookup_path(text, on.name)}
        found = by_instance or set(_around(text, context, clusters))
        if found:
            return text, tuple(sorted(found))
    raise NobodysPath(path=path, clusters=tuple(each.name for each in clusters))


def _around(path: str, context: ActionContext, clusters: Sequence[Cluster]) -> Iterator[Pair]:
    found: list[tuple[int, Pair]] = []
    for feed, cluster in on_clusters(context.repository.feeds.values(), clusters):
        place = cluster.place(path)
        for template in FeedStorage.of(feed, cluster).templates.values():
            base = cluster.place(template.base)
            if place == base or place.is_within(base):
                found.append((len(base.path), (feed.name, cluster.name)))
    deepest = max((length for length, _ in found), default=0)
    return (pair for length, pair in found if length == deepest)
