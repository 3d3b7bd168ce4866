"""A config repo of one hourly feed with much data, and the retention entrypoint as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.commands import BIN, ROOT
from tests.short_leases import short_leases

ENTRYPOINT = ROOT / "entrypoints" / "retention.py"
NOMINAL_TIME = "2026-03-20T12:00Z"
SKIPPED = 5

CLUSTER = """\
kind: cluster
name: {name}
interfaces: {{write: {{endpoint: "file://{data}"}}}}
"""
FEED = """\
kind: feed
name: {name}
frequency: minutes(1)
groups: [online]
tags: {{classification: pii}}
locations: {{data: "/{name}/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}/${{MINUTE}}"}}
clusters:
  - name: primary
    validity: {{start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}
    retention: {retention}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Repo:
    """A config repo, the directory that its cluster stores data in, and its ledger with the audit file beside it."""

    path: Path
    data: Path
    ledger: Path

    @classmethod
    def make(cls, directory: Path, retentions: Mapping[str, str] | None = None, repo_yaml: str = "name: e2e\n") -> Repo:
        """A repo with a feed for each retention, by name; without: the feed clicks with ten days."""
        repo = cls(path=directory / "repo", data=directory / "data", ledger=directory / "ledger.db")
        repo.write("repo.yaml", f"{repo_yaml}ledger: sqlite:///{repo.ledger}\n")
        repo.write("clusters/primary.yaml", CLUSTER.format(name="primary", data=repo.data))
        for name, retention in (retentions or {"clicks": "{limit: days(10)}"}).items():
            repo.write(f"feeds/{name}.yaml", FEED.format(name=name, retention=retention))
        repo.data.mkdir(parents=True)
        return repo

    def write(self, name: str, text: str) -> None:
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text)

    def fill(self, day: str, minutes: int, files: int = 2, feed: str = "clicks") -> None:
        """The first minutes of a day, so many files in each."""
        for minute in range(minutes):
            instance = self.data / feed / day / f"{minute // 60:02d}" / f"{minute % 60:02d}"
            instance.mkdir(parents=True)
            for number in range(files):
                (instance / f"part-{number}").touch()

    @property
    def audit(self) -> list[dict[str, object]]:
        """The lines of the audit file."""
        return [json.loads(line) for line in self.ledger.with_name("ledger.audit.jsonl").read_text().splitlines()]

    def tree(self) -> list[str]:
        """Everything in the data directory."""
        found = (os.path.join(at, name) for at, dirs, files in os.walk(self.data) for name in [*dirs, *files])  # noqa: PTH118
        return sorted(os.path.relpath(each, self.data) for each in found)


def environment(java_home: Path, lease_seconds: float = 60) -> dict[str, str]:
    """For spark-submit: it starts the Python that comes first on PATH."""
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    known = {**os.environ, "PATH": path, "JAVA_HOME": str(java_home), "SPARK_LOCAL_IP": "127.0.0.1"}
    return {**known, **short_leases(lease_seconds)}


def submit(java_home: Path, repo: Repo, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The entrypoint by spark-submit, to its end."""
    return subprocess.run(
        command(repo, *arguments), env=environment(java_home), capture_output=True, text=True, check=False, timeout=120
    )


def command(repo: Repo, *arguments: str) -> list[str]:
    """The command line of a run over the repo, without selection."""
    return [
        str(BIN / "spark-submit"),
        str(ENTRYPOINT),
        "--config-repo",
        str(repo.path),
        "--time",
        NOMINAL_TIME,
        *arguments,
    ]


def plain(repo: Repo, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The entrypoint by plain Python, to its end."""
    return subprocess.run(plain_command(repo, *arguments), capture_output=True, text=True, check=False, timeout=120)


def plain_command(repo: Repo, *arguments: str) -> list[str]:
    """The command line of a run by plain Python."""
    return [sys.executable, *command(repo, *arguments)[1:]]


def when_free(repo: Repo, *arguments: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    """The entrypoint by plain Python, as soon as the lease of a dead run has expired."""
    deadline = time.monotonic() + seconds
    done = plain(repo, *arguments)
    while done.returncode == SKIPPED:
        assert time.monotonic() < deadline, done.stderr
        time.sleep(0.1)
        done = plain(repo, *arguments)
    return done


def outcomes(printed: str) -> list[str]:
    """The outcomes of the items in a JSON result."""
    return [item["outcome"] for item in json.loads(printed)["items"]]


def wait_for(paths: Iterable[Path]) -> bool:
    """Wait until any of the paths is gone."""
    return any(not path.exists() for path in paths)
