"""The blast radius of a change: what retention does at its next run that it would not have done before; pure.

It counts instances by arithmetic on the grid of the feed as it was, and takes every one of them for made. What is on
storage, holds of the ledger and hold files are not looked at (USERS, wanted 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from toolkit.el import CanonicalPath, ElError
from toolkit.entities.repository import Repository
from toolkit.planning.blast_radius.before_after import (
    BeforeAfter,
    FeedState,
    Pairing,
    evictable,
    instances_by,
    range_of,
)
from toolkit.planning.blast_radius.effects import Effect, EffectKind, InstanceRange, message_of, short
from toolkit.planning.blast_radius.existing import Existing, Positions
from toolkit.planning.blast_radius.feed_effects import hold_text, retention_effects, template_effects
from toolkit.planning.blast_radius.ingest_effects import ingest_effects

__all__ = ["Effect", "EffectKind", "InstanceRange", "blast_radius", "hold_text", "message_of"]

_ORDER = list(EffectKind)


def blast_radius(before: Repository, after: Repository, time: datetime) -> tuple[Effect, ...]:
    """Return the effects of a config change on data, sorted by feed and cluster, the most dangerous first.

    Args:
        before: the config repo as it was.
        after: as it is, in the same environment.
        time: of the next run of retention, UTC, a whole minute.
    """
    pairing = Pairing(before=before, after=after)
    found = {
        *_end_points(before, after),
        *(effect for old, new in pairing.kept() for effect in _kept(BeforeAfter(before=old, after=new, time=time))),
        *(_gone(state, time) for state in pairing.gone()),
        *(effect for state in pairing.new() for effect in _new(state, time)),
    }
    return tuple(sorted(found, key=_order))


def _order(effect: Effect) -> tuple[str, str, int, tuple[str, ...], str]:
    return effect.feed, effect.cluster, _ORDER.index(effect.kind), effect.key, message_of(effect)


def _kept(pair: BeforeAfter) -> Iterator[Effect]:
    yield from retention_effects(pair)
    yield from template_effects(pair)
    yield from ingest_effects(pair)


def _gone(state: FeedState, time: datetime) -> Effect:
    existing = _existing(state, time)
    kept = Positions() if existing is None else existing.all.minus(evictable(existing, state.policy(time)))
    return Effect(
        kind=EffectKind.LEFT_BEHIND,
        feed=state.feed.name,
        cluster=state.cluster.name,
        before="" if state.main is None else state.main.text,
        instances=range_of(kept, state.instances, time),
    )


def _new(state: FeedState, time: datetime) -> Iterator[Effect]:
    retention = state.on_cluster.retention
    if retention is not None:
        positions = evictable(_existing(state, time), state.policy(time))
        yield Effect(
            kind=EffectKind.NEW_RETENTION,
            feed=state.feed.name,
            cluster=state.cluster.name,
            key=("retention", "limit"),
            after=short(retention.limit),
            instances=range_of(positions, state.instances, time),
        )


def _existing(state: FeedState, time: datetime) -> Existing | None:
    if state.main is None:
        return None
    made, place = state.instances, state.main
    return Existing(made=made, count=instances_by(time, made), written=place, read=place, instances=made)


def _end_points(before: Repository, after: Repository) -> Iterator[Effect]:
    for name in sorted(before.clusters.keys() & after.clusters.keys()):
        old, new = before.clusters[name].default_fs, after.clusters[name].default_fs
        if _place_of(old) != _place_of(new):
            key = ("interfaces", "write", "endpoint")
            yield Effect(kind=EffectKind.END_POINT_CHANGED, feed="", cluster=name, key=key, before=old, after=new)


def _place_of(default_fs: str) -> CanonicalPath | str:
    """Two spellings of one file system are one."""
    try:
        return CanonicalPath.parse("/", default_fs)
    except ElError:
        return default_fs
