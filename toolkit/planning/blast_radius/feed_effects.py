"""Effects of a config change on one feed on one cluster: its retention, holds, templates and instances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from toolkit.entities import Hold, Protection, Retention
from toolkit.entities.vocabulary import OnSourceDelete
from toolkit.planning.blast_radius.before_after import BeforeAfter, FeedState
from toolkit.planning.blast_radius.effects import Effect, EffectKind, day_or_instant, short
from toolkit.planning.blast_radius.existing import Positions
from toolkit.planning.blast_radius.places import TABLE, BoundLocation

Period = tuple[datetime, datetime]
"""From the first instant (included) to the second (excluded)."""

_EARLIEST, _END = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def hold_order(hold: Hold) -> tuple[Period, str]:
    """Sorts holds by their periods."""
    return period_of(hold), hold.reason


def period_of(hold: Hold) -> Period:
    """The period of a hold; an open end is the end of the calendar."""
    return hold.start or _EARLIEST, hold.end or _END


def covered(hold: Hold, others: tuple[Hold, ...]) -> Iterator[Period]:
    """The parts of a hold's period that other holds cover, merged, oldest first."""
    start, end = period_of(hold)
    run: Period | None = None
    for first, last in sorted(map(period_of, others)):
        part = max(first, start), min(last, end)
        if part[0] >= part[1]:
            continue
        if run is not None and part[0] > run[1]:
            yield run
            run = None
        run = part if run is None else (run[0], max(run[1], part[1]))
    if run is not None:
        yield run


def period_text(period: Period) -> str:
    """The period in words."""
    start, end = period
    if end == _END:
        return "all instances" if start == _EARLIEST else f"{day_or_instant(start)} and later"
    return (
        f"before {day_or_instant(end)}" if start == _EARLIEST else f"{day_or_instant(start)} to {day_or_instant(end)}"
    )


def hold_text(hold: Hold) -> str:
    """A hold in words: ``clicks on primary, 2026-01-01 to 2026-02-01 (audit)``."""
    where = f" on {hold.cluster}" if hold.cluster else ""
    return f"{hold.feed}{where}, {period_text(period_of(hold))} ({hold.reason})"


def retention_effects(pair: BeforeAfter) -> Iterator[Effect]:
    """The effects of a change on what retention evicts; each instance is counted for one of them.

    What a hold kept counts for the hold, else what `keep_last` kept counts for that, and all others for the rest.
    """
    held, released = _held_before(pair)
    last = _kept_last_before(pair).minus(held)
    yield from _eviction(pair, pair.newly_evictable.minus(held).minus(last))
    yield from _keep_last(pair, pair.newly_evictable.both(last))
    yield from released
    yield from _action(pair)
    yield from _source_delete(pair)
    yield from _kept_longer(pair)


def _eviction(pair: BeforeAfter, positions: Positions) -> Iterator[Effect]:
    if positions:
        yield _retention_effect(EffectKind.EVICTABLE, pair, positions)


def _kept_longer(pair: BeforeAfter) -> Iterator[Effect]:
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


def _retention_effect(kind: EffectKind, pair: BeforeAfter, positions: Positions) -> Effect:
    both = zip(_settings(pair.before, pair.time), _settings(pair.after, pair.time), strict=True)
    changed = [(before, after) for before, after in both if before.text != after.text and before.text and after.text]
    return pair.effect(
        kind,
        key=changed[0][1].key if changed else ("retention",),
        before=", ".join(before.text for before, _ in changed),
        after=", ".join(after.text for _, after in changed),
        positions=positions,
    )


def _keep_last(pair: BeforeAfter, positions: Positions) -> Iterator[Effect]:
    before, after = (_keep_last_of(state) for state in (pair.before, pair.after))
    if after < before and pair.after.on_cluster.retention is not None:
        yield pair.effect(
            EffectKind.KEEP_LAST_LOWERED,
            key=("retention", "keep_last"),
            before=str(before),
            after=str(after or ""),
            positions=positions,
        )


def _action(pair: BeforeAfter) -> Iterator[Effect]:
    before, after = pair.before.on_cluster.retention, pair.after.on_cluster.retention
    if before is not None and after is not None and before.action is not after.action:
        key = ("retention", "action")
        yield pair.effect(EffectKind.ACTION_CHANGED, key=key, before=before.action, after=after.action)


def _source_delete(pair: BeforeAfter) -> Iterator[Effect]:
    before, after = (each.on_cluster.on_source_delete or OnSourceDelete.KEEP for each in (pair.before, pair.after))
    if before is not after:
        yield pair.effect(EffectKind.SOURCE_DELETE, key=("on_source_delete",), before=before, after=after)


def _held_before(pair: BeforeAfter) -> tuple[Positions, list[Effect]]:
    """Return the instances that holds kept, and the effects of holds that keep less than before."""
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


def _kept_last_before(pair: BeforeAfter) -> Positions:
    policy = pair.before.policy(pair.time)
    return Positions() if pair.existing is None or policy is None else pair.existing.kept_last(policy)


