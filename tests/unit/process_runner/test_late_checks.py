"""Which instances are due for a look at what they have read, and what is found, on a disk and a SQLite ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pytest

from tests.contract.ledger.samples import begun, changed, key
from tests.unit.planning.entities import cluster, path_feed, process
from toolkit.availability import DataAccess
from toolkit.el import Frequency, format_instant, parse_instant
from toolkit.entities import Input, LateArrival, LatePolicy, LateProcess
from toolkit.ledger import fingerprints, late_checks
from toolkit.ledger.database import Ledger
from toolkit.ledger.late_checks import MadeCheck
from toolkit.ledger.vocabulary import LateCheckResult, LifeCycle, RunStatus
from toolkit.planning.process_io import ProcessSite
from toolkit.process_runner.late_checks import (
    MOST_KILLED,
    CheckedInstance,
    LateChecker,
    NoLateData,
    NothingRead,
    look,
)
from toolkit.process_runner.late_fingerprint import read_inputs
from toolkit.process_runner.resolution import resolve_instance
from toolkit.storage.local.file_system import LocalFileSystem

DISK = DataAccess(stores=lambda _path: LocalFileSystem())
NOMINAL = parse_instant("2012-03-01T06:40Z")
FIVE = "2012030105"


def at(clock: str) -> datetime:
    return parse_instant(f"2012-03-01T{clock}Z")


@dataclass(frozen=True, kw_only=True)
class World:
    """A process that reads the clicks of the last hour, with the data below a directory, and a ledger."""

    root: Path
    ledger: Ledger
    site: ProcessSite

    def write(self, *names: str, text: str = "x") -> None:
        for name in names:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def run(self, nominal: datetime = NOMINAL) -> int:
        """The instance succeeds with what is there now; the number of the run."""
        resolved = resolve_instance(self.site, nominal, lambda _feed: lambda _instant: True)
        read = read_inputs(self.site, resolved, DISK, lambda: nominal)
        run = begun(self.ledger, key(format_instant(nominal), entity="sample", life_cycle=LifeCycle.EXECUTION))
        self.ledger.write(lambda tx: fingerprints.write(tx, run.run_id, read))
        return changed(self.ledger, run, RunStatus.SUCCEEDED).run_id

    @property
    def checker(self) -> LateChecker:
        return LateChecker(ledger=self.ledger)

    def checked(self, clock: str) -> list[CheckedInstance]:
        """Return what the checks find that are due; each is noted."""
        due = self.checker.due(self.site, at(clock))
        read = self.checker.read_by(due.checks)
        found = [look(each, read[each.run_id], DISK) for each in due.checks]
        made: list[MadeCheck] = [*due.not_expected, *(check for each in found for check in each.made())]
        self.ledger.write(lambda tx: late_checks.record(tx, made))
        return found


def late(policy: LatePolicy, delay: str | None, names: Sequence[str]) -> LateProcess:
    frequency = None if delay is None else Frequency.parse(delay)
    return LateProcess(policy=policy, delay=frequency, inputs=dict.fromkeys(names, "late.sql"))


@pytest.fixture
def world(tmp_path: Path, sqlite_ledger: Ledger) -> World:
    hour = "now(-1,0)"
    inputs = {
        "clicks": Input(feed="clicks", start=hour, end=hour),
        "shown": Input(feed="shown", start=hour, end=hour, optional=True),
    }
    handling = late(LatePolicy.BACKOFF, "hours(1)", tuple(inputs))
    arrival = LateArrival(cut_off=Frequency.parse("hours(6)"))
    feeds = {
        name: replace(path_feed(name, f"{tmp_path}/{name}/${{YEAR}}${{MONTH}}${{DAY}}${{HOUR}}"), late_arrival=arrival)
        for name in inputs
    }
    site = ProcessSite(process=replace(process(inputs), late_process=handling), cluster=cluster(), feeds=feeds)
    return World(root=tmp_path, ledger=sqlite_ledger, site=site)


def test_checks_come_by_the_policy_and_end_with_the_one_at_the_cut_off(world: World) -> None:
    world.write(f"clicks/{FIVE}/part-0")
    world.run()
    seen = {clock: [each.due for each in world.checked(clock)] for clock in ("07:39", "07:40", "08:00", "23:00")}
    assert {clock: [due.due_at for due in found] for clock, found in seen.items()} == {
        "07:39": [],
        "07:40": [at("07:40")],
        "08:00": [],
        "23:00": [at("11:00")],
    }
    assert [due.is_last for found in seen.values() for due in found] == [False, True]
    assert world.checked("23:59") == []


def test_a_late_file_is_named_with_the_input_that_it_came_for(world: World) -> None:
    world.write(f"clicks/{FIVE}/part-0", f"clicks/{FIVE}/part-1")
    world.run()
    world.write(f"clicks/{FIVE}/part-2", f"clicks/{FIVE}/_SUCCESS")
    world.write(f"clicks/{FIVE}/part-0", text="longer")
    (world.root / f"clicks/{FIVE}/part-1").unlink()
    (found,) = world.checked("07:40")
    assert (found.verdict, set(found.changed)) == (LateCheckResult.LATE, {"clicks"})
    assert found.cause == (
        "clicks of 2012-03-01T05:00Z: added part-2, changed part-0, removed part-1; +0 files, +5 bytes"
    )


def test_what_is_as_it_was_is_unchanged_and_noted_so(world: World) -> None:
    world.write(f"clicks/{FIVE}/part-0")
    world.run()
    (found,) = world.checked("07:40")
    assert (found.verdict, found.cause) == (LateCheckResult.UNCHANGED, "")
    (noted,) = world.ledger.read(lambda tx: late_checks.made_for(tx, "sample", "primary", "2012-03-01T06:40Z"))
    assert (noted.verdict, noted.due_at, noted.cause) == (LateCheckResult.UNCHANGED, at("07:40"), None)


def test_after_another_run_what_that_has_read_is_what_counts(world: World) -> None:
    world.write(f"clicks/{FIVE}/part-0")
    world.run()
    world.write(f"clicks/{FIVE}/part-1")
    world.run()
    (found,) = world.checked("07:40")
    assert found.verdict is LateCheckResult.UNCHANGED


def test_an_optional_input_that_comes_after_the_run_is_late_data(world: World) -> None:
    world.write(f"clicks/{FIVE}/part-0")
    world.run()
    world.write(f"shown/{FIVE}/part-0")
    (found,) = world.checked("07:40")
    assert (found.verdict, set(found.changed)) == (LateCheckResult.LATE, {"shown"})


def test_an_instance_whose_compulsory_input_is_gone_cannot_be_run_again(world: World) -> None:
    world.write(f"clicks/{FIVE}/part-0", f"shown/{FIVE}/part-0")
    world.run()
    (world.root / f"shown/{FIVE}/part-0").unlink()
    (found,) = world.checked("07:40")
    assert found.verdict is LateCheckResult.LATE
    (world.root / f"clicks/{FIVE}/part-0").unlink()
    (found,) = world.checked("10:00")
    assert (found.verdict, [each.read.input for each in found.gone]) == (LateCheckResult.GONE, ["clicks"])


def test_an_instance_that_ran_after_its_cut_off_is_never_looked_at(world: World) -> None:
    short = LateArrival(cut_off=Frequency.parse("minutes(30)"))
    feeds = {name: replace(feed, late_arrival=short) for name, feed in world.site.feeds.items()}
    over = replace(world, site=replace(world.site, feeds=feeds))
    over.write(f"clicks/{FIVE}/part-0")
    over.run()
    assert over.checked("23:00") == []
    (noted,) = world.ledger.read(lambda tx: late_checks.made_for(tx, "sample", "primary", "2012-03-01T06:40Z"))
    assert (noted.verdict, noted.is_last) == (LateCheckResult.NOT_EXPECTED, True)


@pytest.mark.parametrize(("looked_at", "found"), [("10:59", ["clicks"]), ("11:00", [])])
def test_an_input_that_is_watched_again_is_looked_at_unless_its_cut_off_was_over_in_between(
    world: World, looked_at: str, found: list[str]
) -> None:
    shown = world.site.feeds["shown"]
    feeds = {**world.site.feeds, "shown": replace(shown, late_arrival=None)}
    world = replace(world, site=replace(world.site, feeds=feeds))
    world.write(f"clicks/{FIVE}/part-0")
    world.run()
    world.write(f"clicks/{FIVE}/part-1")
    unwatched = replace(world.site.process, late_process=late(LatePolicy.BACKOFF, "hours(1)", ["shown"]))
    assert replace(world, site=replace(world.site, process=unwatched)).checked(looked_at) == []
    assert [each for check in world.checked("12:00") for each in check.changed] == found


def test_what_was_killed_too_often_is_given_up_for_this_check_and_tried_again_by_the_next(world: World) -> None:
    world.write(f"clicks/{FIVE}/part-0")
    world.run()
    world.write(f"clicks/{FIVE}/part-1")
    of_instance = key(format_instant(NOMINAL), entity="sample", life_cycle=LifeCycle.EXECUTION)
    for killed in range(MOST_KILLED):
        (due,) = world.checker.due(world.site, at("07:40")).checks
        assert (due.killed, CheckedInstance(due=due, late=()).is_given_up) == (killed, False)
        changed(world.ledger, begun(world.ledger, of_instance), RunStatus.KILLED)
    (found,) = world.checked("07:40")
    assert (found.due.killed, found.verdict, found.is_given_up) == (MOST_KILLED, LateCheckResult.LATE, True)
    assert not CheckedInstance(due=found.due, late=()).is_given_up, "what has not changed is not late"
    assert world.checker.of_instance(world.site, NOMINAL, at("07:41")).killed == 0
    (again,) = world.checked("10:00")
    assert (again.due.killed, again.is_given_up) == (0, False)


def test_what_is_gone_at_the_last_check_is_not_looked_at_again(world: World) -> None:
    world.write(f"clicks/{FIVE}/part-0")
    world.run()
    (world.root / f"clicks/{FIVE}/part-0").unlink()
    (first,), (last,) = world.checked("07:40"), world.checked("11:00")
    assert (first.verdict, last.verdict, last.due.is_last) == (LateCheckResult.GONE, LateCheckResult.GONE, True)
    world.write(f"clicks/{FIVE}/part-1")
    assert world.checked("23:00") == []


def test_an_input_that_nobody_watches_any_more_is_left_out(world: World) -> None:
    world.write(f"clicks/{FIVE}/part-0")
    world.run()
    world.write(f"clicks/{FIVE}/part-1", f"shown/{FIVE}/part-0")
    fewer = replace(world.site.process, late_process=late(LatePolicy.FINAL, None, ["shown"]))
    (found,) = replace(world, site=replace(world.site, process=fewer)).checked("11:00")
    assert found.changed == {"shown"}


def test_one_instance_is_looked_at_whether_a_check_is_due_or_not(world: World) -> None:
    world.write(f"clicks/{FIVE}/part-0")
    world.run()
    early = world.checker.of_instance(world.site, NOMINAL, at("07:00"))
    assert (early.due_at, early.instance_key) == (None, "2012-03-01T06:40Z")
    assert CheckedInstance(due=early, late=()).made() == ()
    assert world.checker.of_instance(world.site, NOMINAL, at("07:50")).due_at == at("07:40")


def test_what_cannot_be_checked_is_said(world: World) -> None:
    with pytest.raises(NothingRead, match="2012-03-01T06:40Z of sample has not succeeded"):
        world.checker.of_instance(world.site, NOMINAL, NOMINAL)
    without = replace(world.site, process=replace(world.site.process, late_process=None))
    with pytest.raises(NoLateData, match="process sample has no late_process"):
        world.checker.due(without, NOMINAL)
