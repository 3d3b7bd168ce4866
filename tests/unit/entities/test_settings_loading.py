from __future__ import annotations

import pytest

from tests.unit.entities.config_repo import CLUSTER, PROCESS, problems, repository, rules
from toolkit.el import parse_instant
from toolkit.entities import UnknownName
from toolkit.entities.repo import Schedules
from toolkit.entities.vocabulary import DeployMode

ENVIRONMENTS = {
    "repo.yaml": "environments: [dev, prod]\ndefault_environment: dev\nmax_delete: {instances: 100, fraction: 0.5}\n",
    "environments/dev.yaml": "description: laptops\nclusters: [primary]\nrepo: {max_delete: {instances: 5}}\n",
    "environments/prod.yaml": "entities:\n  clicks: {owner: prod@example.com}\n",
}


def test_the_settings_have_defaults() -> None:
    settings = repository().settings
    assert settings.max_delete.instances == 10_000
    assert settings.max_delete.fraction is None
    assert settings.keep_instances_beyond_validity
    assert settings.max_age is None


def test_the_default_environment_is_used_when_none_is_asked_for() -> None:
    repo = repository(ENVIRONMENTS)
    assert repo.environment is not None
    assert (repo.environment.name, repo.environment.clusters) == ("dev", ("primary",))
    assert (repo.settings.max_delete.instances, repo.settings.max_delete.fraction) == (5, 0.5)
    assert repo.feed("clicks").owner is None


def test_an_environment_lies_over_settings_and_entities() -> None:
    repo = repository(ENVIRONMENTS, "prod")
    assert repo.settings.max_delete.instances == 100
    assert repo.feed("clicks").owner == "prod@example.com"
    assert set(repo.environments) == {"dev", "prod"}


def test_an_unknown_environment_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"no environment named 'prd'; did you mean prod\?"):
        repository(ENVIRONMENTS, "prd")


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        (
            "repo.yaml",
            "environments: [dev, prod, prd]\n",
            (
                "repo.yaml:1:27: unknown-environment: found the environment 'prd', expected a listed one "
                "with a file environments/prd.yaml; did you mean prod?"
            ),
        ),
        (
            "repo.yaml",
            "environments: [dev]\n",
            (
                "environments/prod.yaml: unlisted-environment: the environment prod is not listed in repo.yaml; "
                "add it to environments in repo.yaml"
            ),
        ),
        (
            "repo.yaml",
            "environments: [dev, prod]\ndefault_environment: test\n",
            (
                "repo.yaml:2:22: unknown-environment: found the environment 'test', expected a listed one "
                "with a file environments/test.yaml"
            ),
        ),
        (
            "repo.yaml",
            "environments: [dev, prod]\nmax_delete: {instances: many}\n",
            "repo.yaml:2:25: wrong-type: max_delete.instances: found the text 'many', expected a whole number",
        ),
        (
            "repo.yaml",
            "environments: [dev, prod]\nmax_delete: {fraction: 1.5}\n",
            "repo.yaml:2:24: bad-value: max_delete.fraction: found the number 1.5, expected at most 1",
        ),
        (
            "environments/dev.yaml",
            "clusters: [primry]\n",
            (
                "environments/dev.yaml:1:12: unknown-cluster: found the cluster 'primry', "
                "expected one under clusters/; did you mean primary?"
            ),
        ),
        (
            "environments/dev.yaml",
            "entities: {click: {owner: me}}\n",
            (
                "environments/dev.yaml:1:12: unknown-entity: found values for 'click', expected the name of an entity; "
                "did you mean clicks?"
            ),
        ),
        (
            "environments/prod.yaml",
            "entities: {clicks: {ownr: me}}\n",
            "environments/prod.yaml:1:21: unknown-key: unknown key 'ownr'; did you mean owner?",
        ),
        (
            "environments/prod.yaml",
            "repo: {max_delet: {}}\n",
            "environments/prod.yaml:1:8: unknown-key: unknown key 'max_delet'; did you mean max_delete?",
        ),
        (
            "environments/old/prod.yaml",
            "description: x\n",
            "environments/old/prod.yaml: file-name: found an environment in a sub-folder; move it up",
        ),
    ],
)
def test_settings_that_fit_nothing_are_refused(file: str, text: str, problem: str) -> None:
    assert problems({**ENVIRONMENTS, file: text}) == [problem]


