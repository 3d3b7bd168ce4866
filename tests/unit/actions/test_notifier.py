"""Who is told how runs end: of which runs, with what, and when."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.unit.actions.fake_action import Job, Mark, MarkAction, Scene
from toolkit.actions.model import Problem
from toolkit.ledger.vocabulary import RunStatus
from toolkit.runs.errors import RunKilled
from toolkit.runs.recorder import RecordedRun, RunOutcome


@dataclass
class Listener:
    """Remembers what it is told, and what the ledger said by then."""

    scene: Scene
    reported: dict[str, tuple[RunStatus, bool]] = field(default_factory=dict)

    def run_ended(self, target: Job, run: RecordedRun, outcome: RunOutcome) -> None:
        assert target.entity not in self.reported
        self.reported[target.entity] = (outcome.status, run.run_id in self.scene.recorder.outcomes)


def _reported(action: MarkAction, *, dry_run: bool = False) -> dict[str, tuple[RunStatus, bool]]:
    scene = Scene(action=action)
    listener = scene.notifier = Listener(scene)
    scene.run(dry_run=dry_run)
    return listener.reported


def test_success_and_failure_are_told_once_each_when_the_ledger_has_them() -> None:
    def fail(mark: Mark) -> None:
        if mark.entity == "views":
            raise LookupError

    reported = _reported(MarkAction(todo={"clicks": 3, "views": 1, "nothing": 0}, before=fail))
    succeeded, failed = (RunStatus.SUCCEEDED, True), (RunStatus.FAILED, True)
    assert reported == {"clicks": succeeded, "views": failed, "nothing": succeeded}


def test_what_could_not_be_planned_was_refused_or_was_killed_is_told() -> None:
    def kill(mark: Mark) -> None:
        if mark.entity == "killed":
            raise RunKilled(who="bob")

    action = MarkAction(todo={"broken": 1, "big": 5, "killed": 1, "well": 1}, own_most={"big": 2}, before=kill)
    action.lets_stops_through = True
    action.problems = {"broken": {"failed": Problem(code="x", message="y")}}
    reported = {name: status for name, (status, _) in _reported(action).items()}
    assert reported == {
        "broken": RunStatus.FAILED,
        "big": RunStatus.FAILED,
        "killed": RunStatus.KILLED,
        "well": RunStatus.SUCCEEDED,
    }


def test_of_what_waits_and_of_a_dry_run_there_is_nothing_to_tell() -> None:
    action = MarkAction(todo={"clicks": 1, "late": 1})
    action.problems = {"late": {"waiting": Problem(code="x", message="y")}}
    assert list(_reported(action)) == ["clicks"]
    assert _reported(MarkAction(todo={"clicks": 1}), dry_run=True) == {}
