"""The rules of triggers, one example each (the generated ones are in `test_random_graphs`)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.unit.planning.triggers.examples import (
    NOW,
    all_of,
    any_of,
    dropped,
    entry,
    rule,
    runs,
    update,
    waiting,
)
from toolkit.entities.trigger_vocabulary import Coalesce, GroupBy, OnPause, UpdateKind
from toolkit.entities.vocabulary import Order
from toolkit.planning.triggers import Pending, TriggerDecision, decide

HOUR, TEN_MINUTES = timedelta(hours=1), timedelta(minutes=10)

THREE_DAYS = [update(1, "a", "01"), update(2, "a", "02"), update(3, "a", "04")]
"""The first two are consecutive."""


def test_an_update_of_every_entry_is_a_run_that_consumes_all_of_its_day() -> None:
    new = [update(1, "a", "01"), update(2, "a", "01"), update(3, "b", "01")]
    decision = decide(rule(all_of("a", "b")), [], new, NOW)
    assert runs(decision) == [("01", [1, 2, 3])]
    assert (waiting(decision), dropped(decision)) == ([], [])


def test_mondays_all_is_not_satisfied_by_tuesdays_update() -> None:
    decision = decide(rule(all_of("a", "b")), [], [update(1, "a", "01"), update(2, "b", "02")], NOW)
    assert (runs(decision), waiting(decision)) == ([], [(1, "01"), (2, "02")])


def test_what_waited_is_consumed_with_what_came_later() -> None:
    waited = [Pending(update=update(1, "a", "01"), process_key="01")]
    assert runs(decide(rule(all_of("a", "b")), waited, [update(9, "b", "01")], NOW)) == [("01", [1, 9])]


def test_any_is_a_run_for_each_update() -> None:
    decision = decide(rule(any_of("a", "b")), [], [update(1, "a", "01"), update(2, "b", "01")], NOW)
    assert runs(decision) == [("01", [1]), ("01", [2])]


def test_nested_conditions_consume_also_what_another_branch_waits_for() -> None:
    either = any_of(all_of("a", "b"), "c")
    decision = decide(rule(either), [], [update(1, "a", "01"), update(2, "c", "01"), update(3, "b", "01")], NOW)
    assert (runs(decision), waiting(decision)) == ([("01", [1, 2])], [(3, "01")])


def test_min_count_counts_different_instances() -> None:
    week = {"01": ["07"], "02": ["07"]}
    two = rule(all_of(entry("a", min_count=2, reads=week)))
    twice = [update(1, "a", "01"), update(2, "a", "01")]
    assert runs(decide(two, [], twice, NOW)) == []
    assert runs(decide(two, [], [*twice, update(3, "a", "02")], NOW)) == [("07", [1, 2, 3])]


def test_min_count_counts_each_update_that_names_no_instance() -> None:
    two = rule(all_of(entry("a", min_count=2)), by=GroupBy.ANY_UPDATE)
    assert runs(decide(two, [], [update(1, "a"), update(2, "a")], NOW)) == [("", [1, 2])]


def test_an_update_that_several_instances_read_counts_for_each() -> None:
    reads = {"01": ["01", "02"]}
    condition = all_of(entry("a", reads=reads), "b")
    decision = decide(rule(condition), [], [update(1, "a", "01"), update(2, "b", "02")], NOW)
    assert (runs(decision), waiting(decision)) == ([("02", [1, 2])], [(1, "01")])


def test_an_update_without_a_key_satisfies_no_keyed_entry() -> None:
    assert dropped(decide(rule(all_of("a")), [], [update(1, "a")], NOW)) == [(1, "", "without_key")]


def test_an_update_that_no_instance_reads_is_dropped() -> None:
    condition = all_of(entry("a", reads={}))
    assert dropped(decide(rule(condition), [], [update(1, "a", "01")], NOW)) == [(1, "", "no_instance")]


def test_what_waits_for_an_instance_that_no_longer_reads_it_is_dropped() -> None:
    waited = [Pending(update=update(1, "a", "01"), process_key="05")]
    assert dropped(decide(rule(all_of("a")), waited, [], NOW)) == [(1, "05", "no_instance")]


def test_what_waits_is_not_lost_when_the_trigger_changes_from_any_update_to_keys_or_back() -> None:
    reads = {"01": ["01", "02"]}
    condition = all_of(entry("a", reads=reads), "b")
    keyed, whole = rule(condition, on_pause=OnPause.DROP), rule(condition, by=GroupBy.ANY_UPDATE)
    of_days = decide(keyed, [], [update(1, "a", "01")], NOW)
    of_process = decide(whole, of_days.pending, [], NOW)
    assert (waiting(of_days), waiting(of_process)) == ([(1, "01"), (1, "02")], [(1, "")])
    again = decide(keyed, of_process.pending, [], NOW, is_paused=True)
    assert (waiting(again), dropped(again)) == ([(1, "01"), (1, "02")], [])


def test_only_the_kinds_of_on_count() -> None:
    new = [update(1, "a", "01", kind="updated")]
    assert dropped(decide(rule(all_of("a")), [], new, NOW)) == [(1, "", "other_kind")]
    both = rule(all_of("a"), on=frozenset(UpdateKind))
    assert runs(decide(both, [], new, NOW)) == [("01", [1])]


@pytest.mark.parametrize("kind", ["retracted", "evicted"])
def test_what_was_taken_back_counts_no_longer(kind: str) -> None:
    new = [update(1, "a", "01"), update(2, "a", "01", kind=kind), update(3, "b", "01")]
    decision = decide(rule(all_of("a", "b")), [], new, NOW)
    assert (runs(decision), dropped(decision)) == ([], [(1, "01", "retracted")])
    assert waiting(decision) == [(3, "01")]


def test_a_retraction_takes_back_only_the_same_instance_and_only_what_came_before() -> None:
    new = [
        update(1, "a", "02"),
        update(2, "a", "01", kind="retracted"),
        update(3, "a", "01"),
    ]
    assert runs(decide(rule(all_of("a")), [], new, NOW)) == [("01", [3]), ("02", [1])]


def test_a_retraction_after_the_condition_was_true_still_prevents_a_run_that_is_not_created() -> None:
    waited = [Pending(update=update(1, "a", "01"), process_key="01")]
    new = [update(2, "b", "01"), update(3, "a", "01", kind="retracted")]
    assert runs(decide(rule(all_of("a", "b")), waited, new, NOW)) == []


def test_by_any_update_is_one_run_whatever_the_keys_are() -> None:
    new = [update(1, "a", "01"), update(2, "b"), update(3, "a", "02")]
    decision = decide(rule(all_of("a", "b"), by=GroupBy.ANY_UPDATE), [], new, NOW)
    assert (runs(decision), waiting(decision)) == ([("", [1, 2])], [(3, "")])


def test_by_any_update_counts_what_comes_while_the_process_is_valid() -> None:
    new = [update(1, "a", ago=HOUR), update(2, "a"), update(3, "b")]
    valid = rule(all_of("a", "b"), by=GroupBy.ANY_UPDATE, is_valid_at=lambda instant: instant >= NOW)
    decision = decide(valid, [], new, NOW)
    assert (runs(decision), dropped(decision)) == ([("", [2, 3])], [(1, "", "not_valid")])
    assert runs(decide(replace(valid, by=GroupBy.KEY), [], [update(4, "a", "01"), update(5, "b", "01")], NOW)) != []


def test_updates_as_old_as_valid_for_count_and_older_ones_do_not() -> None:
    new = [update(1, "a", "01", ago=HOUR), update(2, "a", "02", ago=HOUR + timedelta(seconds=1))]
    decision = decide(rule(all_of("a"), valid_for=HOUR), [], new, NOW)
    assert (runs(decision), dropped(decision)) == ([("01", [1])], [(2, "", "expired")])


def test_what_waits_expires_too() -> None:
    waited = [Pending(update=update(1, "a", "01", ago=2 * HOUR), process_key="01")]
    decision = decide(rule(all_of("a", "b"), valid_for=HOUR), waited, [update(2, "b", "01")], NOW)
    assert (runs(decision), dropped(decision)) == ([], [(1, "01", "expired")])


def test_a_dataset_may_expire_earlier_than_the_trigger_says() -> None:
    new = [update(1, "a", "01", ago=HOUR), update(2, "b", "01", ago=HOUR)]
    either = rule(any_of("a", "b"), valid_for=2 * HOUR, expires={"a": TEN_MINUTES, "b": 5 * HOUR})
    assert runs(decide(either, [], new, NOW)) == [("01", [2])]


def test_what_is_due_beyond_the_slots_stays_pending() -> None:
    decision = decide(rule(all_of("a")), [], THREE_DAYS, NOW, slots=2)
    assert (runs(decision), waiting(decision)) == ([("01", [1]), ("02", [2])], [(3, "04")])
    assert runs(decide(rule(all_of("a")), decision.pending, [], NOW, slots=1)) == [("04", [3])]


@pytest.mark.parametrize("order", [Order.LIFO, Order.FIFO])
def test_runs_start_by_the_time_of_their_instance(order: Order) -> None:
    decision = decide(rule(all_of("a"), order=order), [], THREE_DAYS[::-1], NOW)
    days = [key for key, _ in runs(decision)]
    assert days == (["04", "02", "01"] if order is Order.LIFO else ["01", "02", "04"])


def test_latest_starts_the_newest_and_drops_the_events_of_the_others() -> None:
    decision = decide(rule(all_of("a"), coalesce=Coalesce.LATEST), [], THREE_DAYS, NOW)
    assert runs(decision) == [("04", [3])]
    assert dropped(decision) == [(1, "01", "coalesced"), (2, "02", "coalesced")]


def test_last_only_is_latest() -> None:
    assert runs(decide(rule(all_of("a"), order=Order.LAST_ONLY), [], THREE_DAYS, NOW)) == [("04", [3])]


def test_latest_drops_nothing_while_the_newest_cannot_start() -> None:
    decision = decide(rule(all_of("a"), coalesce=Coalesce.LATEST), [], THREE_DAYS, NOW, slots=0)
    assert (runs(decision), dropped(decision)) == ([], [])
    assert waiting(decision) == [(1, "01"), (2, "02"), (3, "04")]


def test_all_starts_the_newest_with_the_events_of_all() -> None:
    decision = decide(rule(all_of("a"), coalesce=Coalesce.ALL), [], THREE_DAYS, NOW)
    assert (runs(decision), dropped(decision)) == ([("04", [1, 2, 3])], [])


def test_range_starts_one_run_for_consecutive_instances() -> None:
    decision = decide(rule(all_of("a"), coalesce=Coalesce.RANGE), [], THREE_DAYS, NOW)
    assert runs(decision) == [("02", [1, 2]), ("04", [3])]
    assert [each.first_key for each in decision.runs] == ["01", ""]


def test_an_event_that_two_instances_of_a_range_read_is_one_cause() -> None:
    reads = {"01": ["01", "02"]}
    decision = decide(rule(all_of(entry("a", reads=reads)), coalesce=Coalesce.RANGE), [], THREE_DAYS[:1], NOW)
    assert runs(decision) == [("02", [1])]


def test_range_is_all_where_runs_have_no_instance() -> None:
    any_update = rule(all_of("a"), by=GroupBy.ANY_UPDATE, coalesce=Coalesce.RANGE)
    assert runs(decide(any_update, [], THREE_DAYS, NOW)) == [("", [1, 2, 3])]


def test_an_instance_whose_time_has_not_come_waits_and_stands_for_no_other() -> None:
    latest = rule(all_of("a"), coalesce=Coalesce.LATEST, may_run=lambda key: key < "03")
    decision = decide(latest, [], THREE_DAYS, NOW)
    assert (runs(decision), waiting(decision)) == ([("02", [2])], [(3, "04")])


def test_a_suspended_process_starts_nothing_and_keeps_its_updates() -> None:
    decision = decide(rule(all_of("a")), [], THREE_DAYS, NOW, is_paused=True)
    assert (runs(decision), waiting(decision)) == ([], [(1, "01"), (2, "02"), (3, "04")])


def test_on_pause_drop_drops_what_comes_during_the_pause_alone() -> None:
    drops = rule(all_of("a"), on_pause=OnPause.DROP)
    waited = [Pending(update=update(1, "a", "01"), process_key="01")]
    decision = decide(drops, waited, THREE_DAYS[1:], NOW, is_paused=True)
    assert waiting(decision) == [(1, "01")]
    assert dropped(decision) == [(2, "", "paused"), (3, "", "paused")]


def test_a_retraction_during_a_pause_counts() -> None:
    waited = [Pending(update=update(1, "a", "01"), process_key="01")]
    retracted = [update(2, "a", "01", kind="retracted")]
    drops = rule(all_of("a"), on_pause=OnPause.DROP)
    assert dropped(decide(drops, waited, retracted, NOW, is_paused=True)) == [(1, "01", "retracted")]


def test_the_chain_of_a_run_is_one_more_than_that_of_its_causes() -> None:
    new = [update(1, "a", "01", chain=4), update(2, "b", "01", chain=1)]
    assert [each.chain for each in decide(rule(all_of("a", "b")), [], new, NOW).runs] == [5]


def with_clock(ago: timedelta, valid_for: timedelta | None = None) -> TriggerDecision:
    """Return the decision on two updates, the first of which was recorded by a clock that is wrong by so much."""
    return decide(
        rule(all_of("a", "b"), valid_for=valid_for), [], [update(1, "a", "01", ago=ago), update(2, "b", "01")], NOW
    )


@pytest.mark.parametrize("wrong", [TEN_MINUTES, -TEN_MINUTES])
def test_a_clock_that_is_10_minutes_wrong_changes_no_run_without_valid_for(wrong: timedelta) -> None:
    decision = with_clock(wrong)
    assert (runs(decision), decision.clock_skew) == (runs(with_clock(timedelta())), timedelta())


def test_a_clock_that_is_10_minutes_wrong_affects_valid_for_and_the_decision_says_so() -> None:
    ahead = with_clock(-TEN_MINUTES, valid_for=HOUR)
    assert (runs(ahead), ahead.clock_skew) == ([("01", [1, 2])], TEN_MINUTES)
    late = [update(1, "a", "01"), update(2, "b", "01", ago=TEN_MINUTES)]
    behind = decide(rule(all_of("a", "b"), valid_for=timedelta(minutes=5)), [], late, NOW)
    assert (dropped(behind), behind.clock_skew) == ([(2, "", "expired")], TEN_MINUTES)


def test_clocks_that_differ_by_seconds_are_not_reported() -> None:
    assert with_clock(timedelta(seconds=-40), valid_for=HOUR).clock_skew == timedelta()


def test_an_event_that_began_early_and_committed_late_is_still_seen() -> None:
    """Its number is of its commit, its time of its beginning: what was decided in between does not hide it."""
    first = decide(rule(all_of("a", "b")), [], [update(1, "a", "01", ago=TEN_MINUTES)], NOW)
    late = [update(2, "b", "01", ago=HOUR)]
    assert runs(decide(rule(all_of("a", "b")), first.pending, late, NOW)) == [("01", [1, 2])]
