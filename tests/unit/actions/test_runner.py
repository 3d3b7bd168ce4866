"""An action from its targets to its result: one run for each target, and what ends one of them or all."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from tests.unit.actions.fake_action import (
    BASE,
    Job,
    Mark,
    MarkAction,
    MarkBatch,
    Plan,
    Result,
    Scene,
    StatusStore,
    TooMany,
    context,
    outcomes,
)
from tests.unit.runs.fakes import MemoryRecorder, item, left_item, request
from toolkit.actions.action import RunContext
from toolkit.actions.model import NoTarget, Problem, TargetPlan
from toolkit.actions.progress import NOTHING, Volume
from toolkit.el import CanonicalPath
from toolkit.errors import Skipped
from toolkit.ledger.vocabulary import RequestKind, RunStatus
from toolkit.result import ExitCode, Status
from toolkit.runs.errors import LedgerLost, RunKilled, Stopped
from toolkit.runs.recorder import RecordBatch
from toolkit.runs.stop import ProcessStop
from toolkit.storage import ReadOnlyStorage

SIGTERM = Stopped(reason="received SIGTERM")


def _scene(**todo: int) -> Scene:
    return Scene(action=MarkAction(todo=todo))


def _statuses(scene: Scene) -> list[RunStatus]:
    """Return the statuses of the runs, in their order."""
    return [scene.recorder.outcomes[run_id].status for run_id in sorted(scene.recorder.outcomes)]


def _broken(entity: str, number: int = 0) -> object:
    def fail(mark: Mark) -> None:
        if (mark.entity, mark.number) == (entity, number):
            raise LookupError(number)

    return fail


def _done(result: Result) -> list[str]:
    return [f"{each.item.entity}-{each.item.number}" for each in result.items if each.outcome.value == "done"]


# Plan, limit, approval


def test_a_dry_run_shows_the_plan_and_touches_nothing() -> None:
    scene = _scene(views=1, clicks=2)
    result = scene.run(dry_run=True)
    assert (outcomes(result), result.exit_code) == ([("planned", "")] * 3, ExitCode.DONE)
    assert [target.plan.target.entity for target in result.targets] == ["clicks", "views"]
    assert (scene.action.done, scene.recorder.runs, scene.audit.lines) == ([], {}, [])
    assert result.digest == scene.run().digest


def test_a_dry_run_that_is_told_to_stop_has_no_plan() -> None:
    scene, process = _scene(clicks=1), ProcessStop()
    process.stop(SIGTERM)
    scene.process = process
    result = scene.run(dry_run=True)
    assert (result.targets, result.digest, result.exit_code) == ((), "", ExitCode.TERMINATED)


def test_a_refused_run_touches_nothing_names_the_digest_and_gives_its_leases_back() -> None:
    scene = _scene(clicks=2, views=2)
    scene.action.most = 3
    result = scene.run()
    assert (result.status, result.exit_code, scene.action.done) == (Status.REFUSED, ExitCode.REFUSED, [])
    assert str(result.refusal) == f"too many marks; approve {result.digest}"
    assert outcomes(result) == [("skipped", "refused")] * 4
    assert {(each.status, each.exit_code) for each in scene.recorder.outcomes.values()} == {(RunStatus.FAILED, 3)}
    assert scene.recorder.steps == []


def test_exactly_the_plan_that_was_approved_may_exceed_a_limit() -> None:
    scene = _scene(clicks=2, views=2)
    scene.action.most = 3
    digest = scene.run(dry_run=True).digest
    assert scene.run(approve=digest).status is Status.SUCCEEDED
    assert len(scene.action.done) == 4


@pytest.mark.parametrize("most", [1, 100])
def test_another_plan_than_was_approved_is_refused_also_below_the_limit(most: int) -> None:
    scene = _scene(clicks=2)
    scene.action.most = most
    digest = scene.run(dry_run=True).digest
    scene.action.todo = {"clicks": 3}
    result = scene.run(approve=digest)
    assert (result.exit_code, scene.action.done) == (ExitCode.REFUSED, [])
    assert f"but {digest} was approved; nothing was touched" in str(result.refusal)


# A target over its own limit


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_target_over_its_own_limit_is_refused_alone_and_the_others_go(*, dry_run: bool) -> None:
    scene = _scene(clicks=3, views=2)
    scene.action.own_most = {"clicks": 2}
    result = scene.run(dry_run=dry_run)
    went = ("planned", "") if dry_run else ("done", "")
    assert outcomes(result) == [("skipped", "refused")] * 3 + [went] * 2
    assert (result.status, result.exit_code, result.refusal) == (Status.PARTIAL, ExitCode.PARTIAL, None)
    assert _done(result) == ([] if dry_run else ["views-0", "views-1"])
    refused = result.targets[0].plan.refused
    assert refused is not None
    assert refused.message.startswith("too many marks of clicks on primary; approve ")
    assert result.targets[1].plan.refused is None


def test_the_run_of_a_refused_target_failed_with_the_code_of_a_refusal() -> None:
    scene = _scene(clicks=3, views=2)
    scene.action.own_most = {"clicks": 2}
    scene.run()
    assert _statuses(scene) == [RunStatus.FAILED, RunStatus.SUCCEEDED]
    outcome = scene.recorder.outcomes[1]
    assert outcome.exit_code == 3
    assert "too many marks of clicks" in str(outcome.reason)


def test_what_a_refused_target_would_do_counts_for_no_limit_of_the_run_and_is_not_in_its_digest() -> None:
    scene = _scene(clicks=3, views=2)
    scene.action.own_most, scene.action.most = {"clicks": 2}, 2
    both = scene.run(dry_run=True)
    assert both.refusal is None
    scene.action.todo = {"views": 2}
    assert scene.run(dry_run=True).digest == both.digest


def test_an_approval_of_the_target_alone_lifts_its_limit() -> None:
    scene = _scene(clicks=3, views=2)
    scene.action.own_most = {"clicks": 2}
    refused = scene.run().targets[0].plan.refused
    assert refused is not None
    scene.action.todo = {"clicks": 3}
    assert scene.run(approve="0" * 64).status is Status.REFUSED
    assert scene.run(approve=refused.message.rpartition(" ")[2]).status is Status.SUCCEEDED
    assert len(scene.action.done) == 5


def test_a_lone_target_over_its_own_limit_refuses_the_run_and_shows_its_plan() -> None:
    scene = _scene(clicks=3)
    scene.action.own_most = {"clicks": 2}
    planned, result = scene.run(dry_run=True), scene.run()
    assert outcomes(planned) == [("planned", "")] * 3
    assert (result.status, result.exit_code, scene.action.done) == (Status.REFUSED, ExitCode.REFUSED, [])
    assert str(result.refusal) == f"too many marks of clicks on primary; approve {planned.digest}"


def test_a_run_whose_targets_with_work_are_all_refused_is_partly_done_or_refused() -> None:
    scene = _scene(clicks=3, views=2)
    scene.action.own_most = {"clicks": 2, "views": 1}
    assert scene.run().exit_code is ExitCode.REFUSED
    scene.action.todo["idle"] = 0
    assert scene.run().exit_code is ExitCode.PARTIAL


def test_what_an_earlier_run_of_a_refused_target_left_open_stays_open() -> None:
    scene = _scene(clicks=3, views=2)
    scene.recorder.left = [left_item(item(path="file:///marks/clicks-0"))]
    scene.action.own_most = {"clicks": 2}
    scene.run()
    assert scene.action.recovered == []


# Targets that are skipped, waited for, or failed


def test_a_target_that_is_skipped_is_named_and_the_others_go_on() -> None:
    scene = _scene(clicks=1, views=1)
    scene.recorder.refusals["clicks"] = Skipped("clicks is suspended by bob")
    result = scene.run()
    assert (result.status, _done(result)) == (Status.SUCCEEDED, ["views-0"])
    assert result.targets[0].plan.skipped == Problem(code="skipped", message="clicks is suspended by bob")
    assert result.targets[0].run is not None
    assert scene.recorder.skips == ["clicks is suspended by bob"]


def test_a_run_whose_targets_are_all_skipped_is_skipped_whatever_was_over_before() -> None:
    scene = _scene(clicks=1)
    scene.settled = (TargetPlan(target=NoTarget(entity="kept", cluster="primary"), detail=None, notes=("no limit",)),)
    scene.recorder.refusals["clicks"] = Skipped("safe mode")
    result = scene.run()
    assert (result.exit_code, [each.plan.label for each in result.targets]) == (
        ExitCode.SKIPPED,
        ["clicks on primary", "kept on primary"],
    )


def test_a_skipped_target_hides_no_failure_of_another() -> None:
    scene = _scene(clicks=1, views=1)
    scene.recorder.refusals["clicks"] = Skipped("suspended")
    scene.action.before = _broken("views")  # type: ignore[assignment]
    assert scene.run().status is Status.FAILED


def test_a_target_that_waits_makes_the_run_try_again_later_and_its_row_no_success() -> None:
    scene = _scene(clicks=1, views=1)
    scene.action.problems["clicks"] = {"waiting": Problem(code="no_input", message="2 of 3 are there")}
    result = scene.run()
    assert (result.status, result.exit_code, _done(result)) == (Status.NOT_YET, ExitCode.NOT_YET, ["views-0"])
    assert _statuses(scene) == [RunStatus.WAITING, RunStatus.SUCCEEDED]
    waited = scene.recorder.outcomes[1]
    assert (waited.reason, waited.exit_code) == ("no_input: 2 of 3 are there", 75)


def test_a_failure_matters_more_than_a_target_that_waits() -> None:
    scene = _scene(clicks=1, views=1)
    scene.action.problems["clicks"] = {"waiting": Problem(code="no_input", message="")}
    scene.action.before = _broken("views")  # type: ignore[assignment]
    assert scene.run().exit_code is ExitCode.FAILED


def test_a_target_that_cannot_be_looked_at_is_a_failed_run() -> None:
    scene = _scene(clicks=1)
    scene.action.problems["clicks"] = {"failed": Problem(code="permission_denied", message="no")}
    assert scene.run().exit_code is ExitCode.FAILED
    assert scene.recorder.outcomes[1].reason == "permission_denied: no"


def test_what_fails_is_named_in_the_row_and_the_rest_goes_on() -> None:
    scene = _scene(clicks=3)
    scene.action.before = _broken("clicks", 1)  # type: ignore[assignment]
    result = scene.run()
    assert outcomes(result) == [("done", ""), ("failed", "broken"), ("done", "")]
    assert (result.status, result.exit_code) == (Status.PARTIAL, ExitCode.PARTIAL)
    outcome = scene.recorder.outcomes[1]
    assert (outcome.exit_code, outcome.reason) == (
        4,
        "1 of 3 items failed, the first: file:///marks/clicks-1: broken: 1",
    )


def test_nothing_to_do_is_done() -> None:
    scene = _scene(clicks=0)
    assert (scene.run().exit_code, _statuses(scene)) == (ExitCode.DONE, [RunStatus.SUCCEEDED])


# What an earlier run left open


def _left(scene: Scene) -> None:
    scene.recorder.left = [left_item(item(path="file:///marks/clicks-0"))]


def test_what_a_dead_run_left_open_is_settled_before_anything_begins() -> None:
    scene = _scene(clicks=1)
    _left(scene)

    def look(_: RecordBatch) -> None:
        assert scene.recorder.settled_left

    scene.recorder.before_record = look
    result = scene.run()
    assert scene.action.recovered == ["file:///marks/clicks-0"]
    assert len(scene.recorder.settled_left) == 1
    assert result.targets[0].plan.notes == ("recovered",)


def test_a_refused_run_recovers_nothing() -> None:
    scene = _scene(clicks=1)
    _left(scene)
    scene.action.most = 0
    result = scene.run()
    assert (scene.action.recovered, scene.recorder.settled_left, result.targets[0].plan.notes) == ([], [], ())


def test_what_was_left_of_another_instance_is_recovered_only_when_the_leases_cover_it() -> None:
    scene = _scene(clicks=1)
    scene.recorder.left = [left_item(item(path="file:///marks/clicks-9"))]
    scene.action.covers_all = False
    assert (scene.run().targets[0].plan.notes, scene.action.recovered) == ((), [])
    scene.action.covers_all = True
    scene.run()
    assert scene.action.recovered == ["file:///marks/clicks-9"]


@pytest.mark.parametrize(("conflicts", "looks", "note"), [(2, 3, "recovered"), (3, 3, "recorded by another run")])
def test_what_somebody_else_settles_is_looked_at_anew_a_few_times(conflicts: int, looks: int, note: str) -> None:
    scene = _scene(clicks=1)
    _left(scene)
    scene.recorder.left_conflicts = conflicts
    result = scene.run()
    assert len(scene.action.recovered) == looks
    assert note in result.targets[0].plan.notes[0]
    assert _done(result) == ["clicks-0"]


# Stops


def test_a_run_that_is_killed_ends_alone_and_the_others_go_on() -> None:
    scene = _scene(clicks=4, views=1)

    def kill_the_first(step: RecordBatch) -> None:
        if step.intended and not scene.recorder.open_requests:
            scene.recorder.open_requests.append(request(RequestKind.KILL, run_id=1))
            scene.beat()

    scene.recorder.before_record = kill_the_first
    result = scene.run()
    assert (result.status, result.stopped, _done(result)) == (Status.PARTIAL, None, ["views-0"])
    assert _statuses(scene) == [RunStatus.KILLED, RunStatus.SUCCEEDED]
    assert result.targets[0].stopped is not None


def test_a_run_that_is_killed_while_it_plans_ends_alone() -> None:
    scene = _scene(clicks=4, views=1)

    def kill(job: Job) -> None:
        if job.entity == "clicks":
            raise RunKilled(who="bob")

    scene.action.before_plan = kill
    result = scene.run()
    assert (_done(result), _statuses(scene)) == (["views-0"], [RunStatus.KILLED, RunStatus.SUCCEEDED])
    assert result.targets[0].plan.failed == Problem(code="killed", message=str(RunKilled(who="bob")))


def test_when_every_run_was_killed_the_whole_run_was() -> None:
    scene = _scene(clicks=1)
    scene.recorder.open_requests.append(request(RequestKind.KILL))

    def beat(_: RecordBatch) -> None:
        scene.beat()

    scene.recorder.before_record = beat
    scene.action.todo = {"clicks": 9}
    assert (scene.run().exit_code, _statuses(scene)) == (ExitCode.TERMINATED, [RunStatus.KILLED])


def test_a_stop_of_the_process_ends_all_runs_but_those_that_are_over() -> None:
    scene, process = _scene(clicks=1, sales=2, views=1), ProcessStop()
    scene.process = process
    scene.action.before = lambda mark: process.stop(SIGTERM) if mark.entity == "sales" else None
    result = scene.run()
    assert (result.status, result.exit_code) == (Status.KILLED, ExitCode.TERMINATED)
    assert outcomes(result) == [("done", ""), ("failed", "interrupted"), ("skipped", "stopped"), ("skipped", "stopped")]
    assert _statuses(scene) == [RunStatus.SUCCEEDED, RunStatus.KILLED, RunStatus.KILLED]
    assert [each.stopped is None for each in result.targets] == [True, False, False]


def test_a_ledger_that_is_lost_for_one_run_stops_the_others_at_once() -> None:
    scene = _scene(clicks=2, views=2)
    scene.recorder = MemoryRecorder(fails_at=3)
    result = scene.run()
    assert isinstance(result.stopped, LedgerLost)
    assert "views-0" not in _done(result)


def test_a_process_that_is_stopped_while_it_plans_has_no_plan_to_show() -> None:
    scene, process = _scene(clicks=1, views=1), ProcessStop()
    scene.process = process
    scene.action.before_plan = lambda _: process.stop(SIGTERM)
    result = scene.run()
    assert (result.status, result.targets, result.digest) == (Status.KILLED, (), "")
    assert _statuses(scene) == [RunStatus.KILLED] * 2


def test_a_run_gives_its_lease_back_as_soon_as_it_is_done() -> None:
    scene, over = _scene(clicks=1, views=1), list[list[int]]()
    scene.action.before = lambda _: over.append(list(scene.recorder.outcomes))
    scene.run()
    assert over == [[], [1]]


def test_what_a_run_works_with_is_closed_when_it_is_over() -> None:
    scene, closed = _scene(clicks=1, views=1), list[int]()
    opened = scene.open_context
    scene.open_context = lambda run, conditions: replace(
        opened(run, conditions), close=lambda: closed.append(len(scene.recorder.outcomes))
    )
    scene.run()
    assert closed == [1, 1, 2, 2]  # of each, the one that planned and the one that worked


def test_a_bug_ends_every_run_with_an_outcome_and_is_raised() -> None:
    scene = _scene(clicks=1, views=1)
    scene.action.before_plan = lambda job: 1 / 0 if job.entity == "views" else None  # type: ignore[assignment]
    with pytest.raises(ZeroDivisionError):
        scene.run()
    assert _statuses(scene) == [RunStatus.FAILED] * 2


# Several at once


def test_so_many_targets_are_at_work_at_once_as_were_asked_for() -> None:
    scene, together = _scene(clicks=1, views=1), threading.Barrier(2)
    for place in ("before_plan", "before"):
        setattr(scene.action, place, lambda _: together.wait(60))
    result = scene.run(parallel=2)
    assert (sorted(_done(result)), _statuses(scene)) == (["clicks-0", "views-0"], [RunStatus.SUCCEEDED] * 2)


def test_a_second_ctrl_c_ends_targets_that_are_at_work_in_other_threads() -> None:
    """Their leases are given back only when what is under way is over, and nothing begins any more."""
    scene, both = _scene(clicks=5, views=5, sales=5), threading.Barrier(2)

    def interrupt(mark: Mark) -> None:
        if mark.number == 1:
            both.wait(60)
            if mark.entity == "clicks":
                time.sleep(0.3)  # a thread that is about to wait does not notice a signal
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            time.sleep(1.5)

    scene.action.before = interrupt
    with pytest.raises(KeyboardInterrupt):
        scene.run(parallel=2)
    assert sorted(scene.action.done) == ["file:///marks/clicks-0", "file:///marks/views-0"]
    assert _statuses(scene) == [RunStatus.KILLED] * 3


@dataclass
class MessageContent:
    """A `Progress` that remembers."""

    output: list[object] = field(default_factory=list)

    def begin(self, total: int, volume: Volume = NOTHING) -> None:
        self.output.append(total)
        if volume != NOTHING:
            self.output.append(volume)

    def advance(self, number: int) -> None:
        self.output.append(number)

    def copied(self, more: Volume) -> None:
        self.output.append(more)

    def end(self) -> None:
        self.output.append("end")


def test_progress_is_told_of_each_item_and_of_the_end() -> None:
    scene = _scene(clicks=3)
    reported = scene.progress = MessageContent()
    scene.run()
    assert reported.output == [3, 1, 1, 1, "end"]


@dataclass(kw_only=True)
class Copying(MarkAction):
    """Says how much it copies."""

    def plan(self, target: Job, work: RunContext) -> Plan:
        return replace(super().plan(target, work), volume=Volume(files=self.todo[target.entity], bytes=10))


def test_progress_is_told_how_much_all_targets_copy_and_of_what_was_copied() -> None:
    scene = _scene(clicks=1, views=2)
    reported = scene.progress = MessageContent()
    more = Volume(files=1, bytes=5)
    scene.action = Copying(todo=scene.action.todo, effect=lambda work, _: work.progress.copied(more))
    scene.run()
    assert reported.output[:2] == [3, Volume(files=3, bytes=20)]
    assert reported.output.count(more) == 3


# What an action must not forget


@dataclass(kw_only=True)
class Forgetful(MarkAction):
    """Leaves out the plan of a target."""

    def limit(self, plans: Sequence[Plan], work: RunContext) -> tuple[Sequence[Plan], TooMany | None]:
        return super().limit(plans[1:], work)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_plan_that_the_digest_would_not_name_is_not_applied(*, dry_run: bool) -> None:
    scene = Scene(action=Forgetful(todo={"clicks": 1, "views": 1}))
    with pytest.raises(ValueError, match="the plan of each target"):
        scene.run(dry_run=dry_run)
    assert scene.action.done == []
    assert set(_statuses(scene)) <= {RunStatus.FAILED}


@dataclass(kw_only=True)
class Careless(MarkAction):
    """Leaves out the last batch."""

    def batches(self, plan: Plan, work: RunContext) -> tuple[MarkBatch, ...]:
        return super().batches(plan, work)[:-1]


def test_a_run_whose_batches_leave_out_items_of_its_plan_begins_nothing() -> None:
    scene = Scene(action=Careless(todo={"clicks": 4}))
    with pytest.raises(ValueError, match="each item of a plan once"):
        scene.run()
    assert (scene.action.done, _statuses(scene)) == ([], [RunStatus.FAILED])


@dataclass(kw_only=True)
class Hasty(MarkAction):
    """Changes something while it plans."""

    def plan(self, target: Job, work: RunContext) -> Plan:
        work.stores(BASE).mkdirs(BASE)
        return super().plan(target, work)


def test_what_may_stand_against_effects_is_asked_once_of_the_plan_and_cannot_change_anything() -> None:
    scene, seen = _scene(clicks=3), list[tuple[int, int]]()
    scene.open_context = lambda run, conditions: replace(context(run, conditions), stores=lambda _: StatusStore())

    def look(plan: Plan, work: RunContext) -> None:
        seen.append((len(plan.items), len(scene.action.done)))
        with pytest.raises(ReadOnlyStorage):
            work.stores(BASE).mkdirs(BASE)

    scene.action.before_conditions = look
    scene.run()
    scene.run(dry_run=True)
    assert seen == [(3, 0)]


def test_a_run_that_is_stopped_before_it_may_change_anything_changes_nothing() -> None:
    scene = _scene(clicks=1)

    def stop(_plan: Plan, work: RunContext) -> None:
        work.guard.stop(SIGTERM)

    scene.action.before_conditions = stop
    scene.run()
    assert scene.action.done == []


def test_nothing_changes_before_the_plan_is_accepted() -> None:
    changed = list[CanonicalPath]()

    class Store(StatusStore):
        def mkdirs(self, path: CanonicalPath) -> None:
            changed.append(path)

    scene = Scene(
        action=Hasty(todo={"clicks": 1}),
        open_context=lambda run, conditions: replace(context(run, conditions), stores=lambda _: Store()),
    )
    with pytest.raises(ReadOnlyStorage):
        scene.run()
    assert changed == []
