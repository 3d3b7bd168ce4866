"""Doing what the plan says, being stopped or killed in the middle of it, and finishing later."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.retention.feeds import FeedText, days, gone, run
from tests.unit.retention.memory import MemoryFileSystem
from toolkit.actions.hold_watch import ITEMS_BETWEEN_LOOKS
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import Hold
from toolkit.result import ExitCode, Outcome, Status
from toolkit.runs.errors import Stopped
from toolkit.storage import FileStatus, PermissionDenied

UNTIL_ONE_ITEM = 6
"""Checks: the start of the run, three listings, the batch, and its first item."""
ASIDE = "/data/clicks/2026/03/.feedctl-evicting-05"


class StopsAfter:
    """A lifeline that breaks after so many checks."""

    def __init__(self, checks: int, *, interrupted: bool = False) -> None:
        self.left, self.interrupted = checks, interrupted

    def check(self) -> None:
        if self.left == 0:
            raise Stopped(reason="received SIGTERM", interrupted=self.interrupted)
        self.left -= 1


def _system(*paths: str) -> MemoryFileSystem:
    system = MemoryFileSystem()
    system.put(*paths)
    return system


def _raising(error: Exception, at: str) -> Callable[[str], None]:
    def before_delete(path: str) -> None:
        if path == at:
            raise error

    return before_delete


def _uninterrupted(paths: list[str]) -> list[str]:
    system = _system(*paths)
    run(system, FeedText())
    return system.tree()


@pytest.mark.parametrize("checks", range(24))
def test_a_run_stopped_anywhere_has_no_later_effect_and_a_rerun_finishes(checks: int) -> None:
    paths = [*days(1, 2), *days(1, month="2026/02"), *days(1, month="2025/12"), *days(20)]
    system = _system(*paths)
    stopped = run(system, FeedText(), stop_signal=StopsAfter(checks))
    if stopped.stopped is not None:
        assert (stopped.status, stopped.exit_code) == (Status.KILLED, ExitCode.TERMINATED)
    done = [each.item.path.path for each in stopped.items if each.outcome is Outcome.DONE]
    assert [effect for effect in system.effects if effect.startswith("delete")] == [f"delete {path}" for path in done]
    rerun = run(system, FeedText())
    assert rerun.status is Status.SUCCEEDED
    assert system.tree() == _uninterrupted(paths)


def test_what_was_not_begun_is_skipped_as_stopped() -> None:
    result = run(_system(*days(1, 2, 3)), FeedText(), stop_signal=StopsAfter(UNTIL_ONE_ITEM))
    assert [(each.outcome, each.code) for each in result.items] == [
        (Outcome.DONE, ""),
        (Outcome.SKIPPED, "stopped"),
        (Outcome.SKIPPED, "stopped"),
    ]


def test_a_hold_file_that_appears_stops_the_rest_of_the_feed_soon() -> None:
    paths = [path for month in ("2026/01", "2026/02") for path in days(*range(1, 29), month=month)]
    system = _system(*paths)
    system.before_delete = lambda _: system.put("/data/clicks/.feedctl-hold")
    result = run(system, FeedText())
    outcomes = [(each.outcome, each.code) for each in result.items]
    done = outcomes.count((Outcome.DONE, ""))
    assert 1 <= done <= ITEMS_BETWEEN_LOOKS  # fewer when a second has passed
    assert outcomes == [(Outcome.DONE, "")] * done + [(Outcome.SKIPPED, "held")] * (56 - done)
    assert result.status is Status.SUCCEEDED


def test_a_base_that_can_no_longer_be_looked_at_fails_the_feed_aloud() -> None:
    system = _system(*days(1, 2))
    hold_file = "/data/clicks/.feedctl-hold"

    class Locked(MemoryFileSystem):
        requested = 0

        def status(self, path: CanonicalPath) -> FileStatus:
            if path.path == hold_file:
                self.requested += 1
                if self.requested > 1:
                    raise PermissionDenied(path=path)
            return super().status(path)

    locked = Locked(files=system.files, directories=system.directories)
    result = run(locked, FeedText())
    assert [(each.outcome, each.code) for each in result.items] == [(Outcome.FAILED, "permission_denied")] * 2
    assert {"a hold could not be looked for" in each.message for each in result.items} == {True}
    assert (result.exit_code, locked.effects) == (ExitCode.FAILED, [])


def test_ctrl_c_has_its_own_exit_code() -> None:
    result = run(_system(*days(1)), FeedText(), stop_signal=StopsAfter(0, interrupted=True))
    assert (result.status, result.exit_code) == (Status.KILLED, ExitCode.INTERRUPTED)


def test_an_item_stopped_in_its_middle_is_failed_as_interrupted() -> None:
    system = _system(*days(1, 2))
    system.before_delete = _raising(Stopped(reason="received SIGTERM"), "/data/clicks/2026/03/01")
    result = run(system, FeedText())
    assert [(each.outcome, each.code) for each in result.items] == [
        (Outcome.FAILED, "interrupted"),
        (Outcome.SKIPPED, "stopped"),
    ]
    assert result.status is Status.KILLED


def test_an_item_that_fails_is_named_with_a_code_and_the_others_go_on() -> None:
    system = _system(*days(1, 2, 3))
    system.locked.add("/data/clicks/2026/03/02")
    result = run(system, FeedText())
    assert [(each.item.path.name, each.outcome, each.code) for each in result.items] == [
        ("01", Outcome.DONE, ""),
        ("02", Outcome.FAILED, "permission_denied"),
        ("03", Outcome.DONE, ""),
    ]
    assert (result.status, result.exit_code) == (Status.PARTIAL, ExitCode.PARTIAL)


def test_when_everything_fails_the_run_has_failed() -> None:
    system = _system(*days(1))
    system.locked.add("/data/clicks/2026/03/01")
    assert run(system, FeedText()).status is Status.FAILED


def test_what_somebody_else_removed_in_the_meantime_is_skipped() -> None:
    system = _system(*days(1, 2))

    def other_run(path: str) -> None:
        if path.endswith("01"):
            del system.files["/data/clicks/2026/03/02/part"]
            system.directories.discard("/data/clicks/2026/03/02")

    system.before_delete = other_run
    result = run(system, FeedText())
    assert [(each.outcome, each.code) for each in result.items] == [
        (Outcome.DONE, ""),
        (Outcome.SKIPPED, "already_gone"),
    ]
    assert (result.status, system.tree()) == (Status.SUCCEEDED, ["/data", "/data/clicks"])


def test_an_emptied_parent_that_cannot_be_removed_is_a_failed_item() -> None:
    system = _system(*days(1), *days(1, month="2026/02"))
    system.before_delete = lambda _: system.locked.add("/data/clicks/2026/02")
    result = run(system, FeedText())
    failed = [each for each in result.items if each.outcome is Outcome.FAILED]
    assert [(each.item.type, each.item.path.path) for each in failed] == [("empty_directory", "/data/clicks/2026/02")]
    assert result.status is Status.PARTIAL


class DeniesFull(MemoryFileSystem):
    """As HDFS does: it may deny the removal of a directory before it sees that something is in it."""

    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        if any(self.list(path)):
            raise PermissionDenied(path=path)
        return super().remove_if_empty(path, below=below)


def test_a_parent_that_something_is_in_stays_without_a_word_though_its_removal_is_denied() -> None:
    system = DeniesFull()
    system.put(*days(1), *days(20))
    result = run(system, FeedText())
    assert [each.outcome for each in result.items] == [Outcome.DONE]
    assert sorted(system.files) == days(20)


def test_what_a_killed_removal_left_aside_is_finished() -> None:
    system = _system(f"{ASIDE}/part", *days(20))
    result = run(system, FeedText())
    assert [(each.item.type, each.item.instance_key, each.item.path.path) for each in result.items] == [
        ("leftover", "2026-03-05T00:00Z", ASIDE)
    ]
    assert sorted(system.files) == days(20)


@pytest.mark.parametrize("name", [".feedctl-evicting-nonsense", ".feedctl-evicting-99", ".feedctl-other"])
def test_own_names_that_no_instance_had_are_left(name: str) -> None:
    system = _system(f"/data/clicks/2026/03/{name}/part")
    assert [*run(system, FeedText()).items] == []


def test_an_aside_where_no_instances_are_is_left() -> None:
    system = _system("/data/clicks/.feedctl-evicting-2026/part", "/data/clicks/2026/.feedctl-evicting-03/part")
    assert [*run(system, FeedText()).items] == []


def test_an_aside_that_sorts_after_the_last_old_name_is_found() -> None:
    """A listing stops at the first name that is too young; a '-' sorts before the '.' of feedctl's own names."""
    system = _system("/data/-2026-03-01/x", "/data/-2026-03-19/x", "/data/.feedctl-evicting--2026-03-02/x")
    result = run(system, FeedText(data="/data/-${YEAR}-${MONTH}-${DAY}"))
    assert gone(result) == ["/data/-2026-03-01", "/data/.feedctl-evicting--2026-03-02"]


