"""Hits are shown where the value was written, be it in a defaults file or an environment."""

from __future__ import annotations

from tests.unit.linter.probes import LIMIT, rule, with_rules
from tests.unit.linter.repos import Texts, lint_texts, standard_texts
from toolkit.linter.findings import Hit


def place(hit: Hit, texts: Texts, *environments: str) -> tuple[str, int, int, int]:
    report = lint_texts(texts, rules=with_rules(rule(hit)), environments=environments, select=("probe",))
    (finding,) = report.findings
    return finding.file, finding.line, finding.column, finding.end_column


def test_a_value_is_where_its_text_is() -> None:
    assert place(LIMIT, {}) == ("feeds/clicks.yaml", 14, 24, 32)


def test_a_key_is_where_it_is_written() -> None:
    hit = Hit(subject="clicks", pointer=("late_arrival", "cut_off"), message="x", on_key=True)
    assert place(hit, {}) == ("feeds/clicks.yaml", 6, 16, 23)


def test_an_offset_counts_from_the_text_inside_the_quotes() -> None:
    hit = Hit(subject="clicks", pointer=("locations", "data"), message="x", offset=6)
    assert place(hit, {}) == ("feeds/clicks.yaml", 9, 16, 55)


def test_a_value_of_several_lines_ends_with_its_first() -> None:
    assert place(Hit(subject="clicks", pointer=("clusters",), message="x"), {}) == ("feeds/clicks.yaml", 11, 3, 18)


def test_a_whole_entity_is_where_its_name_is() -> None:
    assert place(Hit(subject="clicks", message="x"), {}) == ("feeds/clicks.yaml", 2, 7, 13)


def test_a_value_of_a_defaults_file_is_there() -> None:
    hit = Hit(subject="clicks", pointer=("owner",), message="x")
    assert place(hit, {"feeds/defaults.yaml": "feed:\n  owner: web\n"}) == ("feeds/defaults.yaml", 2, 10, 13)


def test_a_value_of_an_environment_is_there_and_its_key_in_the_merged_entity() -> None:
    texts = {
        "repo.yaml": "environments: [prod]\n",
        "environments/prod.yaml": "entities:\n  clicks:\n    clusters:\n      - {name: backup, delay: hours(2)}\n",
    }
    hit = Hit(subject="clicks", pointer=("clusters", 1, "delay"), message="x")
    assert place(hit, texts, "prod") == ("environments/prod.yaml", 4, 31, 39)
    report = lint_texts(texts, rules=with_rules(rule(hit)), environments=("prod",))
    assert [each.key for each in report.findings] == ["clusters[backup].delay"]


def test_a_setting_is_in_repo_yaml_or_in_the_environment() -> None:
    texts = {"repo.yaml": "environments: [prod]\nname: a\n", "environments/prod.yaml": "repo: {owners: [me]}\n"}
    assert place(Hit(subject="repo.yaml", pointer=("name",), message="x"), texts, "prod") == ("repo.yaml", 2, 7, 8)
    owners = Hit(subject="repo.yaml", pointer=("owners", 0), message="x")
    assert place(owners, texts, "prod") == ("environments/prod.yaml", 1, 17, 19)


def test_a_value_that_is_not_there_is_where_the_value_around_it_is() -> None:
    hit = Hit(subject="clicks", pointer=("clusters", 0, "retention", "keep_last"), message="x")
    assert place(hit, {}) == ("feeds/clicks.yaml", 14, 16, 49)
    null = {"feeds/defaults.yaml": "feed:\n  owner: null\n"}
    hit = Hit(subject="feeds/defaults.yaml", pointer=("feed", "owner"), message="x", on_key=True)
    assert place(hit, null) == ("feeds/defaults.yaml", 2, 3, 8)


def test_a_file_that_is_not_there_has_no_line() -> None:
    for hit in (Hit(subject="holds.yaml", pointer=("holds",), message="x"), Hit(subject="workflows/x.sql", message="")):
        assert place(hit, {}) == (hit.subject, 0, 0, 0)


def test_columns_count_characters() -> None:
    text = standard_texts()["feeds/clicks.yaml"].replace("late_arrival: {", 'late_arrival: { "ä日": 1, ')
    (finding,) = lint_texts({"feeds/clicks.yaml": text}, select=("unknown-key",)).findings
    assert (finding.column, finding.end_column) == (17, 21)
