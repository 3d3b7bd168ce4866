from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.running import Feedctl
from tests.unit.entities.test_mirrors import BACKUP, LANDED, LANDING, TREE


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A config repo with a mirror of feedctl's and one of a type of its own."""
    folder = tmp_path / "repo"
    files = {
        "repo.yaml": "name: mirrors\naccept: [not-implemented]\nledger: sqlite:///.feedctl/ledger.db\n",
        "clusters/primary.yaml": BACKUP.replace("backup", "primary"),
        "clusters/backup.yaml": BACKUP,
        "mirrors/manuals.yaml": TREE,
        "mirrors/orders.yaml": LANDED,
        "templates/landing.yaml": LANDING,
        "check.sh": "exit 0\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_types_are_listed_with_their_mirrors_and_described(feedctl: Feedctl, repo: Path) -> None:
    at = ("--config-repo", str(repo), "--output", "json")
    types = {each["type"]: each for each in feedctl("mirror", "list", *at).document["types"]}
    assert list(types) == ["hdfs", "hdfs_snapshot", "hive", "landing"]
    assert (types["hdfs"]["mirrors"], types["hive"]["mirrors"]) == ("manuals", "-")
    assert (types["landing"]["from"], types["landing"]["makes"]) == ("templates/landing.yaml", "feed, process")
    values = {each["value"]: each for each in feedctl("mirror", "describe", "hdfs_snapshot", *at).document["values"]}
    assert values["source_snapshot_retention.limit"]["type"] == "frequency"
    assert values["on_missing"]["default"] == '"refuse"'
    unknown = feedctl("mirror", "describe", "hdsf", "--config-repo", str(repo))
    assert (unknown.code, "did you mean hdfs" in unknown.err) == (2, True)


@pytest.mark.parametrize("name", ["hdfs", "hdfs_snapshot", "hive", "landing"])
def test_a_new_mirror_of_each_type_loads(feedctl: Feedctl, repo: Path, name: str) -> None:
    defined = feedctl("mirror", "define", name, "--name", "fresh", "--config-repo", str(repo))
    assert defined.code == 0
    (repo / "mirrors" / "fresh.yaml").write_text(defined.out)
    shown = feedctl("entity", "show", "fresh", "--config-repo", str(repo))
    assert (shown.code, shown.err) == (0, "")
    assert feedctl("mirror", "define", name, "--name", "../x", "--config-repo", str(repo)).code == 2


def test_a_mirror_is_shown_as_written_and_expanded(feedctl: Feedctl, repo: Path) -> None:
    at = ("--config-repo", str(repo), "--output", "json")
    assert feedctl("entity", "show", "orders", *at).document["entity"]["kind"] == "mirror"
    expanded = feedctl("entity", "show", "orders", "--expanded", "--origins", *at).document["entities"]
    assert [each["entity"]["name"] for each in expanded] == ["orders", "orders_raw"]
    assert expanded[1]["origins"]["locations.data"] == "mirrors/orders.yaml:7:16"
    text = feedctl("entity", "show", "manuals", "--expanded", "--config-repo", str(repo)).out
    assert text.startswith("---\nkind: process\nname: manuals\n")
    mirrors = feedctl("entity", "list", "--kind", "mirror", *at).document["entities"]
    assert [(each["name"], each["file"]) for each in mirrors] == [
        ("manuals", "mirrors/manuals.yaml"),
        ("orders", "mirrors/orders.yaml"),
    ]


def test_instances_of_a_mirror_are_those_of_its_process(feedctl: Feedctl, repo: Path) -> None:
    at = ("--config-repo", str(repo), "--output", "json")
    assert feedctl("ledger", "upgrade", "--config-repo", str(repo)).code == 0
    one = ("--start", "2026-01-01T06:00Z", "--end", "2026-01-01T12:00Z")
    listed = feedctl("mirror", "instances", "manuals", *one, *at)
    assert listed.code == 0
    assert listed.document["instances"] == feedctl("instance", "status", "manuals", *one, *at).document["instances"]
    assert [each["instance"] for each in listed.document["instances"]] == ["2026-01-01T06:00Z"]
