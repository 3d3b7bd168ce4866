"""`feedctl entity new`: what it writes is accepted at once, and takes its values from the config repo."""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.running import Feedctl, Ran
from tests.unit.config_source.checkouts import write
from toolkit.config_source import open_snapshot
from toolkit.config_source.creation import create_repo
from toolkit.el import load_zone
from toolkit.entities import load

MINIMAL = Path(__file__).parents[3] / "config_repo_minimal"
CLUSTER = {"clusters/main.yaml": 'kind: cluster\nname: main\ninterfaces: {write: {endpoint: "hdfs://nn:8020"}}\n'}
BARE = {"repo.yaml": "name: bare\n", **CLUSTER}


def feed(
    name: str, path: str, *more: str, frequency: str = "days(1)", start: str = "2026-01-01T00:00Z"
) -> dict[str, str]:
    """The file of a feed on the cluster `main`."""
    clusters = f"[{{name: main, validity: {{start: {start}, end: 2099-01-01T00:00Z}}}}]"
    lines = ("kind: feed", f"name: {name}", f"frequency: {frequency}", f'locations: {{data: "{path}"}}')
    return {f"feeds/{name}.yaml": "\n".join([*lines, "external: true", f"clusters: {clusters}", *more])}


BERLIN = ("timezone: Europe/Berlin", "path_timezone: Europe/Berlin")
BERLIN_START = "2025-12-31T23:00Z"
DAY = "${YEAR}-${MONTH}-${DAY}"
REPOS: Mapping[str, Mapping[str, str]] = {
    "bare": BARE,
    "days of Berlin": {
        **BARE,
        **feed("a", f"/warehouse/a/{DAY}", *BERLIN, start=BERLIN_START),
        **feed("b", f"/warehouse/b/{DAY}", *BERLIN, start=BERLIN_START),
        **feed("c", "/other/c/${YEAR}-${MONTH}-${DAY}-${HOUR}", frequency="hours(1)"),
    },
    "hours, days by default of Berlin": {
        **BARE,
        "defaults.yaml": "feed: {timezone: Europe/Berlin, path_timezone: Europe/Berlin}\n",
        **feed("a", "/a/${YEAR}${MONTH}${DAY}${HOUR}", "timezone: UTC", "path_timezone: UTC", frequency="hours(6)"),
        **feed("b", "/b/${YEAR}${MONTH}${DAY}${HOUR}", "timezone: UTC", "path_timezone: UTC", frequency="hours(6)"),
        **feed("c", f"/c/{DAY}", start=BERLIN_START),
    },
    "defaults only": {
        **BARE,
        "defaults.yaml": "feed: {timezone: Europe/Berlin, path_timezone: Europe/Berlin, owner: me}\n"
        "process: {timezone: America/New_York, frequency: months(1)}\n",
    },
    "buckets": {**BARE, **feed("a", f"s3a://logs/raw/a/{DAY}")},
    "a whole bucket": {**BARE, **feed("a", f"s3a://logs/{DAY}")},
    "months in one folder": {**BARE, **feed("a", "/data/${YEAR}/${MONTH}", frequency="months(1)")},
    "the name's folder is taken": {**BARE, **feed("a", f"/data/new/{DAY}"), **feed("b", f"/elsewhere/b/{DAY}")},
    "a table only": {
        **BARE,
        "clusters/main.yaml": CLUSTER["clusters/main.yaml"].replace(
            "{write", '{registry: {endpoint: "thrift://m:9083"}, write'
        ),
        "feeds/a.yaml": feed("a", "")["feeds/a.yaml"].replace(
            'locations: {data: ""}', f'table: "catalog:web:a#ds={DAY}"'
        ),
    },
    "environments with a cluster each": {
        "repo.yaml": "environments: [dev, prod]\ndefault_environment: dev\n",
        "environments/dev.yaml": "clusters: [main, own]\n",
        "environments/prod.yaml": "clusters: [main]\n",
        **CLUSTER,
        "clusters/own.yaml": 'kind: cluster\nname: own\ninterfaces: {write: {endpoint: "file:///own"}}\n',
    },
}


