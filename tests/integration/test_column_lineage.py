"""Column lineage of the steps of a process, as runs record it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.process_runs import KEYS, Runs
from toolkit.actions.progress import NoProgress
from toolkit.actions.selection import NO_FEED
from toolkit.bootstrap.action_context import ActionOptions
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.process import ProcessOptions, run_processes
from toolkit.clock import SystemClock
from toolkit.el import parse_instant
from toolkit.entities import Engine
from toolkit.process_runner import column_lineage
from toolkit.process_runner.selection import ProcessSelection
from toolkit.process_runner.targets import ProcessResult
from toolkit.programs.port import StepCall, StepEnd, StepMark
from toolkit.result import ExitCode
from toolkit.runs.stop import NeverStopped

SQL = "workflow: {engine: spark_sql, path: workflows/count.sql}"
SCRIPT = """\
-- ${clicks} is a path
CREATE TEMPORARY VIEW seen AS SELECT url, n FROM parquet.`${clicks}` WHERE n > 0;
INSERT OVERWRITE DIRECTORY '${counts}' USING parquet
SELECT url AS page, sum(n) AS n FROM seen GROUP BY url;
"""
SCHEMA = {
    "type": "record",
    "name": "click",
    "fields": [{"name": "url", "type": "string"}, {"name": "n", "type": "int"}],
}
RELATIONS = (
    "SELECT s.table_name || '.' || s.column_name, t.table_name || '.' || t.column_name, r.kind FROM lineage_relation r "
    "JOIN lineage_node s ON s.node_id = r.source_node JOIN lineage_node t ON t.node_id = r.target_node ORDER BY 1, 2, 3"
)
FOUND = [
    ("clicks.", "counts.", "condition"),
    ("clicks.n", "counts.", "condition"),
    ("clicks.n", "counts.n", "aggregate"),
    ("clicks.url", "counts.", "condition"),
    ("clicks.url", "counts.page", "direct"),
]


@dataclass(kw_only=True)
class SqlSite:
    """A process of one script of SQL; its engine makes the output and ends as it is told."""

    runs: Runs
    end: StepEnd = StepEnd(exit_code=0)  # noqa: RUF009 - frozen

    def write(self, script: str = SCRIPT) -> None:
        """Write the config repo, with a schema of the input."""
        self.runs.write(SQL)
        repo = self.runs.directory / "repo"
        (repo / "workflows" / "count.sql").write_text(script)
        (repo / "clicks.avsc").write_text(json.dumps(SCHEMA))
        with (repo / "feeds" / "clicks.yaml").open("a") as feed:
            feed.write("schema: {location: clicks.avsc, provider: avro}\n")
        self.runs.fill(*KEYS[:2])

    def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
        started(StepMark(log=call.log))
        check()
        for key in KEYS[:2]:
            place = self.runs.at("counts", key)
            place.mkdir(parents=True, exist_ok=True)
            (place / "part-0").touch()
            (place / "_SUCCESS").touch()
        return self.end

    def once(self, key: str = KEYS[0]) -> ProcessResult:
        """Run an instance."""
        os.environ["FEEDCTL_LOG_DIR"] = str(self.runs.directory / "logs")
        requested = ActionOptions(
            selection=NO_FEED, repo=RepoRequest(config_repo=str(self.runs.directory / "repo"), variables=os.environ),
            nominal_time=parse_instant(key), dry_run=False, allow_dirty=False,
        )  # fmt: skip
        own = ProcessOptions(selection=ProcessSelection(name="count", cluster=None))
        return run_processes(
            own, requested, SystemClock(), NeverStopped(), NoProgress(), engines={Engine.SPARK_SQL: self}
        )


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take longer than a run would wait."""
    monkeypatch.setattr(column_lineage, "_PATIENCE", 60.0)


@pytest.fixture
def site(tmp_path: Path) -> SqlSite:
    found = SqlSite(runs=Runs(directory=tmp_path))
    found.write()
    return found


def test_the_lineage_of_a_script_is_kept_with_the_success_of_its_step_and_once_for_all_instances(site: SqlSite) -> None:
    for key in KEYS[:2]:
        assert site.once(key).exit_code is ExitCode.DONE

    assert site.runs.query(RELATIONS) == FOUND
    ((text,),) = site.runs.query("SELECT text FROM lineage_query")
    assert text.startswith("INSERT OVERWRITE DIRECTORY '${counts}'")
    assert site.runs.query("SELECT count(*), count(DISTINCT run_id) FROM lineage_run_query") == [(2, 2)]


def test_a_step_that_failed_leaves_no_lineage(site: SqlSite) -> None:
    site.end = StepEnd(exit_code=1)

    assert site.once().exit_code is not ExitCode.DONE
    assert site.runs.query("SELECT * FROM lineage_query") == []


def test_a_statement_that_is_not_understood_is_unknown_and_the_run_succeeds(site: SqlSite) -> None:
    (site.runs.directory / "repo" / "workflows" / "count.sql").write_text(f"SELECT FROM WHERE;\n{SCRIPT}")

    assert site.once().exit_code is ExitCode.DONE
    assert site.runs.query(RELATIONS) == FOUND
    ((message,),) = site.runs.query("SELECT message FROM process_log WHERE category = 'lineage'")
    assert message.startswith("column lineage is unknown: ")


def test_lineage_that_takes_too_long_does_not_hold_the_run(site: SqlSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_lineage, "script_lineage", lambda *_: time.sleep(30))
    monkeypatch.setattr(column_lineage, "_PATIENCE", 0.1)
    before = time.monotonic()

    assert site.once().exit_code is ExitCode.DONE
    assert time.monotonic() - before < 15
    assert site.runs.query("SELECT * FROM lineage_query") == []


DECLARED = {
    "columns": [
        {"target": {"table": "/data/counts/x", "column": "N"}, "sources": [{"table": "Lake.Raw", "column": "n"}]},
    ]
}


@pytest.mark.parametrize(
    ("text", "found", "message"),
    [
        (json.dumps(DECLARED), [("lake.raw.n", "/data/counts/x.n", "direct")], ""),
        ('{"queries": ["INSERT INTO a.b BY NAME SELECT c FROM d.e"]}', [("d.e.", "a.b.", "condition")], ""),
        ('{"columns": [{"target": {}, "sources": []}]}', [], "at columns/0/target"),
        ("no json", [], "it is no JSON"),
    ],
    ids=["columns", "queries", "not as the schema has it", "no json"],
)
def test_a_step_declares_its_lineage_and_a_bad_declaration_fails_nothing(
    tmp_path: Path, text: str, found: list[tuple[str, str, str]], message: str
) -> None:
    runs = Runs(directory=tmp_path)
    runs.write(scripts={"count": f"{runs.making()}\ncat > $FEEDCTL_LINEAGE <<'END'\n{text}\nEND"})
    runs.fill(KEYS[0])

    assert runs.run()[0] == 0
    assert set(found) <= set(runs.query(RELATIONS))
    assert bool(found) == bool(runs.query(RELATIONS))
    logged = [each for (each,) in runs.query("SELECT message FROM process_log WHERE category = 'lineage'")]
    assert [message in each for each in logged] == ([True] if message else [])
