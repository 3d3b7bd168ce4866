"""The config repo of the management tests: one feed on two clusters, its producer and its consumers."""

from __future__ import annotations

from collections.abc import Mapping

from tests.unit.entities.config_repo import CLUSTER, repository
from toolkit.entities.repository import Repository
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.management.locations import ManagedEntity, managed_entity

_CLICKS = """\
kind: feed
name: clicks
frequency: hours(1)
locations: {data: "/data/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}"}
clusters:
  - name: primary
    type: source
    delay: hours(1)
    validity: {start: 2026-03-01T00:00Z, end: 2026-04-01T00:00Z}
    retention: {limit: days(10)}
  - name: backup
    type: target
    validity: {start: 2026-03-10T00:00Z, end: 2026-05-01T00:00Z}
    retention: {limit: hours(12)}
"""

_COUNTS = """\
kind: feed
name: counts
frequency: hours(1)
locations: {data: "/data/counts/${YEAR}/${MONTH}/${DAY}/${HOUR}"}
clusters:
  - name: primary
    validity: {start: 2026-03-01T00:00Z, end: 2026-04-01T00:00Z}
"""

_COUNT_JOB = """\
kind: process
name: count_job
frequency: hours(1)
clusters: [{name: primary, validity: {start: 2026-03-01T01:00Z, end: 2026-04-01T00:00Z}}]
inputs:
  clicks: {feed: clicks, start: "now(-1,0)", end: "now(0,0)"}
  newest: {feed: counts, start: "latest(0)", end: "latest(0)", optional: true}
outputs:
  counts: {feed: counts, instance: "now(-1,0)"}
workflow: {engine: command, path: count.sh}
sla: {should_end_in: minutes(30)}
"""

_DAILY_JOB = """\
kind: process
name: daily_job
frequency: days(1)
clusters:
  - {name: primary, validity: {start: 2026-03-02T00:00Z, end: 2026-04-01T00:00Z}}
  - {name: backup, validity: {start: 2026-03-20T00:00Z, end: 2026-04-01T00:00Z}}
inputs:
  clicks: {feed: clicks, start: "yesterday(0,0)", end: "yesterday(23,0)"}
workflow: {engine: command, path: daily.sh}
"""

FILES: Mapping[str, str | None] = {
    "repo.yaml": "name: web\nenvironments: [dev]\n",
    "clusters/backup.yaml": CLUSTER.replace("primary", "backup"),
    "environments/dev.yaml": "clusters: [primary]\n",
    "feeds/clicks.yaml": _CLICKS,
    "feeds/counts.yaml": _COUNTS,
    "processes/count_job.yaml": _COUNT_JOB,
    "processes/daily_job.yaml": _DAILY_JOB,
    "processes/clicks_hourly.yaml": None,
    "count.sh": "",
    "daily.sh": "",
}


def repo(environment: str | None = None) -> Repository:
    """The config repo."""
    return repository(FILES, environment)


def managed(name: str, life_cycle: LifeCycle | None = None, *clusters: str) -> ManagedEntity:
    """An entity of it."""
    return managed_entity(repo(), name, life_cycle, clusters)
