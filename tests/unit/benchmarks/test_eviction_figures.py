from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.eviction.contestants import (
    BARE,
    FALCON_NAME,
    FALCON_QUICK,
    FLOOR,
    GOBBLIN_NAME,
    OUR_CALL,
    OURS,
    OURS_QUICK,
)
from benchmarks.eviction.figures import Figures, Run, table
from benchmarks.eviction.goals import Measure, Verdict, verdicts
from benchmarks.eviction.trees import Layout, Tree
from benchmarks.timing import Took

pytestmark = pytest.mark.extended

NAMES = {OURS: (2.0, None), OUR_CALL: (1.2, 0.5), FALCON_NAME: (9.0, 8.0), GOBBLIN_NAME: (7.0, 2.0)}
LOOPS = {BARE: (4.0, 2.0), FLOOR: (1.5, 0.1)}


def figures(our_call: float = 0.5) -> dict[str, Figures]:
    known = {**NAMES, **LOOPS, OUR_CALL: (1.2, our_call)}
    return {name: Figures(runs=(run(whole, inside),)) for name, (whole, inside) in known.items()}


def run(whole: float, inside: float | None, left: int = 0) -> Run:
    return Run(took=Took(whole=whole, inside=inside), calls=Counter(Delete=3, GetListing=20), left=left)


def found(instances: int, our_call: float = 0.5, layout: Layout = Layout.TREE) -> dict[tuple[Measure, str], Verdict]:
    tree = Tree(layout=layout, instances=instances, expired=instances // 10)
    return {(each.measure, each.goal): each for each in verdicts(tree, figures(our_call))}


def test_peers_have_to_be_beaten_five_times_at_a_hundred_thousand_and_twenty_times_at_a_million() -> None:
    of_falcon, of_gobblin = ((Measure.CALL, f"times as fast as {peer}") for peer in (FALCON_NAME, GOBBLIN_NAME))
    many = found(100_000)
    assert (many[of_falcon].found, many[of_falcon].is_met) == (16.0, True)
    assert (many[of_gobblin].found, many[of_gobblin].is_met) == (4.0, False)
    assert (many[of_falcon].wanted, found(1_000_000)[of_falcon].wanted) == (5.0, 20.0)
    assert not found(1_000_000)[of_falcon].is_met
    assert of_falcon not in found(10_000)


def test_the_whole_process_is_compared_with_whole_processes() -> None:
    assert found(100_000)[Measure.WHOLE, f"times as fast as {FALCON_NAME}"].found == 4.5


def test_options_of_java_count_where_the_peer_has_them_too() -> None:
    tree = Tree(layout=Layout.TREE, instances=100_000, expired=10_000)
    quick = {OURS_QUICK: Figures(runs=(run(1.0, None),)), FALCON_QUICK: Figures(runs=(run(6.0, 5.0),))}
    reported = {(each.measure, each.goal): each.found for each in verdicts(tree, {**figures(), **quick})}
    assert reported[Measure.QUICK, f"times as fast as {FALCON_NAME}"] == 6.0
    assert (Measure.QUICK, f"times as fast as {GOBBLIN_NAME}") not in reported


def test_the_bare_loop_may_take_half_as_long_and_no_less() -> None:
    loop = (Measure.CALL, "times the seconds of the bare loop")
    assert found(10_000, 4.0)[loop].is_met
    assert not found(10_000, 4.1)[loop].is_met


def test_only_a_tree_has_a_floor_that_has_to_be_nearer() -> None:
    floor = (Measure.CALL, "seconds, nearer to the floor than to the bare loop:")
    assert found(10_000)[floor].is_met
    assert not found(10_000, 1.06)[floor].is_met
    assert floor not in found(10_000, layout=Layout.FLAT)


def test_without_our_figures_nothing_is_met_or_missed() -> None:
    tree = Tree(layout=Layout.TREE, instances=100_000, expired=10_000)
    assert list(verdicts(tree, {BARE: Figures(runs=(run(1.0, 1.0),))})) == []


def test_the_table_shows_medians_the_least_ratios_to_ours_and_what_the_namenode_was_asked() -> None:
    of_falcon = Figures(runs=(run(9.0, 8.0), run(7.0, 6.0), run(12.0, 5.0, left=4)))
    measured = {OURS: figures()[OURS], OUR_CALL: figures()[OUR_CALL], FALCON_NAME: of_falcon}
    _, ours, _, falcon = table(measured, OURS, OUR_CALL)
    assert "2.00 s (  2.00)   1.00x" in ours
    assert "9.00 s (  7.00)   4.50x" in falcon
    assert "6.00 s (  5.00)  12.00x  3 Delete, 20 GetListing; leaves 4 empty directories" in falcon


def test_a_void_figure_says_why() -> None:
    lines = list(table({**figures(), FALCON_NAME: Figures(runs=(), void="deleted too much")}, OURS, OUR_CALL))
    assert [line.split(maxsplit=1)[1] for line in lines if FALCON_NAME in line] == ["NO FIGURE: deleted too much"]


def test_a_run_of_ours_that_evicts_anything_else_is_a_goal_that_is_missed() -> None:
    tree = Tree(layout=Layout.FLAT, instances=10_000, expired=1_000)
    measured = {**figures(), OUR_CALL: Figures(runs=(), void="deleted too much")}
    assert [each.measure for each in verdicts(tree, measured) if not each.is_met] == [Measure.CALL]
