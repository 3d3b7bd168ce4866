"""Against writers of the ledger, and other users of the machine: logs are written, and printed, only in their places.

Defended: which file is written to, which is printed, and which processes count as a step. Not defended: the directory
of all logs itself, which the operator names, and the directories above it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from tests.databases.ledgers import START, open_ledger
from tests.security.test_ledger_rows import forge
from tests.unit.cli.running import Feedctl
from tests.unit.cli.test_quality import NOON, Site, made_site
from tests.unit.runs.fakes import left_item
from toolkit.actions.hold_watch import NoNewHolds
from toolkit.bootstrap.process_place import LocalPlace
from toolkit.clock import SystemClock
from toolkit.ledger.identity import identity_of
from toolkit.ledger.jobs.rows import StepRun
from toolkit.ledger.runs.items import NewItem
from toolkit.ledger.vocabulary import RunStatus
from toolkit.process_runner.action import ProcessAction
from toolkit.process_runner.mirrors import Mirrors
from toolkit.process_runner.prepare import PrepareRules
from toolkit.programs.left_over import end_processes
from toolkit.programs.log_folder import UnsafeLog, begin_log, require_own_folder
from toolkit.programs.port import StepMark
from toolkit.programs.step_log import StepLog

_LOG = "5/job/primary/2026-03-01T12:00Z/1/step.log"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return made_site(tmp_path, monkeypatch, tags="{team: web}")


@pytest.fixture
def feedctl(capsys: pytest.CaptureFixture[str]) -> Feedctl:
    return Feedctl(capsys)


def test_a_row_does_not_choose_the_file_that_is_printed(site: Site, feedctl: Feedctl) -> None:
    site.makes("good")
    assert site.run() == 0
    (log,) = (site.root / "logs").rglob("*.log")
    log.write_text("it said this\n")
    assert feedctl("instance", "logs", "clicks_job", "--time", NOON).out.endswith("it said this\n")
    secret = site.root / "secret"
    secret.write_text("mine\n")
    other = log.with_name("other.log")
    other.write_text("another step's\n")
    for place in (secret, other, f"{log.parent}/../{log.parent.name}/{log.name}"):
        forge(site, "step_run", log_location=str(place))
        output = feedctl("instance", "logs", "clicks_job", "--time", NOON).out
        assert output.endswith(f"{place}, which is not its place below {site.root}/logs, so it is not printed\n")


@pytest.mark.parametrize("made", ["link", "linked folder", "pipe"])
def test_what_somebody_puts_in_the_place_of_a_log_is_not_printed(site: Site, feedctl: Feedctl, made: str) -> None:
    site.makes("good")
    assert site.run() == 0
    (log,) = (site.root / "logs").rglob("*.log")
    (site.root / log.name).write_text("mine\n")
    log.unlink()
    if made == "link":
        log.symlink_to(site.root / log.name)
    elif made == "pipe":
        os.mkfifo(log)
    else:
        log.parent.rmdir() if not any(log.parent.iterdir()) else log.parent.rename(site.root / "moved")
        log.parent.symlink_to(site.root)
    printed = feedctl("instance", "logs", "clicks_job", "--time", NOON)
    assert (printed.code, "mine" in printed.out) == (2, False)
    assert "so it is not used for logs" in printed.err


def test_two_ledgers_do_not_write_one_log(site: Site) -> None:
    site.makes("good")
    assert site.run() == 0
    (first,) = (site.root / "logs").rglob("*.log")
    first.write_text("of the first ledger\n")
    for each in (site.root / "repo/.feedctl").glob("ledger.db*"):
        each.unlink()
    assert site.run("--force") == 0
    assert first.read_text() == "of the first ledger\n"
    names = {each.relative_to(site.root / "logs").parts[0] for each in (site.root / "logs").rglob("*.log")}
    assert len(names) == 2
    with opened(site) as identity:
        assert identity in names


@contextmanager
def opened(site: Site) -> Iterator[str]:
    ledger = open_ledger(sa.URL.create("sqlite", database=f"{site.root}/repo/.feedctl/ledger.db"))
    try:
        yield identity_of(ledger)
    finally:
        ledger.close()


@pytest.mark.parametrize("above", ["5", "5/job", "5/job/primary/2026-03-01T12:00Z/1"])
def test_a_directory_that_is_a_link_or_that_others_may_write_has_no_logs(tmp_path: Path, above: str) -> None:
    elsewhere, place = tmp_path / "elsewhere", tmp_path / "logs" / above
    elsewhere.mkdir()
    place.parent.mkdir(parents=True, mode=0o700)
    place.symlink_to(elsewhere)
    for use in (begin_log, require_own_folder):
        with pytest.raises(UnsafeLog, match="is a link"):
            use(tmp_path / "logs", tmp_path / "logs" / _LOG)
    assert list(elsewhere.iterdir()) == []
    place.unlink()
    place.mkdir()
    place.chmod(0o777)
    with pytest.raises(UnsafeLog, match="may be written by others"):
        begin_log(tmp_path / "logs", tmp_path / "logs" / _LOG)


def test_a_directory_of_another_user_has_no_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "logs" / _LOG
    begin_log(tmp_path / "logs", log)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with pytest.raises(UnsafeLog, match="belongs to the user"):
        begin_log(tmp_path / "logs", log)
    with pytest.raises(UnsafeLog, match="is not a file of this user"):
        list(StepLog(log).new_text())


def test_a_log_is_a_new_file_and_neither_a_link_nor_what_was_there(tmp_path: Path) -> None:
    log, mine = tmp_path / "logs" / _LOG, tmp_path / ".bashrc"
    mine.write_text("mine\n")
    begin_log(tmp_path / "logs", log)
    log.unlink()
    log.symlink_to(mine)
    begin_log(tmp_path / "logs", log)
    log.write_text("said\n")
    assert (mine.read_text(), log.is_symlink(), oct(log.stat().st_mode)) == ("mine\n", False, "0o100600")
    begin_log(tmp_path / "logs", log)
    assert log.read_text() == ""
    kept = [each for each in log.parent.iterdir() if each.name.startswith("before-") and not each.is_symlink()]
    assert [each.read_text() for each in kept] == ["said\n"]


@pytest.mark.parametrize(
    ("mark", "is_ended"),
    [
        (f"/other/logs/{_LOG}", True),
        ("/logs/6/job/primary/2026-03-01T12:00Z/1/step.log", False),
        ("/logs/5/job/primary/2026-03-01T13:00Z/1/step.log", False),
        ("/logs/5/job/primary/2026-03-01T12:00Z/2/step.log", False),
        (f"/logs/x{_LOG}", False),
    ],
)
def test_only_a_process_with_the_mark_of_the_step_is_ended(tmp_path: Path, mark: str, *, is_ended: bool) -> None:
    """Its ledger, process, cluster, instance, run and step, wherever logs went when it began."""
    with subprocess.Popen(["sleep", "300"], env={"FEEDCTL_STEP": mark, "PATH": os.environ["PATH"]}) as other:
        try:
            assert end_processes(tmp_path / _LOG, grace_seconds=1.0) == frozenset()
            assert (other.poll() is not None) is is_ended
        finally:
            other.kill()


@dataclass
class OneRow:
    """A ledger in which somebody has changed the row of a step."""

    row: StepRun

    def read(self, _work: object) -> list[StepRun]:
        return [self.row]


@pytest.mark.parametrize("step", ["make", "../make", ".."])
def test_a_row_does_not_choose_the_step_that_is_ended(tmp_path: Path, step: str) -> None:
    row = StepRun(
        run_id=7,
        step_id=1,
        step=step,
        attempt=1,
        status=RunStatus.RUNNING,
        application_id="application_1_1",
        log_location=str(tmp_path / "5/other_job/primary/2026-03-01T12:00Z/8/load.log"),
        started_at=START,
        ended_at=None,
        step_run_id=1,
    )
    ended: list[StepMark] = []

    def end(mark: StepMark, _target: object) -> frozenset[int]:
        ended.append(mark)
        return frozenset()

    action = ProcessAction(
        ledger=OneRow(row),  # type: ignore[arg-type]
        clock=SystemClock(),
        engines={},
        workplace=LocalPlace(root=tmp_path, variables={"FEEDCTL_LOG_DIR": str(tmp_path)}, ledger="5"),
        metastores=lambda _: pytest.fail("no table is asked for"),
        end_left_over=end,
        prepare=PrepareRules(holds=(), new_holds=NoNewHolds(), losing=lambda _feed, _cluster: ()),
        mirrors=Mirrors(actions={}),
    )
    target = SimpleNamespace(entity="job", cluster="primary", instance_key=NOON)
    left = left_item(NewItem(position=0, kind="step", path=step, instance_key=NOON), 7)
    action.recover(SimpleNamespace(target=target), [left], None)  # type: ignore[arg-type]
    expected = [tmp_path / f"5/job/primary/{NOON}/7/make.log"] if step == "make" else []
    assert [each.log for each in ended] == expected
