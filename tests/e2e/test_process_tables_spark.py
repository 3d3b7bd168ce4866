"""The template's process over a table, by the real spark-submit, on a real metastore; and one that reads that table."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import pytest

from entrypoints import process as entrypoint
from tests.e2e.commands import BIN, ROOT
from tests.e2e.retention_process import environment
from tests.tables.databases import create_database, plain_metastore
from tests.tables.tables import partition_of, table_of
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.catalog.model import Column, TableName
from toolkit.catalog.port import Metastore
from toolkit.cli.boundary import run_app

pytestmark = [pytest.mark.slow, pytest.mark.extended, pytest.mark.timeout(900)]

SITE = """\
description: the test bed
clusters: [primary]
entities:
  primary:
    interfaces:
      write: {{endpoint: "file://{root}"}}
      readonly: null
      registry: {{endpoint: "{uri}"}}
      spark: {{endpoint: "local[1]"}}
    hadoop_conf: null
  clicks_by_country:
    table: "catalog:{database}:clicks_by_country#ds=${{YEAR}}-${{MONTH}}-${{DAY}};region=${{region}}"
  clicks_by_country_job:
    properties: {{collected: "file://{root}/collected"}}
"""
SHARES = """\
kind: feed
name: shares
owner: web-analytics@example.com
frequency: days(1)
timezone: Europe/Berlin
path_timezone: Europe/Berlin
table: "catalog:{database}:shares#ds=${{YEAR}}-${{MONTH}}-${{DAY}}"
clusters: [{{name: primary, validity: {{start: 2025-12-31T23:00Z, end: 2099-01-01T00:00Z}}}}]
"""
SHARES_JOB = """\
kind: process
name: shares_job
owner: web-analytics@example.com
clusters: [{name: primary, validity: {start: 2026-01-03T04:00Z, end: 2099-01-01T00:00Z}}]
frequency: days(1)
timezone: Europe/Berlin
inputs: {by_country: {feed: clicks_by_country, start: "yesterday(0,0)", end: "yesterday(0,0)"}}
outputs: {shares: {feed: shares, instance: "yesterday(0,0)"}}
workflow: {engine: spark_sql, path: workflows/shares.sql}
"""
SHARES_SQL = """\
INSERT OVERWRITE TABLE ${falcon_shares_database}.${falcon_shares_table} PARTITION (ds = '${shares.ds}')
SELECT country, clicks * 100 DIV sum(clicks) OVER () AS clicks
FROM ${falcon_by_country_database}.${falcon_by_country_table}
WHERE ${by_country_filter};
"""
HOUR, COUNTED, SHARED = "2026-03-19T00:00Z", "2026-03-20T03:00Z", "2026-03-20T04:00Z"
"""Instances of three processes: about the first hour of the 19th of March in Berlin, and about that day."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """The template's config repo, and its tables in a database of their own."""

    directory: Path
    java_home: Path
    metastore: Metastore
    database: str

    def write(self, uri: str) -> None:
        repo = self.directory / "repo"
        shutil.copytree(ROOT / "config_repo_template", repo)
        files = {
            "environments/bed.yaml": SITE.format(root=self.directory, uri=uri, database=self.database),
            "feeds/web/shares.yaml": SHARES.format(database=self.database),
            "processes/shares_job.yaml": SHARES_JOB,
            "workflows/shares.sql": SHARES_SQL,
        }
        for name, text in files.items():
            (repo / name).write_text(text)
        settings = repo / "repo.yaml"
        settings.write_text(settings.read_text().replace("[dev, pair, prod]", "[dev, pair, prod, bed]"))

    def create(self, name: str, place: str, **keys: str) -> None:
        made = table_of(TableName(self.database, name), place, **keys)
        columns = (Column(name="country", type="string"), Column(name="clicks", type="bigint"))
        self.metastore.create_table(replace(made, storage=replace(made.storage, columns=columns)))

    def load(self, rows: str) -> None:
        """Put a partition there that another would have made."""
        table = self.metastore.table(TableName(self.database, "clicks_by_country"))
        made = partition_of(table, "2026-03-19", "emea")
        place = Path(made.location.removeprefix("file:"))
        place.mkdir(parents=True)
        (place / "part-0").write_text(rows)
        self.metastore.add_partitions(table.name, [made])

    def click(self) -> None:
        """Put the clicks of the first hour there."""
        hour = self.directory / "data/clicks/2026/03/18/23"
        for country, clicks in (("DE", 9), ("US", 3)):
            place = hour / country / "fra"
            place.mkdir(parents=True)
            (place / "part-0.json").write_text('{"page": "/home"}\n' * clicks)
        (hour / "_SUCCESS").touch()

    def repeat(self) -> None:
        """The other hours of the day have the counts of the first."""
        counted = self.directory / "data/clicks_hourly/2026-03-18/23"
        for hour in range(23):
            shutil.copytree(counted, self.directory / f"data/clicks_hourly/2026-03-19/{hour:02}")

    def run(self, process: str, time: str) -> tuple[int, str, str]:
        """The exit code and the result of a run in this process, and what its steps said."""
        file = self.directory / "result.json"
        code = run_app(entrypoint.app, [*self.arguments(time), "--process", process, "--result-file", str(file)])
        return code, file.read_text(), self.output()

    def output(self) -> str:
        """The ends of all logs."""
        return "\n".join(each.read_text()[-3000:] for each in (self.directory / "logs").rglob("*.log"))

    def submit(self, process: str, time: str) -> tuple[int, str]:
        """The exit code of a run that spark-submit starts, and what it and its steps said."""
        command = [str(BIN / "spark-submit"), str(ROOT / "entrypoints/process.py"), *self.arguments(time)]
        known = {**environment(self.java_home), "FEEDCTL_LOG_DIR": str(self.directory / "logs")}
        done = subprocess.run(
            [*command, "--process", process], env=known, capture_output=True, text=True, check=False, timeout=800
        )
        return done.returncode, f"{done.stderr}\n{self.output()}"

    def arguments(self, time: str) -> list[str]:
        repo = str(self.directory / "repo")
        return ["--config-repo", repo, "--env", "bed", "--cluster", "primary", "--time", time, "--output", "json"]

    def rows(self, name: str, partition: str) -> list[str]:
        """Return what a partition of a table of text files has, sorted."""
        (found,) = self.metastore.partitions(TableName(self.database, name), [partition])
        files = Path(found.location.removeprefix("file:")).glob("part-*")
        return sorted(line for each in files for line in each.read_text().splitlines())


