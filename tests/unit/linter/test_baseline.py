"""The baseline: what an old repo starts with."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.unit.linter.probes import LIMIT, rule, with_rules
from tests.unit.linter.repos import TIME, lint_texts, snapshot
from toolkit.linter.baseline import BadBaseline, Baseline, BaselineEntry
from toolkit.linter.engine import Focus, LintRequest, lint
from toolkit.linter.findings import Finding, Hit, Severity

OTHER = Hit(subject="clicks_hourly", pointer=("frequency",), message="another")
REQUEST = LintRequest(snapshot=snapshot({}), time=TIME, adopt=True)


def finding(message: str = "found 3", key: str = "frequency", line: int = 3) -> Finding:
    return Finding(
        file="feeds/clicks.yaml",
        line=line,
        column=1,
        end_column=2,
        rule="probe",
        severity=Severity.ERROR,
        message=message,
        key=key,
    )


def baseline(*findings: Finding) -> Baseline:
    return Baseline(file="baseline.json", entries=tuple(map(BaselineEntry.of, findings)))


def test_a_baseline_is_read_as_it_was_written() -> None:
    written = baseline(finding(), finding("ä", key="a"))
    read = Baseline.parse(written.text(), "baseline.json")
    assert read.entries == tuple(sorted(written.entries))
    assert read.text() == written.text()
    assert "ä" in read.text()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        '{"schema_version": 1, "findings": [1]}',
        '{"schema_version": 1, "findings": [{}]}',
        "[" * 9999,
    ],
)
def test_what_is_no_baseline_is_refused(text: str) -> None:
    with pytest.raises(BadBaseline, match=r"--baseline b\.json: found no baseline in it .*--write-baseline"):
        Baseline.parse(text, "b.json")


def test_a_baseline_of_another_version_is_refused() -> None:
    with pytest.raises(BadBaseline, match="found the schema version 2, expected 1"):
        Baseline.parse(json.dumps({"schema_version": 2, "findings": []}), "b.json")


def test_a_known_finding_may_move() -> None:
    new, known, left = baseline(finding()).split([finding(line=9)])
    assert (new, known, left) == ([], [finding(line=9)], [])


def test_figures_of_a_known_finding_may_change() -> None:
    new, known, left = baseline(finding("found 3")).split([finding("found 4")])
    assert (new, known, left) == ([], [finding("found 4")], [])


def test_an_entry_stands_for_one_finding_and_the_equal_one_goes_first() -> None:
    new, known, left = baseline(finding("b")).split([finding("a"), finding("b")])
    assert (new, known, left) == ([finding("a")], [finding("b")], [])


def test_what_no_longer_occurs_is_left() -> None:
    known = baseline(finding(), finding(key="other"))
    assert known.split([finding()])[2] == [BaselineEntry.of(finding(key="other"))]


def test_known_findings_do_not_count() -> None:
    adopted = lint(REQUEST, with_rules(rule(LIMIT)))
    assert (adopted.findings, adopted.failed) == ((), False)
    known = Baseline(file="b.json", entries=adopted.baseline)
    report = lint_texts({}, baseline=known, rules=with_rules(rule(LIMIT, OTHER)))
    assert [each.message for each in report.findings] == ["another"]
    assert [each.message for each in report.baselined] == ["the limit"]


def test_what_no_action_can_load_does_not_get_into_the_baseline() -> None:
    report = lint(replace(REQUEST, snapshot=snapshot({"repo.yaml": "nam: x\n"})), with_rules(rule(LIMIT)))
    assert [each.rule for each in report.findings] == ["unknown-key"]
    assert [each.rule for each in report.baseline] == ["probe"]


def test_a_mended_finding_is_told_and_leaves_the_baseline_when_it_is_written_anew() -> None:
    known = Baseline(file="b.json", entries=lint(REQUEST, with_rules(rule(LIMIT, OTHER))).baseline)
    report = lint_texts({}, baseline=known, rules=with_rules(rule(LIMIT)))
    assert [(each.rule, each.file, each.severity) for each in report.findings] == [
        ("stale-baseline-entry", "b.json", Severity.INFO)
    ]
    assert not report.failed
    rewritten = lint(replace(REQUEST, baseline=known), with_rules(rule(LIMIT)))
    assert [each.message for each in rewritten.baseline] == ["the limit"]
    assert rewritten.findings == ()


def test_entries_that_were_not_looked_for_stay() -> None:
    known = Baseline(
        file="b.json", entries=lint(REQUEST, with_rules(rule(LIMIT), rule(OTHER, rule_id="other"))).baseline
    )
    assert len(known.entries) == 2
    report = lint_texts({}, baseline=known, rules=with_rules(rule(), rule(rule_id="other")), select=("other",))
    assert [each.rule for each in report.baseline] == ["probe"]


def test_only_what_is_shown_gets_into_the_baseline() -> None:
    report = lint(replace(REQUEST, focus=Focus(paths=("feeds/clicks.yaml",))), with_rules(rule(LIMIT, OTHER)))
    assert [each.message for each in report.baseline] == ["the limit"]


def test_an_entry_that_only_another_environment_has_is_not_stale() -> None:
    texts = {
        "repo.yaml": "environments: [dev, prod]\ndefault_environment: dev\n",
        "environments/dev.yaml": "description: local\n",
        "environments/prod.yaml": "description: far\n",
    }
    rules = with_rules(rule(LIMIT, only_in="prod"))
    known = lint(replace(REQUEST, snapshot=snapshot(texts), environments=("prod",)), rules).baseline
    assert len(known) == 1
    report = lint_texts(texts, baseline=Baseline(file="b.json", entries=known), rules=rules)
    assert report.findings == ()
    assert report.baseline == known
