"""A rejection that is killed after any of its effects: the next one goes on, on a real ledger and a disk."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from math import inf
from pathlib import Path

import pytest

from tests.unit.actions.fake_action import context, looking, request
from tests.unit.quality.validators import CLUSTER, NOON
from tests.unit.runs.fakes import AuditMemory, HandClock
from toolkit.actions.action import RunContext
from toolkit.actions.guard import Condition
from toolkit.actions.runner import ActionRunner, Targets
from toolkit.actions.staged_unit import StagedUnit, manifest_of, staging_place
from toolkit.actions.validation import Part
from toolkit.el import CanonicalPath, Frequency, parse_instant
from toolkit.entities import Feed, FeedCluster, Hold, Locations, Validity
from toolkit.ledger import validations
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import items
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.rows import Origin
from toolkit.ledger.validations import CannotDecide, NewValidationResult, ValidationResult
from toolkit.ledger.vocabulary import LifeCycle, ValidationState
from toolkit.quality.data import print_of_parts
from toolkit.quality.decide import DecisionAction, OnHold
from toolkit.quality.decision_targets import Decision, DecisionPlan, DecisionTarget
from toolkit.runs.lease import Heartbeat
from toolkit.runs.ledger_recorder import LedgerRecorder
from toolkit.runs.run import Envelope
from toolkit.runs.stop import NeverStopped, StopSignal
from toolkit.storage.local.file_system import LocalFileSystem
from toolkit.storage.look import Look


class Dead(BaseException):
    """The process is not there any more."""


@dataclass(kw_only=True)
class Life:
    """A process that dies after a number of effects."""

    left: float = inf

    def count(self) -> None:
        if self.left <= 0:
            raise Dead
        self.left -= 1


class FileByFile(LocalFileSystem):
    """A store without renames, which removes a tree file by file, as object stores do."""

    capabilities = replace(LocalFileSystem.capabilities, atomic_rename=False, atomic_delete=False)

    def __init__(self, count: Callable[[], None]) -> None:
        super().__init__(count)
        self.count = count

    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        for file in sorted(each for each in Path(path.path).rglob("*") if each.is_file()):
            self.count()
            file.unlink()
        super().delete(path, below=below, look=look)


@dataclass
class Places:
    """Places of one instance: one, whatever its unit is."""

    place: CanonicalPath
    bases: tuple[CanonicalPath, ...]

    def named(self, unit: str, written: str) -> list[CanonicalPath]:
        del unit, written
        return [self.place]


@dataclass
class Bench:
    """Blocked data of an instance.

    Attributes:
        is_in_place: they are in their own place, without the flag, as a replication on an object store has them.
    """

    root: Path
    ledger: Ledger
    store: type[LocalFileSystem] = LocalFileSystem
    is_in_place: bool = False
    holds: Sequence[Hold] = ()
    audit: AuditMemory = field(default_factory=AuditMemory)
    tell_page: Callable[[ValidationResult], None] = lambda _: None

    def __post_init__(self) -> None:
        for name in ("a", "b", "c"):
            file = Path(self.place.path) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(name)
        manifest = Path(manifest_of(self.unit).path)
        manifest.parent.mkdir(exist_ok=True)
        manifest.write_text(json.dumps({"digest": self.digest}))
        self.ledger.write(lambda tx: validations.record(tx, self.blocked(), ()))

    @property
    def unit(self) -> CanonicalPath:
        return CanonicalPath.parse(f"file://{self.root}/clicks/2026-03-01-12")

    @property
    def place(self) -> CanonicalPath:
        return self.unit if self.is_in_place else staging_place(self.unit)

    @property
    def digest(self) -> str:
        return print_of_parts([Part(place=self.place, keys={})], "_SUCCESS", lambda _: LocalFileSystem()).data_digest

    def blocked(self) -> NewValidationResult:
        return NewValidationResult(
            run_id=None, life_cycle=LifeCycle.REPLICATION, entity="clicks", feed="clicks", cluster="primary",
            instance_key=NOON, unit=str(self.unit), counterpart="", data_digest=self.digest, layout_digest="l",
            suites_digest="s", suites=("clicks",), state=ValidationState.BLOCKED, is_by_hand=False, rows=3, files=3,
            bytes=3, place=str(self.place), page=None, engine=None, seconds=1.0, reason=None,
        )  # fmt: skip

    @property
    def result(self) -> ValidationResult:
        every = self.ledger.read(lambda tx: validations.newest_of(tx, "clicks"))
        (found,) = (each for each in every if each.unit == str(self.unit))
        return found

    @property
    def target(self) -> DecisionTarget:
        validity = Validity(start=parse_instant("2026-01-01T00:00Z"), end=parse_instant("2099-01-01T00:00Z"))
        feed = Feed(
            name="clicks",
            frequency=Frequency.parse("hours(1)"),
            availability_flag="_SUCCESS",
            locations=Locations(data=f"{self.root}/clicks/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}"),
            clusters=(FeedCluster(name="primary", validity=validity),),
        )
        base = CanonicalPath.parse(f"file://{self.root}/clicks")
        leases = (Wanted(resource="clicks"),)
        places = Places(self.place, (base,))
        return DecisionTarget(found=self.result, feed=feed, on=CLUSTER, leases=leases, places=places, run_key=None)

    def decide(self, state: ValidationState, life: Life | None = None) -> DecisionPlan:
        """Decide as a command does; the process may die."""
        effect = (life or Life()).count

        def opened(run: StopSignal, conditions: Sequence[Condition]) -> RunContext:
            system = self.store(effect)
            return replace(context(run, conditions), stores=lambda _: system, run_name="7")

        action = DecisionAction(
            decision=Decision(
                state=state,
                reason="half a file",
                ledger=self.ledger,
                tell_page=self.tell_page,
            ),
            holds=self.holds,
        )
        runner = ActionRunner(
            action=action,
            process=NeverStopped(),
            look=looking(opened),
            open_context=opened,
            origin_of=lambda _: Origin(who="ann"),
        )
        recorder = LedgerRecorder(ledger=self.ledger)
        with Heartbeat(recorder, seconds=3600) as heartbeat:
            envelope = Envelope(
                recorder=recorder,
                audit=self.audit,
                process=NeverStopped(),
                heartbeat=heartbeat,
                lease_seconds=60,
                clock=HandClock(),
            )
            result = runner.run(request(), Targets(to_do=(self.target,)), envelope)
        (reported,) = result.targets
        assert isinstance(reported.plan.target, DecisionTarget)
        return reported.plan

    def stage_anew(self) -> Path:
        """Stage other data in the place, as the run after a rejection does, which is killed before it validates."""
        work = replace(context(NeverStopped()), stores=lambda _: LocalFileSystem(), run_name="8")
        StagedUnit(work=work, unit=self.unit, base=self.target.places.bases[0]).begin_copy()
        shutil.rmtree(self.place.path, ignore_errors=True)
        new = Path(self.place.path) / "a"
        new.parent.mkdir(parents=True)
        new.write_text("new")
        return new

    @property
    def files(self) -> list[str]:
        return sorted(str(each.relative_to(self.root)) for each in (self.root / "clicks").rglob("*") if each.is_file())

    @property
    def open_items(self) -> list[str]:
        found = self.ledger.read(lambda tx: items.unsettled(tx, LifeCycle.REVIEW, "clicks", "primary"))
        return [each.path for each in found]


@pytest.mark.parametrize(("store", "is_in_place"), [(LocalFileSystem, False), (FileByFile, False), (FileByFile, True)])
def test_a_rejection_that_was_killed_at_any_effect_is_finished_by_the_next_one(
    tmp_path: Path, sqlite_ledger: Ledger, store: type[LocalFileSystem], *, is_in_place: bool
) -> None:
    for at in count():
        bench = Bench(tmp_path / str(at), sqlite_ledger, store, is_in_place)
        try:
            bench.decide(ValidationState.REJECTED, Life(left=at))
        except Dead:
            assert (bench.result.state, bench.open_items) == (ValidationState.REJECTED, [str(bench.place)])
        else:
            break
        with suppress(Dead):  # and once more
            bench.decide(ValidationState.REJECTED, Life(left=at // 2))
        if bench.open_items:
            bench.decide(ValidationState.REJECTED)
        assert (bench.files, bench.open_items, bench.result.state) == ([], [], ValidationState.REJECTED)
        reported = [each["state"] for each in bench.audit.lines if each["what"] == "quality"]
        assert reported == ["rejected", "removed"]
        with pytest.raises(CannotDecide, match="nothing lies at"):
            bench.decide(ValidationState.REJECTED)
    assert at > 2


@pytest.mark.parametrize(("store", "is_in_place"), [(LocalFileSystem, False), (FileByFile, False), (FileByFile, True)])
def test_what_was_staged_anew_after_a_rejection_that_was_killed_is_not_removed_by_the_next_one(
    tmp_path: Path, sqlite_ledger: Ledger, store: type[LocalFileSystem], *, is_in_place: bool
) -> None:
    for at in count():
        bench = Bench(tmp_path / str(at), sqlite_ledger, store, is_in_place)
        try:
            bench.decide(ValidationState.REJECTED, Life(left=at))
        except Dead:
            new = bench.stage_anew()
            with pytest.raises(CannotDecide, match="other data than were rejected"):
                bench.decide(ValidationState.REJECTED)
            assert new.read_text() == "new", at
        else:
            break
    assert at > 2


def test_what_was_staged_anew_after_a_rejection_that_was_complete_is_not_removed_by_the_next_one(
    tmp_path: Path, sqlite_ledger: Ledger
) -> None:
    bench = Bench(tmp_path, sqlite_ledger)
    bench.decide(ValidationState.REJECTED)
    assert bench.files == []
    again = Path(bench.place.path) / "new"
    again.parent.mkdir(parents=True)
    again.write_text("new")
    with pytest.raises(CannotDecide, match="the data are rejected"):
        bench.decide(ValidationState.REJECTED)
    assert again.exists()


def test_a_release_that_was_killed_is_done_by_the_next_one_and_twice_is_refused(
    tmp_path: Path, sqlite_ledger: Ledger
) -> None:
    bench = Bench(tmp_path, sqlite_ledger)

    def die(found: ValidationResult) -> None:
        raise Dead(found.verdict_id)

    bench.tell_page = die
    with pytest.raises(Dead):
        bench.decide(ValidationState.RELEASED)
    assert (bench.result.state, bench.open_items) == (ValidationState.RELEASED, [str(bench.unit)])
    bench.tell_page = lambda _: None
    bench.decide(ValidationState.RELEASED)
    assert bench.open_items == []
    with pytest.raises(CannotDecide, match="the data are released"):
        bench.decide(ValidationState.RELEASED)


def test_only_a_hold_on_the_instance_itself_refuses_a_rejection(tmp_path: Path, sqlite_ledger: Ledger) -> None:
    later = parse_instant("2026-03-01T13:00Z")
    bench = Bench(tmp_path, sqlite_ledger, holds=[Hold(feed="clicks", start=later, reason="later")])
    free = bench.holds
    bench.holds = [*free, Hold(feed="clicks", cluster="primary", end=later, reason="case 12")]
    with pytest.raises(OnHold, match="case 12"):
        bench.decide(ValidationState.REJECTED)
    bench.decide(ValidationState.RELEASED)
    assert (len(bench.files), bench.result.state) == (4, ValidationState.RELEASED)
