"""Config repos as dictionaries of texts, for the tests of loading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolkit.entities import ConfigProblem, Repository, load, load_all
from toolkit.entities.source_files import is_config_file

CLUSTER = """\
kind: cluster
name: primary
colo: east
interfaces: {write: {endpoint: "file:///"}}
"""

FEED = """\
kind: feed
name: clicks
frequency: hours(1)
locations:
  data: "/data/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}"
clusters:
  - name: primary
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
    retention: {limit: days(10)}
"""

PROCESS = """\
kind: process
name: clicks_hourly
frequency: hours(1)
clusters: [{name: primary, validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}]
inputs:
  clicks: {feed: clicks, start: "today(0,0)", end: "now(0,0)"}
workflow: {engine: spark_sql, path: workflows/clicks_hourly.sql}
"""

DATASOURCE = """\
kind: datasource
name: shop
type: postgres
interfaces: {readonly: {endpoint: "jdbc:postgresql://db/shop"}}
credential: {user: reader, env: FEEDCTL_DATASOURCE_SHOP_PASSWORD}
"""

BASE: Mapping[str, str] = {
    "repo.yaml": "name: web-feeds\n",
    "clusters/primary.yaml": CLUSTER,
    "feeds/clicks.yaml": FEED,
    "processes/clicks_hourly.yaml": PROCESS,
    "datasources/shop.yaml": DATASOURCE,
}
"""A config repo without problems."""


@dataclass(frozen=True)
class FakeSnapshot:
    """A snapshot that was never on a disk."""

    files: Mapping[str, bytes]
    names: frozenset[str] = frozenset()
    problems: tuple[ConfigProblem, ...] = field(default=())


def snapshot(texts: Mapping[str, str | bytes | None], base: Mapping[str, str] = BASE) -> FakeSnapshot:
    """`base` with other texts over it; None removes a file."""
    merged: dict[str, str | bytes | None] = {**base, **texts}
    data = {name: text.encode() if isinstance(text, str) else text for name, text in merged.items() if text is not None}
    files = {name: text for name, text in data.items() if is_config_file(name)}
    return FakeSnapshot(files, frozenset(data) - files.keys())


def problems(texts: Mapping[str, str | bytes | None], environment: str | None = None) -> list[str]:
    """Return what is wrong with the base repo under these changes."""
    return [str(problem) for problem in load_all(snapshot(texts), environment)[1]]


def repository(texts: Mapping[str, str | bytes | None] | None = None, environment: str | None = None) -> Repository:
    """The base repo under these changes, which must not have problems."""
    return load(snapshot(texts or {}), environment)


def rules(texts: Mapping[str, str | bytes | None], environment: str | None = None) -> list[str]:
    """The rules that the base repo breaks under these changes."""
    return [problem.rule for problem in load_all(snapshot(texts), environment)[1]]
