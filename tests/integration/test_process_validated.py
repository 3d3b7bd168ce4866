"""A process whose output is judged before it is announced, on local directories."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from entrypoints import late_check
from tests.integration.process_runs import KEYS, changes, outcomes, steps
from tests.integration.test_late_check import ARRIVAL, FIRST, LATE
from tests.integration.validated_runs import ValidatedRuns, basis, killed_and_run_again
from toolkit.cli.boundary import run_app
from toolkit.cli.main import main
from toolkit.el import CanonicalPath
from toolkit.storage import LocalFileSystem, PermissionDenied

LATE_AGAIN = "2026-03-01T03:00Z"


@pytest.fixture
def counting(tmp_path: Path) -> Iterator[ValidatedRuns]:
    """A process that counts clicks; those of the second hour are bad."""
    runs = ValidatedRuns(directory=tmp_path)
    runs.write(more="retry: {policy: periodic, delay: minutes(1), attempts: 2}")
    runs.fill(KEYS[0])
    runs.spoil(KEYS[1])
    with basis(runs):
        yield runs


def test_what_is_as_expected_is_judged_and_then_published(counting: ValidatedRuns) -> None:
    code, result = counting.run()
    assert (code, outcomes(result)) == (0, [("main", "done", None)]), result
    assert [each.split()[-1] for each in counting.output()] == ["count", "judged"]
    assert (counting.at("counts", KEYS[0]) / "part-0").read_text() == f"clicks of {KEYS[0]}\n"
    assert (counting.at("counts", KEYS[0]) / "_SUCCESS").exists()
    assert (counting.events(), counting.waits(KEYS[0])) == ([("available", "00")], False)


def test_what_is_bad_is_not_announced_and_not_tried_again_until_somebody_releases_it(counting: ValidatedRuns) -> None:
    code, result = counting.run(time=KEYS[1])
    assert (code, outcomes(result)) == (1, [("main", "done", None)])
    assert changes(result)[1:] == [("publish", "failed", "quality_failed")]
    assert "feedctl quality show counts" in result["instances"][0]["failure"]["message"]
    assert (counting.events(), counting.at("counts", KEYS[1]).exists()) == ([], False)
    assert counting.query("SELECT retry_at FROM run") == [(None,)]
    manifest = json.loads((counting.staging / "2026-03-01-01.blocked.json").read_text())
    assert (manifest["feed"], manifest["instance"], manifest["run"]) == ("counts", KEYS[1], "1")
    code, result = counting.run(time=KEYS[1])
    assert (code, outcomes(result)) == (1, [("end", "done", None)])
    assert changes(result) == [("publish", "failed", "quality_failed")]
    assert [each.split()[-1] for each in counting.output()] == ["count", "judged"], "nothing is done again"
    counting.release()
    assert counting.run(time=KEYS[1])[0] == 0
    assert [each.split()[-1] for each in counting.output()] == ["count", "judged"]
    assert (counting.at("counts", KEYS[1]) / "part-0").read_text() == f"bad clicks of {KEYS[1]}\n"
    assert (counting.events(), list(counting.staging.iterdir())) == ([("available", "01")], [])


def test_blocked_data_of_two_steps_fail_the_instance_and_no_step(counting: ValidatedRuns) -> None:
    """Both steps have done their part; who looks at the second one finds nothing wrong with it."""
    scripts = {"make": counting.making("make"), "report": counting.saying("report")}
    counting.write(steps(*scripts), scripts)
    code, result = counting.run(time=KEYS[1])
    assert (code, outcomes(result)) == (1, [("make", "done", None), ("report", "done", None)])
    (instance,) = result["instances"]
    assert instance["failure"]["code"] == "quality_failed"
    assert "feedctl quality show counts" in instance["failure"]["message"]
    assert counting.query("SELECT exit_code FROM run") == [(1,)]
    ((reason,),) = counting.query("SELECT reason FROM run")
    assert reason.startswith("quality_failed: ")


@pytest.mark.parametrize("command", ["triage", "status"])
def test_who_asks_for_the_process_is_told_what_blocks_it_the_page_and_the_command(
    counting: ValidatedRuns, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    counting.run(time=KEYS[1])
    ((page,),) = counting.query("SELECT page FROM verdict")
    requested = ["--time", KEYS[1]] if command == "triage" else ["--start", KEYS[1]]
    capsys.readouterr()
    assert main(["instance", command, "count", *requested, *counting.repo]) == 0
    reported = capsys.readouterr().out
    assert f"feedctl quality show counts --time {KEYS[1]}" in reported
    assert page in reported


def test_who_asks_why_an_instance_is_not_there_is_told_that_it_is_blocked_and_what_to_run(
    counting: ValidatedRuns, capsys: pytest.CaptureFixture[str]
) -> None:
    counting.run(time=KEYS[1])
    capsys.readouterr()
    assert main(["instance", "triage", "counts", "--time", KEYS[1], *counting.repo]) == 0
    reported = capsys.readouterr().out
    assert "it is blocked by its quality (blocked: " in reported
    assert f"feedctl quality show counts --time {KEYS[1]}" in reported
    ((page,),) = counting.query("SELECT page FROM verdict")
    assert f"page: {page}" in reported


def test_a_workflow_that_keeps_its_run_metadata_itself_cannot_announce_it(counting: ValidatedRuns) -> None:
    assert main(["ledger", "sync", *counting.repo]) == 0
    job = ["--process", "count", "--cluster", "primary", "--instance", KEYS[0], *counting.repo]
    assert main(["run", "init-job", *job]) == 0
    assert main(["run", "halt-job", *job]) == 2
    assert counting.events() == []


def test_force_makes_it_anew_and_what_was_announced_stays_until_the_new_one_may_be(counting: ValidatedRuns) -> None:
    assert counting.run()[0] == 0
    counting.spoil(KEYS[0])
    assert counting.run("--force")[0] == 1
    assert (counting.at("counts", KEYS[0]) / "part-0").read_text() == f"clicks of {KEYS[0]}\n"
    counting.fill(KEYS[0])
    (counting.at("clicks", KEYS[0]) / "part-0").write_text("better\n")
    assert counting.run("--force")[0] == 0
    assert (counting.at("counts", KEYS[0]) / "part-0").read_text() == "better\n"
    assert (counting.events(), list(counting.staging.iterdir())) == ([("available", "00"), ("updated", "00")], [])


def test_the_audit_file_names_what_is_published_and_the_staged_data_that_is_removed(counting: ValidatedRuns) -> None:
    key = KEYS[1]
    name = counting.at("counts", key).name
    assert counting.run(time=key)[0] == 1  # blocked, so that it stays staged
    counting.fill(key)
    (counting.at("clicks", key) / "part-0").write_text("better\n")
    assert counting.run("--force", time=key)[0] == 0
    staged, published = f"counts/{counting.staging.name}/{name}", f"counts/{name}"
    assert counting.audited("clear", "publish") == [
        ("clear", "skipped", staged),
        ("publish", "failed", published),
        ("clear", "done", staged),
        ("publish", "done", published),
    ]


def test_after_an_error_of_the_store_while_publishing_the_next_run_publishes_and_no_step_runs_again(
    counting: ValidatedRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, rename = counting.at("counts", KEYS[0]), LocalFileSystem.rename

    def refuse(self: LocalFileSystem, source: CanonicalPath, target: CanonicalPath) -> None:
        if target.path == str(place):
            raise PermissionDenied(path=target)
        rename(self, source, target)

    monkeypatch.setattr(LocalFileSystem, "rename", refuse)
    code, result = counting.run()
    assert (code, outcomes(result)) == (4, [("main", "done", None)])
    assert changes(result) == [("clear", "skipped", "nothing_there"), ("publish", "failed", "permission_denied")]
    assert (counting.waits(KEYS[0]), counting.events()) == (True, [])
    monkeypatch.undo()
    os.environ["PATH"] = f"{counting.directory}/bin{os.pathsep}{os.environ['PATH']}"
    code, result = counting.run()
    assert (code, outcomes(result), changes(result)) == (0, [("end", "done", None)], [("publish", "done", None)])
    assert [each.split()[-1] for each in counting.output()] == ["count", "judged"]


def test_what_was_announced_is_not_removed_before_the_new_one_has_passed(counting: ValidatedRuns) -> None:
    counting.write(of_output=", prepare: delete")
    assert counting.run()[0] == 0
    counting.spoil(KEYS[0])
    code, result = counting.run("--force")
    assert (code, [each["kind"] for each in result["items"]]) == (1, ["clear", "step", "publish"])
    assert (counting.at("counts", KEYS[0]) / "part-0").read_text() == f"clicks of {KEYS[0]}\n"


def test_a_workflow_that_writes_past_the_gate_is_told_where_to_write(counting: ValidatedRuns) -> None:
    past = f"mkdir -p {counting.at('counts', KEYS[0])}\necho past > {counting.at('counts', KEYS[0])}/part-0"
    counting.write(scripts={"count": counting.saying("count", past)})
    code, result = counting.run()
    assert (code, outcomes(result), counting.events()) == (1, [("main", "failed", "no_output")], [])
    assert "a workflow must write where ${counts} says" in result["items"][1]["message"]
    counting.write()
    assert counting.run()[0] == 0
    assert [each.split()[-1] for each in counting.output()] == ["count", "count", "judged"]


def test_a_step_that_failed_goes_on_with_what_those_before_it_have_written(counting: ValidatedRuns) -> None:
    adding = "mkdir -p $counts; echo"
    stop = counting.directory / "stop"
    stop.touch()
    scripts = {
        "first": counting.saying("first", f"{adding} one > $counts/part-0"),
        "second": counting.saying("second", f"test ! -f {stop}\n{adding} two > $counts/part-1"),
    }
    counting.write(steps(*scripts), scripts)
    assert counting.run()[0] == 4
    stop.unlink()
    assert counting.run()[0] == 0
    assert [each.split()[-1] for each in counting.output()] == ["first", "second", "second", "judged"]
    assert sorted(each.name for each in counting.at("counts", KEYS[0]).iterdir()) == ["_SUCCESS", "part-0", "part-1"]


def test_an_output_that_may_be_empty_need_not_be_written(counting: ValidatedRuns) -> None:
    counting.write(scripts={"count": counting.saying("count")}, of_output=", allow_empty: true")
    code, result = counting.run()
    assert (code, counting.events()) == (0, [])
    assert "the output counts was not made" in result["instances"][0]["notes"]


@pytest.mark.parametrize(
    "moment",
    [pytest.param("before", marks=pytest.mark.extended), "during", pytest.param("after", marks=pytest.mark.extended)],
)
def test_a_run_that_is_killed_around_the_gate_never_announces_what_was_not_judged(
    counting: ValidatedRuns, moment: str
) -> None:
    killed_and_run_again(counting, KEYS[0], moment, is_bad=False)


def test_what_runs_again_for_late_data_is_judged_before_it_replaces_what_was_announced(counting: ValidatedRuns) -> None:
    scripts = {"count": counting.making(), "late": counting.making("late")}
    counting.write(scripts=scripts, more=LATE, flag=ARRIVAL)
    assert counting.run()[0] == 0
    for text, code in (("bad and late", 1), ("late", 0)):
        (counting.at("clicks", KEYS[0]) / "part-0").write_text(text)
        time = FIRST if code else "2026-03-01T03:00Z"
        found = run_app(late_check.app, [*counting.arguments("--due", time=time)])
        assert found == code
        announced = (counting.at("counts", KEYS[0]) / "part-0").read_text()
        assert announced == (f"clicks of {KEYS[0]}\n" if code else text)
    assert [each.split()[-1] for each in counting.output()] == ["count", "judged", "late", "judged", "late", "judged"]
    assert counting.events() == [("available", "00"), ("updated", "00")]


def test_late_data_is_not_done_when_the_late_workflow_wrote_nothing_to_be_judged(counting: ValidatedRuns) -> None:
    counting.write(scripts={"count": counting.making(), "late": counting.saying("late")}, more=LATE, flag=ARRIVAL)
    assert counting.run()[0] == 0
    (counting.at("clicks", KEYS[0]) / "part-1").write_text("late")
    assert run_app(late_check.app, [*counting.arguments("--due", time=FIRST)]) == 1
    assert counting.statuses() == [("00", 1, "succeeded"), ("00", 2, "failed")]
    assert counting.query("SELECT code FROM item WHERE run_id = 2 AND kind = 'step'") == [("no_output",)]
    assert counting.events() == [("available", "00")]
    counting.write(scripts={"count": counting.making(), "late": counting.making("late")}, more=LATE, flag=ARRIVAL)
    assert run_app(late_check.app, [*counting.arguments("--due", time=LATE_AGAIN)]) == 0
    assert counting.statuses()[-1] == ("00", 3, "succeeded")
    assert counting.events() == [("available", "00")]  # the late workflow made the same data


def test_what_an_earlier_run_published_does_not_stand_for_what_was_rejected_since(counting: ValidatedRuns) -> None:
    """The first output is released, the second one rejected: readers have the first, and the second was never made."""
    assert counting.run(time=KEYS[1])[0] == 1
    assert main(["quality", "release", "counts", "--time", KEYS[1], "--reason", "known", *counting.repo]) == 0
    assert counting.run(time=KEYS[1])[0] == 0
    (counting.at("clicks", KEYS[1]) / "part-0").write_text("bad again\n")
    assert counting.run("--force", time=KEYS[1])[0] == 1
    assert main(["quality", "reject", "counts", "--time", KEYS[1], "--reason", "no", *counting.repo]) == 0
    code, result = counting.run(time=KEYS[1])
    assert (code, outcomes(result)) == (1, [("end", "failed", "no_output")])
    assert counting.events() == [("available", "01")]
    assert (counting.at("counts", KEYS[1]) / "part-0").read_text() == f"bad clicks of {KEYS[1]}\n"


def test_a_table_that_is_to_be_judged_is_refused(counting: ValidatedRuns) -> None:
    feed = counting.directory / "repo/feeds/counts.yaml"
    lines = [line for line in feed.read_text().splitlines() if "locations" not in line and "format" not in line]
    table = 'table: "catalog:web:counts#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}"\nquality: {suites: [counts]}'
    feed.write_text("\n".join([*lines, table, ""]).replace("availability_flag: _SUCCESS", ""))
    code, result = counting.run()
    assert (code, counting.output()) == (2, [])
    assert "quality of the output counts, which is a table" in str(result)
