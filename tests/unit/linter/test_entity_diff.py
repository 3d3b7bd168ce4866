"""Tests of what a change of a config repo does: entities, values, settings, holds, dependents, data."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.unit.linter.repos import TIME, Texts, snapshot, standard_texts
from toolkit.entities.loader import load_all
from toolkit.linter.collect import Base
from toolkit.linter.entity_diff import EntityChange, EntityDiff, entity_diff
from toolkit.planning.blast_radius import EffectKind, blast_radius
from toolkit.rendering.entity_diff import entity_diff_text

CLICKS = standard_texts()["feeds/clicks.yaml"]
ENVIRONMENTS = {"repo.yaml": "name: web\nenvironments: [dev, prod]\ndefault_environment: dev\n"}


def diff(now: Texts, before: Texts | None = None, environment: str | None = None) -> EntityDiff:
    return entity_diff(snapshot(now), Base(ref="main", snapshot=snapshot(before or {})), environment, TIME)


def kinds(before: Texts, now: Texts) -> list[tuple[EffectKind, str, str]]:
    """Kind, feed and cluster of all effects."""
    (old, _), (new, _) = load_all(snapshot(before)), load_all(snapshot(now))
    return [(each.kind, each.feed, each.cluster) for each in blast_radius(old, new, TIME)]


def values(change: EntityChange) -> Mapping[str, tuple[object, object, str | None]]:
    return {each.key: (each.before, each.after, each.place) for each in change.values}


def test_the_same_repo_has_no_difference() -> None:
    found = diff({})
    assert found.is_empty
    assert (found.more_evictable, found.comparison.downstream) == (0, ())


def test_credentials_that_stood_there_are_not_shown() -> None:
    """They were a mistake, and a change that takes them away must not spread them."""
    secret = CLICKS.replace('data: "/', 'data: "hdfs://alice:sesame@nn/')
    assert secret != CLICKS
    for found in (diff({}, {"feeds/clicks.yaml": secret}), diff({"feeds/clicks.yaml": secret})):
        (change,) = found.comparison.changed
        assert "hdfs://************@nn/" in repr(change)
        assert "sesame" not in repr(found)


def test_a_changed_value_is_told_with_its_place_and_what_depends_on_it() -> None:
    found = diff({"feeds/clicks.yaml": CLICKS.replace("days(10)", "days(5)")})
    (change,) = found.comparison.changed
    assert values(change) == {"clusters[primary].retention.limit": ("days(10)", "days(5)", "feeds/clicks.yaml:14:24")}
    assert change.downstream == found.comparison.downstream == ("clicks_hourly", "daily_report", "hourly_job")
    assert found.more_evictable == 120


def test_a_value_from_defaults_is_told_where_it_is_written() -> None:
    found = diff({"defaults.yaml": "feed: {owner: web@example.com}\n"})
    assert [each.name for each in found.comparison.changed] == ["clicks", "clicks_by_day", "clicks_hourly"]
    assert values(found.comparison.changed[0]) == {"owner": (None, "web@example.com", "defaults.yaml:1:15")}


def test_named_items_are_compared_by_name_and_other_lists_as_a_whole() -> None:
    primary, backup = CLICKS.partition("  - name: backup")[0], CLICKS.partition("  - name: backup")[2]
    head, _, first = primary.partition("clusters:\n")
    swapped = f"{head}clusters:\n  - name: backup{backup}{first}".replace("[country]", "[country, colo]")
    (change,) = diff({"feeds/clicks.yaml": swapped}).comparison.changed
    assert values(change) == {"partitions": (["country"], ["country", "colo"], "feeds/clicks.yaml:7:13")}


def test_what_is_new_or_gone_has_all_its_values() -> None:
    found = diff({"datasources/crm.yaml": None, "datasources/erp.yaml": "kind: datasource\nname: erp\ntype: mysql\n"})
    (gone,), (new,) = found.comparison.removed, found.comparison.added
    assert (gone.name, gone.file, new.name) == ("crm", "datasources/crm.yaml", "erp")
    assert values(gone)["type"] == ("postgres", None, None)
    assert values(new)["type"] == (None, "mysql", "datasources/erp.yaml:3:7")


def test_what_depended_on_a_removed_entity_is_downstream() -> None:
    found = diff({"clusters/backup.yaml": None})
    assert found.comparison.removed[0].downstream == ("clicks", "clicks_hourly", "daily_report", "hourly_job")


def test_who_makes_a_changed_feed_is_downstream_and_what_else_it_reads_is_not() -> None:
    found = diff({"feeds/clicks_hourly.yaml": standard_texts()["feeds/clicks_hourly.yaml"].replace("60", "70")})
    assert found.comparison.downstream == ("daily_report", "hourly_job")


def test_a_broken_entity_is_compared_as_text_and_has_no_figures() -> None:
    found = diff({"feeds/clicks.yaml": CLICKS.replace("days(10)", "often")})
    assert [each.name for each in found.comparison.changed] == ["clicks"]
    assert found.comparison.removed == ()
    assert found.effects == ()
    assert found.notes == (
        "the config repo has 1 problem (feedctl lint tells them): entities with problems have no blast radius",
    )


def test_a_limit_of_a_feed_is_a_value_of_the_feed() -> None:
    found = diff({"feeds/clicks.yaml": CLICKS.replace("days(10)", "days(10), max_delete: {instances: 100}")})
    ((clicks),) = found.comparison.changed
    assert [(each.key, each.before, each.after) for each in clicks.values] == [
        ("clusters[primary].retention.max_delete.instances", None, 100)
    ]


def test_settings_and_holds_are_compared() -> None:
    found = diff(
        {
            "repo.yaml": "name: web-feeds\nmax_delete: {instances: 5}\n",
            "holds.yaml": "holds: [{feed: clicks, reason: a}]\n",
        },
        {"holds.yaml": "holds: [{feed: clicks_hourly, reason: b}]\n"},
    )
    assert [(each.key, each.before, each.after) for each in found.settings] == [
        ("max_delete.instances", None, 5),
        ("owners", ["data-platform@example.com"], None),
    ]
    assert found.holds.added == ("clicks, all instances (a)",)
    assert found.holds.removed == ("clicks_hourly, all instances (b)",)


def test_an_environment_is_compared_with_itself() -> None:
    before = {**ENVIRONMENTS, "environments/dev.yaml": "{}", "environments/prod.yaml": "{}"}
    now = {**before, "environments/prod.yaml": "entities: {clicks: {owner: a@example.com}}\n"}
    assert diff(now, before).is_empty
    changed = diff(now, before, "prod")
    assert changed.environment == "prod"
    assert [each.name for each in changed.comparison.changed] == ["clicks"]


def test_a_new_environment_is_compared_with_the_default_one() -> None:
    now = {**ENVIRONMENTS, "environments/dev.yaml": "{}", "environments/prod.yaml": "{}"}
    assert diff(now, {}).notes == ("main has no environment dev: its default one stands in for it",)


@pytest.mark.parametrize("side", ["before", "now"])
def test_only_clusters_of_the_environment_have_effects(side: str) -> None:
    repo = {**ENVIRONMENTS, "environments/dev.yaml": "clusters: [backup]\n", "environments/prod.yaml": "{}"}
    limits = {"before": ("days(30)", "days(30)"), "now": ("days(1)", "days(1)")}
    texts = {name: CLICKS.replace("days(10)", each[0]).replace("days(30)", each[1]) for name, each in limits.items()}
    old, new = (texts["before"], texts["now"]) if side == "before" else (texts["now"], texts["before"])
    found = kinds({**repo, "feeds/clicks.yaml": old}, {**repo, "feeds/clicks.yaml": new})
    kind = EffectKind.EVICTABLE if side == "before" else EffectKind.KEPT_LONGER
    assert found == [(kind, "clicks", "backup")]


def test_a_feed_with_another_name_for_the_same_data_is_the_same_feed() -> None:
    visits = CLICKS.replace("name: clicks", "name: visits").replace("days(10)", "days(5)")
    found = diff({"feeds/clicks.yaml": None, "feeds/visits.yaml": visits})
    (effect,) = found.effects
    assert (effect.kind, effect.feed, effect.was, effect.count) == (EffectKind.EVICTABLE, "visits", "clicks", 120)


def test_a_feed_that_goes_leaves_its_data_and_a_new_one_may_find_some() -> None:
    views = CLICKS.replace("clicks", "views")
    assert kinds({}, {"feeds/clicks.yaml": None, "feeds/views.yaml": views}) == [
        (EffectKind.LEFT_BEHIND, "clicks", "backup"),
        (EffectKind.LEFT_BEHIND, "clicks", "primary"),
        (EffectKind.NEW_RETENTION, "views", "backup"),
        (EffectKind.NEW_RETENTION, "views", "primary"),
    ]


def test_a_broken_feed_or_cluster_is_neither_gone_nor_new() -> None:
    for broken in ({"feeds/clicks.yaml": "kind: feed\nname: clicks\n"}, {"clusters/primary.yaml": "kind: cluster\n"}):
        assert kinds({}, broken) == []
        assert kinds(broken, {}) == []


def test_an_end_point_is_told_for_the_cluster_alone() -> None:
    primary = standard_texts()["clusters/primary.yaml"]
    moved = {"clusters/primary.yaml": primary.replace("hdfs://namenode.fra.example.com:8020", "hdfs://ns1")}
    assert kinds({}, moved) == [(EffectKind.END_POINT_CHANGED, "", "primary")]
    spelt = {"clusters/primary.yaml": primary.replace("example.com:8020", "example.com")}
    assert kinds({}, spelt) == []


def test_a_calendar_that_changes_is_shown_beside_the_settings() -> None:
    before = {"calendars/office.yaml": "holidays: [2026-12-25]\n"}
    after = {"calendars/office.yaml": "weekdays: [mon, tue]\nholidays: [2026-12-25, 2026-12-26]\n"}
    found = diff(after, before)
    assert not found.is_empty
    assert {each.key: (each.before, each.after) for each in found.settings} == {
        "calendars.office.weekdays": (None, ["mon", "tue"]),
        "calendars.office.holidays": (["2026-12-25"], ["2026-12-25", "2026-12-26"]),
    }
    text = entity_diff_text(found)
    assert '\ncalendars:\n    calendars.office.weekdays: default -> ["mon", "tue"]\n' in text
    assert "settings of repo.yaml" not in text
    assert diff(before, before).is_empty


def test_what_a_suite_expects_now_is_told_with_the_feeds_that_it_judges() -> None:
    suite = "expectations:\n  - {type: expect_column_values_to_not_be_null, kwargs: {column: country, mostly: 0.9}}\n"
    feed = {"feeds/clicks.yaml": CLICKS + "quality: {suites: [clicks]}\n"}
    now = suite.replace("0.9", "0.99") + "  - {type: expect_table_row_count_to_be_between, severity: warning}\n"
    found = diff({**feed, "expectations/clicks.yaml": now}, {**feed, "expectations/clicks.yaml": suite})
    (change,) = found.suites
    assert not found.is_empty
    assert (change.name, change.feeds) == ("clicks", ("clicks",))
    assert [(each.key, each.before, each.after) for each in change.values] == [
        ("expect_column_values_to_not_be_null(country).mostly", 0.9, 0.99),
        ("expect_table_row_count_to_be_between().severity", None, "warning"),
    ]
