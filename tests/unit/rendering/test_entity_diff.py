"""Tests of what a change of a config repo does, in its three forms."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

from toolkit.config_source import SnapshotId, SnapshotKind
from toolkit.el import parse_instant
from toolkit.entities import Kind
from toolkit.linter.entity_diff import Comparison, EntityChange, EntityDiff, HoldsChange, SuiteChange, ValueChange
from toolkit.planning.blast_radius import Effect, EffectKind, InstanceRange
from toolkit.rendering.entity_diff import entity_diff_json, entity_diff_markdown, entity_diff_text

TIME = parse_instant("2026-03-20T00:00Z")
RANGE = InstanceRange(count=480, first=TIME - timedelta(days=30), end=TIME - timedelta(days=10))
LIMIT = ValueChange(
    key="clusters[primary].retention.limit",
    pointer=("clusters", 0, "retention", "limit"),
    before="days(30)",
    after="days(10)",
    place="feeds/clicks.yaml:15:24",
)
MOSTLY = ValueChange(key="expect_x(country).mostly", pointer=(), before=0.9, after=0.99)
EVICTABLE = Effect(
    kind=EffectKind.EVICTABLE,
    feed="clicks",
    cluster="primary",
    key=("retention", "limit"),
    before="30d",
    after="10d",
    instances=RANGE,
)
LEFT = Effect(kind=EffectKind.LEFT_BEHIND, feed="a_b", cluster="primary", before="/d|/*/${YEAR}")


def commit(letter: str) -> SnapshotId:
    return SnapshotId(kind=SnapshotKind.COMMIT, value=letter * 40)


def change(name: str, *values: ValueChange, downstream: tuple[str, ...] = ()) -> EntityChange:
    return EntityChange(name=name, kind=Kind.FEED, file=f"feeds/{name}.yaml", values=values, downstream=downstream)


DIFF = EntityDiff(
    ref="origin/main",
    base=commit("a"),
    snapshot=replace(commit("b"), dirty=True),
    environment="prod",
    time=TIME,
    comparison=Comparison(
        added=(change("views", replace(LIMIT, before=None)),),
        removed=(change("a_b"),),
        changed=(change("clicks", LIMIT, downstream=("hourly_job", "views")),),
    ),
    settings=(ValueChange(key="max_delete.instances", pointer=("max_delete",), before=None, after=5),),
    holds=HoldsChange(added=(), removed=("clicks, all instances (audit)",)),
    suites=(SuiteChange(name="clicks", feeds=("clicks", "views"), values=(MOSTLY,)),),
    effects=(LEFT, EVICTABLE),
    notes=("main has 1 problem",),
)
EMPTY = replace(
    DIFF,
    snapshot=commit("b"),
    environment=None,
    comparison=Comparison(added=(), removed=(), changed=()),
    settings=(),
    holds=HoldsChange(added=(), removed=()),
    suites=(),
    effects=(),
    notes=(),
)


def test_the_text_form() -> None:
    assert (
        entity_diff_text(DIFF)
        == """\
origin/main (aaaaaaaaaaaa) compared with bbbbbbbbbbbb with uncommitted changes, environment prod, at 2026-03-20T00:00Z
1 entity added, 1 changed, 1 removed, 1 downstream, 1 suite changed
note: main has 1 problem

+ feed views (feeds/views.yaml)

- feed a_b (feeds/a_b.yaml)

~ feed clicks (feeds/clicks.yaml)
    clusters[primary].retention.limit: days(30) -> days(10)  [feeds/clicks.yaml:15:24]
    downstream: hourly_job, views

settings of repo.yaml:
    max_delete.instances: default -> 5

holds:
    - clicks, all instances (audit)

suites:
    clicks, which validates clicks, views:
        expect_x(country).mostly: 0.9 -> 0.99