class Repo:
    """A config repo in a folder, and commands on it."""

    def __init__(self, feedctl: Feedctl, path: Path) -> None:
        self.feedctl, self.path = feedctl, path

    def new(self, *arguments: str) -> Ran:
        return self.feedctl("entity", "new", *arguments, "--config-repo", str(self.path))

    def findings(self) -> Any:  # noqa: ANN401 - JSON
        """Return what lint finds in all environments."""
        linted = self.feedctl("lint", "--all-envs", "--config-repo", str(self.path), "--format", "json")
        return linted.document["findings"]

    def files(self) -> set[str]:
        """Return all files, by their paths below the folder."""
        return {str(each.relative_to(self.path)) for each in self.path.rglob("*") if each.is_file()}


@pytest.fixture(params=["template", "minimal", *REPOS])
def any_repo(request: pytest.FixtureRequest, feedctl: Feedctl, own_repo: Path, tmp_path: Path) -> Repo:
    if request.param == "template":
        return Repo(feedctl, own_repo)
    if request.param == "minimal":
        create_repo(MINIMAL, tmp_path / "minimal", tmp_path / "data")
        return Repo(feedctl, tmp_path / "minimal")
    return Repo(feedctl, write(tmp_path / "repo", REPOS[request.param]))


@pytest.mark.extended
@pytest.mark.parametrize(
    ("kind", "files"),
    [
        ("cluster", ["clusters/new.yaml"]),
        ("feed", ["feeds/new.yaml"]),
        ("process", ["processes/new.yaml", "workflows/new.sh"]),
    ],
)
def test_what_is_new_is_where_it_belongs_and_lints(any_repo: Repo, kind: str, files: list[str]) -> None:
    before, known = any_repo.files(), any_repo.findings()
    ran = any_repo.new(kind, "new")
    output = [
        *(f"wrote {any_repo.path / file}" for file in files),
        "next: edit what is not right for you, then feedctl lint",
    ]
    assert (ran.code, ran.err, ran.out.splitlines()) == (0, "", output)
    assert any_repo.files() - before == set(files)
    assert all(os.access(any_repo.path / file, os.X_OK) == file.endswith(".sh") for file in files)
    assert [each for each in any_repo.findings() if each not in known] == []
    entity = load(open_snapshot(any_repo.path)).entity("new")
    assert str(entity.KIND) == kind


@pytest.mark.extended
def test_the_retention_that_a_new_feed_proposes_lints_too(any_repo: Repo) -> None:
    known = any_repo.findings()
    any_repo.new("feed", "new")
    file = any_repo.path / "feeds" / "new.yaml"
    proposed = re.sub(r"# (retention: \{)", r"\1", file.read_text())
    assert proposed != file.read_text()
    file.write_text(proposed)
    assert [each for each in any_repo.findings() if each not in known] == []


@pytest.mark.parametrize(
    ("repo", "cluster", "frequency", "path", "zone"),
    [
        ("bare", "main", "days(1)", "/data/new/${YEAR}/${MONTH}/${DAY}", "UTC"),
        ("days of Berlin", "main", "days(1)", "/warehouse/new/${YEAR}/${MONTH}/${DAY}", "Europe/Berlin"),
        ("hours, days by default of Berlin", "main", "hours(6)", "/new/${YEAR}/${MONTH}/${DAY}/${HOUR}", "UTC"),
        ("defaults only", "main", "days(1)", "/data/new/${YEAR}/${MONTH}/${DAY}", "Europe/Berlin"),
        ("buckets", "main", "days(1)", "s3a://logs/raw/new/${YEAR}/${MONTH}/${DAY}", "UTC"),
        ("the name's folder is taken", "main", "days(1)", "/elsewhere/new/${YEAR}/${MONTH}/${DAY}", "UTC"),
        ("environments with a cluster each", "main", "days(1)", "/data/new/${YEAR}/${MONTH}/${DAY}", "UTC"),
    ],
)
def test_the_values_of_a_new_feed_are_what_is_usual(
    feedctl: Feedctl, tmp_path: Path, repo: str, cluster: str, frequency: str, path: str, zone: str
) -> None:
    Repo(feedctl, write(tmp_path, REPOS[repo])).new("feed", "new")
    made = load(open_snapshot(tmp_path)).feed("new")
    assert [each.name for each in made.clusters] == [cluster]
    assert (str(made.frequency), made.timezone, made.path_timezone) == (frequency, zone, zone)
    assert made.locations_on(cluster).data == path
    assert made.clusters[0].retention is None
    year = made.clusters[0].validity.start.astimezone(load_zone(zone))
    assert (year.month, year.day, year.hour) == (1, 1, 0)
    assert "feeds/a.yaml" not in REPOS[repo] or year.year == 2026, "as the feeds that are there"


