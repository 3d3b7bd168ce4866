"""Explanations of triggers: what is missing, and why a run is not created (the rest is in `tests/golden`)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from tests.unit.planning.triggers.examples import NOW, all_of, entry, rule, update
from toolkit.entities.trigger_vocabulary import Coalesce, GroupBy
from toolkit.planning.trigger_explain import ConsumedUpdate, TriggerFacts, explain_trigger, explained_keys
from toolkit.planning.triggers import Dropped, Ignored, Pending

BOTH = rule(all_of("a", "b"))
UNREAD = TriggerFacts(unread=[update(1, "a", "01"), update(2, "b", "01"), update(3, "a", "02")])


def states(facts: TriggerFacts, day: str = "01") -> dict[str, list[tuple[int, str]]]:
    explained = explain_trigger(BOTH, facts, NOW, day)
    return {
        each.name: [(one.update.sequence, one.state) for one in (*each.counting, *each.ignored)]
        for each in explained.entries
    }


def test_instances_that_updates_wait_for_are_explained_else_the_one_that_ran_last() -> None:
    assert explained_keys(BOTH, UNREAD, NOW) == ["01", "02"]
    used = TriggerFacts(consumed=[ConsumedUpdate(update=update(1, "a", "07"), run_id=4, process_key="07")])
    assert explained_keys(BOTH, used, NOW) == ["07"]
    assert explained_keys(BOTH, TriggerFacts(), NOW) == []
    assert explained_keys(replace(BOTH, by=GroupBy.ANY_UPDATE), TriggerFacts(), NOW) == [""]


def test_an_instance_is_due_by_what_no_pass_has_read() -> None:
    assert explain_trigger(BOTH, UNREAD, NOW, "01").is_due
    missing = explain_trigger(BOTH, UNREAD, NOW, "02")
    assert not missing.is_due
    assert [each.is_satisfied for each in missing.entries] == [True, False]


def test_updates_of_other_instances_are_left_out() -> None:
    assert states(UNREAD) == {"a": [(1, "counts")], "b": [(2, "counts")]}
    assert states(UNREAD, "02") == {"a": [(3, "counts")], "b": []}


def test_each_ignored_update_has_its_reason() -> None:
    facts = TriggerFacts(
        dropped=[
            Dropped(pending=Pending(update=update(1, "a", "01"), process_key="01"), reason=Ignored.COALESCED),
            Dropped(pending=Pending(update=update(2, "a", "02"), process_key="02"), reason=Ignored.COALESCED),
            Dropped(pending=Pending(update=update(3, "a", "01")), reason=Ignored.PAUSED),
            Dropped(pending=Pending(update=update(4, "b")), reason=Ignored.WITHOUT_KEY),
        ],
        before_start=[update(5, "b", "01"), update(6, "b", "02")],
        unread=[update(7, "b", "01", kind="updated")],
    )
    assert states(facts) == {
        "a": [(1, "coalesced"), (3, "paused")],
        "b": [(4, "without_key"), (5, "before_start"), (7, "other_kind")],
    }


def test_a_run_of_a_range_has_consumed_the_updates_of_its_older_instances() -> None:
    ranges = replace(BOTH, coalesce=Coalesce.RANGE)
    used = [ConsumedUpdate(update=update(1, "a", "01"), run_id=4, process_key="02")]
    assert explain_trigger(ranges, TriggerFacts(consumed=used), NOW, "01").runs == (4,)
    assert explain_trigger(BOTH, TriggerFacts(consumed=used), NOW, "01").runs == ()


def test_an_older_instance_of_a_range_is_due_with_it() -> None:
    one = rule(all_of("a"), coalesce=Coalesce.RANGE)
    facts = TriggerFacts(unread=[update(1, "a", "01"), update(2, "a", "02"), update(3, "a", "05")])
    assert [explain_trigger(one, facts, NOW, day).is_due for day in ("01", "02", "03", "05")] == [
        True,
        True,
        False,
        True,
    ]


def test_obstacles_besides_the_data_are_named() -> None:
    waits = replace(BOTH, may_run=lambda _: False)
    facts = replace(UNREAD, is_new=True, is_paused=True, open_runs={"01": 7})
    assert explain_trigger(waits, facts, NOW, "01").obstacles == (
        "waits for the first pass of trigger.py: no pass has read its events so far",
        "waits for `feedctl entity resume`: the process is suspended",
        "waits for the time of the instance (`schedule: and`)",
    )
    open_run = replace(UNREAD, open_runs={"01": 7}, slots=0)
    assert explain_trigger(BOTH, open_run, NOW, "01").obstacles == (
        "waits for the end of run 7, which is of the same instance",
        "waits for a slot: as many runs are ready or running as `max_queued` allows",
    )
    assert explain_trigger(BOTH, open_run, NOW, "02").obstacles == ()


def test_what_waits_expires_in_the_explanation_too() -> None:
    old = Pending(update=update(1, "a", "01", ago=timedelta(hours=2)), process_key="01")
    explained = explain_trigger(rule(all_of("a"), valid_for=timedelta(hours=1)), TriggerFacts(pending=[old]), NOW, "01")
    assert [each.state for each in explained.entries[0].ignored] == ["expired"]


def test_the_condition_is_shown_in_words() -> None:
    nested = all_of(entry("a", min_count=2), all_of("b", "c"))
    assert explain_trigger(rule(nested), TriggerFacts(), NOW, "01").condition == "all of (2 of a, all of (b, c))"
