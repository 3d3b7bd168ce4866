"""Makes a config repo of any size, the same one every time: `python generate_repo.py DIR [ENTITIES]`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

CLUSTERS = 20
DATASOURCES = 10
WORKFLOWS = 10
_APART = 7
"""A feed is copied to the cluster this many after its own."""
_FREQUENCIES = ("minutes(15)", "hours(1)", "hours(6)", "days(1)", "months(1)")
_LIMITS = ("days", "days", "days", "days", "months")
_TIMEOUTS = ("hours(6)", "hours(6)", "hours(12)", "days(2)", "days(40)")
_ELAPSED = ("2026-01-01T00:00Z", "UTC")
_CALENDAR = ("2025-12-31T23:00Z", "Europe/Berlin")
"""Start and zone of paths: days and months begin at midnight in Berlin, and are named so."""
_TEAMS = ("web", "billing", "search", "mobile", "risk")


def generate(root: Path, entities: int) -> dict[str, list[Path]]:
    """Writes the repo and returns its entity files by kind."""
    (root / "repo.yaml").parent.mkdir(parents=True, exist_ok=True)
    (root / "repo.yaml").write_text("name: generated\nowners: [data@example.com]\n")
    for number in range(WORKFLOWS):
        path = root / "workflows" / f"job_{number}.sql"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"SELECT {number};\n")
    rest = entities - CLUSTERS - DATASOURCES
    feeds = rest * 7 // 10
    processes = rest - feeds
    return {
        "cluster": list(_write(root / "clusters", ((_cluster_name(n), _cluster(n)) for n in range(CLUSTERS)))),
        "datasource": list(
            _write(root / "datasources", ((f"database_{n}", _datasource(n)) for n in range(DATASOURCES)))
        ),
        "feed": list(_write(root / "feeds", ((_feed_name(n), _feed(n, processes)) for n in range(feeds)))),
        "process": list(
            _write(root / "processes", ((f"process_{n:05}", _process(n, feeds)) for n in range(processes)))
        ),
    }


def _write(folder: Path, entities: Iterator[tuple[str, str]]) -> Iterator[Path]:
    for index, (name, text) in enumerate(entities):
        path = folder / _TEAMS[index % len(_TEAMS)] / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        yield path


def _cluster_name(number: int) -> str:
    return f"cluster_{number:02}"


def _feed_name(number: int) -> str:
    return f"feed_{number:05}"


def _cluster(number: int) -> str:
    return f"""\
kind: cluster
name: {_cluster_name(number)}
description: generated cluster {number}
colo: colo{number % 4}
tags: {{tier: gold}}
interfaces:
  readonly: {{endpoint: "webhdfs://nn{number}:9870", version: "3.4"}}
  write: {{endpoint: "hdfs://nn{number}:8020", version: "3.4"}}
  registry: {{endpoint: "thrift://hms{number}:9083", version: "4.0"}}
locations: {{staging: /apps/feedctl/staging, working: /apps/feedctl/working}}
hadoop_conf: {{dfs.nameservices: ns{number}}}
properties: {{region: r{number % 3}}}
"""


def _datasource(number: int) -> str:
    return f"""\
kind: datasource
name: database_{number}
colo: colo{number % 4}
type: postgres
interfaces:
  readonly: {{endpoint: "jdbc:postgresql://db{number}/shop"}}
credential: {{user: reader, env: FEEDCTL_DATASOURCE_{number}}}
driver: {{class: org.postgresql.Driver, jars: [/lib/postgresql.jar]}}
"""


def _feed(number: int, processes: int) -> str:
    """A feed on two clusters; the odd ones are made by a process each, as long as there is one."""
    name = _feed_name(number)
    source, target = _cluster_name(number % CLUSTERS), _cluster_name((number + _APART) % CLUSTERS)
    unit = _LIMITS[number % len(_LIMITS)]
    frequency = _FREQUENCIES[number % len(_FREQUENCIES)]
    start, zone = _CALENDAR if frequency.startswith(("days", "months")) else _ELAPSED
    external = "" if number in _made(processes) else "external: true\n"
    return f"""\
kind: feed
name: {name}
description: generated feed {number}
owner: {_TEAMS[number % len(_TEAMS)]}@example.com
tags: {{classification: internal, team: {_TEAMS[number % len(_TEAMS)]}}}
groups: [group_{number % 50}]
frequency: {frequency}
{external}timezone: Europe/Berlin
path_timezone: {zone}
availability_flag: _SUCCESS
late_arrival: {{cut_off: hours({number % 12 + 1})}}
partitions: [country, colo]
locations:
  data: "/data/{name}/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}/${{MINUTE}}"
  stats: "/stats/{name}/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}/${{MINUTE}}"
  meta: "/meta/{name}"
clusters:
  - name: {source}
    type: source
    validity: {{start: {start}, end: 2099-01-01T00:00Z}}
    retention: {{limit: {unit}({number % 90 + 5}), action: delete, keep_last: 24, protect: [late_window]}}
    partition: "*/${{cluster.colo}}"
    delay: minutes(40)
  - name: {target}
    type: target
    validity: {{start: {start}, end: 2099-01-01T00:00Z}}
    retention: {{limit: months({number % 24 + 3}), action: delete}}
    locations: {{data: "/mnt/{name}/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}-${{MINUTE}}"}}
sla: {{low: hours(2), high: hours(4)}}
acl: {{owner: etl, group: hadoop, permission: "0750"}}
properties: {{queueName: etl, jobPriority: NORMAL, timeout: hours(1), parallel: 3, job.counter: true}}
"""


def _made(processes: int) -> range:
    """The numbers of the feeds that processes make."""
    return range(1, 2 * processes, 2)


def _process(number: int, feeds: int) -> str:
    """A process that makes one feed, from a replicated one and from one of its own cluster: chains of five."""
    made = _made(number + 1)[-1]
    further = made + CLUSTERS - _APART
    replicated = further if further < feeds else made - _APART
    again = number // CLUSTERS % 5 == 0 or made < CLUSTERS
    frequency = _FREQUENCIES[made % len(_FREQUENCIES)]
    return f"""\
kind: process
name: process_{number:05}
owner: {_TEAMS[number % len(_TEAMS)]}@example.com
domain: {_TEAMS[number % len(_TEAMS)]}
pipelines: [generated]
clusters:
  - name: {_cluster_name(made % CLUSTERS)}
    validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}
parallel: 2
order: FIFO
frequency: {frequency}
timezone: UTC
timeout: {_TIMEOUTS[made % len(_TIMEOUTS)]}
inputs:
  first: {{feed: {_feed_name(replicated)}, start: "today(-{number % 24},0)", end: "today(0,0)", partition: "*/US"}}
  second: {{feed: {_feed_name(replicated if again else made - CLUSTERS)}, start: "now(-1,0)", end: "now(0,0)"}}
outputs:
  made: {{feed: {_feed_name(made)}, instance: "now(0,0)"}}
properties: {{threshold: "10"}}
workflow: {{engine: spark_sql, path: workflows/job_{number % WORKFLOWS}.sql}}
retry: {{policy: exp_backoff, delay: minutes(10), attempts: 3}}
late_process: {{policy: final, inputs: {{first: workflows/job_0.sql}}}}
sla: {{should_start_in: minutes(20), should_end_in: hours(2)}}
"""


if __name__ == "__main__":
    generate(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > len(["script", "dir"]) else 10_000)
