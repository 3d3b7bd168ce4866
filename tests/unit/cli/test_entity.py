"""`feedctl entity` on the config repo of the template."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from benchmarks.generate_repo import generate
from tests.unit.cli.running import Feedctl

pytestmark = pytest.mark.usefixtures("repo")


def names(feedctl: Feedctl, *arguments: str) -> set[str]:
    return {each["name"] for each in feedctl("entity", "list", "--output", "json", *arguments).document["entities"]}


def test_all_entities_are_listed_with_their_files(feedctl: Feedctl) -> None:
    ran = feedctl("entity", "list")
    assert ran.code == 0
    assert ran.rows[0] == ["KIND", "NAME", "OWNER", "GROUPS", "TAGS", "FILE"]
    assert len(ran.rows) == 12
    assert "feeds/web/clicks.yaml" in ran.out


def test_entities_are_filtered_by_kind_tag_group_owner_pipeline_and_name(feedctl: Feedctl) -> None:
    assert names(feedctl, "--kind", "cluster") == {"primary", "backup"}
    assert names(feedctl, "--tag", "classification=pii") == {"clicks", "crm_customers"}
    assert names(feedctl, "--tag", "classification=pii", "--tag", "team=web") == {"clicks"}
    assert names(feedctl, "--group", "bi") == {"clicks", "clicks_hourly"}
    assert names(feedctl, "--owner", "crm@example.com") == {"crm", "crm_customers"}
    assert names(feedctl, "--kind", "process", "--group", "bi") == set()
    assert names(feedctl, "--name", "CRMcust") == {"crm_customers"}
    web = {"clicks_hourly_job", "clicks_by_country_job"}
    assert web <= names(feedctl, "--pipeline", "web") <= names(feedctl, "--kind", "process")
    assert names(feedctl, "--pipeline", "web", "--name", "hourly") == {"clicks_hourly_job"}
    assert names(feedctl, "--pipeline", "we") == set()


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        (
            "--kind",
            "fed",
            "--kind: found 'fed', expected one of cluster, feed, process, datasource, mirror; did you mean feed?",
        ),
        ("--tag", "pii", "--tag: found 'pii', expected KEY=VALUE"),
        ("--tag", "=pii", "--tag: found '=pii', expected KEY=VALUE"),
    ],
)
def test_a_bad_filter_is_refused(feedctl: Feedctl, option: str, value: str, message: str) -> None:
    ran = feedctl("entity", "list", option, value)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_one_tag_with_two_values_is_refused_rather_than_half_heard(feedctl: Feedctl) -> None:
    ran = feedctl("entity", "list", "--tag", "team=web", "--tag", "team=ads")
    assert (ran.code, ran.out) == (2, "")
    assert "expected one value for team" in ran.err


def test_an_entity_is_shown_with_defaults_and_environment_merged_in(feedctl: Feedctl) -> None:
    shown = yaml.safe_load(feedctl("entity", "show", "primary").out)
    assert shown["interfaces"]["write"]["endpoint"].startswith("file:///")
    assert "registry" not in shown["interfaces"]
    production = yaml.safe_load(feedctl("entity", "show", "primary", "--env", "prod").out)
    assert production["interfaces"]["write"]["endpoint"] == "hdfs://namenode.fra.example.com:8020"
    assert production["tags"] == {"stage": "production"}


def test_what_is_shown_is_the_document_again(feedctl: Feedctl) -> None:
    document = feedctl("entity", "show", "clicks", "--output", "json").document
    assert document["entity"] == yaml.safe_load(feedctl("entity", "show", "clicks").out)
    assert "origins" not in document


def test_origins_name_file_line_and_column_of_every_value(feedctl: Feedctl, repo: Path) -> None:
    origins = feedctl("entity", "show", "crm_customers", "--origins", "--output", "json").document["origins"]
    assert origins["frequency"].startswith("feeds/crm/crm_customers.yaml:")
    assert origins["owner"].startswith("feeds/crm/defaults.yaml:")
    assert origins["acl.owner"].startswith("defaults.yaml:")
    file, line, column = origins["clusters[primary].retention.limit"].split(":")
    assert (repo / file).read_text().splitlines()[int(line) - 1][int(column) - 1 :].startswith("days(30)")


def test_values_from_the_environment_are_named_so(feedctl: Feedctl) -> None:
    ran = feedctl("entity", "show", "primary", "--origins")
    (row,) = [row for row in ran.rows if row[0] == "interfaces.write.endpoint"]
    assert row[-1].startswith("environments/dev.yaml:")


def test_dependencies_go_both_ways(feedctl: Feedctl) -> None:
    document = feedctl("entity", "dependencies", "clicks", "--output", "json").document
    assert document["depends_on"] == ["backup", "primary"]
    assert document["is_depended_on_by"] == ["clicks_hourly_job", "customer_activity_job"]


def test_dependencies_can_be_followed_to_the_end(feedctl: Feedctl) -> None:
    direct = feedctl("entity", "dependencies", "crm", "--output", "json").document
    transitive = feedctl("entity", "dependencies", "crm", "--transitive", "--output", "json").document
    assert direct["is_depended_on_by"] == ["crm_customers"]
    assert transitive["is_depended_on_by"] == ["crm_customers", "customer_activity_job"]
    assert ["crm", "is", "depended", "on", "by", "feed", "crm_customers"] in feedctl(
        "entity", "dependencies", "crm"
    ).rows


def test_a_path_is_looked_up_to_the_feed_that_owns_it(feedctl: Feedctl) -> None:
    ran = feedctl("entity", "lookup", "--path", "/data/clicks/2026/03/01/06/part-0", "--cluster", "primary")
    template = "/data/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}"
    assert ran.rows[1] == ["clicks", "primary", "data", "2026-03-01T06:00Z", "2026-03-01T07:00Z", template]


def test_a_path_of_nobody_is_said_to_be_so(feedctl: Feedctl) -> None:
    ran = feedctl("entity", "lookup", "--path", "/data/nobody")
    assert (ran.code, ran.out) == (0, "/data/nobody belongs to no feed\n")
    assert feedctl("entity", "lookup", "--path", "/data/nobody", "--output", "json").document["owners"] == []


def test_an_unknown_entity_names_the_nearest(feedctl: Feedctl) -> None:
    ran = feedctl("entity", "show", "clikcs")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "did you mean clicks" in ran.err


def test_an_unknown_environment_names_the_nearest(feedctl: Feedctl) -> None:
    ran = feedctl("entity", "list", "--env", "pord")
    assert ran.code == 2
    assert "prod" in ran.err


def test_a_misspelt_command_names_the_nearest(feedctl: Feedctl) -> None:
    ran = feedctl("entity", "lsit")
    assert (ran.code, ran.err) == (
        2,
        "feedctl: No such command 'lsit'. Did you mean 'list'?; see feedctl entity --help\n",
    )


@pytest.mark.parametrize("arguments", [("list",), ("show", "feed_00005", "--origins"), ("dependencies", "feed_00005")])
def test_a_large_repo_is_answered_alike_from_the_users_cache(
    feedctl: Feedctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    generate(tmp_path / "repo", 240)
    monkeypatch.setenv("FEEDCTL_REPO", str(tmp_path / "repo"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("FEEDCTL_NO_CACHE", "1")
    plain = feedctl("entity", *arguments)
    assert plain.code == 0
    assert not (tmp_path / "cache").exists()
    monkeypatch.delenv("FEEDCTL_NO_CACHE")
    assert [feedctl("entity", *arguments).out for _ in range(2)] == [plain.out] * 2
    assert len(list((tmp_path / "cache" / "feedctl" / "entities").iterdir())) == 1