def test_an_aside_of_a_literal_name_is_found() -> None:
    system = _system("/data/2026/.feedctl-evicting-clicks/x")
    result = run(system, FeedText(data="/data/${YEAR}/clicks"), nominal="2027-02-01T00:00Z")
    assert gone(result) == ["/data/2026/.feedctl-evicting-clicks"]
    assert system.tree() == ["/data"]


def test_a_held_instance_that_was_half_removed_stays_as_it_is() -> None:
    hold = Hold(feed="clicks", start=parse_instant("2026-03-05T00:00Z"), reason="audit")
    system = _system(f"{ASIDE}/part")
    result = run(system, FeedText(), holds=[hold])
    assert ([*result.items], sorted(system.files)) == ([], [f"{ASIDE}/part"])
    assert "1 half-removed instances are on hold" in result.targets[0].plan.notes[0]


def test_an_aside_with_a_digest_for_a_name_is_finished_unless_anything_is_held() -> None:
    path = f"/data/clicks/2026/03/.feedctl-evicting-sha256-{'a' * 64}"
    assert gone(run(_system(f"{path}/part"), FeedText(), dry_run=True)) == [path]
    hold = Hold(feed="clicks", end=parse_instant("2020-01-01T00:00Z"), reason="audit")
    assert gone(run(_system(f"{path}/part"), FeedText(), dry_run=True, holds=[hold])) == []


