"""A site with a Spark standalone cluster, an object store and the packed environment, and no checkout of feedctl."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.packed_env import BASE_PYTHON, bare_environment, packed_archive, unpacked
from tests.e2e.tiny_repo import NOMINAL_TIME
from tests.testbed.s3 import S3Store
from tests.testbed.spark import SparkStandalone

FEED = """\
kind: feed
name: clicks
frequency: hours(1)
availability_flag: _SUCCESS
locations: {data: "/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}"}
clusters:
  - name: lake
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
    retention: {limit: days(10)}
"""


@dataclass(frozen=True, kw_only=True)
class Site:
    """The edge node of the site.

    Attributes:
        spark: the cluster.
        directory: of this test.
        env_archive: what executors get; None: they get nothing.
        settings: of Spark, besides those that every run has.
    """

    spark: SparkStandalone
    directory: Path
    env_archive: Path | None = field(default_factory=packed_archive)
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """The packed environment, unpacked for the driver."""
        place = self.directory / "feedctl"
        return place if place.exists() else unpacked(packed_archive(), place)

    @property
    def event_log(self) -> Path:
        """Folder of Spark's event logs."""
        place = self.directory / "events"
        place.mkdir(exist_ok=True)
        return place

    @property
    def entrypoint(self) -> Path:
        """The script of retention, from the packed environment."""
        return self.home / "lib" / "toolkit" / "_shipped" / "entrypoints" / "retention.py"

    def submit(self, script: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """The documented line: client mode, with the archive for the executors; nothing of .venv or the checkout."""
        conf = {
            **self.settings,
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": f"file://{self.event_log}",
        }
        for name, value in {"FEEDCTL_PYTHON": str(BASE_PYTHON), **environment}.items():
            conf[f"spark.executorEnv.{name}"] = value
        options = [f"--conf={name}={value}" for name, value in conf.items()]
        if self.env_archive is not None:
            options.append(f"--archives={self.env_archive}#environment")
        spark_submit = str(self.spark.home / "bin" / "spark-submit")
        command = [spark_submit, *self.spark.submit_options, *options, str(script), *arguments]
        return subprocess.run(
            command,
            env=self._environment(environment),
            cwd=self.directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    def tasks(self) -> Iterator[str]:
        """The executor of each task that has succeeded."""
        for file in self.event_log.glob("*/events_*"):
            for line in file.read_text().splitlines():
                event = json.loads(line)
                if event["Event"] == "SparkListenerTaskEnd" and event["Task End Reason"]["Reason"] == "Success":
                    yield event["Task Info"]["Executor ID"]

    def _environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        own = {"PYSPARK_PYTHON": "./environment/bin/python", "PYSPARK_DRIVER_PYTHON": str(self.home / "bin" / "python")}
        known = self.spark.environment.items()
        spark = {name: value for name, value in known if name == "JAVA_HOME" or name.startswith("SPARK_")}
        return bare_environment(**spark, **own, **environment)


def write_repo(site: Site, endpoint: str, hadoop_conf: Mapping[str, str], repo_yaml: str = "") -> list[str]:
    """A config repo with the feed on that end point; gives the options of a run over it."""
    cluster = {"kind": "cluster", "name": "lake", "interfaces": {"write": {"endpoint": endpoint}}}
    documents = {
        "repo.yaml": f"name: site\nledger: sqlite:///{site.directory}/ledger.db\n{repo_yaml}",
        "clusters/lake.yaml": json.dumps({**cluster, "hadoop_conf": dict(hadoop_conf)}),
        "feeds/clicks.yaml": FEED,
    }
    for name, text in documents.items():
        path = site.directory / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    chosen = ["--feed", "clicks", "--time", NOMINAL_TIME, "--output", "json"]
    return ["--config-repo", str(site.directory / "repo"), *chosen]


def fill(s3: S3Store, bucket: str, hours: int) -> None:
    """Instances of so many hours from 2026-03-01 on, and two of 2026-03-19; each has a flag and two files."""
    names = [f"2026/03/{1 + hour // 24:02}/{hour % 24:02}" for hour in range(hours)]
    with s3.client() as client:
        for name in [*names, "2026/03/19/00", "2026/03/19/01"]:
            for file in ("_SUCCESS", "part-0", "deep/part-1"):
                client.put_object(Bucket=bucket, Key=f"clicks/{name}/{file}", Body=b"x")


def keys(s3: S3Store, bucket: str) -> list[str]:
    """Return all keys of the bucket."""
    with s3.client() as client:
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket)
        return [found["Key"] for page in pages for found in page.get("Contents", ())]
