"""Tests of what the runner asks of an engine, and what it makes of what that says."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.integration.process_runs import KEYS, Runs, steps
from toolkit.actions.progress import NoProgress
from toolkit.actions.selection import NO_FEED
from toolkit.bootstrap.action_context import ActionOptions
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.process import ProcessOptions, run_processes
from toolkit.clock import SystemClock
from toolkit.el import parse_instant
from toolkit.entities import Engine
from toolkit.process_runner.selection import ProcessSelection
from toolkit.process_runner.targets import ProcessResult
from toolkit.programs.port import StepCall, StepEnd, StepMark
from toolkit.result import ExitCode
from toolkit.runs.errors import Stopped
from toolkit.runs.stop import NeverStopped

DONE = StepEnd(exit_code=0)


@dataclass
class FakeEngine:
    """See `StepEngine`: ends steps as it is told, by their names, and makes the output."""

    runs: Runs
    ends: dict[str, StepEnd | Stopped | OSError] = field(default_factory=dict)
    application: str | None = None
    begins: bool = True
    calls: list[StepCall] = field(default_factory=list)

    def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
        self.calls.append(call)
        if self.begins:
            started(StepMark(log=call.log))
        if self.application is not None:
            started(StepMark(log=call.log, application=self.application))
        check()
        end = self.ends.get(call.step, DONE)
        if isinstance(end, (Stopped, OSError)):
            raise end
        place = self.runs.at("counts", KEYS[0])
        place.mkdir(parents=True, exist_ok=True)
        (place / "part-0").touch()
        return end


@dataclass
class Scene:
    """A process of two steps, and its engine."""

    runs: Runs
    engine: FakeEngine

    def run(self) -> ProcessResult:
        requested = ActionOptions(
            selection=NO_FEED, repo=RepoRequest(config_repo=str(self.runs.directory / "repo"), variables=os.environ),
            nominal_time=parse_instant(KEYS[0]), dry_run=False, allow_dirty=False,
        )  # fmt: skip
        own = ProcessOptions(selection=ProcessSelection(name="count", cluster=None))
        engines = {Engine.COMMAND: self.engine}
        return run_processes(own, requested, SystemClock(), NeverStopped(), NoProgress(), engines)

    def step_runs(self) -> list[tuple[int, str, str]]:
        """Return the step runs of each attempt at a step: its run, its name, its status."""
        joined = "SELECT run_id, name, status FROM step_run JOIN step USING (step_id) ORDER BY step_run_id"
        return [(run_id, name, status) for run_id, name, status in self.runs.query(joined)]


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Both steps would succeed."""
    monkeypatch.setenv("FEEDCTL_LOG_DIR", str(tmp_path / "logs"))
    runs = Runs(directory=tmp_path)
    runs.fill(KEYS[0])
    runs.write(
        steps("first", "second", more={"second": ', args: ["--to", "${counts}"]'}),
        dict.fromkeys(("first", "second"), ""),
    )
    return Scene(runs=runs, engine=FakeEngine(runs))


def test_an_engine_is_told_all_of_the_instance(scene: Scene) -> None:
    assert scene.run().exit_code is ExitCode.DONE
    first, second = scene.engine.calls
    assert (first.step, second.step, second.args) == ("first", "second", ("--to", "${counts}"))
    assert [Path(path).name for path in first.data] == ["2026-03-01-00", "2026-03-01-00"]
    assert first.path == str(scene.runs.directory / "repo/workflows/first.sh")
    assert first.directory == scene.runs.directory / "repo"
    assert first.properties["nominalTime"] == KEYS[0]
    assert first.log != second.log
    assert 30 < (first.quiet_seconds or 0) <= 40, "most of the lease, and not its end"


def test_the_application_of_a_step_is_known_while_it_runs(scene: Scene) -> None:
    scene.engine.application = "application_1_2"
    scene.run()
    found = scene.runs.query("SELECT application_id, log_location FROM step_run")
    assert found == [("application_1_2", str(each.log)) for each in scene.engine.calls]


def test_a_step_that_never_began_has_failed_for_good_when_its_engine_says_so(scene: Scene) -> None:
    scene.engine.begins = False
    scene.engine.ends = {"first": StepEnd(exit_code=None, message="no such program", may_retry=False)}
    result = scene.run()
    assert next((each.code, each.message) for each in result.items) == ("step_cannot_succeed", "first: no such program")
    assert scene.step_runs() == [(1, "first", "failed")]


def test_a_stop_in_the_middle_of_a_step_keeps_what_was_done_and_the_next_run_goes_on_there(scene: Scene) -> None:
    scene.engine.ends = {"second": Stopped(reason="received SIGTERM")}
    assert scene.run().exit_code is ExitCode.TERMINATED
    assert (scene.step_runs(), scene.runs.statuses()) == (
        [(1, "first", "succeeded"), (1, "second", "killed")],
        [("00", 1, "killed")],
    )
    scene.engine.ends = {}
    assert scene.run().exit_code is ExitCode.DONE
    assert scene.step_runs()[2:] == [(2, "second", "succeeded")]
    assert scene.runs.query("SELECT count(*) FROM batch WHERE kind = 'run' AND state = 'published'") == [(1,)]


def test_a_log_that_cannot_be_written_fails_the_step_and_is_no_bug(scene: Scene) -> None:
    failed = [(1, "first", "failed"), (2, "first", "failed")]
    for begins, recorded in ((True, failed[:1]), (False, failed)):
        scene.engine.begins = begins
        scene.engine.ends = {"first": OSError(28, "No space left on device")}
        result = scene.run()
        assert next(each.code for each in result.items) == "step_failed"
        assert "No space left" in next(each.message for each in result.items)
        assert scene.step_runs() == recorded


def test_an_end_that_could_not_be_looked_at_is_looked_at_by_the_next_run_which_runs_no_step(scene: Scene) -> None:
    place = scene.runs.at("counts", KEYS[0])
    place.parent.mkdir(parents=True)
    aside = place.parent.with_name("aside")

    class Nothing(FakeEngine):
        def run(self, call: StepCall, started: Callable[[StepMark], None], check: Callable[[], None]) -> StepEnd:
            del check
            self.calls.append(call)
            started(StepMark(log=call.log))
            if len(self.calls) == 2:
                place.parent.rename(aside)
                place.parent.symlink_to(place.parent)  # a loop: neither there nor missing
            return DONE

    scene.engine = Nothing(scene.runs)
    assert scene.run().exit_code is not ExitCode.DONE
    assert [status for _, _, status in scene.step_runs()] == ["succeeded", "succeeded"]
    place.parent.unlink()
    aside.rename(place.parent)
    place.mkdir()
    (place / "part-0").touch()
    result = scene.run()
    assert (result.exit_code, len(scene.engine.calls)) == (ExitCode.DONE, 2)
    assert [each.item.kind for each in result.items] == ["end", "flag"]
    assert scene.runs.events() == [("available", "00")]