def test_a_mistake_in_an_environment_is_found_whichever_is_asked_for() -> None:
    texts = {**ENVIRONMENTS, "environments/prod.yaml": "entities: {clicks: {frequency: hourly}}\n"}
    assert rules(texts, "dev") == rules(texts, "prod") == ["bad-frequency"]


def test_holds_are_loaded() -> None:
    text = "holds:\n  - {feed: clicks, cluster: primary, start: 2026-01-02T00:00Z, reason: audit}\n"
    repo = repository({"holds.yaml": text})
    (hold,) = repo.holds_on("clicks", "primary")
    assert repo.holds_on("clicks", "backup") == ()
    assert not hold.covers(parse_instant("2026-01-01T23:59Z"))
    assert hold.covers(parse_instant("2026-01-02T00:00Z"))
    assert hold.covers(parse_instant("2098-01-02T00:00Z"))


def test_the_end_of_a_hold_is_not_held() -> None:
    text = "holds:\n  - {feed: clicks, end: 2026-01-02T00:00Z, reason: audit, owner: legal}\n"
    (hold,) = repository({"holds.yaml": text}).holds_on("clicks", "anywhere")
    assert hold.covers(parse_instant("2026-01-01T23:59Z"))
    assert not hold.covers(parse_instant("2026-01-02T00:00Z"))


@pytest.mark.parametrize(
    ("hold", "problem"),
    [
        (
            "{feed: clicks}",
            (
                "holds.yaml:2:5: missing-key: missing key 'reason' in holds[0]; "
                "reason: Why; shown for every instance that it keeps."
            ),
        ),
        (
            "{feed: click, reason: x}",
            ("holds.yaml:2:12: unknown-feed: found the feed 'click', expected one under feeds/; did you mean clicks?"),
        ),
        (
            "{feed: clicks, cluster: primry, reason: x}",
            (
                "holds.yaml:2:29: unknown-cluster: found the cluster 'primry', expected one under clusters/; "
                "did you mean primary?"
            ),
        ),
        (
            "{feed: clicks, cluster: backup, reason: x}",
            "holds.yaml:2:29: feed-not-on-cluster: the feed clicks is not on the cluster backup; known: primary",
        ),
        (
            "{feed: clicks, start: 2026-01-02T00:00Z, end: 2026-01-02T00:00Z, reason: x}",
            "holds.yaml:2:51: empty-hold: the hold ends before it starts, expected start < end; the end is exclusive",
        ),
    ],
)
def test_a_hold_that_holds_nothing_is_refused(hold: str, problem: str) -> None:
    backup = CLUSTER.replace("name: primary", "name: backup")
    assert problems({"clusters/backup.yaml": backup, "holds.yaml": f"holds:\n  - {hold}\n"}) == [problem]


def test_the_ledger_and_what_goes_with_it_are_read_as_written() -> None:
    settings = repository().settings
    assert (settings.ledger, settings.audit_file, settings.admins) == (None, None, ())
    text = "ledger: sqlite:///a.db\naudit_file: ${env:HOME}/audit.jsonl\nadmins: [etl]\n"
    settings = repository({"repo.yaml": text}).settings
    assert settings.ledger == "sqlite:///a.db"
    assert (settings.audit_file, settings.admins) == ("${env:HOME}/audit.jsonl", ("etl",))