@pytest.mark.parametrize(
    ("kind", "name", "output"),
    [
        ("feed", "clicks", "feeds/web/clicks.yaml has an entity named 'clicks' already"),
        ("process", "primary", "clusters/primary.yaml has an entity named 'primary' already"),
        ("feed", "../clicks", "NAME: found '../clicks', expected a letter, then"),
        ("feed", "a b", "NAME: found 'a b', expected a letter, then"),
        ("feed", "", "NAME: found '', expected a letter, then"),
        ("fed", "x", "KIND: found 'fed', expected one of cluster, feed, process; did you mean feed?"),
        ("datasource", "x", "KIND: found 'datasource', expected one of cluster, feed, process"),
        ("process", "clicks_late", "cannot be made: it exists already"),
    ],
)
def test_what_is_taken_or_no_name_is_refused_and_nothing_is_written(
    feedctl: Feedctl, own_repo: Path, kind: str, name: str, output: str
) -> None:
    (own_repo / "workflows" / "clicks_late.sh").touch()
    repo = Repo(feedctl, own_repo)
    before = repo.files()
    ran = repo.new(kind, name)
    assert (ran.code, ran.out) == (2, "")
    assert output in ran.err
    assert repo.files() == before


def test_a_link_leads_no_new_file_out_of_the_repo(feedctl: Feedctl, tmp_path: Path) -> None:
    repo = Repo(feedctl, write(tmp_path / "repo", BARE))
    (tmp_path / "outside").mkdir()
    (repo.path / "workflows").symlink_to(tmp_path / "outside")
    ran = repo.new("process", "new")
    assert (ran.code, list((tmp_path / "outside").iterdir())) == (2, [])
    assert "workflows is a link" in ran.err
    assert repo.files() == set(BARE)


def test_a_repo_without_a_cluster_gets_one_first(feedctl: Feedctl, tmp_path: Path) -> None:
    repo = Repo(feedctl, write(tmp_path, {"repo.yaml": "name: none\n"}))
    ran = repo.new("feed", "events")
    assert (ran.code, ran.err) == (
        2,
        "feedctl: the config repo has no cluster to be on; make one first: feedctl entity new cluster NAME\n",
    )
    assert [repo.new(*each).code for each in (("cluster", "Big_One"), ("feed", "events"))] == [0, 0]
    assert repo.findings() == []


def test_an_archive_is_not_written_to(feedctl: Feedctl, tmp_path: Path) -> None:
    write(tmp_path / "repo", BARE)
    archive = tmp_path / "repo.tar"
    with tarfile.open(archive, "w") as file:
        file.add(tmp_path / "repo", arcname=".")
    before = archive.read_bytes()
    ran = Repo(feedctl, archive).new("feed", "new")
    assert (ran.code, archive.read_bytes()) == (2, before)
    assert "expected a directory, which can be written to" in ran.err


def test_a_repo_that_does_not_load_says_why(feedctl: Feedctl, tmp_path: Path) -> None:
    repo = Repo(feedctl, write(tmp_path, {**BARE, "feeds/a.yaml": "kind: feed\nname: b\n"}))
    ran = repo.new("feed", "new")
    assert ran.code == 2
    assert "feeds/a.yaml:2:7: file-name:" in ran.err
    assert not (tmp_path / "feeds" / "new.yaml").exists()
