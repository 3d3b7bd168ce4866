from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.entities.config_repo import BASE, CLUSTER, FEED, PROCESS, problems, repository, rules, snapshot
from toolkit.entities import ConfigError, ConfigProblem, Selection, UnknownName, load, load_all, path_text
from toolkit.entities.vocabulary import Kind


def test_a_repo_without_problems_is_loaded() -> None:
    repo = repository()
    assert [each.name for each in repo.entities()] == ["clicks", "clicks_hourly", "primary", "shop"]


def test_load_raises_all_problems_of_all_files() -> None:
    texts = {"feeds/clicks.yaml": "a: [", "clusters/primary.yaml": "- 1\n"}
    with pytest.raises(ConfigError) as raised:
        load(snapshot(texts))
    assert [each.file for each in raised.value.problems] == ["clusters/primary.yaml", "feeds/clicks.yaml"]
    assert str(raised.value).startswith("the config repo has 2 problems:\nclusters/primary.yaml:1:1: wrong-type: ")


def test_load_all_gives_what_is_usable() -> None:
    repo, found = load_all(snapshot({"feeds/more.yaml": FEED}))
    assert [each.rule for each in found] == ["file-name"]
    assert set(repo.feeds) == {"clicks"}


def test_an_entity_with_a_wrong_reference_is_held_out() -> None:
    repo, found = load_all(snapshot({"processes/clicks_hourly.yaml": PROCESS.replace("feed: clicks", "feed: click")}))
    assert [each.rule for each in found] == ["unknown-feed"]
    assert repo.processes == {}
    with pytest.raises(UnknownName):
        repo.entity("clicks_hourly")


def test_a_broken_file_makes_no_second_problem_of_those_that_refer_to_it() -> None:
    assert rules({"clusters/primary.yaml": "kind: ["}) == ["yaml-syntax"]


@pytest.mark.parametrize(
    ("file", "text", "rule"),
    [
        ("processes/clicks_hourly.yaml", PROCESS.replace("feed: clicks", "feed: click"), "unknown-feed"),
        ("processes/clicks_hourly.yaml", PROCESS.replace("{name: primary", "{name: primari"), "unknown-cluster"),
        ("feeds/clicks.yaml", FEED.replace("name: primary", "name: primari"), "unknown-cluster"),
    ],
)
def test_a_mistake_in_the_same_file_hides_no_wrong_reference(file: str, text: str, rule: str) -> None:
    assert set(rules({file: text + "descripton: x\n"})) == {"unknown-key", rule}


def test_a_repo_needs_its_repo_yaml() -> None:
    assert problems({"repo.yaml": None}) == [
        (
            "repo.yaml: missing-repo-yaml: the file is missing, expected it at the root of a config repo; "
            "make one with `feedctl init`"
        )
    ]


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        (
            {"feeds/other.yaml": FEED},
            (
                "feeds/other.yaml:2:7: file-name: found the name 'clicks' in feeds/other.yaml, expected 'other'; "
                "the file of an entity has the entity's name"
            ),
        ),
        (
            {"feeds/web/clicks.yaml": FEED},
            (
                "feeds/web/clicks.yaml:2:7: duplicate-name: the name 'clicks' is taken by feeds/clicks.yaml; "
                "names are unique over all kinds and folders"
            ),
        ),
        (
            {"processes/clicks.yaml": PROCESS.replace("name: clicks_hourly", "name: clicks")},
            (
                "processes/clicks.yaml:2:7: duplicate-name: the name 'clicks' is taken by feeds/clicks.yaml; "
                "names are unique over all kinds and folders"
            ),
        ),
        (
            {"feeds/my clicks.yaml": FEED.replace("name: clicks", "name: my clicks")},
            (
                'feeds/my clicks.yaml:2:7: bad-name: name: "my clicks": expected a letter, '
                "then at most 119 letters, digits, underscores and dashes"
            ),
        ),
        (
            {"feeds/kliks_größe.yaml": FEED.replace("name: clicks", "name: kliks_größe")},
            (
                'feeds/kliks_größe.yaml:2:7: bad-name: name: "kliks_größe": expected a letter, '
                "then at most 119 letters, digits, underscores and dashes"
            ),
        ),
        (
            {"feeds/other.yml": FEED},
            "feeds/other.yml: file-name: found the ending .yml, expected .yaml; rename the file",
        ),
        (
            {"feed/other.yaml": FEED},
            "feed/other.yaml: file-name: found the folder feed/, expected feeds/; move the file",
        ),
        ({"feeds/empty.yaml": ""}, "feeds/empty.yaml:1:1: empty-file: the file is empty; "),
    ],
)
def test_names_and_files_go_together(texts: dict[str, str], problem: str) -> None:
    (found,) = problems(texts)
    assert found.startswith(problem)


def test_files_elsewhere_are_no_configuration() -> None:
    texts = {"workflows/clicks.yaml": "a: [", ".ci/feeds/x.yaml": "a: [", "feeds/README.md": "hello"}
    assert problems(texts) == []


def test_defaults_hold_for_the_folder_and_below_and_the_nearest_wins() -> None:
    repo = repository(
        {
            "defaults.yaml": "feed: {owner: all@example.com, timezone: Europe/Berlin}\nprocess: {domain: web}\n",
            "feeds/web/defaults.yaml": "feed: {owner: web@example.com}\n",
            "feeds/clicks.yaml": None,
            "feeds/web/clicks.yaml": FEED,
            "feeds/views.yaml": FEED.replace("name: clicks", "name: views"),
        }
    )
    assert (repo.feed("clicks").owner, repo.feed("clicks").timezone) == ("web@example.com", "Europe/Berlin")
    assert repo.feed("views").owner == "all@example.com"
    assert repo.process("clicks_hourly").domain == "web"
    assert repo.cluster("primary").owner is None


