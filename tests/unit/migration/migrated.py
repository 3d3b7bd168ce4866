"""Migrates Falcon's XML in a test, and reads what was made of it as every command does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolkit.bootstrap.migration import Migration, migration, write
from toolkit.config_source import from_directory
from toolkit.entities import Repository, load
from toolkit.migration.report import Row

EXAMPLES = Path(__file__).parent / "falcon_examples"
ONE_OF_EACH_NAME = tuple(each for each in sorted(EXAMPLES.glob("*.xml")) if each.stem != "embedded-cluster")
"""Two of the clusters are called `local`."""


class Noon:
    """A clock that stands still."""

    def now(self) -> datetime:
        return datetime(2026, 3, 20, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Made:
    """A migration, and the config repo that it wrote."""

    path: Path
    migration: Migration

    @property
    def repository(self) -> Repository:
        return load(from_directory(self.path))

    def document(self, name: str) -> Any:  # noqa: ANN401 - a merged document
        return self.repository.entries[name].document

    def rows(self, entity: str) -> list[Row]:
        return [each for each in self.migration.report.rows if each.entity == entity]

    def files(self) -> Mapping[str, bytes]:
        return {str(each.relative_to(self.path)): each.read_bytes() for each in self.path.rglob("*") if each.is_file()}


def make(folder: Path, *paths: Path) -> Made:
    """Migrate files and folders into a folder."""
    made = migration(paths, folder, Noon())
    write(folder, made)
    return Made(folder, made)


def make_of(folder: Path, **entities: str) -> Made:
    """Migrate texts of XML, each by the name of its file."""
    return make(folder / "repo", *sources(folder, **entities))


def sources(folder: Path, **entities: str) -> list[Path]:
    """Files of XML texts."""
    paths = []
    for name, text in entities.items():
        path = folder / f"{name}.xml"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def cluster(name: str = "main", more: str = "", interfaces: str = "") -> str:
    """A cluster with the least that Falcon asks for."""
    return f"""<cluster colo="east" name="{name}" xmlns="uri:falcon:cluster:0.1">
  <interfaces>
    <interface type="readonly" endpoint="hftp://nn.example.com:50070" version="1"/>
    <interface type="write" endpoint="hdfs://nn.example.com:8020" version="1"/>
    <interface type="execute" endpoint="rm.example.com:8032" version="1"/>
    <interface type="workflow" endpoint="http://oozie.example.com:11000/oozie/" version="4"/>
    <interface type="registry" endpoint="thrift://hms.example.com:9083" version="1"/>
    {interfaces}
  </interfaces>
  <locations><location name="staging" path="/staging"/></locations>
  {more}
</cluster>"""


def feed(
    name: str = "clicks",
    frequency: str = "hours(1)",
    path: str = "",
    more: str = "",
    on: str = "",
    validity: str = 'start="2026-01-01T00:00Z" end="2030-01-01T00:00Z"',
    storage: str = "",
) -> str:
    """A path feed on the cluster `main`."""
    path = path or f"/data/{name}/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}"
    storage = storage or f'<locations><location type="data" path="{path}"/></locations>'
    return f"""<feed name="{name}" xmlns="uri:falcon:feed:0.1">
  <frequency>{frequency}</frequency>
  <clusters><cluster name="main"><validity {validity}/>{on}</cluster></clusters>
  {storage}
  {more}
</feed>"""


def process(name: str = "job", workflow: str = '<workflow engine="pig" path="/app/a.pig"/>', more: str = "") -> str:
    """A process on the cluster `main`, without inputs."""
    return f"""<process name="{name}" xmlns="uri:falcon:process:0.1">
  <clusters><cluster name="main">
    <validity start="2026-01-01T00:00Z" end="2030-01-01T00:00Z"/>
  </cluster></clusters>
  <frequency>hours(1)</frequency>
  {more}
  {workflow}
</process>"""