def test_links_that_may_be_followed_are_named_by_their_whole_path() -> None:
    assert repository().settings.trusted_links == ()
    assert repository({"repo.yaml": "trusted_links: [/data, /mnt/a b]\n"}).settings.trusted_links == (
        "/data",
        "/mnt/a b",
    )
    for wrong in ("data", "/data/", "/", '""'):
        (found,) = problems({"repo.yaml": f"trusted_links: [{wrong}]\n"})
        assert found.startswith("repo.yaml:1:17: bad-value: trusted_links[0]: "), found


def test_groups_of_processes_that_share_sessions_are_those_of_the_environment() -> None:
    texts = {
        **ENVIRONMENTS,
        "processes/a.yaml": PROCESS.replace("clicks_hourly", "a", 1),
        "processes/b.yaml": PROCESS.replace("clicks_hourly", "b", 1),
        "environments/prod.yaml": "repo: {shared_sessions: [[b, a]]}\n",
    }
    settings = {name: repository(texts, name).settings for name in ("dev", "prod")}
    assert {name: each.session_owner("a") for name, each in settings.items()} == {"dev": None, "prod": "b"}
    texts["environments/prod.yaml"] = "repo: {shared_sessions: [[a, b], [a, c]]}\n"
    assert [each.partition(": ")[2].partition(":")[0] for each in problems(texts, "prod")] == ["bad-session-group"] * 2


def test_an_environment_has_a_ledger_of_its_own() -> None:
    base = {**ENVIRONMENTS, "repo.yaml": "environments: [dev, prod]\nledger: sqlite:///a.db\n"}
    texts = {
        **base,
        "environments/prod.yaml": 'repo: {ledger: "sqlite:////var/prod.db", admins: [etl]}\n',
    }
    assert repository(texts, "dev").settings.ledger == "sqlite:///a.db"
    assert repository(texts, "prod").settings.ledger == "sqlite:////var/prod.db"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "ledger: mysql://db/feedctl",
            'repo.yaml:1:9: bad-ledger-url: ledger: "mysql://...": expected sqlite:///FILE ',
        ),
        ("ledger: sqlite://", 'repo.yaml:1:9: bad-ledger-url: ledger: "sqlite://": found a ledger in memory, '),
        (
            "ledger: sqlite:///${HOME}/a.db",
            "repo.yaml:1:19: bad-ledger-url: ledger: \"sqlite:///${HOME}/a.db\": at character 11: found '${HOME}', ",
        ),
        ("audit_file: audit/", 'repo.yaml:1:13: bad-local-path: audit_file: "audit/": found a folder, expected '),
        ("audit_file: ${HOME}/a", 'repo.yaml:1:13: bad-local-path: audit_file: "${HOME}/a": at character 1: found '),
        # A list that is there and empty would read as nobody, and mean everybody.
        ("admins: []", "repo.yaml:1:9: bad-value: admins: found an empty list, expected a list with at least 1 item"),
    ],
)
def test_a_ledger_that_would_not_last_and_what_goes_with_it_are_refused(text: str, problem: str) -> None:
    (found,) = problems({"repo.yaml": f"{text}\n"})
    assert found.startswith(problem), found


def test_the_schedules_of_an_environment_are_those_of_its_file() -> None:
    section = "schedules: {entrypoints: /opt/e, deploy_mode: cluster, options: ['--queue', etl], master: null}\n"
    repo = repository({**ENVIRONMENTS, "environments/prod.yaml": section}, "prod")
    assert repo.environment is not None
    assert repo.environment.schedules == Schedules(
        entrypoints="/opt/e", deploy_mode=DeployMode.CLUSTER, options=("--queue", "etl")
    )


@pytest.mark.parametrize("text", ["a\\nb", " a", "", "\\u202ea"])
def test_what_no_command_line_could_hold_is_refused(text: str) -> None:
    texts = {**ENVIRONMENTS, "environments/prod.yaml": f'schedules: {{options: ["{text}"]}}\n'}
    (problem,) = problems(texts)
    assert "expected one argument of a command: printable, with no blank at its ends" in problem
