"""What changed templates, partitions and frequencies do to the instances that are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from toolkit.planning.blast_radius.effects import Effect, EffectKind
from toolkit.planning.blast_radius.places import TABLE, Place
from toolkit.planning.blast_radius.positions import Positions
from toolkit.planning.blast_radius.sides import Pair


def template_effects(pair: Pair) -> Iterator[Effect]:
    """The effects of a change on names: what is left behind, and what more is looked at."""
    before, after = pair.before.places, pair.after.places
    for role in dict.fromkeys([*before, *after]):
        yield from _Places(pair=pair, role=role, before=before.get(role), after=after.get(role)).effects()
    yield from _dates(pair)
    yield from _partitions(pair)
    yield from _grid(pair)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Places:
    """One role's place before and after; at least one of them is there."""

    pair: Pair
    role: str
    before: Place | None
    after: Place | None

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
        """Whether retention looks at names that it did not look at before."""
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


def _dates(pair: Pair) -> Iterator[Effect]:
    before, after = pair.before.feed.path_timezone, pair.after.feed.path_timezone
    if before != after and any(place.dated for place in pair.before.places.values()):
        positions = pair.still_there
        key = ("path_timezone",)
        yield pair.effect(EffectKind.DATES_CHANGED, key=key, before=before, after=after, positions=positions)


def _partitions(pair: Pair) -> Iterator[Effect]:
    before, after = pair.before.feed.partitions, pair.after.feed.partitions
    if before != after:
        yield pair.effect(
            EffectKind.PARTITIONS_CHANGED,
            key=("partitions",),
            before=f"[{', '.join(before)}]",
            after=f"[{', '.join(after)}]",
            positions=pair.still_there,
        )


def _grid(pair: Pair) -> Iterator[Effect]:
    for key in ("frequency", "timezone"):
        before, after = str(getattr(pair.before.feed, key)), str(getattr(pair.after.feed, key))
        if before != after:
            positions = pair.still_there
            yield pair.effect(EffectKind.GRID_CHANGED, key=(key,), before=before, after=after, positions=positions)