def test_an_entity_may_remove_a_default() -> None:
    texts = {"defaults.yaml": "feed: {owner: all@example.com}\n", "feeds/clicks.yaml": FEED + "owner: null\n"}
    assert repository(texts).feed("clicks").owner is None


def test_a_mistake_in_the_defaults_is_one_problem_of_that_file() -> None:
    texts = {
        "defaults.yaml": "feed: {timezon: UTC, clusters: [{name: primary, delay: minute(1)}]}\nprozess: {}\n",
        "feeds/views.yaml": FEED.replace("name: clicks", "name: views"),
    }
    assert problems(texts) == [
        "defaults.yaml:1:8: unknown-key: unknown key 'timezon'; did you mean timezone?",
        (
            'defaults.yaml:1:56: bad-frequency: clusters[primary].delay: "minute(1)": at character 1: '
            "found 'minute', "
            "expected minutes(N) or hours(N) or days(N) or months(N); did you mean minutes(1)?"
        ),
        "defaults.yaml:2:1: unknown-key: unknown key 'prozess'; did you mean process?",
    ]


def test_a_value_is_reported_where_it_was_written() -> None:
    texts = {
        "defaults.yaml": "feed: {late_arrival: {cut_off: hours(1)}}\n",
        "feeds/clicks.yaml": FEED + "late_arrival: {cutoff: hours(2)}\n",
    }
    assert problems(texts) == [
        "feeds/clicks.yaml:10:16: unknown-key: unknown key 'cutoff' in late_arrival; did you mean cut_off?"
    ]


def test_the_origin_of_each_value_is_known() -> None:
    repo = repository(
        {
            "repo.yaml": "environments: [prod]\n",
            "defaults.yaml": "feed:\n  owner: all@example.com\n",
            "environments/prod.yaml": "entities:\n  clicks:\n    clusters: [{name: primary, delay: hours(2)}]\n",
        },
        "prod",
    )
    origins = {path_text(repo.merged("clicks"), at): str(each) for at, each in repo.origins("clicks").items()}
    assert origins["owner"] == "defaults.yaml:2:10"
    assert origins["frequency"] == "feeds/clicks.yaml:3:12"
    assert origins["clusters[primary].delay"] == "environments/prod.yaml:3:39"
    assert origins["clusters[primary].retention.limit"] == "feeds/clicks.yaml:9:24"


def test_selection_is_by_kind_tag_group_and_owner() -> None:
    tagged = FEED + "tags: {team: web}\ngroups: [online]\nowner: a@example.com\n"
    repo = repository({"feeds/clicks.yaml": tagged, "feeds/views.yaml": FEED.replace("name: clicks", "name: views")})

    def names(selection: Selection) -> list[str]:
        return [each.name for each in repo.select(selection)]

    assert names(Selection(kind=Kind.FEED)) == ["clicks", "views"]
    assert names(Selection(tags={"team": "web"})) == ["clicks"]
    assert names(Selection(tags={"team": "billing"})) == []
    assert names(Selection(groups=("online", "other"))) == ["clicks"]
    assert names(Selection(owner="a@example.com")) == ["clicks"]
    assert len(names(Selection())) == len(BASE)


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"the config repo has no feed named 'click'; did you mean clicks\?"):
        repository().feed("click")


def test_a_template_with_a_tab_or_a_control_character_is_found_in_its_file() -> None:
    assert rules({"clusters/primary.yaml": CLUSTER.replace("colo: east", "colo:\teast")}) == ["tab"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Holds.yaml", "holds.yaml"),
        ("hold.yaml", "holds.yaml"),
        ("HOLDS.YAML", "holds.yaml"),
        ("default.yaml", "defaults.yaml"),
        ("holds.json", "holds.yaml"),
        ("holds.yml", "holds.yaml"),
        ("Repo.YML", "repo.yaml"),
    ],
)
def test_a_file_of_the_root_with_almost_its_name_is_not_passed_over(name: str, meant: str) -> None:
    assert problems({name: "x"}) == [f"{name}: file-name: found the file {name}, expected {meant}; rename the file"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("holds/legal.yaml", "found the folder holds/, expected holds.yaml; put it all into holds.yaml"),
        ("Hold/2026/legal.json", "found the folder Hold/, expected holds.yaml; put it all into holds.yaml"),
        ("Feeds/clicks.yaml", "found the folder Feeds/, expected feeds/; move the file"),
        ("process/hourly.yml", "found the folder process/, expected processes/; move the file"),
    ],
)
def test_a_file_in_a_folder_with_almost_the_name_is_not_passed_over(name: str, message: str) -> None:
    assert problems({name: "x"}) == [f"{name}: file-name: {message}"]


def test_holds_that_nobody_has_written_yet_are_refused() -> None:
    (found,) = problems({"holds.yaml": "holds:\n"})
    assert found.startswith("holds.yaml:1:7: wrong-type: holds: found null, expected a list")


def test_a_folder_with_the_name_of_a_file_of_the_root_is_not_passed_over() -> None:
    assert problems({"holds.yaml/clicks.txt": "x"}) == [
        "holds.yaml: unreadable: found a folder, expected a file; write the file"
    ]


def test_other_files_of_the_root_are_nobodys_business() -> None:
    assert problems({"mkdocs.yaml": "x", "compose.yml": "x", "docs/holds.yml": "x"}) == []


def test_a_link_has_only_the_problem_that_it_is_one() -> None:
    link = ConfigProblem(file="feeds/link.yaml", rule="symlink", message="found a link, expected a file")
    found = load_all(replace(snapshot({}), names=frozenset({"feeds/link.yaml"}), problems=(link,)))[1]
    assert found == (link,)
