"""Cases of `bench_growth.py` that run on local disks, with catalog and ledger in SQLite."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from sqlalchemy.engine import make_url

from benchmarks.growth import Case, Contestant
from benchmarks.ledger_filling import record_runs
from benchmarks.peers.replication_peers import DISTCP
from benchmarks.whole_process import PROGRAMS, ROOT, SCHEMAS, generated, run
from tests.databases.ledgers import open_ledger
from toolkit.ledger.upgrade import upgrade

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
FILE = b"x" * 1000
OURS = "feedctl"
DELETE_BY_HAND = """
import os, shutil, sys
found = sorted(place for place, _, files in os.walk(sys.argv[1]) if files)
for place in found[:int(sys.argv[2])]:
    shutil.rmtree(place)
"""
COPY_BY_HAND = """
import hashlib, os, sys
source, target = sys.argv[1:]
os.mkdir(target)
for name in os.listdir(source):
    with open(f"{source}/{name}", "rb") as file, open(f"{target}/{name}", "wb") as copy:
        octets = file.read()
        hashlib.sha256(octets)
        copy.write(octets)
"""
COMPARE_BY_HAND = """
import os, sys
source, target = ({each.name: each.stat().st_size for each in os.scandir(place)} for place in sys.argv[1:])
assert source == target
"""
START_BY_HAND = """
import subprocess, sys
for _ in range(int(sys.argv[1])):
    subprocess.run(["/bin/true"], check=True)
"""
PARSE = """
import sys, yaml
from pathlib import Path
for file in Path(sys.argv[1]).rglob("*.yaml"):
    yaml.load(file.read_bytes(), yaml.CSafeLoader)
"""


def repo(folder: Path, clusters: tuple[str, ...], entities: Mapping[str, str]) -> Path:
    """Write a config repo with clusters on this disk."""
    documents = {"repo.yaml": f"name: growth\nledger: sqlite:///{folder}/ledger.db\n", **entities}
    for name in clusters:
        (folder / name).mkdir()
        interfaces = f'{{write: {{endpoint: "file://{folder}/{name}"}}}}'
        documents[f"clusters/{name}.yaml"] = f"kind: cluster\nname: {name}\ninterfaces: {interfaces}\n"
    for name, text in documents.items():
        (folder / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "repo" / name).write_text(text)
    return folder / "repo"


def entrypoint(name: str, folder: Path, *which: str) -> list[str]:
    """Return the command of an entrypoint, at the end of the time that there is."""
    os.environ["FEEDCTL_LOG_DIR"] = str(folder / "logs")
    at = ("--time", f"{NOW:%Y-%m-%dT%H:%MZ}", "--config-repo", str(folder / "repo"))
    return [sys.executable, str(ROOT / "entrypoints" / f"{name}.py"), *which, *at]


def validity(start: datetime) -> str:
    """Return the validity of an entity from an instant on."""
    return f"validity: {{start: {start:%Y-%m-%dT%H:%MZ}, end: 2099-01-01T00:00Z}}"


def instances(folder: Path, size: int) -> None:
    """Make so many hourly instances, a directory with an empty file each."""
    for number in range(size):
        place = folder / f"primary/clicks/{NOW - number * HOUR:%Y/%m/%d/%H}"
        place.mkdir(parents=True)
        (place / "part-0").touch()


def evicting(folder: Path, size: int) -> list[str]:
    """Return the eviction of a tenth of so many instances."""
    feed = f"""kind: feed
