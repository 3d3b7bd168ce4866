"""A lint run as a whole: environments, order, what is broken, what is accepted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.unit.linter.probes import LIMIT, rule, with_rules
from tests.unit.linter.repos import TIME, lint_texts, snapshot, standard_texts
from toolkit.entities import UnknownName
from toolkit.linter.collect import Base
from toolkit.linter.engine import Focus, LintRequest, lint
from toolkit.linter.findings import Finding, Hit, Severity
from toolkit.linter.report import LintReport
from toolkit.linter.rule import LintContext
from toolkit.linter.rules import RULES
from toolkit.linter.settings import RuleSelection, UnknownRule

ENVIRONMENTS = {
    "repo.yaml": "environments: [dev, prod]\ndefault_environment: dev\n",
    "environments/dev.yaml": "description: local files\n",
    "environments/prod.yaml": "entities:\n  clicks:\n    groups: [online]\n",
}


def places(report: LintReport) -> list[str]:
    return [f"{each.rule} {each.file}:{each.line}:{each.column}" for each in report.findings]


def test_two_runs_have_equal_reports() -> None:
    texts = {"feeds/clicks.yaml": "kind: feed\nname: clack\n", "repo.yaml": "nam: x\n"}
    assert lint_texts(texts, base={}) == lint_texts(texts, base={})


def test_findings_are_sorted_by_file_line_column_and_rule() -> None:
    hits = [replace(LIMIT, pointer=("clusters", index, "name")) for index in (1, 0)]
    other = Hit(subject="repo.yaml", pointer=("name",), message="x")
    probes = with_rules(rule(other, *hits, rule_id="z"), rule(*hits, rule_id="a"))
    found = lint_texts({}, rules=probes).findings
    assert [(each.file, each.line, each.rule) for each in found] == [
        ("feeds/clicks.yaml", 11, "a"),
        ("feeds/clicks.yaml", 11, "z"),
        ("feeds/clicks.yaml", 16, "a"),
        ("feeds/clicks.yaml", 16, "z"),
        ("repo.yaml", 1, "z"),
    ]


def test_a_problem_of_loading_is_a_finding_with_the_extent_of_its_value() -> None:
    text = standard_texts()["feeds/clicks.yaml"].replace("hours(6)", "houres(6)")
    (finding,) = lint_texts({"feeds/clicks.yaml": text}, select=("bad-*",)).findings
    assert (finding.rule, finding.severity) == ("bad-frequency", Severity.ERROR)
    assert (finding.line, finding.column, finding.end_column) == (6, 25, 34)


def test_an_undocumented_problem_is_shown_all_the_same() -> None:
    known = {name: each for name, each in RULES.items() if name != "unknown-key"}
    report = lint_texts({"repo.yaml": "nam: x\n"}, rules=known, select=("tab",))
    assert places(report) == ["unknown-key repo.yaml:1:1"]


def test_a_broken_file_hides_only_what_depends_on_it() -> None:
    hits = rule(LIMIT, Hit(subject="clicks_hourly", message="here"))
    report = lint_texts({"feeds/clicks_by_day.yaml": "kind: [\n"}, rules=with_rules(hits))
    assert [each.rule for each in report.findings] == ["probe", "yaml-syntax", "probe"]


def test_what_several_environments_have_is_one_finding_with_their_names() -> None:
    probes = with_rules(rule(LIMIT), rule(LIMIT, rule_id="elsewhere", only_in="prod"))
    request = LintRequest(snapshot=snapshot(ENVIRONMENTS), time=TIME, all_environments=True)
    report = lint(request, probes)
    assert report.environments == ("dev", "prod")
    assert [(each.rule, each.environments) for each in report.findings] == [
        ("elsewhere", ("prod",)),
        ("probe", ("dev", "prod")),
    ]


def test_without_a_wish_the_default_environment_is_looked_at() -> None:
    report = lint_texts(ENVIRONMENTS, rules=with_rules(rule(LIMIT)))
    assert report.environments == ("dev",)
    assert [each.environments for each in report.findings] == [("dev",)]


def test_all_environments_of_a_repo_without_any_is_the_repo_itself() -> None:
    report = lint(LintRequest(snapshot=snapshot({}), time=TIME, all_environments=True), with_rules(rule(LIMIT)))
    assert report.environments == ()
    assert len(report.findings) == 1


def test_an_unknown_environment_is_refused() -> None:
    with pytest.raises(UnknownName, match="'prd'"):
        lint_texts(ENVIRONMENTS, environments=("prd",))


def test_the_settings_of_an_environment_hold_there_only() -> None:
    texts = {**ENVIRONMENTS, "environments/prod.yaml": "repo: {accept: [probe]}\n"}
    request = LintRequest(snapshot=snapshot(texts), time=TIME, all_environments=True)
    assert [each.environments for each in lint(request, with_rules(rule(LIMIT))).findings] == [("dev",)]


def test_settings_change_severities_and_turn_rules_off() -> None:
    probes = with_rules(rule(LIMIT), rule(LIMIT, rule_id="other"), rule(LIMIT, rule_id="third"))
    texts = {"repo.yaml": "accept: [third]\nlint: {rules: {probe: {severity: info}, other: {severity: off}}}\n"}
    report = lint_texts(texts, rules=probes)
    assert [(each.rule, each.severity) for each in report.findings] == [("probe", Severity.INFO)]
    assert not report.failed


@pytest.mark.parametrize(("severity", "fails"), [("error", True), ("warning", True), ("info", False)])
def test_errors_and_warnings_fail_and_infos_do_not(severity: str, *, fails: bool) -> None:
    texts = {"repo.yaml": f"lint: {{rules: {{probe: {{severity: {severity}}}}}}}\n"}
    assert lint_texts(texts, rules=with_rules(rule(LIMIT))).failed is fails


def test_only_selected_rules_run() -> None:
    probes = with_rules(rule(LIMIT), rule(LIMIT, rule_id="probe-two"), rule(LIMIT, rule_id="other"))
    assert {each.rule for each in lint_texts({}, rules=probes, select=("probe*",)).findings} == {"probe", "probe-two"}
    with pytest.raises(UnknownRule, match=r"--select: found 'probes'.*did you mean probe"):
        lint_texts({}, rules=probes, select=("probes",))


def test_a_base_without_the_environment_is_nothing_to_compare_with() -> None:
    seen: list[bool] = []

    def check(context: LintContext) -> Iterator[Hit]:
        seen.append(context.base is not None)
        return iter(())

    rules = with_rules(replace(rule(needs_base=True), check=check))
    request = LintRequest(
        snapshot=snapshot(ENVIRONMENTS), time=TIME, environments=("prod",), base=Base(ref="main", snapshot=snapshot({}))
    )
    lint(request, rules)
    lint(replace(request, environments=()), rules)
    assert seen == [False, False]
    lint(replace(request, base=Base(ref="main", snapshot=snapshot(ENVIRONMENTS))), rules)
    assert seen[-1]


def test_paths_restrict_what_is_shown_and_not_what_is_checked() -> None:
    texts = {"feeds/clicks.yaml": None}
    request = LintRequest(snapshot=snapshot(texts), time=TIME, focus=Focus(paths=("processes/hourly_job.yaml",)))
    report = lint(request, with_rules())
    assert {each.file for each in report.findings} == {"processes/hourly_job.yaml"}
    assert {each.rule for each in report.findings} == {"unknown-feed"}


NESTED = {
    "feeds/all.yaml": """
