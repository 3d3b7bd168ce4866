"""Explanations of a trigger at each step of a story, as they were when the record was made.

`FEEDCTL_WRITE_GOLDEN=1` writes the record anew; what then differs is a change of what users build on.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.databases.ledgers import make_ledger
from tests.described import faults
from tests.integration.process_runs import KEYS
from tests.integration.trigger_runs import TriggerRuns
from toolkit.cli.main import main
from toolkit.ledger.vocabulary import EventKind
from toolkit.rendering.document_schemas import DocumentName

RECORD = Path(__file__).parent / "records" / "trigger_explain.json"
PRICES = "s3://shop/prices"
CONDITION = f'{{all: [clicks, {{any: [{{feed: orders}}, "{PRICES}"]}}], by: key, valid_for: hours(6)}}'
DAILY = f'{{all: [{{feed: orders, min_count: 2}}, "{PRICES}"], start_from: earliest}}'


@pytest.fixture
def runs(tmp_path: Path) -> TriggerRuns:
    found = TriggerRuns(directory=tmp_path)
    found.write_story(CONDITION)
    make_ledger(found.url)
    return found


class Story:
    """Explanations by the step of the story, without what differs from run to run."""

    def __init__(self, runs: TriggerRuns, capsys: pytest.CaptureFixture[str]) -> None:
        self._runs, self._capsys = runs, capsys
        self.record: dict[str, Any] = {}

    def ask(self, step: str, *options: str) -> None:
        arguments = ["explain", "trigger", "report", *options, *self._runs.repo]
        self._capsys.readouterr()
        assert main(arguments) == 0
        lines = self._capsys.readouterr().out.splitlines()
        self.record[step] = [re.sub(r" at 20\S+Z:", " at <time>:", each) for each in lines]

    def document(self, step: str, *options: str) -> None:
        self.ask(step, *options, "--output", "json")
        document = json.loads("\n".join(self.record[step]))
        assert faults(document, DocumentName.TRIGGER, "explanation", strict=True) == []
        for explanation in document["explanations"]:
            for entry in explanation["entries"]:
                for event in entry["events"]:
                    event["recorded_at"] = "<time>"
        self.record[step] = document


def make_old(runs: TriggerRuns, number: int) -> None:
    """Let an event be of long ago."""
    with sqlite3.connect(f"{runs.directory}/ledger.db") as connection:
        connection.execute(
            "UPDATE event SET recorded_at = '2020' || substr(recorded_at, 5) WHERE sequence = ?", [number]
        )


def check(story: Story) -> None:
    if os.environ.get("FEEDCTL_WRITE_GOLDEN"):
        RECORD.write_text(json.dumps(story.record, indent=1, ensure_ascii=False) + "\n")
    assert story.record == json.loads(RECORD.read_text())


def test_the_explanations_are_as_before(runs: TriggerRuns, capsys: pytest.CaptureFixture[str]) -> None:
    story = Story(runs, capsys)
    runs.emit("clicks", KEYS[0])
    story.ask("before the first pass")
    runs.pass_by("--due", "--decide-only")
    story.ask("an event before the first pass", "--time", KEYS[0])
    runs.emit("clicks", KEYS[1])
    runs.emit_uri(PRICES)
    story.ask("one entry is satisfied, by an event that no pass has read")
    runs.emit("clicks", KEYS[2])
    runs.feedctl("event", "retract", "feedctl:feed/clicks?cluster=primary", "--time", KEYS[2])
    runs.emit("orders", KEYS[3], kind=EventKind.UPDATED)
    runs.emit("orders", KEYS[4])
    make_old(runs, 7)
    runs.pass_by("--due", "--decide-only")
    story.ask("what a pass has left waiting")
    for step, key in (("retracted", KEYS[2]), ("of another kind", KEYS[3]), ("expired", KEYS[4])):
        story.ask(f"an event that was {step}", "--time", key)
    runs.emit("orders", KEYS[1])
    story.ask("due")
    runs.pass_by("--due", "--decide-only")
    story.ask("nothing waits")
    story.document("consumed", "--time", KEYS[1])
    runs.emit("clicks", KEYS[1])
    runs.emit("orders", KEYS[1])
    runs.feedctl("entity", "suspend", "report")
    story.ask("due again, while the run is not over, and the process suspended")
    runs.feedctl("entity", "resume", "report")
    runs.write_story(CONDITION.replace("valid_for", "max_queued: 1, valid_for"))
    runs.emit("clicks", "2080-03-01T01:00Z")
    runs.emit("orders", "2080-03-01T01:00Z")
    story.ask("no slot is left", "--time", "2080-03-01T01:00Z")
    runs.write_story(CONDITION, schedule="and")
    story.ask("its time has not come", "--time", "2080-03-01T01:00Z")
    runs.write_story(CONDITION.replace("valid_for", "coalesce: latest, valid_for"))
    story.ask("coalesced", "--time", KEYS[1])
    runs.write_story(DAILY, schedule="never")
    story.ask("by any update")
    check(story)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("report", "--time", "2026-03-20T00:30Z"), "the nearest are 2026-03-20T00:00Z and 2026-03-20T01:00Z"),
        (("make_clicks",), "process make_clicks has no `trigger`"),
        (("reprot",), "report"),
    ],
)
def test_what_cannot_be_explained_is_an_error(
    runs: TriggerRuns, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str
) -> None:
    assert main(["explain", "trigger", *options, *runs.repo]) == 2
    assert message in capsys.readouterr().err


def test_a_key_for_a_trigger_without_instances_is_an_error(
    runs: TriggerRuns, capsys: pytest.CaptureFixture[str]
) -> None:
    runs.write_story(DAILY)
    assert main(["explain", "trigger", "report", "--time", KEYS[0], *runs.repo]) == 2
    assert "`by: any_update`, for the process as a whole; leave --time out" in capsys.readouterr().err
