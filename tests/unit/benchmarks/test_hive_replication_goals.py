from __future__ import annotations

from argparse import Namespace

from benchmarks.bench_hive_replication import shapes, table, verdicts
from benchmarks.hive_replication.race import CONTESTANTS, OUR_CALL, OURS, PEER, Figures, Run

((MANY, TWICE), (LARGE, AS_FAST)) = shapes(Namespace(many=2000, large=20))


def figures(whole: float, *, is_over: bool = False) -> Figures:
    return Figures(runs=[Run(whole=whole, inside=whole / 2, processor=None, is_over=is_over)])


def test_all_partitions_that_were_asked_for_are_made() -> None:
    assert (MANY.partitions, MANY.bytes, LARGE.partitions, LARGE.bytes) == (2000, 200_000_000, 20, 2_000_000_000)
    assert len(set(MANY.names())) == 2000


def test_many_partitions_have_to_be_twice_as_fast_and_large_ones_as_fast() -> None:
    found = {OURS: figures(10), OUR_CALL: figures(4), PEER: figures(12)}
    assert [(each.found, each.is_met) for each in verdicts(MANY, TWICE, found, CONTESTANTS)] == [
        (1.2, False),
        (3, True),
    ]
    assert [each.is_met for each in verdicts(LARGE, AS_FAST, found, CONTESTANTS)] == [True, True]


def test_who_has_no_figure_reaches_no_goal_and_who_was_not_asked_has_none() -> None:
    found = {PEER: figures(12)}
    assert [each.is_met for each in verdicts(LARGE, AS_FAST, found, CONTESTANTS)] == [False, False]
    assert len(list(verdicts(LARGE, AS_FAST, found, (OURS, PEER)))) == 1


def test_a_peer_that_was_ended_is_marked() -> None:
    found = {OURS: figures(10), PEER: figures(900, is_over=True)}
    (verdict,) = verdicts(MANY, TWICE, found, (OURS, PEER))
    assert str(verdict).endswith(f"at least 90.00 times as fast as {PEER} (goal: 2)")
    assert "200.0 partitions/s" in next(iter(table(MANY, found)))
    assert "ENDED" in list(table(MANY, found))[-1]
