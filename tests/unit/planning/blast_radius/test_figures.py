"""The figures of the blast radius are those that looking at every single instance gives."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given, settings

from tests.unit.planning.blast_radius.changes import changes, evicted
from toolkit.planning.blast_radius import Effect, EffectKind
from toolkit.planning.blast_radius.before_after import BeforeAfter
from toolkit.planning.blast_radius.existing import Positions
from toolkit.planning.blast_radius.feed_effects import retention_effects

MORE = {EffectKind.EVICTABLE, EffectKind.KEEP_LAST_LOWERED, EffectKind.HOLD_REMOVED}
FEWER = {EffectKind.KEPT_LONGER, EffectKind.HELD}


def instants(positions: Positions, sides: BeforeAfter) -> set[datetime]:
    return {sides.before.instances[each] for run in positions.runs for each in run}


def of_kinds(effects: list[Effect], kinds: set[EffectKind]) -> list[Effect]:
    return [each for each in effects if each.kind in kinds and each.instances is not None]


@given(changes())
@settings(max_examples=60, deadline=None)
def test_what_is_evictable_is_what_selecting_one_by_one_gives(sides: BeforeAfter) -> None:
    assert instants(sides.before_evictable, sides) == evicted(sides, sides.before)
    assert instants(sides.now_evictable, sides) == evicted(sides, sides.after)


@pytest.mark.extended
@given(changes())
@settings(max_examples=60, deadline=None)
def test_each_instance_that_goes_now_is_counted_once(sides: BeforeAfter) -> None:
    effects = list(retention_effects(sides))
    newly = evicted(sides, sides.after) - evicted(sides, sides.before)
    found = of_kinds(effects, MORE)
    assert sum(each.count for each in found) == len(newly)
    if newly:
        ranges = [each.instances for each in found if each.instances is not None]
        assert min(each.first for each in ranges) == min(newly)
        assert max(each.end for each in ranges) > max(newly)


@pytest.mark.extended
@given(changes())
@settings(max_examples=40, deadline=None)
def test_each_instance_that_stays_now_is_counted_once(sides: BeforeAfter) -> None:
    kept = evicted(sides, sides.before) - evicted(sides, sides.after)
    found = of_kinds(list(retention_effects(sides)), FEWER)
    is_reported = sides.is_still_managed and sides.after.on_cluster.retention is not None
    assert sum(each.count for each in found) == (len(kept) if is_reported else 0)


@given(changes())
@settings(max_examples=60, deadline=None)
def test_a_range_without_gaps_has_as_many_instances_as_it_says(sides: BeforeAfter) -> None:
    for effect in retention_effects(sides):
        found = effect.instances
        if found is not None:
            between = sides.before.instances.count(found.first, found.end)
            assert between == found.count if not found.has_gaps else between > found.count
