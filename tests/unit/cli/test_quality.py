"""Data that are blocked, from the run that made them to the person who decides, with a judge that no Spark starts."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from entrypoints import process, validate
from tests.described import faults, printed_faults
from tests.unit.cli.running import Feedctl, Ran
from toolkit.cli.boundary import run_app
from toolkit.rendering.document_schemas import DocumentName

NOON, NAME = "2026-03-01T12:00Z", "2026030112"
NOT_NULL = "expect_column_values_to_not_be_null"
_SPARK_SUBMIT = f"""#!{sys.executable}
# Answers that no expectation fails, or the critical ones when the data say so.
import json, os, sys
from pathlib import Path
question = json.loads(Path(sys.argv[-2]).read_text())
place = Path(question["parts"][0]["uri"].removeprefix("file://"))
is_bad = any("bad" in each.read_text() for each in place.iterdir() if not each.name.startswith("_"))
findings = [
    {{"suite": each["suite"], "position": each["position"], "type": each["type"], "severity": each["severity"],
      "success": not is_bad, "kwargs": each["kwargs"], "column": "user", "observed": "", "rows": 10,
      "unexpected": 3 if is_bad else 0, "values": ["joe"] if is_bad and question["shows_values"] else [], "error": ""}}
    for each in question["expectations"]
]
answer = {{"findings": findings, "rows": 10, "seconds": 0.5, "engine": "fake 1", "refused": "", "version": 1}}
print("joe was here")
Path(sys.argv[-1]).write_text(json.dumps(answer))
sys.exit(7 if os.environ.get("FAKE_FAILS") else 0)
"""


@dataclass(frozen=True)
class Site:
    """A config repo with a process whose output is judged, and its data.

    Attributes:
        root: of both.
    """

    root: Path

    @property
    def clicks(self) -> Path:
        return self.root / "data/clicks"

    @property
    def waits(self) -> Path:
        return self.clicks / f".feedctl-staging/{NAME}"

    def makes(self, text: str) -> None:
        """What the process writes from now on."""
        (self.root / "text").write_text(text)

    def run(self, *more: str) -> int:
        return run_app(process.app, ["--process", "clicks_job", "--time", NOON, *more])

    def audit(self) -> list[dict[str, object]]:
        """The lines about decisions."""
        return [each for each in self.audit_lines() if each["what"] == "quality"]

    def audit_lines(self) -> list[dict[str, object]]:
        lines = (self.root / "repo/.feedctl/ledger.audit.jsonl").read_text().splitlines()
        return [json.loads(each) for each in lines]

    def items(self) -> list[tuple[str, str, str]]:
        """Return kind, path and state of each item of a decision."""
        of_decisions = "SELECT kind, path, state FROM item JOIN run USING (run_id) WHERE life_cycle = 'review'"
        with closing(sqlite3.connect(self.root / "repo/.feedctl/ledger.db")) as ledger:
            return list(ledger.execute(of_decisions))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return made_site(tmp_path, monkeypatch, tags="{team: web}")


def made_site(root: Path, monkeypatch: pytest.MonkeyPatch, tags: str) -> Site:
    repo, programs = root / "repo", root / "bin"
    files = {
        "repo.yaml": "name: r\nledger: sqlite:///.feedctl/ledger.db\n",
        "clusters/local.yaml": (
            "kind: cluster\nname: local\n"
            f'interfaces: {{write: {{endpoint: "file://{root}"}}, workflow: {{endpoint: "local:///"}}}}\n'
        ),
        "feeds/clicks.yaml": (
            f"kind: feed\nname: clicks\nfrequency: hours(1)\ntimezone: UTC\npath_timezone: UTC\ntags: {tags}\n"
            "availability_flag: _SUCCESS\n"
            'locations: {data: "/data/clicks/${YEAR}${MONTH}${DAY}${HOUR}"}\n'
            "quality: {suites: [clicks], format: json}\n"
            "clusters:\n  - name: local\n    validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}\n"
        ),
        "expectations/clicks.yaml": f"expectations:\n  - {{type: {NOT_NULL}, kwargs: {{column: user}}}}\n",
        "processes/clicks_job.yaml": (
            "kind: process\nname: clicks_job\nfrequency: hours(1)\ntimezone: UTC\n"
            "clusters:\n  - name: local\n    validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}\n"
            'outputs: {out: {feed: clicks, instance: "now(0,0)"}}\n'
            "workflow: {engine: command, path: workflows/make.sh}\n"
        ),
        "workflows/make.sh": f'#!/bin/sh\nmkdir -p "$out" && cp {root}/text "$out/part-0" && echo x >> {root}/ran\n',
    }
    for name, text in files.items():
        file = repo / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (repo / "workflows/make.sh").chmod(0o755)
    programs.mkdir()
    (programs / "spark-submit").write_text(_SPARK_SUBMIT)
    (programs / "spark-submit").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setenv("FEEDCTL_REPO", str(repo))
    monkeypatch.setenv("FEEDCTL_LOG_DIR", str(root / "logs"))
    monkeypatch.setattr("sys.argv", ["feedctl"])
    return Site(root)


def test_what_holds_is_announced(site: Site, feedctl: Feedctl) -> None:
    site.makes("good")
    assert site.run() == 0
    assert (site.clicks / f"{NAME}/part-0").read_text() == "good"
    assert not site.waits.exists()
    (found,) = feedctl("quality", "show", "clicks", "--output", "json").last["verdicts"]
    assert (found["state"], found["rows"], found["engine"]) == ("passed", 10, "fake 1")


def test_what_does_not_hold_is_seen_and_released(
    site: Site, feedctl: Feedctl, capsys: pytest.CaptureFixture[str]
) -> None:
    site.makes("bad")
    assert site.run() == 1
    assert "quality_failed" in capsys.readouterr().out
    assert site.waits.exists()
    assert not (site.clicks / NAME).exists()
    shown = feedctl("quality", "show", "clicks", "--time", NOON)
    assert "blocked" in shown.out
    assert f"FAILS  clicks: {NOT_NULL}(user), 3 of 10 rows" in shown.out
    history = feedctl("quality", "history", "clicks", "--expectation", NOT_NULL, "--output", "json")
    assert [each["success"] for each in history.last["findings"]] == [False]
    released = feedctl("quality", "release", "clicks", "--time", NOON, "--reason", "Ann knows")
    assert released.code == 0, released.err + released.out
    assert (site.clicks / f"{NAME}/part-0").read_text() == "bad"
    assert (site.root / "ran").read_text() == "x\n"
    (line,) = site.audit()
    assert (line["state"], line["instance_key"], line["reason"]) == ("released", NOON, "Ann knows")
    (page,) = (site.root / "repo/.feedctl/quality").glob("clicks-*.html")
    assert re.search("Released by .+: Ann knows", page.read_text())
    assert feedctl("quality", "release", "clicks", "--time", NOON, "--reason", "again").code == 2
    after = feedctl("quality", "show", "clicks", "--time", NOON)
    assert f"waits at file://{site.waits}" in shown.out
    assert "waits at" not in after.out
    assert f"published as file://{site.clicks}/{NAME}" in after.out
    (document,) = feedctl("quality", "show", "clicks", "--output", "json").last["verdicts"]
    assert (document["place"], document["judged_at"]) == ([], [f"file://{site.waits}"])


def test_what_changed_since_is_not_released(site: Site, feedctl: Feedctl) -> None:
    site.makes("bad")
    site.run()
    (site.waits / "part-1").write_text("more")
    refused = feedctl("quality", "release", "clicks", "--time", NOON, "--reason", "Ann knows")
    assert refused.code == 2
    assert "have changed since they were validated" in refused.err
    assert not (site.clicks / NAME).exists()


def test_what_is_rejected_is_removed_and_made_anew(site: Site, feedctl: Feedctl) -> None:
    site.makes("bad")
    site.run()
    rejected = feedctl("quality", "reject", "clicks", "--time", NOON, "--reason", "half a file")
    assert rejected.code == 0, rejected.err
    assert not site.waits.exists()
    assert list(site.waits.parent.glob("*.blocked.json")) == []
    assert [each["state"] for each in site.audit()] == ["rejected", "removed"]
    after = feedctl("quality", "show", "clicks", "--time", NOON)
    assert "waits at" not in after.out
    assert f"removed from file://{site.waits}" in after.out
    site.makes("good")
    assert site.run() == 1, "its steps have succeeded"
    assert site.run("--force") == 0
    assert (site.clicks / f"{NAME}/part-0").read_text() == "good"


@pytest.mark.usefixtures("site")
def test_nothing_is_decided_of_what_was_never_judged(feedctl: Feedctl) -> None:
    refused = feedctl("quality", "reject", "clicks", "--time", NOON, "--reason", "why not")
    assert (refused.code, "no validation result" in refused.err) == (2, True)


def test_by_hand_what_is_there_is_judged_and_nothing_is_changed(
    site: Site, feedctl: Feedctl, capsys: pytest.CaptureFixture[str]
) -> None:
    def validated(*more: str) -> int:
        return run_app(validate.app, ["--feed", "clicks", "--time", NOON, *more])

    assert validated() == 75
    site.makes("good")
    site.run()
    assert validated() == 0
    (site.clicks / f"{NAME}/part-0").write_text("bad")
    assert validated() == 1
    capsys.readouterr()
    assert validated("--dry-run") == 0
    assert NOT_NULL in capsys.readouterr().out
    states = feedctl("quality", "show", "clicks", "--output", "json").last["verdicts"]
    assert [(each["state"], each["by_hand"]) for each in states] == [("blocked", True), ("passed", False)]
    assert site.items() == [("validation", f"file://{site.clicks}/{NAME}", "done")] * 2


def test_in_safe_mode_and_in_a_dry_run_nothing_is_validated_by_hand(site: Site, feedctl: Feedctl) -> None:
    site.makes("good")
    site.run()
    feedctl("admin", "safe-mode", "on", "--reason", "upgrade")
    assert run_app(validate.app, ["--feed", "clicks", "--time", NOON]) == 5
    assert run_app(validate.app, ["--feed", "clicks", "--time", NOON, "--dry-run"]) == 0
    (found,) = feedctl("quality", "show", "clicks", "--output", "json").last["verdicts"]
    assert (found["by_hand"], site.items()) == (False, [])


def test_values_of_people_are_in_nothing_that_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, feedctl: Feedctl, capsys: pytest.CaptureFixture[str]
) -> None:
    site = made_site(tmp_path, monkeypatch, tags="{classification: pii}")
    site.makes("bad")
    assert site.run() == 1
    monkeypatch.setenv("FAKE_FAILS", "1")
    output = capsys.readouterr()
    feedctl("quality", "show", "clicks", "--time", NOON)
    validate_code = run_app(validate.app, ["--feed", "clicks", "--time", NOON])
    assert validate_code == 75
    kept = [each for each in tmp_path.rglob("*") if each.is_file() and each.name != "spark-submit"]
    assert [each for each in kept if b"joe" in each.read_bytes()] == []
    assert "joe" not in output.out + output.err


def test_what_is_printed_for_programs_has_every_key_that_is_described_and_no_other(
    site: Site, feedctl: Feedctl, capsys: pytest.CaptureFixture[str]
) -> None:
    site.makes("bad")
    site.run()
    known = ("--time", NOON, "--reason", "half a file")
    for more in (("show", "clicks"), ("history", "clicks", "--expectation", NOT_NULL), ("reject", "clicks", *known)):
        command = ("quality", *more, "--output", "json")
        assert printed_faults(command, feedctl(*command).out, strict=True) == []
    site.makes("good")
    site.run("--force")
    capsys.readouterr()
    for form, own in (("validate", []), ("question", ["--dry-run"])):
        run_app(validate.app, ["--feed", "clicks", "--time", NOON, "--output", "json", *own])
        assert faults(json.loads(capsys.readouterr().out), DocumentName.QUALITY, form, strict=True) == []


def _reject(feedctl: Feedctl, *more: str) -> Ran:
    return feedctl("quality", "reject", "clicks", "--time", NOON, "--reason", "half a file", *more)


def test_data_of_a_feed_on_hold_are_not_removed_by_a_rejection(site: Site, feedctl: Feedctl) -> None:
    site.makes("bad")
    site.run()
    feedctl("hold", "add", "clicks", "--reason", "incident 4711", "--end", "2026-03-01T12:00Z")
    feedctl("hold", "add", "clicks", "--reason", "incident 4712", "--start", NOON)
    refused = _reject(feedctl)
    assert (refused.code, "incident 4711" in refused.err, "incident 4712" in refused.err) == (3, False, True)
    assert feedctl("hold", "remove", "2").code == 0
    (site.clicks / ".feedctl-hold").write_text("case 12\n")
    refused = _reject(feedctl)
    assert (refused.code, "case 12" in refused.err) == (3, True)
    assert (site.waits.exists(), site.audit()) == (True, [])
    (site.clicks / ".feedctl-hold").unlink()
    assert (_reject(feedctl).code, site.waits.exists()) == (0, False)


def test_a_removal_is_intended_in_the_ledger_and_the_audit_file_before_it_begins(site: Site, feedctl: Feedctl) -> None:
    site.makes("bad")
    site.run()
    assert _reject(feedctl).code == 0
    assert site.items() == [("rejected", f"file://{site.waits}", "done")]
    lines = [each for each in site.audit_lines() if each.get("life_cycle") == "review" or each["what"] == "quality"]
    reported = [(each["what"], each["state"]) for each in lines]
    assert reported == [
        ("run", "running"),
        ("batch", "intended"),
        ("item", "done"),
        ("quality", "rejected"),
        ("quality", "removed"),
        ("run", "succeeded"),
    ]


@pytest.mark.parametrize("verb", ["release", "reject"])
def test_a_dry_run_of_a_decision_changes_nothing_and_says_what_it_would(
    site: Site, feedctl: Feedctl, verb: str
) -> None:
    site.makes("bad")
    site.run()
    before = sorted(str(each) for each in site.root.rglob("*"))
    command = ("quality", verb, "clicks", "--time", NOON, "--reason", "half a file", "--dry-run")
    shown = feedctl(*command)
    preview = shown.out.rpartition("status: ")[2]  # before it is what the run said
    assert (shown.code, "would be" in preview, str(site.waits) in preview) == (0, True, verb == "reject")
    printed = feedctl(*command, "--output", "json")
    assert printed_faults((*command, "--output", "json"), printed.out, strict=True) == []
    assert printed.last["removes"] == ([f"file://{site.waits}"] if verb == "reject" else [])
    assert (sorted(str(each) for each in site.root.rglob("*")), site.items(), site.audit()) == (before, [], [])
