"""A config repo with one daily feed, and its data: one instance that has to go and one that has to stay."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

NOMINAL_TIME = "2026-03-20T12:00Z"

CLUSTER = """\
kind: cluster
name: local
interfaces: {{write: {{endpoint: "file://{data}"}}}}
"""
FEED = """\
kind: feed
name: clicks
frequency: days(1)
locations: {data: "/clicks/${YEAR}/${MONTH}/${DAY}"}
clusters:
  - name: local
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
    retention: {limit: days(10)}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class TinyRepo:
    """Config repo, and the two instances."""

    path: Path
    old: Path
    young: Path


def make_tiny_repo(directory: Path) -> TinyRepo:
    """Writes the repo and the data below `directory`."""
    data, path = directory / "data", directory / "repo"
    documents = {
        "repo.yaml": f"name: tiny\nledger: sqlite:///{directory}/ledger.db\n",
        "clusters/local.yaml": CLUSTER.format(data=data),
        "feeds/clicks.yaml": FEED,
    }
    for name, text in documents.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    old, young = (data / "clicks" / "2026" / day for day in ("03/01", "03/19"))
    for instance in (old, young):
        instance.mkdir(parents=True)
        (instance / "part-0").write_text("x")
    return TinyRepo(path=path, old=old, young=young)


def retention_arguments(repo: TinyRepo, *more: str) -> list[str]:
    """The options of a retention run over the feed."""
    return ["--config-repo", str(repo.path), "--feed", "clicks", "--time", NOMINAL_TIME, "--output", "json", *more]