def test_a_run_killed_before_it_could_remove_the_last_emptied_parent_is_finished() -> None:
    """Also when the horizon lies in that directory's month."""
    system = _system(*days(1))
    stopped = run(system, FeedText(), stop_signal=StopsAfter(UNTIL_ONE_ITEM))
    assert (stopped.status, "/data/clicks/2026/03" in system.directories) == (Status.KILLED, True)
    run(system, FeedText())
    assert system.tree() == ["/data", "/data/clicks"]


def test_old_directories_that_are_empty_are_plan_items() -> None:
    system = _system(*days(20))
    system.make("/data/clicks/2026/01", "/data/clicks/2025", "/data/clicks/2026/04", "/data/clicks/other")
    result = run(system, FeedText())
    assert [(each.item.type, each.item.path.path) for each in result.items] == [
        ("empty_directory", "/data/clicks/2025"),
        ("empty_directory", "/data/clicks/2026/01"),
    ]
    assert {"/data/clicks/2026/04", "/data/clicks/other"} < system.directories
    assert not {"/data/clicks/2025", "/data/clicks/2026/01"} & system.directories


def test_an_empty_directory_that_was_filled_in_the_meantime_is_skipped() -> None:
    system = _system(*days(1, month="2025/01"))
    system.make("/data/clicks/2026/01")
    system.before_delete = lambda _: system.put(*days(1, month="2026/01"))
    result = run(system, FeedText())
    assert [(each.item.path.path, each.outcome, each.code) for each in result.items][1:] == [
        ("/data/clicks/2026/01", Outcome.SKIPPED, "not_empty")
    ]
