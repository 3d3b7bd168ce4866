from __future__ import annotations

import pytest

from benchmarks.bench_replication import LARGE, SMALL
from benchmarks.replication.contestants import BARE, DISTCP_NAME, DISTCP_TUNED, OUR_CALL, OURS, OURS_PLAIN, Stage
from benchmarks.replication.goals import table, verdicts
from benchmarks.replication.race import Figures
from benchmarks.timing import Took, TooLong, timed


def figures(*seconds: float) -> Figures:
    return Figures(runs=[Took(whole=each, inside=each / 2) for each in seconds])


def test_small_files_have_to_be_five_times_as_fast_and_medians_count() -> None:
    found = {
        (Stage.ALL, OURS): figures(1, 2, 100),
        (Stage.ALL, OUR_CALL): figures(4),
        (Stage.ALL, DISTCP_NAME): figures(9, 10, 11),
    }
    whole, _, call = verdicts(SMALL, found)
    assert (whole.found, whole.is_met) == (5, True)
    assert (call.found, call.is_met) == (2.5, False)


def test_small_files_have_goals_against_the_tuned_peer_and_the_bare_loop_too() -> None:
    found = {
        (Stage.ALL, OURS_PLAIN): figures(2),
        (Stage.ALL, DISTCP_TUNED): figures(10),
        (Stage.ALL, BARE): figures(1),
    }
    plain = [each for each in verdicts(SMALL, found) if "by python" in each.what]
    assert [(each.peer, each.found, each.wanted) for each in plain] == [(DISTCP_TUNED, 5, 5), (BARE, 0.5, 0.8)]


def test_nothing_to_do_by_the_ledger_is_measured_against_a_peer_that_lists_both_sides() -> None:
    found = {(Stage.NOTHING, OURS): figures(1), (Stage.LISTED, DISTCP_NAME): figures(4)}
    by_ledger = next(each for each in verdicts(LARGE, found) if "by the ledger, whole" in each.what)
    assert (by_ledger.found, by_ledger.is_met) == (4, True)


def test_a_figure_that_is_void_reaches_no_goal() -> None:
    found = {(Stage.ALL, DISTCP_NAME): figures(4)}
    assert [each.is_met for each in verdicts(LARGE, found)] == [False, False, False]


def test_the_table_has_a_line_for_each_with_ratios_to_ours() -> None:
    found = {(Stage.ALL, OURS): figures(2), (Stage.ALL, DISTCP_NAME): figures(5)}
    lines = list(table(found))
    assert lines[0].strip() == Stage.ALL
    assert "2.50x" in lines[2]


def test_a_peer_that_was_ended_counts_with_the_seconds_that_were_seen_and_is_marked() -> None:
    ended = Figures(runs=[Took(whole=300, inside=290, is_over=True)])
    found = {(Stage.ALL, OURS): figures(30), (Stage.ALL, OUR_CALL): figures(20), (Stage.ALL, DISTCP_NAME): ended}
    whole, _, call = verdicts(SMALL, found)
    assert str(whole).endswith("at least 10.00 times as fast as DistCp (goal: 5)")
    assert (call.found, call.is_least) == (29, True)
    assert "ENDED" in list(table(found))[-1]


def test_who_takes_too_long_is_ended() -> None:
    with pytest.raises(TooLong):
        timed(["sleep", "30"], {}, longest=0.1)
