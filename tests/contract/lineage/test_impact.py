"""Impact of bad data: what was made from it, what is still there, and commands that make it again in a right order."""

from __future__ import annotations

import pytest

from tests.contract.lineage.histories import History, named
from tests.contract.lineage.test_instance_lineage import NO_PROCESS
from toolkit.ledger.vocabulary import EventKind
from toolkit.lineage.impact import Impact, commands_of, impact
from toolkit.lineage.instance_lineage import InstanceId

pytestmark = pytest.mark.both_databases

A, B, C, D = map(named, "abcd")


def of(history: History, start: InstanceId) -> Impact:
    return history.ledger.read(lambda tx: impact(tx, NO_PROCESS, start))


def backfill(process: str, key: str) -> tuple[str, ...]:
    return ("feedctl", "backfill", process, "--start", key, "--cluster", "primary", "--only", "all", "--force")


def test_all_that_was_made_from_an_instance_is_made_again_in_order(history: History) -> None:
    first = history.work("p", 0, [A], [B])
    second = history.work("q", 0, [B], [C])
    history.work("r", 0, [D], [named("d", 1)])
    found = of(history, A)
    assert [(each.instance, each.state, each.runs) for each in found.affected] == [
        (B, "available", (f"run:{first}",)),
        (C, "available", (f"run:{second}",)),
    ]
    assert found.commands == [backfill("p", A.key), backfill("q", A.key)]


def test_what_is_evicted_is_only_made_again_for_what_is_made_from_it(history: History) -> None:
    history.work("p", 0, [A], [B])
    history.work("q", 0, [B], [C])
    history.work("r", 0, [A], [D])
    history.report(EventKind.EVICTED, B)
    history.report(EventKind.EVICTED, D)
    found = of(history, A)
    assert {each.instance for each in found.affected if each.is_there} == {C}
    assert found.commands == [backfill("p", A.key), backfill("q", A.key)]


def test_an_instance_that_was_made_anew_from_other_data_is_not_made_again(history: History) -> None:
    history.work("p", 0, [A], [B])
    history.work("p", 0, [D], [B])
    (found,) = of(history, A).affected
    assert (found.instance, found.state, found.is_there) == (B, "superseded", False)
    assert of(history, A).commands == []


def test_a_process_that_ran_twice_is_run_once_again(history: History) -> None:
    history.work("p", 0, [A], [B])
    history.work("p", 0, [A], [B])
    history.work("q", 1, [B], [C])
    assert of(history, A).commands == [backfill("p", A.key), backfill("q", named("a", 1).key)]


def test_a_process_that_later_read_more_is_run_before_those_that_read_its_older_version(history: History) -> None:
    first, third = named("a", 1), named("a", 2)
    history.work("p", 0, [A], [B])
    history.work("q", 1, [B], [C])
    history.work("r", 2, [A], [D])
    history.work("r", 3, [D], [third])
    history.work("p", 0, [A, third], [B])
    assert of(history, A).commands == [
        backfill("r", third.key),
        backfill("r", named("a", 3).key),
        backfill("p", A.key),
        backfill("q", first.key),
    ]


def test_commands_of_several_bad_instances_are_in_one_order(history: History) -> None:
    history.work("p", 0, [A], [B])
    history.work("q", 1, [B, D], [C])
    found = [of(history, D), of(history, A)]
    assert [each.commands for each in found] == [
        [backfill("q", named("a", 1).key)],
        [backfill("p", A.key), backfill("q", named("a", 1).key)],
    ]
    assert commands_of(found) == found[1].commands


def test_processes_that_have_read_from_each_other_are_each_run_once(history: History) -> None:
    history.work("p", 0, [A], [B])
    history.work("q", 1, [B], [C])
    history.work("p", 0, [C], [B])
    assert set(of(history, A).commands) == {backfill("p", A.key), backfill("q", named("a", 1).key)}
