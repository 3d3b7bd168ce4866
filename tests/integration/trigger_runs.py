"""A config repo with two feeds, a producer of each, and a consumer of both that updates of its data start."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from entrypoints import process, trigger
from tests.databases.ledgers import open_ledger
from tests.integration.process_runs import FEED, KEYS, Runs
from toolkit.cli import main
from toolkit.cli.boundary import run_app
from toolkit.ledger import events
from toolkit.ledger.events import NewEvent
from toolkit.ledger.vocabulary import EventKind

PRODUCER = """\
kind: process
name: make_{name}
clusters: [{{name: primary, validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}}}]
frequency: hours(1)
outputs: {{made: {{feed: {name}, instance: "now(0,0)"}}}}
workflow: {{engine: command, path: workflows/make.sh}}
"""
CONSUMER = """\
kind: process
name: report
clusters: [{{name: primary, validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}}}]
frequency: hours(1)
inputs:
  clicks: {{feed: clicks, start: "now(0,0)", end: "now(0,0)"}}
  orders: {{feed: orders, start: "now(0,0)", end: "now(0,0)"}}
schedule: {schedule}
trigger: {trigger}
workflow: {{engine: command, path: workflows/report.sh, args: ["${{nominalTime}}"]}}
{more}
"""
LOOP = """\
kind: process
name: loop
clusters: [{{name: primary, validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}}}]
frequency: hours(1)
outlets: ["{uri}"]
emit: always
schedule: never
trigger: {{any: ["{uri}"], on: [available, updated], max_chain: {max_chain}, start_from: earliest, allow_cycle: a test}}
workflow: {{engine: command, path: workflows/report.sh}}
"""
BOTH = "{all: [clicks, orders], start_from: earliest}"


@dataclass(frozen=True, kw_only=True)
class TriggerRuns(Runs):
    """Passes of triggers over a config repo of two feeds."""

    @property
    def url(self) -> sa.URL:
        """The URL of the ledger."""
        return sa.make_url(f"sqlite:///{self.directory}/ledger.db")

    def write_story(
        self, condition: str = BOTH, *, schedule: str = "never", more: str = "", make: str = "", report: str = ""
    ) -> None:
        """Write the repo anew.

        Args:
            condition: the trigger of the consumer.
            schedule: of the consumer.
            more: keys of the consumer.
            make: the end of the script of both producers.
            report: the script of the consumer; empty: it leaves a trace.
        """
        self._put("repo.yaml", f"name: story\nledger: sqlite:///{self.directory}/ledger.db\n")
        endpoint = f"file://{self.directory}/data"
        cluster = f'kind: cluster\nname: primary\ninterfaces: {{write: {{endpoint: "{endpoint}"}}}}\n'
        self._put("clusters/primary.yaml", cluster)
        for name in ("clicks", "orders"):
            self._put(f"feeds/{name}.yaml", FEED.format(name=name, flag="availability_flag: _SUCCESS"))
            self._put(f"processes/make_{name}.yaml", PRODUCER.format(name=name))
        self._put("processes/report.yaml", CONSUMER.format(schedule=schedule, trigger=condition, more=more))
        script = f"mkdir -p $made\ndate +%s%N > $made/part-0\ntouch $made/_SUCCESS\n{make}"
        for name, text in (("make", script), ("report", report or self.saying("report"))):
            self._put(f"workflows/{name}.sh", f"#!/bin/sh\nset -e\n{text}\n").chmod(0o755)

    def write_loop(self, uri: str, max_chain: int) -> None:
        """Add a process that updates the data which starts it."""
        self._put("processes/loop.yaml", LOOP.format(uri=uri, max_chain=max_chain))

    def produce(self, feed: str, key: str = KEYS[0], *more: str) -> int:
        """Run the producer of a feed for an instance, and return its exit code."""
        return self._run(process.app, "--process", f"make_{feed}", *more, time=key)[0]

    def pass_by(self, *more: str, time: str = KEYS[5]) -> tuple[int, dict[str, Any]]:
        """Return the exit code and the result of a pass of triggers."""
        return self._run(trigger.app, *(more or ("--due",)), time=time)

    def due(self, *more: str, time: str = KEYS[5]) -> tuple[int, dict[str, Any]]:
        """Return the exit code and the result of `process.py --due` of the consumer."""
        return self._run(process.app, "--process", "report", "--due", *more, time=time)

    def emit(self, feed: str, key: str = KEYS[0], *, chain: int = 0, kind: EventKind = EventKind.AVAILABLE) -> None:
        """Let the ledger have an event; the data is there."""
        self.fill_feed(feed, key)
        ledger = open_ledger(self.url)
        new = NewEvent(kind=kind, feed=feed, cluster="primary", instance_key=key, chain=chain)
        ledger.write(lambda tx: events.append(tx, [new]))
        ledger.close()

    def emit_uri(self, uri: str) -> None:
        """Let the ledger have an event of data that is no feed."""
        ledger = open_ledger(self.url)
        ledger.write(lambda tx: events.append(tx, [NewEvent(kind=EventKind.AVAILABLE, dataset=uri, chain=0)]))
        ledger.close()

    def newest_minute(self) -> str:
        """Return the minute of the newest event as an instance key."""
        ((at,),) = self.query("SELECT recorded_at FROM event ORDER BY sequence DESC LIMIT 1")
        return f"{at[:16]}Z"

    def feedctl(self, *arguments: str) -> None:
        """Run a command of feedctl over the repo."""
        assert main.main([*arguments, *self.repo]) == 0

    def fill_feed(self, feed: str, *keys: str) -> None:
        """Let instances of a feed be there."""
        for key in keys:
            place = self.at(feed, key)
            place.mkdir(parents=True, exist_ok=True)
            (place / "part-0").write_text(f"{feed} of {key}\n")
            (place / "_SUCCESS").touch()

    def reports(self) -> list[tuple[str, int, str]]:
        """Return the instance, attempt and status of all runs of the consumer."""
        return self.query(
            "SELECT instance_key, attempt, status FROM run WHERE entity = 'report' ORDER BY instance_key, attempt"
        )

    def causes(self) -> list[tuple[str, int]]:
        """Return the instance and the event of each cause."""
        return self.query(
            "SELECT run.instance_key, sequence FROM trigger_cause JOIN run USING (run_id) ORDER BY run_id, sequence"
        )

    def _run(self, app: Any, *arguments: str, time: str) -> tuple[int, dict[str, Any]]:  # noqa: ANN401 - a typer app
        file = self.directory / "result.json"
        file.unlink(missing_ok=True)
        os.environ["FEEDCTL_LOG_DIR"] = str(self.directory / "logs")
        options = [*self.repo, "--time", time, "--output", "json", "--result-file", str(file)]
        code = run_app(app, [*arguments, *options])
        return code, json.loads(file.read_text()) if file.exists() else {}


def notes(result: dict[str, Any]) -> Sequence[str]:
    """Return the notes of a result and of its instances."""
    return [*result["notes"], *(note for each in result["instances"] for note in each["notes"])]