blast radius:
    a_b is gone from primary (/d|/*/${YEAR}): what is there is left behind
    retention of clicks on primary 30d -> 10d: 480 more instances (2026-02-18 to 2026-03-10) become evictable at the\
 next run

480 more instances become evictable at the next run of retention
"""
    )


def test_the_markdown_form_has_the_summary_first_and_the_rest_to_unfold() -> None:
    text = entity_diff_markdown(DIFF)
    summary, _, rest = text.partition("<details>")
    assert (
        summary
        == """\
### feedctl: 1 entity added, 1 changed, 1 removed, 1 downstream, 1 suite changed

**480 more instances become evictable at the next run of retention**

- retention of clicks on primary 30d -> 10d: 480 more instances (2026-02-18 to 2026-03-10) become evictable at the\
 next run
- `a_b` is gone from primary (`/d|/*/${YEAR}`): what is there is left behind

Note: main has 1 problem

"""
    )
    assert (
        "| `clicks` | `clusters[primary].retention.limit` | `days(30)` | `days(10)` | `feeds/clicks.yaml:15:24` |"
        in rest
    )
    assert "| `repo.yaml` | `max_delete.instances` | `default` | `5` |  |" in rest
    assert "| changed | feed | `clicks` | `feeds/clicks.yaml` | 2 |" in rest
    assert "| removed | `clicks, all instances (audit)` |" in rest
    assert "| `clicks` | `clicks, views` | `expect_x(country).mostly` | `0.9` | `0.99` |" in rest
    assert "<summary>Downstream: 1 entity</summary>" in rest
    assert text.count("<details>") == text.count("</details>") == 5


def test_many_effects_are_shown_in_full_further_down() -> None:
    effects = tuple(replace(EVICTABLE, feed=f"feed{number}") for number in range(7))
    text = entity_diff_markdown(replace(DIFF, effects=effects))
    assert "- and 2 more, below" in text
    assert "<summary>Blast radius: 7 effects</summary>" in text
    assert text.count("| `feed6` | `primary` | 480 | retention of feed6 on primary 30d -> 10d: 480 more") == 1


def test_a_large_change_still_fits_into_a_comment() -> None:
    changed = tuple(change(f"feed{number}", replace(LIMIT, after="x" * 500)) for number in range(5000))
    text = entity_diff_markdown(replace(DIFF, comparison=replace(DIFF.comparison, changed=changed)))
    assert 10_000 < len(text) <= 60_000
    assert "more: see `feedctl entity diff`" in text
    assert text.startswith("### feedctl: 1 entity added, 5,000 changed, 1 removed")


def test_the_json_form() -> None:
    document = json.loads(entity_diff_json(DIFF))
    assert list(document) == [
        "schema_version",
        "ref",
        "base",
        "snapshot",
        "environment",
        "time",
        "entities",
        "downstream",
        "settings",
        "holds",
        "suites",
        "blast_radius",
        "notes",
    ]
    assert document["schema_version"] == 1
    assert document["snapshot"] == {"kind": "commit", "id": "b" * 40, "dirty": True}
    (clicks,) = document["entities"]["changed"]
    assert clicks["values"] == [
        {
            "key": "clusters[primary].retention.limit",
            "before": "days(30)",
            "after": "days(10)",
            "place": "feeds/clicks.yaml:15:24",
        }
    ]
    assert clicks["downstream"] == ["hourly_job", "views"]
    assert document["downstream"] == ["hourly_job"]
    radius = document["blast_radius"]
    assert radius["more_evictable"] == 480
    assert radius["effects"][1]["instances"] == {
        "count": 480,
        "first": "2026-02-18T00:00Z",
        "end": "2026-03-10T00:00Z",
        "has_gaps": False,
    }
    assert radius["effects"][0]["instances"] is None


def test_no_difference_is_told_as_that() -> None:
    compared = "origin/main (aaaaaaaaaaaa) compared with bbbbbbbbbbbb, no environment, at 2026-03-20T00:00Z"
    assert entity_diff_text(EMPTY) == f"{compared}\nno difference\n"
    assert entity_diff_markdown(EMPTY) == f"### feedctl: no difference\n\n<sub>{compared}</sub>\n"
