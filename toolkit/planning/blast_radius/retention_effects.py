"""What a changed retention, `keep_last` or hold does to the instances that are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from toolkit.entities import Protection, Retention
from toolkit.planning.blast_radius.effects import Effect, EffectKind, day_or_instant, short
from toolkit.planning.blast_radius.hold_periods import covered, hold_order, period_of, period_text
from toolkit.planning.blast_radius.positions import Positions
from toolkit.planning.blast_radius.sides import Pair, Side


def retention_effects(pair: Pair) -> Iterator[Effect]:
    """The effects of a change on what retention evicts; each instance is counted for one of them.

    What a hold kept counts for the hold, else what `keep_last` kept counts for that, and all others for the rest.
    """
    held, released = _held_before(pair)
    last = _kept_last_before(pair).minus(held)
    yield from _eviction(pair, pair.newly_evictable.minus(held).minus(last))
    yield from _keep_last(pair, pair.newly_evictable.both(last))
    yield from released
    yield from _action(pair)
    yield from _kept_longer(pair)


def _eviction(pair: Pair, positions: Positions) -> Iterator[Effect]:
    if positions:
        yield _retention_effect(EffectKind.EVICTABLE, pair, positions)


def _kept_longer(pair: Pair) -> Iterator[Effect]:
    kept = pair.before_evictable.minus(pair.now_evictable)
    if pair.after.on_cluster.retention is None:
        if pair.before.on_cluster.retention is not None:
            yield _retention_effect(EffectKind.RETENTION_REMOVED, pair, Positions())
    elif kept and pair.is_still_managed:
        held = kept.both(pair.now_held)
        if held:
            yield pair.effect(EffectKind.HELD, key=(), before="", after="", positions=held)
        if kept.minus(held):
            yield _retention_effect(EffectKind.KEPT_LONGER, pair, kept.minus(held))


def _retention_effect(kind: EffectKind, pair: Pair, positions: Positions) -> Effect:
    both = zip(_settings(pair.before, pair.time), _settings(pair.after, pair.time), strict=True)
    changed = [(before, after) for before, after in both if before.text != after.text and before.text and after.text]
    return pair.effect(
        kind,
        key=changed[0][1].key if changed else ("retention",),
        before=", ".join(before.text for before, _ in changed),
        after=", ".join(after.text for _, after in changed),
        positions=positions,
    )


def _keep_last(pair: Pair, positions: Positions) -> Iterator[Effect]:
    before, after = (_keep_last_of(side) for side in (pair.before, pair.after))
    if after < before and pair.after.on_cluster.retention is not None:
        yield pair.effect(
            EffectKind.KEEP_LAST_LOWERED,
            key=("retention", "keep_last"),
            before=str(before),
            after=str(after or ""),
            positions=positions,
        )


def _action(pair: Pair) -> Iterator[Effect]:
    before, after = pair.before.on_cluster.retention, pair.after.on_cluster.retention
    if before is not None and after is not None and before.action is not after.action:
        key = ("retention", "action")
        yield pair.effect(EffectKind.ACTION_CHANGED, key=key, before=before.action, after=after.action)


def _held_before(pair: Pair) -> tuple[Positions, list[Effect]]:
    """What holds kept, and the effects of those that hold less than before."""
    existing = pair.existing
    if existing is None or pair.after.on_cluster.retention is None:
        return Positions(), []
    effects, counted = [], Positions()
    for hold in sorted(pair.before.holds, key=hold_order):
        own = existing.held([hold]).minus(counted)
        counted = Positions.of(*counted.runs, *own.runs)
        left = list(covered(hold, pair.after.holds))
        if left == [period_of(hold)]:
            continue
        after = ", ".join(map(period_text, left))
        before = f"{period_text(period_of(hold))} ({hold.reason})"
        newly = pair.newly_evictable.both(own)
        effects.append(pair.effect(EffectKind.HOLD_REMOVED, key=(), before=before, after=after, positions=newly))
    return counted, effects


def _kept_last_before(pair: Pair) -> Positions:
    policy = pair.before.policy(pair.time)
    return Positions() if pair.existing is None or policy is None else pair.existing.kept_last(policy)


@dataclass(frozen=True, slots=True)
class _Setting:
    """A value that retention depends on: its place and its words."""

    key: tuple[str, ...]
    text: str


def _settings(side: Side, time: datetime) -> Iterator[_Setting]:
    """What decides about the age of instances, always in the same order; the limit alone is a bare figure."""
    retention, late = side.on_cluster.retention, side.feed.late_arrival
    yield _Setting(("retention", "limit"), "none" if retention is None else short(retention.limit))
    yield _Setting(("retention", "protect"), "" if retention is None else _protections(retention))
    yield _Setting(
        ("retention", "keep_last"), "" if retention is None else f"keep_last {retention.keep_last or 'none'}"
    )
    yield _Setting(("late_arrival", "cut_off"), f"late cut-off {short(late.cut_off) if late else 'none'}")
    yield _counted_from(side, time)
    yield _Setting(("frequency",), f"frequency {side.feed.frequency}")
    yield _Setting(("timezone",), f"timezone {side.feed.timezone}")
    yield _Setting(("path_timezone",), f"path_timezone {side.feed.path_timezone}")


def _counted_from(side: Side, time: datetime) -> _Setting:
    """From when the limit is counted back: the end of a validity matters only when it has passed."""
    end = side.on_cluster.validity.end
    if end >= time:
        return _Setting(("validity", "end"), "counted from the run")
    if side.keeps_beyond_validity:
        return _Setting(("validity", "end"), f"counted from the validity's end {day_or_instant(end)}")
    return _Setting(("keep_instances_beyond_validity",), "counted from the run")


def _protections(retention: Retention) -> str:
    return f"protect {' '.join(map(_protection, retention.protect)) or 'nothing'}"


def _protection(protection: Protection) -> str:
    return protection.name + ("" if protection.max_age is None else f" up to {short(protection.max_age)}")


def _keep_last_of(side: Side) -> int:
    return (side.on_cluster.retention and side.on_cluster.retention.keep_last) or 0