name: clicks
frequency: hours(1)
locations: {{data: "/clicks/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}"}}
clusters: [{{name: primary, {validity(NOW - (size + 1) * HOUR)}, retention: {{limit: hours({size - size // 10 - 1})}}}}]
"""
    repo(folder, ("primary",), {"feeds/clicks.yaml": feed})
    instances(folder, size)
    return entrypoint("retention", folder, "--feed", "clicks")


def deleting(folder: Path, size: int) -> list[str]:
    """Return a loop that finds and deletes the oldest tenth."""
    instances(folder, size)
    return [sys.executable, "-c", DELETE_BY_HAND, str(folder / "primary/clicks"), str(size // 10)]


def files(folder: Path, size: int) -> Path:
    """Make an instance of so many files."""
    place = folder / f"primary/clicks/{NOW:%Y-%m-%d-%H}"
    place.mkdir(parents=True)
    for number in range(size):
        (place / f"part-{number}").write_bytes(FILE)
    return place


def replicating(folder: Path, size: int) -> list[str]:
    """Return the replication of an instance of so many files."""
    at = validity(NOW)
    feed = f"""kind: feed
name: clicks
frequency: hours(1)
locations: {{data: "/clicks/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}"}}
clusters: [{{name: primary, type: source, {at}}}, {{name: backup, type: target, {at}}}]
"""
    repo(folder, ("primary", "backup"), {"feeds/clicks.yaml": feed})
    files(folder, size)
    return entrypoint("replication", folder, "--feed", "clicks")


def replicated(folder: Path, size: int) -> list[str]:
    """Return a replication that has both sides listed and finds nothing to do."""
    run(replicating(folder, size))
    instant = f"{NOW:%Y-%m-%dT%H:%MZ}"
    return entrypoint(
        "replication", folder, "--feed", "clicks", "--start", instant, "--end", f"{NOW + HOUR:%Y-%m-%dT%H:%MZ}"
    )


def copying(folder: Path, size: int) -> list[str]:
    """Return a loop that copies with a digest."""
    return [sys.executable, "-c", COPY_BY_HAND, str(files(folder, size)), str(folder / "copy")]


def comparing(folder: Path, size: int) -> list[str]:
    """Return a loop that compares both listings."""
    place = files(folder, size)
    run(["/bin/cp", "-r", str(place), str(folder / "copy")])
    return [sys.executable, "-c", COMPARE_BY_HAND, str(place), str(folder / "copy")]


def distcp(folder: Path, size: int, *, again: bool = False) -> list[str]:
    """Return DistCp of the same files; `again`: they have been copied."""
    ends = (f"file://{files(folder, size)}", f"file://{folder}/copy")
    copying = DISTCP.command("-Dmapreduce.framework.name=local", "-update", "-bandwidth", "2000", *ends)
    command = ["/bin/sh", "-c", 'exec "$@" 2>/dev/null', "sh", *copying]
    if again:
        run(command)
    return command


def due(folder: Path, size: int) -> list[str]:
    """Return a process of which so many instances are due, eight at once; each runs `true`."""
    process = f"""kind: process
name: job
frequency: hours(1)
workflow: {{engine: command, path: job}}
parallel: 8
clusters: [{{name: primary, {validity(NOW - size * HOUR)}}}]
"""
    root = repo(folder, ("primary",), {"processes/job.yaml": process})
    run(["/bin/cp", "/bin/true", str(root / "job")])
    return entrypoint("process", folder, "--process", "job", "--due")


def starting(_folder: Path, size: int) -> list[str]:
    """Return a loop that starts the same command as often."""
    return [sys.executable, "-c", START_BY_HAND, str(size)]


def history(folder: Path, size: int) -> None:
    """Make a process of which so many instances have succeeded, all that are due."""
    start = NOW - (size - 1) * timedelta(minutes=1)
    process = f"""kind: process
name: job
frequency: minutes(1)
workflow: {{engine: command, path: job}}
clusters: [{{name: primary, {validity(start)}}}]
"""
    root = repo(folder, ("primary",), {"processes/job.yaml": process})
    run(["/bin/cp", "/bin/true", str(root / "job")])
    ledger = open_ledger(make_url(f"sqlite:///{folder}/ledger.db"))
    upgrade(ledger)
    record_runs(ledger, "job", size, start, 1, cluster="primary")
    ledger.close()


def nothing_due(folder: Path, size: int) -> list[str]:
    """Return a look for due instances after so many runs."""
    history(folder, size)
    return entrypoint("process", folder, "--process", "job", "--due")


def command_of(folder: Path, size: int, *, prepare: str, words: tuple[str, ...]) -> list[str]:
    """Return a command of feedctl on a ledger with runs, or on a repo with entities."""
    if prepare == "runs":
        history(folder, size)
    else:
        generated(folder / "repo", size)
    command = [str(PROGRAMS / "feedctl"), *words, "--config-repo", str(folder / "repo")]
    if prepare == "entities, read before":
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        run(command, (0, 1))
    return command


def parsing(folder: Path, size: int) -> list[str]:
    """Return a loop that parses the YAML of so many entities, in C."""
    generated(folder / "repo", size)
    return [sys.executable, "-c", PARSE, str(folder / "repo")]


def checking(folder: Path, size: int) -> list[str]:
    """Return check-jsonschema on the feeds, which are most of the entities."""
    feeds = generated(folder / "repo", size)["feed"]
    return [str(PROGRAMS / "check-jsonschema"), "--schemafile", str(SCHEMAS / "feed.json"), *map(str, feeds)]


def ingesting(folder: Path, size: int) -> list[str]:
    """Return the ingest of so many files of 1,000 rows; catalog and ledger are in SQLite."""
    feed = f"""kind: feed
name: clicks
frequency: hours(1)
table: "catalog:web:clicks#ds=${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}"
clusters:
  - name: primary
    {validity(NOW - 24 * HOUR)}
    ingest:
      source: {{directory: /inbox, pattern: "*.json"}}
      format: {{type: json}}
      columns: [{{name: ts, type: timestamp, required: true}}, {{name: word, type: string}}]
      event_time: ts
      commit: {{rows: 20000}}
      after: keep
"""
    root = repo(folder, ("primary",), {"feeds/clicks.yaml": feed})
    cluster = root / "clusters/primary.yaml"
    catalog = f'  iceberg: {{type: sql, uri: "sqlite:///{folder}/catalog.db", warehouse: /warehouse}}\n'
    endpoint = f'interfaces:\n  write: {{endpoint: "file://{folder}/primary"}}\n{catalog}'
    cluster.write_text(f"kind: cluster\nname: primary\nlocations: {{working: /working}}\n{endpoint}")
    inbox = folder / "primary/inbox"
    inbox.mkdir()
    for number in range(size):
        rows = (f'{{"ts": "2026-03-20T0{at % 4}:30:00Z", "word": "{number:05}-{at:09}"}}\n' for at in range(1_000))
        (inbox / f"{number:05}.json").write_text("".join(rows))
        os.utime(inbox / f"{number:05}.json", (NOW.timestamp(),) * 2)
    return [*entrypoint("ingest", folder, "--feed", "clicks"), "--engine", "local"]


def _feedctl(prepare: str, *words: str) -> Contestant:
    return Contestant(name=OURS, command=partial(command_of, prepare=prepare, words=words), fine=(0, 1))


FILES, RUNS, ENTITIES = (1, 100, 1_000, 10_000), (1, 10_000, 100_000, 1_000_000), (100, 1_000, 10_000)
LOCAL = (
    Case(
        action="retention: a tenth of a feed's instances go",
        unit="instances",
        sizes=(10, 1_000, 10_000, 100_000),
        contestants=(
            Contestant(name=OURS, command=evicting),
            Contestant(name="floor: a loop that walks and deletes", command=deleting),
        ),
    ),
    Case(
        action="replication: all files of an instance",
        unit="files",
        sizes=FILES,
        contestants=(
            Contestant(name=OURS, command=replicating),
            Contestant(name="DistCp", command=distcp),
            Contestant(name="floor: a loop that copies with a digest", command=copying),
        ),
    ),
    Case(
        action="replication: nothing to do, both sides listed",
        unit="files",
        sizes=FILES,
        contestants=(
            Contestant(name=OURS, command=replicated),
            Contestant(name="DistCp", command=partial(distcp, again=True)),
            Contestant(name="floor: a loop that compares sizes", command=comparing),
        ),
    ),
    Case(
        action="process: instances that are due",
        unit="instances",
        sizes=(1, 10, 100, 1_000),
        contestants=(
            Contestant(name=OURS, command=due),
            Contestant(name="floor: a loop that starts the command", command=starting),
        ),
    ),
    Case(
        action="process: nothing is due after a long history",
        unit="runs in the ledger",
        sizes=RUNS,
        contestants=(Contestant(name=OURS, command=nothing_due),),
    ),
    Case(
        action="status",
        unit="runs in the ledger",
        sizes=RUNS,
        contestants=(_feedctl("runs", "status", "--time", f"{NOW:%Y-%m-%dT%H:%MZ}"),),
    ),
    Case(
        action="lint of a whole repo",
        unit="entities",
        sizes=ENTITIES,
        contestants=(
            _feedctl("entities", "lint"),
            Contestant(name="check-jsonschema, feeds alone", command=checking),
            Contestant(name="floor: YAML parsed in C", command=parsing),
        ),
    ),
    Case(
        action="one entity shown, the repo was read before",
        unit="entities",
        sizes=ENTITIES,
        contestants=(_feedctl("entities, read before", "entity", "show", "feed_00005"),),
    ),
    Case(
        action="ingest: files of 1,000 rows",
        unit="files",
        sizes=(1, 10, 100, 1_000),
        contestants=(Contestant(name=OURS, command=ingesting),),
    ),
)
