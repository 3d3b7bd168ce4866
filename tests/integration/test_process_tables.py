"""A process that reads and makes partitions, over a real metastore, local files and a SQLite ledger."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from entrypoints import late_check
from tests.integration.process_runs import KEYS
from tests.tables.databases import create_database, plain_metastore
from tests.tables.tables import partition_of, table_of
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.actions.model import Problem
from toolkit.actions.progress import NoProgress
from toolkit.actions.selection import NO_FEED
from toolkit.bootstrap.action_context import ActionOptions
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.process import ProcessOptions, run_processes
from toolkit.catalog.model import Table, TableName
from toolkit.catalog.port import Metastore
from toolkit.cli import main
from toolkit.cli.boundary import run_app
from toolkit.clock import SystemClock
from toolkit.el import parse_instant
from toolkit.entities import Engine
from toolkit.process_runner.selection import ProcessSelection
from toolkit.process_runner.targets import ProcessResult
from toolkit.programs.port import StepCall, StepEnd, StepMark
from toolkit.result import ExitCode
from toolkit.runs.stop import NeverStopped

pytestmark = [pytest.mark.slow]

CLUSTER = """\
kind: cluster
name: primary
interfaces: {{write: {{endpoint: "file://{data}"}}, registry: {{endpoint: "{uri}"}}}}
locations: {{tables: ["{warehouse}"]}}
"""
FEED = """\
kind: feed
name: {name}
frequency: hours(1)
late_arrival: {{cut_off: hours(6)}}
table: "catalog:{database}:{name}#ds=${{YEAR}}-${{MONTH}}-${{DAY}} ${{HOUR}};region=us"
clusters: [{{name: primary, validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}}}]
"""
PROCESS = """\
kind: process
name: count
clusters: [{name: primary, validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}]
frequency: hours(1)
inputs: {clicks: {feed: clicks, start: "START", end: "END"}}
outputs: {counts: {feed: counts, instance: "now(0,0)"}}
workflow: {engine: command, path: workflows/count.sh}
late_process: {policy: backoff, delay: hours(1), inputs: {clicks: workflows/count.sh}}
"""


def value(key: str) -> tuple[str, str]:
    """Return the value of the partition of an instance."""
    return (f"{key[:10]} {key[11:13]}", "us")


@dataclass
class Site:
    """A config repo, and its tables; the engine makes partitions of `counts` unless it is told another thing."""

    directory: Path
    database: str
    metastore: Metastore
    uri: str
    warehouse: str
    works: Callable[[StepCall], None] | None = None
    calls: list[StepCall] = field(default_factory=list)

    def write(self, start: str = "now(0,0)", end: str = "now(0,0)") -> None:
        files = {
            "repo.yaml": f"name: counting\nledger: sqlite:///{self.directory}/ledger.db\n",
            "clusters/primary.yaml": CLUSTER.format(data=self.directory, uri=self.uri, warehouse=self.warehouse),
            "processes/count.yaml": PROCESS.replace("START", start).replace("END", end),
            "workflows/count.sh": "#!/bin/sh\n",
        }
        files |= {f"feeds/{name}.yaml": FEED.format(name=name, database=self.database) for name in ("clicks", "counts")}
        for name, text in files.items():
            path = self.directory / "repo" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def table(self, name: str) -> Table:
        return self.metastore.table(TableName(self.database, name))

    def put(self, name: str, key: str, *files: str, **text: str) -> None:
        """Add a partition unless it is there, and files to it."""
        made = partition_of(self.table(name), *value(key))
        place = Path(made.location.removeprefix("file:"))
        place.mkdir(parents=True, exist_ok=True)
        for file in files:
            (place / file).write_text(text.get("text", "1"))
        if not self.metastore.partitions(TableName(self.database, name), [self.table(name).partition_name(made)]):
            self.metastore.add_partitions(TableName(self.database, name), [made])

    def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
        started(StepMark(log=call.log))
        check()
        self.calls.append(call)
        if self.works is not None:
            self.works(call)
        else:
            self.put("counts", call.properties["nominalTime"], "part-0")
        return StepEnd(exit_code=0)

    def process(self, key: str = KEYS[0], *, is_forced: bool = False) -> ProcessResult:
        requested = ActionOptions(
            selection=NO_FEED, repo=RepoRequest(config_repo=str(self.directory / "repo"), variables=os.environ),
            nominal_time=parse_instant(key), dry_run=False, allow_dirty=False,
        )  # fmt: skip
        own = ProcessOptions(selection=ProcessSelection(name="count", cluster=None), is_forced=is_forced)
        return run_processes(own, requested, SystemClock(), NeverStopped(), NoProgress(), {Engine.COMMAND: self})

    def check(self, at: str) -> tuple[int, dict[str, Any]]:
        """The exit code and the result of a dry check for late data: what would run again."""
        file = self.directory / "check.json"
        arguments = ["--config-repo", str(self.directory / "repo"), "--process", "count", "--due", "--dry-run"]
        code = run_app(late_check.app, [*arguments, "--time", at, "--output", "json", "--result-file", str(file)])
        return code, json.loads(file.read_text())

    def list(self, *more: str, capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401 - a document
        arguments = ["--config-repo", str(self.directory / "repo"), "--output", "json"]
        code = main.main(["instance", "list", "clicks", *arguments, *more])
        return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def site(tmp_path: Path, metastore: HiveMetastoreServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("FEEDCTL_LOG_DIR", str(tmp_path / "logs"))
    database = f"test_{uuid4().hex}"
    create_database(metastore.spec, database, f"{metastore.warehouse}/{database}")
    client = plain_metastore(metastore.spec)
    for name in ("clicks", "counts"):
        place = f"{metastore.warehouse}/{database}/{name}"
        client.create_table(table_of(TableName(database, name), place, ds="string", region="string"))
    made = Site(tmp_path, database, client, metastore.uri, metastore.warehouse)
    made.write()
    yield made
    client.close()


def problem(result: ProcessResult, which: str) -> Problem:
    (target,) = result.targets
    found = getattr(target.plan, which)
    assert found is not None
    return found  # type: ignore[no-any-return]


def test_an_instance_waits_for_its_partition_reads_it_and_makes_one(site: Site) -> None:
    assert site.process().exit_code is ExitCode.NOT_YET
    address = f"hcat://{site.uri.removeprefix('thrift://')}/{site.database}/clicks/ds=2026-03-01 00;region=us"
    assert f"clicks: clicks {KEYS[0]} is missing ({address})" in problem(site.process(), "waiting").message
    site.put("clicks", KEYS[0], "part-0")
    assert site.process().exit_code is ExitCode.DONE
    (call,) = site.calls
    partition = "ds='2026-03-01 00'{}region='us'"
    read, made = (
        (f"({partition.format(' AND ')})", "clicks", site.database),
        (partition.format(","), "counts", site.database),
    )
    assert call.data == (*read, *made)
    reported = {
        name: call.properties[name] for name in ("clicks_filter", "counts.ds", "falcon_counts_dataout_partitions")
    }
    assert reported == {
        "clicks_filter": "(ds='2026-03-01 00' AND region='us')",
        "counts.ds": "2026-03-01 00",
        "falcon_counts_dataout_partitions": "'ds=2026-03-01 00,region=us'",
    }
    assert site.process().exit_code is ExitCode.DONE
    assert len(site.calls) == 1


def test_all_partitions_of_a_range_have_to_be_there(site: Site) -> None:
    site.write(start="now(-1,0)")
    site.put("clicks", KEYS[1], "part-0")
    assert KEYS[0] in problem(site.process(KEYS[1]), "waiting").message
    site.put("clicks", KEYS[0], "part-0")
    assert site.process(KEYS[1]).exit_code is ExitCode.DONE
    assert site.calls[0].properties["falcon_clicks_partition_filter_hive"] == (
        "(ds='2026-03-01 00' AND region='us') OR (ds='2026-03-01 01' AND region='us')"
    )


def test_the_newest_partition_that_is_there_is_counted(site: Site) -> None:
    site.write(start="latest(0)", end="latest(0)")
    site.put("clicks", KEYS[1], "part-0")
    assert site.process(KEYS[20]).exit_code is ExitCode.DONE
    assert site.calls[0].properties["clicks_filter"] == "(ds='2026-03-01 01' AND region='us')"


@pytest.mark.parametrize("adds", [False, True], ids=["no partition", "a partition without a file"])
def test_steps_that_make_no_data_have_not_succeeded(site: Site, *, adds: bool) -> None:
    site.put("clicks", KEYS[0], "part-0")
    site.works = lambda _call: site.put("counts", KEYS[0]) if adds else None
    result = site.process()
    assert result.exit_code is ExitCode.FAILED
    (target,) = result.targets
    assert [each.code for each in target.items] == ["no_output"]
    assert f"the output counts is {'empty' if adds else 'missing'} (hcat://" in (target.items[0].message or "")


def test_files_that_come_late_into_a_partition_that_was_read_are_found(site: Site) -> None:
    site.put("clicks", KEYS[0], "part-0", "_SUCCESS")
    assert site.process().exit_code is ExitCode.DONE
    assert site.check("2026-03-01T01:00Z")[0] == 0
    assert "no late data has come" in json.dumps(site.check("2026-03-01T01:00Z")[1])
    site.put("clicks", KEYS[0], "part-1")
    code, found = site.check("2026-03-01T01:00Z")
    assert code == 0
    assert "added ds=2026-03-01 00/region=us/part-1" in json.dumps(found)


def test_a_table_that_is_not_there_fails_the_instance_with_its_name(site: Site) -> None:
    path = site.directory / "repo/feeds/clicks.yaml"
    path.write_text(path.read_text().replace(":clicks#", ":nothing#"))
    result = site.process()
    assert result.exit_code is ExitCode.FAILED
    found = problem(result, "failed")
    assert (found.code, f"{site.database}.nothing" in found.message) == ("no_such_table", True)


def test_a_list_of_instances_tells_which_partitions_are_there(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.put("clicks", KEYS[1], "part-0")
    code, found = site.list("--start", KEYS[0], "--end", KEYS[3], capsys=capsys)
    assert code == 0
    reported = [(each["instance"], each["state"]) for each in found["instances"]]
    assert reported == [(KEYS[0], "missing"), (KEYS[1], "available"), (KEYS[2], "missing")]


def test_a_metastore_that_does_not_answer_is_told_and_nothing_is_called_missing(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.uri = "thrift://127.0.0.1:9"
    site.write()
    code, found = site.list("--start", KEYS[0], capsys=capsys)
    assert (code, found["instances"]) == (1, [])
    assert problem(site.process(), "failed").code == "unreachable"


def test_a_partition_and_a_file_of_it_are_looked_up_to_their_instance(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.put("clicks", KEYS[1], "part-0")
    elsewhere = partition_of(site.table("clicks"), *value(KEYS[2]), location=f"file:{site.directory}/elsewhere")
    site.metastore.add_partitions(TableName(site.database, "clicks"), [elsewhere])
    host, place = site.uri.removeprefix("thrift://"), site.table("clicks").location
    requested = {
        f"hcat://{host}/{site.database}/clicks/ds=2026-03-01 01;region=us": KEYS[1],
        f"hcat://other:1/{site.database}/clicks/ds=2026-03-01 01;region=us": None,
        f"catalog:{site.database}:clicks#ds=2026-03-01 01;region=us": KEYS[1],
        f"{site.database}.clicks/ds=2026-03-01 01/region=us": KEYS[1],
        f"{site.database}.clicks/ds=2026-03-01 01/region=uk": None,
        f"{place}/ds=2026-03-01 01/region=us/part-0": KEYS[1],
        f"{place}/ds=2026-03-01 05/region=us/part-0": None,
        f"file:{site.directory}/elsewhere": KEYS[2],
        f"{place}": None,
    }
    found = {}
    for path in requested:
        arguments = ["entity", "lookup", "--path", path, "--config-repo", str(site.directory / "repo")]
        assert main.main([*arguments, "--output", "json"]) == 0
        owners = json.loads(capsys.readouterr().out)["owners"]
        found[path] = owners[0]["first"] if owners else None
    assert found == requested
