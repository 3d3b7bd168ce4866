"""A config repo of one hourly feed with much data, and the retention entrypoint as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.commands import BIN, ROOT

ENTRYPOINT = ROOT / "entrypoints" / "retention.py"
NOMINAL_TIME = "2026-03-20T12:00Z"

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
    """A config repo and the directory that its cluster stores data in."""

    path: Path
    data: Path

    @classmethod
    def make(cls, directory: Path, retentions: Mapping[str, str] | None = None, repo_yaml: str = "name: e2e\n") -> Repo:
        """A repo with a feed for each retention, by name; without: the feed clicks with ten days."""
        repo = cls(path=directory / "repo", data=directory / "data")
        repo.write("repo.yaml", repo_yaml)
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

    def tree(self) -> list[str]:
        """Everything in the data directory."""
        found = (os.path.join(at, name) for at, dirs, files in os.walk(self.data) for name in [*dirs, *files])  # noqa: PTH118
        return sorted(os.path.relpath(each, self.data) for each in found)


def environment(java_home: Path) -> dict[str, str]:
    """For spark-submit: it starts the Python that comes first on PATH."""
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "JAVA_HOME": str(java_home), "SPARK_LOCAL_IP": "127.0.0.1"}


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
    return subprocess.run(
        [sys.executable, *command(repo, *arguments)[1:]], capture_output=True, text=True, check=False, timeout=120
    )


def outcomes(printed: str) -> list[str]:
    """The outcomes of the items in a JSON result."""
    return [item["outcome"] for item in json.loads(printed)["items"]]


def wait_for(paths: Iterable[Path]) -> bool:
    """Whether any of the paths is gone."""
    return any(not path.exists() for path in paths)