@pytest.fixture
def site(tmp_path: Path, java_home: Path, metastore: HiveMetastoreServer, monkeypatch: pytest.MonkeyPatch) -> Site:
    for name, text in {**environment(java_home), "FEEDCTL_LOG_DIR": str(tmp_path / "logs")}.items():
        monkeypatch.setenv(name, text)
    database = f"test_{uuid4().hex}"
    place = f"file:{tmp_path}/warehouse"
    create_database(metastore.spec, database, place)
    made = Site(
        directory=tmp_path, java_home=java_home, metastore=plain_metastore(metastore.spec), database=database
    )  # fmt: skip
    made.write(metastore.uri)
    made.create("clicks_by_country", f"{place}/clicks_by_country", ds="string", region="string")
    made.create("shares", f"{place}/shares", ds="date")
    return made


def test_spark_sql_reads_the_partition_that_the_process_waited_for_and_makes_one(site: Site) -> None:
    code, waiting, output = site.run("shares_job", SHARED)
    assert code == 75, output
    assert f"/{site.database}/clicks_by_country/ds=2026-03-19;region=emea" in waiting

    site.load("DE\x013\nUS\x011\n")
    code, output = site.submit("shares_job", SHARED)
    assert code == 0, output
    assert site.rows("shares", "ds=2026-03-19") == ["DE\x0175", "US\x0125"]
    assert [each.name for each in (site.directory / "warehouse/shares").iterdir()] == ["ds=2026-03-19"]


def test_the_steps_of_the_templates_process_make_its_partition(site: Site) -> None:
    site.click()
    code, _, output = site.run("clicks_hourly_job", HOUR)
    assert code == 0, output
    site.repeat()
    code, _, output = site.run("clicks_by_country_job", COUNTED)
    assert code == 0, output
    assert site.rows("clicks_by_country", "ds=2026-03-19/region=emea") == ["DE\x01216", "US\x0172"]