@dataclass(frozen=True, slots=True)
class _Setting:
    """A value that retention depends on: its place and its words."""

    key: tuple[str, ...]
    text: str


def _settings(state: FeedState, time: datetime) -> Iterator[_Setting]:
    """Yield the settings that decide about the age of instances, in a fixed order; the limit is a bare figure."""
    retention, late = state.on_cluster.retention, state.feed.late_arrival
    yield _Setting(("retention", "limit"), "none" if retention is None else short(retention.limit))
    yield _Setting(("retention", "protect"), "" if retention is None else _protections(retention))
    yield _Setting(
        ("retention", "keep_last"), "" if retention is None else f"keep_last {retention.keep_last or 'none'}"
    )
    yield _Setting(("late_arrival", "cut_off"), f"late cut-off {short(late.cut_off) if late else 'none'}")
    yield _counted_from(state, time)
    yield _Setting(("frequency",), f"frequency {state.feed.frequency}")
    yield _Setting(("timezone",), f"timezone {state.feed.timezone}")
    yield _Setting(("path_timezone",), f"path_timezone {state.feed.path_timezone}")


def _counted_from(state: FeedState, time: datetime) -> _Setting:
    """From when the limit is counted back: the end of a validity matters only when it has passed."""
    end = state.on_cluster.validity.end
    if end >= time:
        return _Setting(("validity", "end"), "counted from the run")
    if state.keeps_beyond_validity:
        return _Setting(("validity", "end"), f"counted from the validity's end {day_or_instant(end)}")
    return _Setting(("keep_instances_beyond_validity",), "counted from the run")


def _protections(retention: Retention) -> str:
    return f"protect {' '.join(map(_protection, retention.protect)) or 'nothing'}"


def _protection(protection: Protection) -> str:
    return protection.name + ("" if protection.max_age is None else f" up to {short(protection.max_age)}")


def _keep_last_of(state: FeedState) -> int:
    return (state.on_cluster.retention and state.on_cluster.retention.keep_last) or 0


def template_effects(pair: BeforeAfter) -> Iterator[Effect]:
    """The effects of a change on names: what is left behind, and what more is looked at."""
    before, after = pair.before.places, pair.after.places
    for role in dict.fromkeys([*before, *after]):
        yield from _Places(pair=pair, role=role, before=before.get(role), after=after.get(role)).effects()
    yield from _dates(pair)
    yield from _partitions(pair)
    yield from _grid(pair)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Places:
    """A role's place before and after; at least one of them is there."""

    pair: BeforeAfter
    role: str
    before: BoundLocation | None
    after: BoundLocation | None

    def effects(self) -> Iterator[Effect]:
        before, after = self.before, self.after
        if before is not None and after is not None and before.names_text == after.names_text:
            return
        is_read = before is not None and after is not None and self.pair.reads(before, after)
        if before is not None and not is_read:
            yield self._effect(EffectKind.TEMPLATE_CHANGED, self.pair.still_there if before.dated else None)
        if self._is_wider(is_read=is_read):
            yield self._effect(EffectKind.TEMPLATE_WIDENED)

    def _is_wider(self, *, is_read: bool) -> bool:
        """Return whether retention looks at names that it did not look at before."""
        if self.after is None or not self.after.dated or self.pair.after.on_cluster.retention is None:
            return False
        if self.before is None:
            return True
        before, after = self.before.free, self.after.free
        return len(after) > len(before) or (is_read and after != before)

    def _effect(self, kind: EffectKind, positions: Positions | None = None) -> Effect:
        return self.pair.effect(
            kind,
            key=(self.role,) if self.role == TABLE else ("locations", self.role),
            before="" if self.before is None else self.before.text,
            after="" if self.after is None else self.after.text,
            positions=positions,
        )


def _dates(pair: BeforeAfter) -> Iterator[Effect]:
    before, after = pair.before.feed.path_timezone, pair.after.feed.path_timezone
    if before != after and any(place.dated for place in pair.before.places.values()):
        positions = pair.still_there
        key = ("path_timezone",)
        yield pair.effect(EffectKind.DATES_CHANGED, key=key, before=before, after=after, positions=positions)


def _partitions(pair: BeforeAfter) -> Iterator[Effect]:
    before, after = pair.before.feed.partitions, pair.after.feed.partitions
    if before != after:
        yield pair.effect(
            EffectKind.PARTITIONS_CHANGED,
            key=("partitions",),
            before=f"[{', '.join(before)}]",
            after=f"[{', '.join(after)}]",
            positions=pair.still_there,
        )


def _grid(pair: BeforeAfter) -> Iterator[Effect]:
    for key in ("frequency", "timezone"):
        before, after = str(getattr(pair.before.feed, key)), str(getattr(pair.after.feed, key))
        if before != after:
            positions = pair.still_there
            yield pair.effect(EffectKind.GRID_CHANGED, key=(key,), before=before, after=after, positions=positions)
