"""Runs of a mirror: equal trees, kills at every call, refusals, and retention."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings

from tests.unit.mirror.memory_hdfs import MemorySnapshots
from tests.unit.mirror.random_changes import Draw, change, draws
from tests.unit.mirror.site import FULL, RULES, SOURCE, TARGET, Site, killed_at
from toolkit.errors import StopRequested
from toolkit.mirror.apply import removable
from toolkit.mirror.changes import MirrorStep
from toolkit.mirror.model import KeptSnapshots, MirrorTargetChanged, MirrorWork
from toolkit.mirror.tree_planner import MirrorSourceEmpty
from toolkit.storage.snapshots import DirectorySnapshot
from toolkit.transfer.trees import below

_THEN = datetime(2026, 1, 1, tzinfo=UTC)


@given(draws, draws, draws)
@settings(max_examples=60)
def test_after_each_run_both_sides_are_equal(first: list[Draw], second: list[Draw], third: list[Draw]) -> None:
    site = Site()
    for hour, drawn in enumerate((first, second, third)):
        change(site.one, SOURCE, drawn)
        site.mirror(hour)
    assert site.names()[0] == site.names()[1][1:]  # the first run keeps what the target was before


def _filled() -> Site:
    site = Site()
    for name in ("a/f", "b/g", "b/deep/h", "gone/x", "stays"):
        site.one.mkdirs(below(SOURCE, name).parent)
        site.one.write(below(SOURCE, name), [name.encode()])
    return site


def _change(site: Site) -> None:
    one = site.one
    for origin, place in (("a", "t"), ("b", "a"), ("t", "b"), ("a/deep", "b/deep")):
        one.rename(below(SOURCE, origin), below(SOURCE, place))
    one.delete(below(SOURCE, "gone"), below=SOURCE)
    one.append(below(SOURCE, "b/f"), b"more")
    one.mkdirs(below(SOURCE, "new/inner"))
    one.rename(below(SOURCE, "b/deep/h"), below(SOURCE, "new/inner/h"))
    one.write(below(SOURCE, "new/fresh"), [b"fresh"])
    one.set_permission(below(SOURCE, "stays"), 0o600)


def _calls(site: Site, hour: int) -> int:
    """Return the number of changes that a run makes at the target."""
    calls: list[str] = []
    site.two.before_effect = calls.append
    site.mirror(hour)
    return len(calls)


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("is_answered", [True, False])
def test_a_run_that_was_killed_at_any_call_is_finished_by_the_next(*, is_first: bool, is_answered: bool) -> None:
    def site() -> Site:
        made = _filled()
        if not is_first:
            made.mirror(0)
            _change(made)
        return made

    for number in range(_calls(site(), 1)):
        again = site()
        before = again.two.tree(TARGET)
        hook = killed_at(number)
        if is_answered:
            again.two.before_effect = hook
        else:
            again.two.after_effect = hook
        with pytest.raises(StopRequested):
            again.mirror(1)
        again.two.before_effect = again.two.after_effect = lambda _: None
        if not is_first:  # a reader of the last snapshot sees nothing of it
            assert again.two.tree(TARGET.child(".snapshot").child(again.name(0))) == before
        again.one.write(below(SOURCE, "later"), [b"later"])
        again.mirror(2)
        assert not any(name.endswith("arranged") for name in again.names()[1])


def test_mirrors_of_one_name_in_two_repos_use_and_prune_nothing_of_each_other() -> None:
    site = _filled()
    site.mirror(0)
    other = Site(rules=replace(RULES, owner="web.prod"), one=site.one)
    other.mirror(0)
    assert other.name(0) == "feedctl.web.prod.sales.2026-03-01T0000Z"
    kept = KeptSnapshots(older_than=datetime(9999, 1, 1, tzinfo=UTC), number=0)
    for hour in (1, 2):
        site.one.append(below(SOURCE, "stays"), b"more")
        other.mirror(hour)
        assert other.run.prune(kept, kept)
    assert site.name(0) in {each.name for each in MemorySnapshots(site.one).list(SOURCE)}
    site.mirror(3)
    rival = Site(rules=replace(RULES, owner="web.dev"), one=site.one, two=site.two)
    problem = rival.planner.state(rival.name(4)).problem
    assert problem is not None
    assert problem.code == "no_common_snapshot"


@pytest.mark.parametrize("is_first", [True, False])
def test_a_run_that_may_not_publish_leaves_the_target_and_the_next_one_copies_nothing_again(*, is_first: bool) -> None:
    site = _filled()
    if not is_first:
        site.mirror(0)
        _change(site)
    before = site.two.tree(TARGET)

    def refuse() -> None:
        message = "held"
        raise StopRequested(message)

    with pytest.raises(StopRequested, match="held"):
        replace(site.run, before_publication=refuse).run(site.name(1))
    assert site.two.tree(TARGET) == before
    read = site.one.read_bytes
    site.mirror(1)
    assert (site.one.read_bytes, site.two.tree(TARGET)) == (read, site.one.tree(SOURCE))
    with pytest.raises(StopRequested, match="held"):  # a snapshot of a target without changes is one, too
        replace(site.run, before_publication=refuse).run(site.name(2))
    assert site.names()[1][-1] == site.name(1)[-8:]


def test_a_renamed_directory_is_mirrored_without_reading_a_byte() -> None:
    site = _filled()
    site.mirror(0)
    site.one.rename(below(SOURCE, "b"), below(SOURCE, "renamed"))
    site.one.set_permission(below(SOURCE, "stays"), 0o640)
    before = site.one.read_bytes
    site.mirror(1)
    assert site.one.read_bytes == before


def test_a_run_without_changes_only_makes_snapshots() -> None:
    site = _filled()
    site.mirror(0)
    assert _calls(site, 1) == 1


def test_a_snapshot_that_the_target_has_is_not_mirrored_again() -> None:
    site = _filled()
    site.mirror(1)
    for hour in (1, 0):
        assert site.planner.state(site.name(hour)).work is MirrorWork.NOTHING


def test_a_dry_run_plans_against_the_present_source_and_makes_nothing() -> None:
    site = _filled()
    site.mirror(0)
    _change(site)
    planner = site.planner
    plan = planner.plan(planner.state(site.name(1)), live=True)
    assert sum(each.step is MirrorStep.MOVE for each in plan.operations) == 4
    assert len(plan.removed) == 1
    assert plan.bytes == len(b"a/fmore") + len(b"fresh")
    assert len(site.names()[0]) == 1


def test_a_changed_target_is_refused_with_what_to_do() -> None:
    site = _filled()
    site.mirror(0)
    site.two.write(below(TARGET, "theirs"), [b"x"])
    problem = site.planner.state(site.name(1)).problem
    assert problem is not None
    assert problem.code == "mirror_target_changed"
    assert "'theirs'" in problem.message
    assert "on_missing: full" in problem.message


def test_a_target_with_data_and_without_a_common_snapshot_is_refused_unless_a_full_compare_is_allowed() -> None:
    site = _filled()
    site.two.write(below(TARGET, "theirs"), [b"x"])
    problem = site.planner.state(site.name(1)).problem
    assert problem is not None
    assert problem.code == "no_common_snapshot"
    site.rules = FULL
    site.mirror(1)
    kept = TARGET.child(".snapshot").child(FULL.before(site.name(1))).child("theirs")
    assert site.two.find(kept).content == b"x"


def test_a_directory_without_snapshots_is_refused_with_the_administrators_command() -> None:
    site = _filled()
    site.two.taken.clear()
    problem = site.planner.state(site.name(1)).problem
    assert problem is not None
    assert problem.code == "not_snapshottable"
    assert "hdfs dfsadmin -allowSnapshot /dst/data" in problem.message


def test_a_change_by_others_during_a_run_is_found_and_the_run_is_finished_without_it() -> None:
    site = _filled()
    site.mirror(0)
    _change(site)
    theirs = below(TARGET, "theirs")

    def interfere(what: str) -> None:
        if what.endswith("/moved"):
            site.two.before_effect = lambda _: None
            site.two.write(theirs, [b"x"])

    site.two.before_effect = interfere
    with pytest.raises(MirrorTargetChanged, match="theirs"):
        site.mirror(1)
    site.two.delete(theirs, below=TARGET)
    site.mirror(1)


def test_a_snapshot_that_was_deleted_before_anything_was_renamed_is_forgotten() -> None:
    site = _filled()
    site.mirror(0)
    _change(site)
    site.two.before_effect = killed_at(4)
    with pytest.raises(StopRequested):
        site.mirror(1)
    site.two.before_effect = lambda _: None
    MemorySnapshots(site.one).delete(SOURCE, site.name(1))
    site.mirror(2)


def test_a_snapshot_of_a_later_name_that_was_made_too_early_is_made_anew() -> None:
    site = _filled()
    site.mirror(0)
    MemorySnapshots(site.one).create(SOURCE, site.name(2))
    site.one.write(below(SOURCE, "between"), [b"x"])
    site.mirror(1)
    site.one.write(below(SOURCE, "later"), [b"x"])
    site.mirror(2)


@pytest.mark.parametrize(("number", "days", "gone"), [(0, 0, [0, 1]), (3, 0, [0]), (0, 3, [0]), (9, 0, []), (0, 9, [])])
def test_a_snapshot_goes_if_it_is_old_and_beyond_the_newest_and_not_the_common_one(
    number: int, days: int, gone: list[int]
) -> None:
    names = [RULES.snapshot(f"2026-03-0{day + 1}T00:00Z") for day in range(4)]
    own = [DirectorySnapshot(name, day + 1, _THEN + timedelta(days=day)) for day, name in enumerate(names)]
    foreign = [DirectorySnapshot("nightly", 0, _THEN), DirectorySnapshot("feedctl.sales2.2026-03-01T0000Z", 0, _THEN)]
    unfinished = [DirectorySnapshot(f"{own[0].name}.arranged", 1, _THEN)]
    kept = KeptSnapshots(older_than=_THEN + timedelta(days=3 - days, hours=1), number=number)
    found = removable([*foreign, *unfinished, *own], RULES, kept, [own[2].name])
    assert found == [own[day].name for day in gone]


def test_both_sides_are_pruned_by_their_own_rules() -> None:
    site = _filled()
    for hour in range(4):
        site.mirror(hour)
    later = _THEN + timedelta(days=365)
    site.run.prune(KeptSnapshots(older_than=later, number=1), KeptSnapshots(older_than=later, number=3))
    assert [len(names) for names in site.names()] == [1, 3]
    site.one.write(below(SOURCE, "later"), [b"x"])
    site.mirror(5)


def test_what_changed_gets_its_time() -> None:
    site = Site()
    site.one.write(below(SOURCE, "old"), [b"old"])
    for name in ("a/in", "b"):
        site.one.mkdirs(below(SOURCE, name))
    site.mirror(0)
    site.one.write(below(SOURCE, "a/in/f"), [b"f"])
    site.one.rename(below(SOURCE, "b"), below(SOURCE, "a/b"))
    site.mirror(1)
    site.one.set_modified(below(SOURCE, "old"), datetime(2025, 1, 1, tzinfo=UTC))
    site.one.set_permission(below(SOURCE, "old"), 0o600)
    site.mirror(2)
    for name in ("a", "a/in", "old"):
        assert site.two.status(below(TARGET, name)).modified == site.one.status(below(SOURCE, name)).modified


def test_a_full_compare_never_empties_the_target_for_an_empty_source() -> None:
    site = _filled()
    site.mirror(0)
    site.one.taken.clear()
    site.one.delete(SOURCE, below=SOURCE.parent)
    site.one.mkdirs(SOURCE)
    MemorySnapshots(site.one).allow(SOURCE)
    site.rules = FULL
    before = site.two.tree(TARGET)
    with pytest.raises(MirrorSourceEmpty, match="it has no file"):
        site.run.run(site.name(1))
    assert site.two.tree(TARGET) == before
