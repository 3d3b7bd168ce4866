"""Every action that runs steps of SQL lets them share an application, by a program that stands for Spark."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.databases.ledgers import make_ledger
from tests.integration.process_runs import KEYS, Runs
from tests.integration.test_late_check import LATE, Lateness
from tests.integration.trigger_runs import TriggerRuns
from tests.unit.programs.shared_site import HOST

SQL = "workflow: {engine: spark_sql, path: workflows/report.sql}"


@pytest.fixture(autouse=True)
def spark_submit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the program be the first `spark-submit` of the path."""
    program = tmp_path / "bin/spark-submit"
    program.parent.mkdir()
    program.write_text(HOST)
    program.chmod(0o755)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


def hosts(directory: Path) -> list[str]:
    """Return the process of each application that was started."""
    return sorted(each.parents[3].name for each in directory.glob("logs/*/*/primary/session/*/host.log"))


def test_instances_that_updates_start_share_an_application(tmp_path: Path) -> None:
    runs = TriggerRuns(directory=tmp_path)
    make_ledger(runs.url)
    runs.write_story("{any: [clicks], start_from: earliest}")
    report = tmp_path / "repo/processes/report.yaml"
    lines = report.read_text().splitlines(keepends=True)
    report.write_text("".join(f"{SQL}\n" if each.startswith("workflow:") else each for each in lines))
    (tmp_path / "repo/workflows/report.sql").write_text("SELECT 1")
    for key in KEYS[:2]:
        runs.fill_feed("orders", key)
        runs.emit("clicks", key)
    code, result = runs.pass_by()
    assert (code, [status for _, _, status in runs.reports()]) == (0, ["succeeded"] * 2), result
    assert hosts(tmp_path) == ["report"]


@pytest.mark.parametrize("groups", ["[]", "[[report, count]]"])
def test_processes_share_an_application_where_the_repo_says_so(tmp_path: Path, groups: str) -> None:
    runs = Runs(directory=tmp_path)
    runs.write(SQL)
    repo, processes = tmp_path / "repo/repo.yaml", tmp_path / "repo/processes"
    repo.write_text(f"{repo.read_text()}shared_sessions: {groups}\n")
    count = (processes / "count.yaml").read_text().replace("feed: counts, ", "feed: counts, allow_empty: true, ")
    (processes / "count.yaml").write_text(count)
    without_outputs = "".join(each for each in count.splitlines(keepends=True) if not each.startswith("outputs:"))
    (processes / "report.yaml").write_text(without_outputs.replace("name: count", "name: report"))
    (tmp_path / "repo/workflows/report.sql").write_text("SELECT 1")
    runs.fill(KEYS[0])
    code, result = runs.run("--due", "--all")
    assert (code, [status for _, _, status in runs.statuses()]) == (0, ["succeeded"] * 2), result
    assert hosts(tmp_path) == (["count", "report"] if groups == "[]" else ["report"])


def test_instances_of_late_data_share_an_application(tmp_path: Path) -> None:
    runs = Lateness(directory=tmp_path)
    runs.write_late(SQL, more=LATE.replace("late.sh", "report.sql"))
    (tmp_path / "repo/workflows/report.sql").write_text("SELECT 1")
    process = tmp_path / "repo/processes/count.yaml"
    process.write_text(process.read_text().replace("feed: counts, ", "feed: counts, allow_empty: true, "))
    runs.fill(*KEYS[:2])
    code, result = runs.run("--due", time=KEYS[1])
    assert code == 0, result
    for key in KEYS[:2]:
        runs.drop(key=key)
    code, result = runs.check(at=KEYS[2])
    assert (code, [status for _, _, status in runs.statuses()]) == (0, ["succeeded"] * 4), result
    assert hosts(tmp_path) == ["count"] * 2  # of the run, and of the check
