"""Protections of retention end to end: consumers that have not succeeded, and copies that are not there."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from entrypoints import replication
from tests.integration.process_runs import KEYS
from tests.integration.test_temporary_outputs import TemporaryRuns
from toolkit.cli.boundary import run_app

PROTECTED = "retention: {{limit: hours(1), protect: [{{name: {name}, max_age: {max_age}}}]}}"


class ProtectedRuns(TemporaryRuns):
    """A process with an output that two processes read, or that is copied, and retention that protects it."""

    def protect(self, name: str, max_age: str = "days(9)") -> None:
        """Write the repo anew."""
        self.build(scope="series", of_cluster=PROTECTED.format(name=name, max_age=max_age))

    def copied(self) -> None:
        """Give the output a target."""
        feed = self.directory / "repo/feeds/counts.yaml"
        text = feed.read_text().replace("{name: primary,", "{name: primary, type: source,")
        there = ", {name: backup, type: target, validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}]"
        feed.write_text(f"{text.rstrip().removesuffix(']')}{there}\n")
        endpoint = f"file://{self.directory}/backup"
        interfaces = f'interfaces: {{write: {{endpoint: "{endpoint}"}}}}'
        self._put("clusters/backup.yaml", f"kind: cluster\nname: backup\n{interfaces}\n")

    def copy(self, *keys: str) -> None:
        """Copy instances to the target."""
        for key in keys:
            place = self.at("counts", key)
            shutil.copytree(place, self.directory / "backup/counts" / place.name)


@pytest.fixture
def runs(tmp_path: Path) -> ProtectedRuns:
    made = ProtectedRuns(directory=tmp_path)
    made.fill(*KEYS[:3])
    made.build()
    for key in KEYS[:3]:
        assert made.run(time=key)[0] == 0
    return made


def test_an_instance_stays_until_all_its_consumers_have_succeeded(
    runs: ProtectedRuns, capsys: pytest.CaptureFixture[str]
) -> None:
    runs.protect("unread_consumers")
    runs.consume("sums", *KEYS[:3])
    runs.consume("means", KEYS[1])
    assert (runs.evict("--no-ledger"), runs.there) == (0, KEYS[:3])
    capsys.readouterr()
    assert (runs.evict("--output", "json"), runs.there) == (0, [KEYS[0], KEYS[2]])
    (feed,) = json.loads(capsys.readouterr().out)["feeds"]
    why = "run_means of {} reads it and has not succeeded yet"
    assert [(each["instance"], each["reason"], each["message"]) for each in feed["kept"]] == [
        (key, "unread_consumers", why.format(key)) for key in (KEYS[0], KEYS[2])
    ]
    runs.protect("unread_consumers", "hours(5)")
    assert (runs.evict("--cluster", "primary"), runs.there) == (0, [KEYS[2]])
    assert "1 instances go although unread_consumers would keep them" in capsys.readouterr().out


def test_an_instance_stays_until_it_is_complete_at_the_target(runs: ProtectedRuns) -> None:
    runs.protect("unreplicated")
    runs.copied()
    runs.copy(*KEYS[:2])
    (runs.directory / "backup/counts" / runs.at("counts", KEYS[1]).name / "_SUCCESS").unlink()
    assert (runs.evict("--cluster", "primary"), runs.there) == (0, KEYS[1:3])


def test_an_instance_that_was_written_again_stays_until_it_is_copied_again(runs: ProtectedRuns) -> None:
    runs.protect("unreplicated")
    runs.copied()
    runs.copy(*KEYS[:3])
    source = next(each for each in runs.at("counts", KEYS[1]).iterdir() if each.name != "_SUCCESS")
    late = source.stat().st_mtime + 60
    os.utime(source, (late, late))
    assert (runs.evict("--cluster", "primary"), runs.there) == (0, [KEYS[1]])
    shutil.rmtree(runs.directory / "backup/counts" / runs.at("counts", KEYS[1]).name)
    runs.copy(KEYS[1])
    assert (runs.evict("--cluster", "primary"), runs.there) == (0, [])


def test_an_instance_stays_when_its_copy_has_lost_files(
    runs: ProtectedRuns, capsys: pytest.CaptureFixture[str]
) -> None:
    runs.protect("unreplicated")
    runs.copied()
    options = ("--feed", "counts", "--time", KEYS[5], "--start", KEYS[0], "--end", KEYS[3])
    assert run_app(replication.app, [*runs.repo, *options]) == 0
    copy = runs.directory / "backup/counts" / runs.at("counts", KEYS[1]).name
    (data,) = (each for each in copy.iterdir() if each.name != "_SUCCESS")
    content = data.read_bytes()
    data.unlink()
    capsys.readouterr()
    primary = ("--cluster", "primary", "--output", "json")
    assert (runs.evict(*primary, "--dry-run", "--no-ledger"), runs.there) == (0, KEYS[:3])
    (without,) = json.loads(capsys.readouterr().out)["feeds"]
    assert without["kept"] == []
    assert (runs.evict(*primary), runs.there) == (0, [KEYS[1]])
    (feed,) = json.loads(capsys.readouterr().out)["feeds"]
    why = f"backup has 0 files with 0 bytes, and 1 with {len(content)} were copied there"
    assert [each["message"] for each in feed["kept"]] == [why]
    data.write_bytes(content)
    (copy / "more").write_text("1")
    assert (runs.evict("--cluster", "primary"), runs.there) == (0, [])


def test_an_instance_stays_when_its_copy_has_lost_all_but_directories(runs: ProtectedRuns) -> None:
    runs.protect("unreplicated")
    runs.copied()
    options = ("--feed", "counts", "--time", KEYS[5], "--start", KEYS[0], "--end", KEYS[3])
    assert run_app(replication.app, [*runs.repo, *options]) == 0
    lost, nested = (runs.directory / "backup/counts" / runs.at("counts", key).name for key in KEYS[:2])
    for copy in (lost, nested):
        (copy / "empty").mkdir()
    (data,) = (each for each in lost.iterdir() if each.name not in {"_SUCCESS", "empty"})
    data.unlink()
    assert (runs.evict("--cluster", "primary"), runs.there) == (0, [KEYS[0]])


def test_an_instance_stays_whose_copy_was_published_without_a_file(runs: ProtectedRuns) -> None:
    runs.protect("unreplicated")
    runs.copied()
    feed = runs.directory / "repo/feeds/counts.yaml"
    feed.write_text(f"{feed.read_text()}properties: {{ignoreErrors: true, publishIncomplete: true}}\n")
    runs.copy(*KEYS[:3])
    copy = runs.directory / "backup/counts" / runs.at("counts", KEYS[1]).name
    (data,) = (each for each in copy.iterdir() if each.name != "_SUCCESS")
    data.unlink()
    assert (runs.evict("--cluster", "primary"), runs.there) == (0, [KEYS[1]])


def test_a_target_that_cannot_be_read_keeps_everything(runs: ProtectedRuns) -> None:
    runs.protect("unreplicated")
    runs.copied()
    runs.copy(*KEYS[:3])
    place = runs.directory / "backup/counts"
    place.rename(runs.directory / "elsewhere")
    place.symlink_to(runs.directory / "elsewhere")
    assert (runs.evict("--cluster", "primary"), runs.there) == (0, KEYS[:3])
