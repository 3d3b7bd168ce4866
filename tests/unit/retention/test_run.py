"""A retention run over a file system in memory: what goes, what stays, and what the result says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.retention.feeds import FeedText, cluster, days, gone, run
from tests.unit.retention.memory import MemoryFileSystem
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import FeedMaxDelete, Hold
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.result import ExitCode, Outcome, Status
from toolkit.retention import RetentionResolver
from toolkit.retention.resolve import UndatedData
from toolkit.storage import Entry, Unreachable


def _system(*paths: str) -> MemoryFileSystem:
    system = MemoryFileSystem()
    system.put(*paths)
    return system


def test_old_instances_go_and_young_ones_stay() -> None:
    system = _system(*days(1, 9, 10, 11, 20))
    result = run(system, FeedText())
    assert gone(result) == [f"/data/clicks/2026/03/{day}" for day in ("01", "09", "10")]
    assert sorted(system.files) == days(11, 20)
    assert (result.status, result.exit_code) == (Status.SUCCEEDED, ExitCode.DONE)


def test_a_second_run_finds_nothing_to_do() -> None:
    system = _system(*days(1, 20))
    run(system, FeedText())
    before = system.tree()
    again = run(system, FeedText())
    assert ([*again.items], again.status) == ([], Status.SUCCEEDED)
    assert system.tree() == before


def test_a_dry_run_shows_exactly_what_a_run_does_and_does_nothing() -> None:
    system = _system(*days(1, 2, 20), "/data/clicks/2025/12/31/part")
    before = system.tree()
    planned = run(system, FeedText(), dry_run=True)
    assert (system.tree(), system.effects) == (before, [])
    done = run(system, FeedText())
    assert [each.item for each in planned.items] == [each.item for each in done.items]
    assert planned.digest == done.digest
    assert {each.outcome for each in planned.items} == {Outcome.PLANNED}


def test_emptied_parents_go_up_to_the_base_and_not_the_base() -> None:
    system = _system(*days(1, month="2026/02"), *days(1, 2, month="2026/01"))
    run(system, FeedText())
    assert system.tree() == ["/data", "/data/clicks"]
    assert [each for each in system.effects if each.startswith("remove")] == [
        "remove_if_empty /data/clicks/2026/01",
        "remove_if_empty /data/clicks/2026/02",
        "remove_if_empty /data/clicks/2026",
    ]


def test_a_parent_that_holds_something_else_stays() -> None:
    system = _system(*days(1), "/data/clicks/2026/03/README")
    result = run(system, FeedText())
    assert "/data/clicks/2026/03/README" in system.files
    assert result.targets[0].plan.detail.unrecognized.count == 1
    ((path, why),) = result.targets[0].plan.detail.unrecognized.sample
    assert path == "file:///data/clicks/2026/03/README"
    assert "expected '${DAY}'" in why


@pytest.mark.parametrize("template", ["/lone/feed-${YEAR}-${MONTH}-${DAY}", "/lone/${YEAR}-${MONTH}-${DAY}"])
def test_the_directory_before_the_first_variable_is_never_removed(template: str) -> None:
    name = template.rpartition("/")[2].replace("${YEAR}-${MONTH}-${DAY}", "2026-01-01")
    system = _system(f"/lone/{name}")  # a single file is an instance too
    run(system, FeedText(data=template))
    assert system.tree() == ["/lone"]


def test_only_dates_that_can_hold_something_old_are_listed() -> None:
    system = _system(*days(1, 15, 20), *days(1, month="2026/04"), *days(1, month="2027/01"), *days(3, month="2025/07"))
    run(system, FeedText(), dry_run=True)
    assert system.listed == [
        "/data/clicks",
        "/data/clicks/2025",
        "/data/clicks/2025/07",
        "/data/clicks/2026",
        "/data/clicks/2026/03",
    ]


def test_a_literal_name_is_stepped_into_without_a_listing() -> None:
    system = _system("/data/2026-01-01/clicks/raw/05/part", "/data/2026-01-01/views/raw/05/part")
    result = run(system, FeedText(data="/data/${YEAR}-${MONTH}-${DAY}/clicks/raw/${HOUR}"))
    assert gone(result) == ["/data/2026-01-01/clicks/raw/05"]
    assert system.listed == ["/data", "/data/2026-01-01/clicks/raw"]
    assert "/data/2026-01-01/views/raw/05/part" in system.files
    assert "/data/2026-01-01/clicks" not in system.directories


def test_links_are_neither_followed_nor_removed_and_are_named() -> None:
    system = _system(*days(2))
    system.links |= {"/data/clicks/2025", "/data/clicks/2026/03/01"}
    result = run(system, FeedText())
    assert gone(result) == ["/data/clicks/2026/03/02"]
    assert result.targets[0].plan.detail.unrecognized.sample == (
        ("file:///data/clicks/2025", "is a symbolic link"),
        ("file:///data/clicks/2026/03/01", "is a symbolic link"),
    )


def test_names_that_never_conform_are_counted_with_a_sample() -> None:
    system = _system(*(f"/data/clicks/junk-{number:02d}" for number in range(25)), "/data/clicks/2026/13/01/part")
    unrecognized = run(system, FeedText()).targets[0].plan.detail.unrecognized
    assert (unrecognized.count, len(unrecognized.sample)) == (26, 10)


def test_the_sample_says_why_a_name_does_not_conform() -> None:
    system = _system(*days(30, month="2026/02"), "/data/clicks/0000/x", "/data/clicks/2026/03", "/data/clicks/2026/1/x")
    sample = run(system, FeedText()).targets[0].plan.detail.unrecognized.sample
    assert [why for _, why in sample] == [
        "'0000' names a date that does not exist in UTC",
        "'2026/02/30' names a date that does not exist in UTC",
        "has 4 names, the template has 5",
        "name 4 is '1', expected '${MONTH}' (MONTH 01 to 12)",
    ]


def test_stats_meta_and_tmp_go_by_their_own_templates_and_undated_ones_stay() -> None:
    system = _system(*days(1), "/stats/2026-03/sum", "/stats/2026-01/sum", "/meta/schema", "/tmp/2026/work")
    others = {"stats": "/stats/${YEAR}-${MONTH}", "meta": "/meta", "tmp": "/tmp/${YEAR}"}
    result = run(system, FeedText(others=others))
    assert gone(result) == ["/data/clicks/2026/03/01", "/stats/2026-01"]
    assert result.targets[0].plan.notes == ("meta: /meta has no dates and stays",)


def test_undated_data_with_retention_is_an_invalid_entity() -> None:
    with pytest.raises(UndatedData, match="has no date fields"):
        run(_system("/data/clicks/x"), FeedText(data="/data/clicks"))


def test_bound_variables_touch_only_their_own_value() -> None:
    system = _system("/data/gs/2026-01-01/x", "/data/us/2026-01-01/x")
    feed = FeedText(data="/data/${cluster.colo}/${YEAR}-${MONTH}-${DAY}").feed()
    resolver = RetentionResolver(
        nominal_time=parse_instant("2026-03-20T12:00Z"), keep_beyond_validity=True, holds=(), storage=lambda _: system
    )
    resolved = resolver.resolve([(feed, cluster(colo="gs"))], must_all_work=True)
    assert [str(each.base) for each in resolved.to_do[0].locations] == ["file:///data/gs"]


def test_a_free_variable_stands_for_any_one_name() -> None:
    system = _system("/data/us/2026-01-01/x", "/data/in/2026-01-01/x", "/data/in/2026-03-19/x")
    result = run(system, FeedText(data="/data/${region}/${YEAR}-${MONTH}-${DAY}"))
    assert gone(result) == ["/data/in/2026-01-01", "/data/us/2026-01-01"]
    assert system.tree() == ["/data", "/data/in", "/data/in/2026-03-19", "/data/in/2026-03-19/x"]


def test_a_base_that_does_not_exist_is_nothing_to_do_with_a_note() -> None:
    result = run(_system("/elsewhere"), FeedText())
    assert (result.status, result.targets[0].plan.notes) == (
        Status.SUCCEEDED,
        ("data: file:///data/clicks does not exist",),
    )


def test_a_feed_without_retention_is_left_alone_with_a_note() -> None:
    result = run(_system(*days(1)), FeedText(limit=None))
    assert [*result.items] == []
    assert result.targets[0].plan.notes == ("no retention on this cluster: nothing is ever evicted",)


def test_a_feed_that_ended_keeps_its_last_instances_unless_told_otherwise() -> None:
    ended = ("2026-01-01T00:00Z", "2026-02-01T00:00Z")
    paths = days(21, 22, month="2026/01")
    assert gone(run(_system(*paths), FeedText(validity=ended))) == ["/data/clicks/2026/01/21"]
    assert len(gone(run(_system(*paths), FeedText(validity=ended, keep_beyond=False)))) == 2


def test_keep_last_reaches_over_the_horizon_and_lists_no_more_than_it_needs() -> None:
    system = _system(*days(1, 2, 3, 18, 19), *days(1, month="2026/02"))
    result = run(system, FeedText(keep_last=3), dry_run=True)
    assert gone(result) == [f"/data/clicks/{each}" for each in ("2026/02/01", "2026/03/01", "2026/03/02")]
    assert [(each.candidate.path.name, each.reason) for each in result.targets[0].plan.detail.kept] == [
        ("03", "keep_last")
    ]
    assert system.listed.count("/data/clicks/2026/02") == 1  # the newest three lie in March


def test_keep_last_stops_listing_as_soon_as_it_has_enough() -> None:
    system = _system(*days(1, month="2026/01"), *days(1, month="2026/02"), *days(1))
    result = run(system, FeedText(limit="days(60)", keep_last=1), dry_run=True)
    assert gone(result) == ["/data/clicks/2026/01/01"]
    assert "/data/clicks/2026/02" not in system.listed


def test_a_hold_keeps_and_is_named() -> None:
    hold = Hold(feed="clicks", start=parse_instant("2026-03-02T00:00Z"), reason="audit 7")
    result = run(_system(*days(1, 2, 20)), FeedText(), holds=[hold])
    assert gone(result) == ["/data/clicks/2026/03/01"]
    kept = result.targets[0].plan.detail.kept
    assert [(each.candidate.path.name, each.reason, each.detail) for each in kept] == [("02", "hold", "audit 7")]
    assert len([*result.items]) == 1


def test_a_hold_file_in_the_base_holds_the_whole_feed() -> None:
    system = _system(*days(1), "/data/clicks/.feedctl-evicting-2025/part")
    system.files["/data/clicks/.feedctl-hold"] = b"legal:\ncase 12\n"
    result = run(system, FeedText(), FeedText(name="views", data="/data/views/${YEAR}"))
    assert ([*result.items], result.status) == ([], Status.SUCCEEDED)
    plan = result.targets[0].plan
    assert plan.notes == (
        "1 instance would go but is held by file hold file:///data/clicks/.feedctl-hold: legal: case 12",
    )
    assert [(each.candidate.path.path, each.reason, each.detail) for each in plan.detail.kept] == [
        ("/data/clicks/2026/03/01", "hold", "file hold file:///data/clicks/.feedctl-hold: legal: case 12")
    ]


def test_a_hold_file_keeps_back_what_would_go_and_nothing_else() -> None:
    system = _system(*days(1, 2, 3, 20), "/data/clicks/.feedctl-hold")
    plan = run(system, FeedText(keep_last=2)).targets[0].plan
    assert plan.notes == ("2 instances would go but are held by file hold file:///data/clicks/.feedctl-hold: x",)
    assert [each.reason for each in plan.detail.kept] == ["hold", "hold", "keep_last"]
    assert run(_system(*days(20), "/data/clicks/.feedctl-hold"), FeedText()).targets[0].plan.notes == (
        "on hold by file:///data/clicks/.feedctl-hold: x",
    )


def test_a_feed_on_hold_does_not_fail_for_what_cannot_be_counted() -> None:
    system = _system(*days(1), "/data/clicks/2025/04/01/part", "/data/clicks/.feedctl-hold")
    system.locked.add("/data/clicks/2026/03")
    result = run(system, FeedText())
    assert (result.status, [*result.items], system.effects) == (Status.SUCCEEDED, [], [])
    (note,) = result.targets[0].plan.notes
    assert note.startswith("at least 1 instance would go but is held by file hold file:///data/clicks/.feedctl-hold")


class _Silent(MemoryFileSystem):
    """Says what a path is, and is never done listing."""

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        del start_from
        raise Unreachable(path=path, detail="no answer")


def test_a_feed_on_hold_does_not_fail_since_its_store_falls_silent() -> None:
    system = _Silent()
    system.put("/data/clicks/.feedctl-hold")
    result = run(system, FeedText())
    plan = result.targets[0].plan
    assert (result.status, plan.failed) == (Status.SUCCEEDED, None)
    assert plan.notes[0].startswith("on hold by file:///data/clicks/.feedctl-hold: x; what it keeps cannot be counted")


def test_a_hold_file_below_the_base_holds_the_whole_feed_too() -> None:
    system = _system(*days(1, 20), "/data/clicks/2026/.feedctl-hold")
    result = run(system, FeedText())
    assert ([*result.items], result.status, system.effects) == ([], Status.SUCCEEDED, [])
    (note,) = result.targets[0].plan.notes
    held = "1 instance would go but is held by file hold file:///data/clicks/2026/.feedctl-hold: a hold file below the "
    assert note.startswith(f"{held}base holds the whole feed, too")


def test_a_hold_that_is_no_file_holds_and_is_not_read() -> None:
    system = _system(*days(1))
    system.links.add("/data/clicks/.feedctl-hold")
    result = run(system, FeedText())
    assert ([*result.items], result.status) == ([], Status.SUCCEEDED)
    held = "1 instance would go but is held by file hold file:///data/clicks/.feedctl-hold"
    assert result.targets[0].plan.notes == (f"{held}: it is a symlink",)


def test_a_hold_file_that_cannot_be_read_stops_its_feed_and_no_other() -> None:
    system = _system(*days(1), "/data/clicks/.feedctl-hold", "/data/views/2024/x")
    system.locked.add("/data/clicks/.feedctl-hold")
    result = run(system, FeedText(), FeedText(name="views", data="/data/views/${YEAR}"))
    failure = result.targets[0].plan.failed
    assert failure is not None
    assert failure.code == "permission_denied"
    assert gone(result) == ["/data/views/2024"]
    assert (result.status, result.exit_code) == (Status.PARTIAL, ExitCode.PARTIAL)


def test_a_base_that_cannot_be_read_fails_the_run_when_it_is_the_only_one() -> None:
    system = _system(*days(1))
    system.locked.add("/data/clicks")
    result = run(system, FeedText())
    assert (result.status, result.exit_code) == (Status.FAILED, ExitCode.FAILED)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_locked_directory_is_named_and_the_rest_goes_on(*, dry_run: bool) -> None:
    system = _system(*days(1), *days(1, month="2026/01"))
    system.locked.add("/data/clicks/2026/01")
    result = run(system, FeedText(), dry_run=dry_run)
    assert gone(result) == ["/data/clicks/2026/03/01"]
    failed = [each for each in result.items if each.outcome is Outcome.FAILED]
    assert [(each.item.type, each.item.path.path, each.code) for each in failed] == [
        ("unreadable", "/data/clicks/2026/01", "permission_denied")
    ]
    assert result.status is Status.PARTIAL


def test_what_is_late_stays_while_it_may_come() -> None:
    result = run(_system(*days(1, 2)), FeedText(cut_off="days(19)"), dry_run=True)
    assert gone(result) == ["/data/clicks/2026/03/01"]
    result = run(_system(*days(1, 2)), FeedText(cut_off="days(19)", late_max_age="days(2)"), dry_run=True)
    assert len(gone(result)) == 2


def test_fields_in_another_order_are_found_as_well() -> None:
    system = _system("/data/01-2026/x", "/data/12-2025/x", "/data/03-2026/x")
    result = run(system, FeedText(data="/data/${MONTH}-${YEAR}", frequency="months(1)", limit="months(1)"))
    assert gone(result) == ["/data/01-2026", "/data/12-2025"]


def test_a_flat_listing_with_a_glob_is_looked_through() -> None:
    system = _system("/data/2026-03-01.a/x", "/data/2026-03-19.a/x", "/data/2026-03-02.b/x")
    assert gone(run(system, FeedText(data="/data/${YEAR}-${MONTH}-${DAY}.*"))) == [
        "/data/2026-03-01.a",
        "/data/2026-03-02.b",
    ]


def test_limits_count_over_all_feeds_and_refuse_before_the_first_effect() -> None:
    system = _system(*days(1, 2), "/data/views/2024/x", "/data/views/2023/x")
    feeds = (FeedText(), FeedText(name="views", data="/data/views/${YEAR}"))
    refused = run(system, *feeds, limits=DeleteLimits(instances=3))
    assert (refused.status, refused.exit_code, system.effects) == (Status.REFUSED, ExitCode.REFUSED, [])
    assert {each.outcome for each in refused.items} == {Outcome.SKIPPED}
    message = str(refused.refusal)
    for part in ("4 instances", "clicks on primary: 2", "views on primary: 2", "max_delete.instances", refused.digest):
        assert part in message
    assert run(system, *feeds, limits=DeleteLimits(instances=4)).status is Status.SUCCEEDED


def test_an_approval_is_no_good_for_the_same_instances_on_another_day() -> None:
    limits, system = DeleteLimits(instances=1), _system(*days(1, 2))
    digest = run(system, FeedText(), limits=limits, dry_run=True).digest
    later = run(system, FeedText(), limits=limits, approve=digest, nominal="2026-03-21T12:00Z")
    assert (later.status, system.effects) == (Status.REFUSED, [])
    assert run(system, FeedText(), limits=limits, approve=digest).status is Status.SUCCEEDED


def test_an_approved_plan_passes_the_limit_once_and_no_other_plan_does() -> None:
    system = _system(*days(1, 2))
    limits = DeleteLimits(instances=1)
    digest = run(system, FeedText(), limits=limits, dry_run=True).digest
    system.put(*days(3))
    changed = run(system, FeedText(), limits=limits, approve=digest)
    assert (changed.status, system.effects) == (Status.REFUSED, [])
    assert "was approved" in str(changed.refusal)
    approved = run(system, FeedText(), limits=limits, approve=changed.digest)
    assert len(gone(approved)) == 3
    system.put(*days(1, 2))
    assert run(system, FeedText(), limits=limits, approve=changed.digest).status is Status.REFUSED


def test_the_fraction_is_of_evictable_and_kept_instances() -> None:
    paths = [*days(1, 2), *days(15, 16)]
    half = DeleteLimits(instances=100, fraction=0.5)
    assert run(_system(*paths), FeedText(), limits=half).status is Status.SUCCEEDED
    refused = run(_system(*paths[:3]), FeedText(), limits=half)
    assert refused.status is Status.REFUSED
    assert "2 of 3 instances" in str(refused.refusal)


def test_a_feed_on_hold_does_not_soften_the_fraction() -> None:
    system = _system(*days(1), *(f"/data/views/{year}/x" for year in range(2026, 2040)), "/data/views/.feedctl-hold")
    feeds = (FeedText(), FeedText(name="views", data="/data/views/${YEAR}"))
    assert run(system, *feeds, limits=DeleteLimits(instances=100, fraction=0.5)).status is Status.REFUSED


def test_the_fraction_lists_only_as_many_young_instances_as_it_needs() -> None:
    system = _system(*days(1), *(path for month in range(4, 13) for path in days(1, month=f"2026/{month:02d}")))
    run(system, FeedText(), limits=DeleteLimits(instances=100, fraction=0.5), dry_run=True)
    assert [each for each in system.listed if each > "/data/clicks/2026/03"] == ["/data/clicks/2026/12"]


VIEWS = FeedText(name="views", data="/data/views/${YEAR}")


def test_a_feed_over_its_own_limit_stays_alone_and_names_the_way_out() -> None:
    system = _system(*days(1, 2), "/data/views/2024/x")
    result = run(system, FeedText(max_delete=FeedMaxDelete(instances=1)), VIEWS)
    assert (gone(result), result.exit_code) == (["/data/views/2024"], ExitCode.PARTIAL)
    assert sorted(system.files) == days(1, 2)
    refused = result.targets[0].plan.refused
    assert refused is not None
    alone = run(_system(*days(1, 2)), FeedText(), dry_run=True)
    for part in (
        "2 instances, but max_delete.instances (clicks) allows 1;",
        f"run again with --feed clicks --cluster primary --time 2026-03-20T12:00Z --approve {alone.digest} ",
    ):
        assert part in refused.message


def test_the_digest_that_a_refused_feed_names_lifts_its_limit_when_it_runs_alone() -> None:
    system = _system(*days(1, 2), "/data/views/2024/x")
    clicks = FeedText(max_delete=FeedMaxDelete(instances=1))
    refused = run(system, clicks, VIEWS).targets[0].plan.refused
    assert refused is not None
    digest = refused.message.partition("--approve ")[2].partition(" ")[0]
    assert len(gone(run(system, clicks, approve=digest))) == 2


@pytest.mark.parametrize(
    ("limit", "found"),
    [
        (FeedMaxDelete(fraction=0.5), "2 of 3 instances, but max_delete.fraction (clicks) allows 0.5"),
        (FeedMaxDelete(bytes=1), "at least 2 bytes, but max_delete.bytes (clicks) allows 1"),
        (FeedMaxDelete(fraction=0.6, instances=3), "2 of 3 instances, but max_delete.fraction (clicks) allows 0.6"),
    ],
)
def test_each_limit_of_a_feed_counts_its_own_instances_alone(limit: FeedMaxDelete, found: str) -> None:
    system = _system(*days(1, 2, 20), *(f"/data/views/{year}/x" for year in range(2024, 2040)))
    result = run(system, FeedText(max_delete=limit), VIEWS, dry_run=True)
    assert result.targets[0].plan.refused is not None
    assert found in result.targets[0].plan.refused.message


def test_a_feed_within_its_own_limit_goes() -> None:
    limit = FeedMaxDelete(instances=2, fraction=0.7, bytes=100)
    assert len(gone(run(_system(*days(1, 2, 20)), FeedText(max_delete=limit), VIEWS))) == 2


def test_a_lone_feed_over_its_own_limit_refuses_the_run() -> None:
    system = _system(*days(1, 2))
    refused = run(system, FeedText(max_delete=FeedMaxDelete(instances=1)))
    assert (refused.exit_code, system.effects) == (ExitCode.REFUSED, [])
    assert f"--approve {refused.digest} " in str(refused.refusal)


def test_the_limit_of_the_run_counts_what_the_limits_of_feeds_let_through() -> None:
    system = _system(*days(1, 2), "/data/views/2024/x", "/data/views/2023/x")
    clicks = FeedText(max_delete=FeedMaxDelete(instances=1))
    assert run(system, clicks, VIEWS, limits=DeleteLimits(instances=2), dry_run=True).refusal is None
    refused = run(system, clicks, VIEWS, limits=DeleteLimits(instances=1))
    assert "2 instances (views on primary: 2), but max_delete.instances in repo.yaml allows 1" in str(refused.refusal)
    assert system.effects == []
