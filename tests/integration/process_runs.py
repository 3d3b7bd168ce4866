"""A config repo with one process of commands over local files, and runs of it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time as clock
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from entrypoints import process as entrypoint
from tests.e2e.commands import ROOT
from tests.short_leases import short_leases
from tests.testbed.running import ending
from toolkit.cli.boundary import run_app
from toolkit.programs.left_over import processes_of

KEYS = [f"2026-03-01T{hour:02}:00Z" for hour in range(24)]
STARTS_AT = "2026-03-01T00:00Z"
FEED = """\
kind: feed
name: {name}
frequency: hours(1)
{flag}
locations: {{data: "/{name}/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}"}}
clusters: [{{name: primary, validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}}}]
"""
PROCESS = """\
kind: process
name: count
clusters: [{{name: primary, validity: {{start: {start}, end: {end}}}}}]
frequency: hours(1)
inputs: {{clicks: {{feed: clicks, start: "now(0,0)", end: "now(0,0)"}}}}
outputs: {{counts: {{feed: counts, instance: "now(0,0)"{of_output}}}}}
{workflow}
{more}
"""
ONLY = "workflow: {engine: command, path: workflows/count.sh}"


def steps(*names: str, more: Mapping[str, str] | None = None) -> str:
    """A workflow of steps, each with a script of its name."""
    each = (
        f"    - {{name: {name}, engine: command, path: workflows/{name}.sh{(more or {}).get(name, '')}}}\n"
        for name in names
    )
    return "workflow:\n  steps:\n" + "".join(each)


@dataclass(frozen=True, kw_only=True)
class Runs:
    """A config repo, and runs over it in this process.

    Attributes:
        directory: for repo, data, logs and ledger.
    """

    directory: Path
    end: str = "2099-01-01T00:00Z"

    def write(
        self,
        workflow: str = ONLY,
        scripts: Mapping[str, str] | None = None,
        *,
        more: str = "",
        of_output: str = "",
        flag: str = "availability_flag: _SUCCESS",
    ) -> None:
        """Write the repo anew; a script without a text of its own makes the output."""
        self._put("repo.yaml", f"name: counting\nledger: sqlite:///{self.directory}/ledger.db\n")
        endpoint = f"file://{self.directory}/data"
        cluster = f'kind: cluster\nname: primary\ninterfaces: {{write: {{endpoint: "{endpoint}"}}}}\n'
        self._put("clusters/primary.yaml", cluster)
        for name in ("clicks", "counts"):
            self._put(f"feeds/{name}.yaml", FEED.format(name=name, flag=flag))
        text = PROCESS.format(start=STARTS_AT, end=self.end, workflow=workflow, more=more, of_output=of_output)
        self._put("processes/count.yaml", text)
        for name, script in (scripts or {"count": self.making()}).items():
            path = self._put(f"workflows/{name}.sh", f"#!/bin/sh\nset -e\n{script}\n")
            path.chmod(0o755)

    def _put(self, name: str, text: str) -> Path:
        path = self.directory / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    @property
    def repo(self) -> tuple[str, str]:
        """The option that names the config repo."""
        return ("--config-repo", str(self.directory / "repo"))

    @property
    def trace(self) -> Path:
        """A line for each step that ran."""
        return self.directory / "trace"

    def output(self) -> list[str]:
        """Return what the steps have traced."""
        return self.trace.read_text().splitlines() if self.trace.exists() else []

    def saying(self, word: str, then: str = "") -> str:
        """A script that leaves a trace."""
        return f'echo "$nominalTime {word}" >> {self.trace}\n{then}'

    def making(self, word: str = "count") -> str:
        """A script that leaves a trace, and makes the output out of the input."""
        made = f"{self.directory}/data/counts/$(basename $counts)"
        return self.saying(
            word, f"mkdir -p {made}\ncat {self.directory}/data/clicks/$(basename $clicks)/part-0 > {made}/part-0"
        )

    def fill(self, *keys: str) -> None:
        """Let instances of the input be there."""
        for key in keys:
            place = self.at("clicks", key)
            place.mkdir(parents=True, exist_ok=True)
            (place / "part-0").write_text(f"clicks of {key}\n")
            (place / "_SUCCESS").touch()

    def at(self, feed: str, key: str) -> Path:
        """The directory of an instance."""
        return self.directory / "data" / feed / f"{key[:10]}-{key[11:13]}"

    def arguments(self, *more: str, time: str = KEYS[0]) -> list[str]:
        """Return the arguments of a run."""
        repo = str(self.directory / "repo")
        which = [] if "--all" in more else ["--process", "count"]
        return ["--config-repo", repo, *which, "--time", time, "--output", "json", *more]

    def run(self, *more: str, time: str = KEYS[0]) -> tuple[int, dict[str, Any]]:
        """The exit code and the result of a run."""
        file = self.directory / "result.json"
        file.unlink(missing_ok=True)
        os.environ["FEEDCTL_LOG_DIR"] = str(self.directory / "logs")
        code = run_app(entrypoint.app, [*self.arguments(*more, time=time), "--result-file", str(file)])
        return code, json.loads(file.read_text()) if file.exists() else {}

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of the SQLite ledger."""
        with sqlite3.connect(self.directory / "ledger.db") as ledger:
            return ledger.execute(sql).fetchall()

    def started(
        self, *more: str, time: str = KEYS[0], lease_seconds: float = 6
    ) -> AbstractContextManager[subprocess.Popen[str]]:
        """A run in another process, which ends with the block at the latest."""
        command = [sys.executable, str(ROOT / "entrypoints/process.py"), *self.arguments(*more, time=time)]
        own = {"FEEDCTL_LOG_DIR": str(self.directory / "logs"), **short_leases(lease_seconds)}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        env = {**os.environ, **own}
        return ending(subprocess.Popen(command, cwd=ROOT, text=True, env=env, **streams))  # type: ignore[call-overload]

    def until(self, word: str, run: subprocess.Popen[str], seconds: float = 120) -> None:
        """Wait until a step of a run has traced a word."""
        deadline = clock.monotonic() + seconds
        while not any(line.endswith(word) for line in self.output()):
            assert clock.monotonic() < deadline
            assert run.poll() is None, run.communicate()
            clock.sleep(0.05)

    def alive(self) -> list[int]:
        """The processes that steps of this repo have left."""
        logs = self.directory / "logs"
        found = logs.rglob("*.log") if logs.is_dir() else ()
        return sorted(pid for log in found for pid in processes_of(log))

    def change(self, sql: str) -> None:
        """Change rows of the SQLite ledger."""
        with sqlite3.connect(self.directory / "ledger.db") as ledger:
            ledger.execute(sql)

    def statuses(self) -> list[tuple[str, int, str]]:
        """Return the statuses of all attempts: the hour, the attempt, the status."""
        found = self.query("SELECT instance_key, attempt, status FROM run ORDER BY instance_key, attempt")
        return [(key[11:13], attempt, status) for key, attempt, status in found]

    def audited(self, *kinds: str) -> list[tuple[str, str, str]]:
        """Lines of the audit file about items of some kinds: kind, state, and path below the data directory."""
        (file,) = self.directory.rglob("*.audit.jsonl")
        lines = map(json.loads, file.read_text().splitlines())
        root = f"file://{self.directory}/data/"
        return [
            (each["kind"], each["state"], each["path"].removeprefix(root))
            for each in lines
            if each["what"] == "item" and each["kind"] in kinds
        ]

    def events(self) -> list[tuple[str, str]]:
        """Return what consumers were told: kind and hour."""
        return [
            (kind, key[11:13]) for kind, key in self.query("SELECT kind, instance_key FROM event ORDER BY sequence")
        ]


def outcomes(result: Mapping[str, Any]) -> list[tuple[str, str, str | None]]:
    """Return the outcomes of all steps, and of the outputs removed before them: its name, its outcome, its code."""
    kinds = ("prepare", "step", "end")
    return [(each["step"], each["outcome"], each["code"]) for each in result["items"] if each["kind"] in kinds]


def changes(result: Mapping[str, Any]) -> list[tuple[str, str, str | None]]:
    """Return the outcomes of the changes of outputs besides those: its kind, its outcome, its code."""
    kinds = ("clear", "publish", "flag")
    return [(each["kind"], each["outcome"], each["code"]) for each in result["items"] if each["kind"] in kinds]


def hours(instances: Iterable[str]) -> list[str]:
    """The hours of instance keys."""
    return [key[11:13] for key in instances]
