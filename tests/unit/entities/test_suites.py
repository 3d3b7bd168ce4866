from __future__ import annotations

import pytest

from tests.unit.entities.config_repo import FEED, PROCESS, problems, repository, rules, snapshot
from toolkit.el import Frequency
from toolkit.entities.loader import load_known
from toolkit.entities.quality import Expectation, Quality, Suite
from toolkit.entities.vocabulary import DataFormat, ExpectationSeverity, OnFailure

SUITE = """\
expectations:
  - type: expect_column_values_to_not_be_null
    kwargs: {column: country}
  - type: expect_table_row_count_to_be_between
    kwargs: {min_value: 1, max_value: null}
    severity: warning
    meta: {why: an empty hour is odd}
"""
WRITTEN_BY_GX = """\
{
\t"name": "rows", "id": null, "notes": null,
  "meta": {"great_expectations_version": "1.24.1"},
  "expectations": [
    {"type": "expect_table_row_count_to_equal", "kwargs": {"value": 4}, "meta": {}, "id": "9d0d", "severity": "info",
     "notes": ["\\ud83d\\ude00"], "rendered_content": [{"name": "atomic"}]}
  ]
}
"""
QUALITY = "quality: {suites: [clicks, rows], on_failure: warn, format: csv, options: {header: 'true'}, sample: 0.1}\n"


def test_suites_are_loaded_from_yaml_and_from_the_json_of_great_expectations() -> None:
    loaded = repository({"expectations/clicks.yaml": SUITE, "expectations/web/rows.json": WRITTEN_BY_GX}).suites
    count = {"min_value": 1, "max_value": None}
    assert loaded["clicks"] == Suite(
        name="clicks",
        path="expectations/clicks.yaml",
        expectations=(
            Expectation(type="expect_column_values_to_not_be_null", kwargs={"column": "country"}),
            Expectation(
                type="expect_table_row_count_to_be_between",
                kwargs=count,
                severity=ExpectationSeverity.WARNING,
                meta={"why": "an empty hour is odd"},
            ),
        ),
    )
    assert [each.severity for each in loaded["rows"].expectations] == [ExpectationSeverity.INFO]
    assert loaded["rows"].path == "expectations/web/rows.json"


def test_a_feed_names_its_suites_and_a_cluster_has_its_own() -> None:
    feed = FEED + "    quality: {suites: [clicks], budget: minutes(5)}\n" + QUALITY
    files = {"feeds/clicks.yaml": feed, "expectations/clicks.yaml": SUITE, "expectations/rows.json": WRITTEN_BY_GX}
    found = repository(files).feed("clicks")
    assert found.quality == Quality(
        suites=("clicks", "rows"),
        on_failure=OnFailure.WARN,
        format=DataFormat.CSV,
        options={"header": "true"},
        sample=0.1,
    )
    assert found.quality_on("primary") == Quality(suites=("clicks",), budget=Frequency.parse("minutes(5)"))


def test_a_cluster_without_suites_is_not_judged_whatever_the_feed_says() -> None:
    feed = FEED + "    quality: {suites: []}\nquality: {suites: [clicks]}\n"
    found = repository({"feeds/clicks.yaml": feed, "expectations/clicks.yaml": SUITE}).feed("clicks")
    assert found.quality_on("primary") is None


def test_a_repo_that_is_known_to_be_right_has_the_same_suites() -> None:
    files = snapshot({"expectations/clicks.yaml": SUITE, "expectations/rows.json": WRITTEN_BY_GX})
    named = {"expectations/clicks.yaml": SUITE, "expectations/rows.json": WRITTEN_BY_GX}
    assert dict(load_known(files, None, {}).suites) == dict(repository(named).suites)


def test_everything_that_is_wrong_with_suites_is_told_with_its_place() -> None:
    found = problems(
        {
            "expectations/bad.yaml": "expectations:\n  - {typ: x}\n  - {type: x, severity: fatal}\n",
            "expectations/empty.yaml": "expectations: []\n",
            "expectations/named.yaml": "name: other\nexpectations: [{type: x}]\n",
            "expectations/broken.json": '{\n"expectations": [}',
            "feeds/clicks.yaml": FEED + "quality: {suites: [empti]}\n",
            "processes/clicks_hourly.yaml": PROCESS
            + 'outputs: {out: {feed: clicks, instance: "now(0,0)", suites: [none]}}\n',
        }
    )
    assert [each.split(": ")[0] + " " + each.split(": ")[1] for each in found] == [
        "expectations/bad.yaml:2:6 unknown-key",
        "expectations/bad.yaml:3:25 bad-value",
        "expectations/broken.json:2:18 json-syntax",
        "expectations/empty.yaml:1:15 bad-value",
        "expectations/named.yaml:1:7 file-name",
        "feeds/clicks.yaml:10:20 unknown-suite",
        "processes/clicks_hourly.yaml:8:62 unknown-suite",
    ]
    assert "did you mean empty?" in found[-2]


def test_a_name_is_that_of_one_suite() -> None:
    two = {"expectations/a.yaml": SUITE, "expectations/below/a.yaml": SUITE}
    assert rules(two) == ["duplicate-name"]
    assert rules({"expectations/a.b.yaml": SUITE}) == ["bad-name"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('{"expectations": [], "expectations": []}', "duplicate-key"),
        ('{"expectations": [{"type": "x", "kwargs": {"a": NaN}}]}', "json-syntax"),
        ('{"expectations": [{"type": "x", "kwargs": {"a": 1e999}}]}', "json-syntax"),
        ('{"expectations": ' + "[" * 100_000, "json-syntax"),
        ('{"expectations": ' + "[" * 200 + "]" * 200 + "}", "too-deep"),
        ('{"name": "\\ud83d", "expectations": []}', "json-syntax"),
        ('{"name": "' + "x" * 5000 + '", "expectations": []}', "too-large"),
        ('{"name": "' + "x" * (1 << 20) + '"}', "too-large"),
        ("[]", "wrong-type"),
        (b'{"name": "\xff"}', "encoding"),
    ],
)
def test_json_is_read_as_strictly_as_yaml(text: str | bytes, rule: str) -> None:
    assert rules({"expectations/a.json": text}) == [rule]


def test_json_elsewhere_is_no_configuration_and_a_suite_in_the_wrong_place_is_noticed() -> None:
    assert rules({"workflows/params.json": "[", "feeds/.editor.json": "["}) == []
    assert rules({"expectation/a.yaml": SUITE, "expectations/b.yml": SUITE}) == ["file-name", "file-name"]