kind: feed
name: all
frequency: days(1)
external: true
locations:
  data: "/data/clicks/${YEAR}"
clusters:
  - name: primary
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
    retention: {limit: days(400)}
"""
}
"""A new feed around that of the standard repo; the finding is at the old one."""


def _nested(*paths: str, others_after: bool = False) -> LintReport:
    focus = Focus(paths=paths, others_after=others_after)
    request = LintRequest(snapshot=snapshot(NESTED), time=TIME, focus=focus)
    return lint(replace(request, selection=RuleSelection(select=("nested-path", "feed-without-consumer"))))


@pytest.mark.parametrize("changed", ["feeds/all.yaml", "feeds/clicks.yaml"])
def test_a_finding_about_two_files_is_shown_for_either(changed: str) -> None:
    finding = next(each for each in _nested(changed).findings if each.rule == "nested-path")
    assert finding.files == ("feeds/clicks.yaml", "feeds/all.yaml")
    (place,) = finding.related
    assert (str(place), place.key) == ("feeds/all.yaml:7:9", "locations.data")
    assert _nested(changed, others_after=True).findings[0] == finding


def test_a_name_that_is_taken_is_a_finding_of_both_files() -> None:
    texts = {"feeds/again/clicks.yaml": standard_texts()["feeds/clicks.yaml"]}
    for path in ("feeds/again", "feeds/clicks.yaml"):
        report = lint(LintRequest(snapshot=snapshot(texts), time=TIME, focus=Focus(paths=(path,))))
        (found,) = [each for each in report.findings if each.rule == "duplicate-name"]
        assert set(found.files) == {"feeds/again/clicks.yaml", "feeds/clicks.yaml"}


def test_what_other_files_have_is_counted_when_it_is_not_shown() -> None:
    assert _nested("processes").findings == ()
    counted = _nested("processes").elsewhere
    assert counted[Severity.ERROR] == 1
    assert sum(_nested("processes", others_after=True).elsewhere.values()) == 0
    assert sum(_nested().elsewhere.values()) == 0


def test_changed_files_come_first_when_all_are_shown() -> None:
    hits = [Hit(subject=name, message="x") for name in ("backup", "clicks", "hourly_job")]
    focus = Focus(paths=("processes",), others_after=True)
    report = lint(LintRequest(snapshot=snapshot({}), time=TIME, focus=focus), with_rules(rule(*hits)))
    assert [each.file for each in report.findings] == [
        "processes/hourly_job.yaml",
        "clusters/backup.yaml",
        "feeds/clicks.yaml",
    ]


@pytest.mark.parametrize(("path", "shown"), [("", True), ("feeds", True), ("feeds/clicks.yaml", True), ("feed", False)])
def test_a_path_is_a_file_or_a_folder(path: str, *, shown: bool) -> None:
    finding = Finding(
        file="feeds/clicks.yaml",
        line=1,
        column=1,
        end_column=1,
        rule="probe",
        severity=Severity.INFO,
        message="",
    )
    assert Focus(paths=(path,)).shows(finding) is shown
