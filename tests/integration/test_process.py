"""Running instances of a process whose steps are commands, on local directories."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.described import faults
from tests.integration.process_runs import KEYS, Runs, changes, outcomes, steps
from toolkit.cli.main import main
from toolkit.errors import Unavailable
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import LedgerConflict, LedgerUnavailable
from toolkit.process_runner.staging import StagedOutputs
from toolkit.rendering.document_schemas import DocumentName
from toolkit.runs import lease


@pytest.fixture
def counting(tmp_path: Path) -> Runs:
    """A process that counts one hour of clicks, of which two are there."""
    runs = Runs(directory=tmp_path)
    runs.write()
    runs.fill(*KEYS[:2])
    return runs


def test_an_instance_runs_once_and_its_output_is_there_announced_and_flagged(counting: Runs) -> None:
    code, result = counting.run()
    assert (code, outcomes(result)) == (0, [("main", "done", None)])
    assert (counting.at("counts", KEYS[0]) / "part-0").read_text() == f"clicks of {KEYS[0]}\n"
    assert (counting.at("counts", KEYS[0]) / "_SUCCESS").exists()
    assert (counting.statuses(), counting.events()) == ([("00", 1, "succeeded")], [("available", "00")])
    code, result = counting.run()
    assert (code, result["items"], counting.output()) == (0, [], [f"{KEYS[0]} count"])
    assert "has succeeded already" in result["instances"][0]["notes"][0]
    assert counting.run("--force")[0] == 0
    assert (len(counting.output()), counting.events()[1:]) == (2, [])  # the same data again


def test_a_result_has_every_key_that_is_described_and_no_other(counting: Runs) -> None:
    requested = (("--dry-run",), (), (), ("--due", "--all"))
    results = [counting.run(*each, time=KEYS[2])[1] for each in requested]
    counting.fill(KEYS[2])
    results += [counting.run(*each, time=KEYS[2])[1] for each in (*requested, ("--process", "unknown"))]
    found = [fault for each in results for fault in faults(each, DocumentName.PROCESS_RUN, "result", strict=True)]
    assert (found, len(results)) == ([], 9)


def test_a_dry_run_shows_steps_and_properties_and_touches_nothing(counting: Runs) -> None:
    code, result = counting.run("--dry-run")
    assert (code, outcomes(result), counting.output()) == (0, [("main", "planned", None)], [])
    assert result["instances"][0]["properties"]["clicks"].endswith("/clicks/2026-03-01-00")
    assert not (counting.directory / "ledger.db").exists()


def test_the_text_of_a_dry_run_has_steps_inputs_and_outputs_and_properties_on_request(
    counting: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    counting.run("--dry-run", "--output", "text")
    shown = capsys.readouterr().out
    places = [
        shown.index(each) for each in ("main (command ", "input clicks: ", "output counts: ", " properties, which")
    ]
    assert places == sorted(places)
    assert "nominalTime=" not in shown
    counting.run("--dry-run", "--output", "text", "--properties")
    assert f"nominalTime={KEYS[0]}" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["triage", "status"])
def test_who_asks_why_an_instance_failed_is_told_what_the_run_said(
    counting: Runs, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    counting.write('workflow: {engine: command, path: workflows/count.sh, args: ["${click}"]}')
    code, result = counting.run()
    assert (code, result["items"][0]["code"]) == (1, "step_cannot_succeed")
    requested = ["--time", KEYS[0]] if command == "triage" else ["--start", KEYS[0]]
    capsys.readouterr()
    assert main(["instance", command, "count", *requested, *counting.repo]) == 0
    assert "did you mean clicks" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["triage", "status"])
def test_who_asks_why_an_instance_failed_is_told_where_the_log_of_the_step_is(
    counting: Runs, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    counting.write(scripts={"count": counting.saying("count", "echo the disk is full; exit 3")})
    assert counting.run()[0] == 1
    ((log,),) = counting.query("SELECT log_location FROM step_run")
    requested = ["--time", KEYS[0]] if command == "triage" else ["--start", KEYS[0]]
    capsys.readouterr()
    assert main(["instance", command, "count", *requested, *counting.repo]) == 0
    output = capsys.readouterr().out
    assert "ended with exit code 3; its log ends with: the disk is full" in output
    assert log in output
    if command == "triage":
        assert f"feedctl instance logs count --time {KEYS[0]} --cluster primary" in output


def test_an_instance_without_its_input_waits_in_the_ledger_and_runs_when_that_has_come(counting: Runs) -> None:
    code, result = counting.run(time=KEYS[2])
    assert (code, counting.output()) == (75, [])
    missing = result["instances"][0]["missing"]
    assert [(each["input"], each["instance"], each["state"]) for each in missing] == [("clicks", KEYS[2], "missing")]
    assert counting.statuses() == [("02", 1, "waiting")]
    ((reason,),) = counting.query("SELECT reason FROM run")
    assert f"clicks {KEYS[2]} is missing" in reason
    counting.fill(KEYS[2])
    assert counting.run(time=KEYS[2])[0] == 0
    assert counting.statuses() == [("02", 1, "succeeded")]


def test_a_flag_that_the_run_writes_is_an_item_in_result_audit_file_and_ledger(counting: Runs) -> None:
    _, result = counting.run()
    assert changes(result) == [("flag", "done", None)]
    assert counting.query("SELECT kind, state FROM item ORDER BY position") == [("step", "done"), ("flag", "done")]
    assert counting.audited("flag") == [("flag", "done", f"counts/{counting.at('counts', KEYS[0]).name}/_SUCCESS")]


def test_an_instance_that_waited_for_too_long_has_timed_out(counting: Runs) -> None:
    counting.run(time=KEYS[2])
    counting.change("UPDATE run SET created_at = '2026-01-01T00:00:00.000000Z'")
    code, result = counting.run(time=KEYS[2])
    assert (code, result["instances"][0]["failure"]["code"]) == (1, "timed_out")
    assert counting.statuses() == [("02", 1, "timed_out")]


@pytest.mark.parametrize(
    ("script", "allowed", "code"),
    [("true", "", 1), ("true", ", allow_empty: true", 0), ('mkdir -p "$FEEDCTL_TEST/$(basename $counts)"', "", 1)],
)
def test_a_workflow_that_exits_with_0_and_makes_nothing_has_failed_unless_that_is_allowed(
    counting: Runs, monkeypatch: pytest.MonkeyPatch, script: str, allowed: str, code: int
) -> None:
    monkeypatch.setenv("FEEDCTL_STEP_VARIABLES", "FEEDCTL_TEST")
    monkeypatch.setenv("FEEDCTL_TEST", str(counting.directory / "data/counts"))
    counting.write(scripts={"count": script}, of_output=allowed)
    found, result = counting.run()
    assert found == code
    assert [each for _, _, each in outcomes(result)] == ([None] if allowed else ["no_output"])
    assert changes(result) == [("flag", "skipped", "nothing_there" if allowed else "not_reached")]
    assert counting.events() == []


@pytest.mark.parametrize("file", ["second.sh", "library.jar"])
def test_a_step_whose_files_were_changed_since_the_run_began_is_left_to_the_next_run(counting: Runs, file: str) -> None:
    changed = counting.directory / "repo/workflows" / file
    scripts = {
        "first": counting.saying("first", f'echo "# $nominalTime" >> {changed}'),
        "second": counting.saying("second"),
        "third": counting.making("third"),
    }
    counting.write(steps(*scripts) + "  lib: [workflows/library.jar]\n", scripts)
    (counting.directory / "repo/workflows/library.jar").touch()
    code, result = counting.run()
    assert (code, outcomes(result)[:2]) == (4, [("first", "done", None), ("second", "failed", "step_failed")])
    assert f"the file workflows/{file} was changed since this run read the config repo" in result["items"][1]["message"]
    assert counting.run()[0] == 0
    assert [line.split()[1] for line in counting.output()] == ["first", "second", "third"]


@pytest.mark.parametrize(("allowed", "code"), [("", 1), (", allow_empty: true", 1), (", allow_existing: true", 0)])
def test_what_was_there_before_the_steps_is_no_output_of_theirs_unless_that_is_allowed(
    counting: Runs, allowed: str, code: int
) -> None:
    assert counting.run()[0] == 0
    counting.write(scripts={"count": counting.saying("again")}, of_output=allowed)
    found, result = counting.run("--force")
    assert (found, [each for _, _, each in outcomes(result)]) == (code, ["no_output"] if code else [None])
    if code:
        assert "is what it was before the first step" in result["items"][0]["message"]
        assert "allow_existing: true" in result["items"][0]["message"]
        assert counting.events() == [("available", "00")]
        assert counting.run()[0] == 1, "trying again does not make it new"


def test_steps_that_made_nothing_all_run_again(counting: Runs) -> None:
    counting.run()
    scripts = {"make": counting.saying("make"), "tell": counting.saying("tell")}
    counting.write(steps(*scripts), scripts)
    assert counting.run("--force")[1]["items"][1]["code"] == "no_output"
    assert counting.run()[1]["items"][1]["code"] == "no_output"
    counting.write(steps(*scripts), {**scripts, "make": counting.making("made")})
    assert counting.run()[0] == 0
    assert [line.split()[1] for line in counting.output()[1:]] == ["make", "tell", "make", "tell", "made", "tell"]


@pytest.mark.parametrize("allowed", ["", ", allow_empty: true", ", allow_existing: true"])
def test_what_a_failed_step_left_and_the_next_attempt_does_not_write_is_not_announced(
    counting: Runs, allowed: str
) -> None:
    made = counting.at("counts", KEYS[0])
    script = f"if test -d {made}; then exit 0; fi\n{counting.making()}\nexit 3"
    counting.write(scripts={"count": script}, of_output=allowed)
    assert counting.run()[1]["items"][0]["code"] == "step_failed"
    code, result = counting.run()
    if "existing" in allowed:
        assert (code, (made / "_SUCCESS").exists(), counting.events()) == (0, True, [("available", "00")])
        return
    for more in ((), ("--force",)):
        code, result = counting.run(*more)
        assert (code, result["items"][0]["code"], (made / "_SUCCESS").exists()) == (1, "no_output", False)
    assert "remove it or let the workflow write all of it" in result["items"][0]["message"]
    assert counting.events() == []
    (made / "part-0").unlink()
    made.rmdir()
    counting.write()
    assert (counting.run()[0], (made / "_SUCCESS").exists()) == (0, True)


@pytest.mark.parametrize("is_whole", [True, False])
def test_what_the_steps_before_the_one_that_failed_made_is_an_output_and_its_own_rest_is_none(
    counting: Runs, *, is_whole: bool
) -> None:
    """The second step fails, and its rerun writes nothing; in one case it had written over the output of the first."""
    ok = counting.directory / "ok"
    spoiled = "" if is_whole else f"test -f {ok} || echo half > {counting.at('counts', KEYS[0])}/part-0; "
    scripts = {"make": counting.making("make"), "tell": counting.saying("tell", f"{spoiled}test -f {ok}")}
    counting.write(steps(*scripts), scripts)
    assert counting.run()[0] == 4
    assert counting.run()[0] == 1
    ok.touch()
    code, result = counting.run()
    assert outcomes(result) == [("tell", *(("done", None) if is_whole else ("failed", "no_output")))]
    assert (code, counting.events()) == ((0, [("available", "00")]) if is_whole else (1, []))


def test_a_step_that_the_registry_has_no_more_ends_the_run_and_what_was_done_stays(counting: Runs) -> None:
    """Between two steps another config repo was synced, which has no second step."""
    ledger = counting.directory / "ledger.db"
    gone = "UPDATE step SET is_deleted = 1 WHERE name = 'second'"
    scripts = {
        "first": counting.saying("first", f'{sys.executable} -c "import sqlite3; c = sqlite3.connect(\'{ledger}\', '
                                          f'timeout=60); c.execute(\\"{gone}\\"); c.commit()"'),
        "second": counting.making("second"),
    }  # fmt: skip
    counting.write(steps(*scripts), scripts)
    code, result = counting.run()
    assert (code, outcomes(result)) == (1, [("first", "done", None), ("second", "skipped", "stopped")]), result
    assert counting.query("SELECT status FROM step_run") == [("succeeded",)]
    assert counting.query("SELECT status FROM run") == [("failed",)]
    assert counting.query("SELECT kind, state FROM item") == [("step", "done")]


def test_what_an_earlier_run_of_the_same_steps_made_is_an_output(counting: Runs) -> None:
    ok = counting.directory / "ok"
    scripts = {"make": counting.making("make"), "tell": counting.saying("tell", f"test -f {ok}")}
    counting.write(steps(*scripts), scripts)
    assert counting.run()[0] == 4
    ok.touch()
    assert counting.run()[0] == 0


def test_a_rerun_goes_on_at_the_step_that_failed_and_force_starts_over(counting: Runs) -> None:
    ok = counting.directory / "ok"
    scripts = {
        "first": counting.saying("first"),
        "second": counting.saying("second", f"test -f {ok}"),
        "third": counting.making("third"),
    }
    counting.write(steps(*scripts), scripts)
    code, result = counting.run()
    assert code == 4
    expected = [("first", "done", None), ("second", "failed", "step_failed"), ("third", "skipped", "not_reached")]
    assert (outcomes(result), counting.statuses()) == (expected, [("00", 1, "failed")])
    ok.touch()
    code, result = counting.run()
    assert (code, [step for step, _, _ in outcomes(result)]) == (0, ["second", "third"])
    words = [line.split()[1] for line in counting.output()]
    assert words == ["first", "second", "second", "third"]
    assert counting.run("--force")[0] == 0
    assert [line.split()[1] for line in counting.output()][4:] == ["first", "second", "third"]
    ended = counting.query("SELECT run_id, status FROM step_run ORDER BY step_run_id")
    assert [status for _, status in ended] == ["succeeded", "failed", *["succeeded"] * 5]


def test_the_flag_waits_for_a_ledger_that_is_away_when_the_step_ends_and_nothing_runs_twice(
    counting: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease lasts longer than the outage; before the end of the step is recorded readers see no flag."""
    away, flag = counting.directory / "away", counting.at("counts", KEYS[0]) / "_SUCCESS"
    counting.write(scripts={"count": f"{counting.making()}\ntouch {away}"})
    monkeypatch.setattr(lease, "LEASE_SECONDS", 30.0)
    begin, seen = Ledger._transaction, list[bool]()  # noqa: SLF001 - where the server would be asked

    def transaction(ledger: Ledger, options: Mapping[str, bool]) -> AbstractContextManager[Transaction]:
        if away.exists():
            seen.append(flag.exists())
            if time.time() - away.stat().st_mtime < 3:
                raise LedgerUnavailable(place="it", why="it is away")
            away.unlink()
        return begin(ledger, options)

    monkeypatch.setattr(Ledger, "_transaction", transaction)
    code, result = counting.run()
    assert (code, outcomes(result)) == (0, [("main", "done", None)]), result
    assert (len(seen) > 2, any(seen), flag.exists()) == (True, False, True)
    assert (counting.statuses(), counting.events()) == ([("00", 1, "succeeded")], [("available", "00")])
    assert counting.query("SELECT status FROM step_run") == [("succeeded",)]
    assert len(counting.output()) == 1


@pytest.mark.parametrize("error", [LedgerConflict(place="sqlite", why="busy"), Unavailable("no answer")])
def test_a_run_that_goes_on_waits_for_the_ledger_and_its_step_fails_without_an_answer(
    counting: Runs, monkeypatch: pytest.MonkeyPatch, error: Unavailable
) -> None:
    counting.write(steps("read", "count"), {"read": counting.saying("read"), "count": "exit 3"})
    assert counting.run()[0] == 4
    counting.write(steps("read", "count"), {"read": counting.saying("read"), "count": counting.making()})
    answers: list[Unavailable] = [error]
    resume = StagedOutputs.resume

    def resumed(self: StagedOutputs) -> str:
        if answers:
            raise answers.pop()
        return resume(self)

    monkeypatch.setattr(StagedOutputs, "resume", resumed)
    waits = isinstance(error, LedgerConflict)
    assert outcomes(counting.run()[1]) == [("count", "done" if waits else "failed", None if waits else "step_failed")]
    assert counting.run()[0] == 0
