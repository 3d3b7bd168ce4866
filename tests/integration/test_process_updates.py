"""Updates that runs of a process announce: not when nothing changed, and in the transaction of their success."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.process_runs import KEYS, Runs, outcomes, steps
from toolkit.actions.guard import Guard
from toolkit.cli.main import main
from toolkit.process_runner import updates
from toolkit.runs.errors import Stopped

COUNTS = "feedctl:feed/counts?cluster=primary"
OUTLETS = "outlets: [s3://bucket/reports, my-dashboard]"
MADE = ("available", COUNTS, KEYS[0])


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    made = Runs(directory=tmp_path)
    made.fill(*KEYS[:4])
    return made


def _events(runs: Runs) -> list[tuple[str, str, str]]:
    return runs.query("SELECT kind, dataset, instance_key FROM event ORDER BY sequence")


def _statuses(runs: Runs) -> list[str]:
    return [each[0] for each in runs.query("SELECT status FROM run ORDER BY run_id")]


def test_outputs_and_outlets_are_announced_with_the_success(runs: Runs) -> None:
    runs.write(more=OUTLETS)
    assert runs.run()[0] == 0
    assert _events(runs) == [
        MADE,
        ("available", "s3://bucket/reports", KEYS[0]),
        ("available", "my-dashboard", KEYS[0]),
    ]
    assert runs.query("SELECT DISTINCT run_id FROM event") == [(1,)]


def test_an_outlet_that_is_the_place_of_a_feed_updates_the_feed(runs: Runs) -> None:
    runs.write(more=f"outlets: ['file://{runs.directory}/data/clicks']")
    assert runs.run()[0] == 0
    feeds = runs.query("SELECT feed, cluster, instance_key FROM event WHERE dataset LIKE 'feedctl:feed/clicks%'")
    assert feeds == [("clicks", "primary", KEYS[0])]


@pytest.mark.parametrize("code", [1, 98])
def test_a_run_that_fails_announces_nothing(runs: Runs, code: int) -> None:
    runs.write(scripts={"count": f"{runs.making()}\nexit {code}\n"}, more=OUTLETS)
    assert runs.run()[0] == 1
    assert (_statuses(runs), _events(runs)) == (["failed"], [])


def test_exit_code_99_is_a_success_that_announces_nothing(runs: Runs) -> None:
    runs.write(scripts={"count": "exit 99"}, more=OUTLETS)
    code, result = runs.run()
    assert (code, _statuses(runs), _events(runs)) == (0, ["succeeded"], [])
    assert "exit code 99" in json.dumps(result)
    assert runs.query("SELECT status FROM step_run") == [("succeeded",)]


def test_steps_announce_unless_each_of_them_changed_nothing(runs: Runs) -> None:
    runs.write(steps("first", "last"), {"first": "exit 99", "last": runs.making()})
    assert runs.run()[0] == 0
    assert _events(runs) == [MADE]
    runs.write(steps("first", "last"), {"first": runs.making(), "last": "exit 99"})
    assert runs.run("--force")[0] == 0
    assert runs.run(time=KEYS[1])[0] == 0
    assert _events(runs)[1:] == [("available", COUNTS, KEYS[1])]
    runs.write(steps("first", "last"), {"first": "exit 99", "last": "exit 99"})
    assert runs.run(time=KEYS[2])[0] == 0
    assert len(_events(runs)) == 2


def test_only_the_outlets_that_a_step_lists_are_announced(runs: Runs) -> None:
    listing = runs.making() + "\necho my-dashboard >> $FEEDCTL_OUTLETS\n"
    runs.write(scripts={"count": listing}, more=OUTLETS)
    assert runs.run()[0] == 0
    assert _events(runs) == [("available", "my-dashboard", KEYS[0])]


def test_outputs_are_listed_by_name_or_uri_and_unlisted_ones_need_not_be_there(runs: Runs) -> None:
    listing = f"echo S3://bucket/x/../reports >> $FEEDCTL_OUTLETS\necho '# {COUNTS}' >> $FEEDCTL_OUTLETS\n"
    runs.write(scripts={"count": listing}, more=OUTLETS)
    assert runs.run()[0] == 0
    assert _events(runs) == [("available", "s3://bucket/reports", KEYS[0])]
    runs.write(scripts={"count": f"{runs.making()}\necho '{COUNTS}' > $FEEDCTL_OUTLETS\n"}, more=OUTLETS)
    assert runs.run(time=KEYS[1])[0] == 0
    runs.write(scripts={"count": f"{runs.making()}\necho counts > $FEEDCTL_OUTLETS\n"}, more=OUTLETS)
    assert runs.run(time=KEYS[2])[0] == 0
    assert _events(runs)[1:] == [("available", COUNTS, key) for key in KEYS[1:3]]


def test_an_empty_list_announces_nothing(runs: Runs) -> None:
    runs.write(scripts={"count": ": > $FEEDCTL_OUTLETS"}, more=OUTLETS)
    assert runs.run()[0] == 0
    assert (_statuses(runs), _events(runs)) == (["succeeded"], [])


def test_an_unknown_name_fails_the_step_and_names_the_nearest(runs: Runs) -> None:
    runs.write(scripts={"count": f"{runs.making()}\necho my-dashbord >> $FEEDCTL_OUTLETS\n"}, more=OUTLETS)
    code, result = runs.run()
    assert (code, _events(runs)) == (1, [])
    assert "'my-dashbord' is no output or outlet of count; did you mean my-dashboard?" in json.dumps(result)


def test_the_list_of_one_step_hides_nothing_that_another_may_have_updated(runs: Runs) -> None:
    listing = "echo my-dashboard >> $FEEDCTL_OUTLETS"
    runs.write(steps("first", "last"), {"first": runs.making(), "last": listing}, more=OUTLETS)
    assert runs.run()[0] == 0
    assert MADE in _events(runs)
    assert len(_events(runs)) == 3
    runs.write(steps("first", "last"), {"first": "exit 99", "last": listing}, more=OUTLETS)
    assert runs.run(time=KEYS[1])[0] == 0
    assert _events(runs)[3:] == [("available", "my-dashboard", KEYS[1])]


@pytest.mark.parametrize("report", ["exit 99", ": > $FEEDCTL_OUTLETS", "echo my-dashboard > $FEEDCTL_OUTLETS"])
def test_what_a_failed_attempt_has_written_is_not_taken_for_unchanged(runs: Runs, report: str) -> None:
    made = runs.at("counts", KEYS[0]) / "part-0"
    script = f"[ -e {made} ] || {{ mkdir -p {made.parent}; echo half > {made}; exit 1; }}\n{report}"
    runs.write(scripts={"count": script}, more=OUTLETS)
    assert runs.run()[0] != 0
    code, result = runs.run()
    assert (code != 0, _statuses(runs), _events(runs)) == (True, ["failed", "failed"], [])
    assert "an earlier attempt had begun" in json.dumps(result)
    assert "--force" in json.dumps(result)
    assert runs.run("--force")[0] == 0


def test_what_a_retry_makes_is_announced_whatever_it_reports(runs: Runs) -> None:
    runs.write(scripts={"count": "exit 1"}, more=OUTLETS)
    assert runs.run()[0] == 1
    runs.write(scripts={"count": f"{runs.making()}\nexit 99"}, more=OUTLETS)
    assert runs.run()[0] == 0
    assert MADE in _events(runs)
    runs.write(scripts={"count": "exit 99"}, more=OUTLETS)
    assert runs.run("--force")[0] == 0
    assert len(_events(runs)) == 3


def test_a_pipe_or_link_in_the_place_of_the_list_fails_the_step(runs: Runs) -> None:
    for number, make in enumerate(("mkfifo $FEEDCTL_OUTLETS", "ln -s /etc/passwd $FEEDCTL_OUTLETS")):
        runs.write(scripts={"count": f"{runs.making()}\n{make}"})
        code, result = runs.run(time=KEYS[number])
        assert (code, _events(runs)) == (1, [])
        assert "its file of outlets (FEEDCTL_OUTLETS) cannot be read" in json.dumps(result)


def test_many_unknown_names_are_counted(runs: Runs) -> None:
    runs.write(scripts={"count": f"{runs.making()}\nseq 100 107 > $FEEDCTL_OUTLETS"})
    text = json.dumps(runs.run()[1])
    assert "'104' is no output or outlet of count" in text
    assert "and 3 more" in text
    assert "'105'" not in text


def test_a_run_that_goes_on_announces_what_earlier_steps_may_have_updated(runs: Runs) -> None:
    first = f"{runs.making()}\necho counts > $FEEDCTL_OUTLETS\n"
    runs.write(steps("first", "last"), {"first": first, "last": "exit 1"}, more=OUTLETS)
    assert runs.run()[0] == 4
    runs.write(steps("first", "last"), {"first": first, "last": "echo my-dashboard > $FEEDCTL_OUTLETS"}, more=OUTLETS)
    assert runs.run()[0] == 0
    assert MADE in _events(runs)
    assert ("available", "my-dashboard", KEYS[0]) in _events(runs)


@pytest.mark.parametrize(("emit", "kinds"), [("on_change", []), ("always", ["updated"])])
def test_a_rerun_that_made_the_same_data_announces_it_as_emit_says(runs: Runs, emit: str, kinds: list[str]) -> None:
    runs.write(more=f"emit: {emit}")
    assert runs.run()[0] == 0
    assert runs.run("--force")[0] == 0
    assert [kind for kind, _, _ in _events(runs)] == ["available", *kinds]
    (runs.at("clicks", KEYS[0]) / "part-0").write_text("other clicks\n")
    assert runs.run("--force")[0] == 0
    assert [kind for kind, _, _ in _events(runs)] == ["available", *kinds, "updated"]


def test_the_same_data_is_announced_again_after_it_was_retracted(runs: Runs) -> None:
    runs.write()
    assert runs.run()[0] == 0
    assert main(["event", "retract", COUNTS, "--time", KEYS[0], *runs.repo]) == 0
    assert runs.run("--force")[0] == 0
    assert [kind for kind, _, _ in _events(runs)] == ["available", "retracted", "available"]


@pytest.mark.parametrize(("events", "keys"), [("all", KEYS[:3]), ("latest", KEYS[2:3]), ("none", [])])
def test_a_backfill_announces_what_is_asked_for(runs: Runs, events: str, keys: list[str]) -> None:
    runs.write()
    arguments = ["backfill", "count", "--start", KEYS[0], "--end", KEYS[3], "--events", events, *runs.repo]
    assert main(arguments) == 0
    assert _statuses(runs) == ["succeeded"] * 3
    assert [key for _, _, key in _events(runs)] == keys


@pytest.mark.parametrize("script", ["exit 99", ": > $FEEDCTL_OUTLETS", "echo my-dashboard > $FEEDCTL_OUTLETS"])
def test_an_output_that_the_run_has_removed_has_to_be_made_whatever_the_steps_report(runs: Runs, script: str) -> None:
    runs.write(of_output=", prepare: delete", more=OUTLETS)
    assert runs.run()[0] == 0
    runs.write(scripts={"count": script}, of_output=", prepare: delete", more=OUTLETS)
    code, result = runs.run("--force")
    assert (code, outcomes(result)[1:]) == (4, [("main", "failed", "no_output")])
    assert (_statuses(runs), len(_events(runs))) == (["succeeded", "failed"], 3)


def test_an_output_that_the_run_has_removed_and_made_again_is_announced_though_its_step_says_99(runs: Runs) -> None:
    runs.write(of_output=", prepare: delete", more=OUTLETS)
    assert runs.run()[0] == 0
    (runs.at("clicks", KEYS[0]) / "part-0").write_text("other clicks\n")
    runs.write(scripts={"count": f"{runs.making()}\nexit 99"}, of_output=", prepare: delete", more=OUTLETS)
    assert runs.run("--force")[0] == 0
    assert _events(runs)[3:] == [("updated", COUNTS, KEYS[0])]


@pytest.mark.parametrize("flag", ["availability_flag: _SUCCESS", ""])
@pytest.mark.parametrize("by_guard", [False, True])
def test_a_stop_while_published_outputs_are_compared_comes_too_late(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, flag: str, *, by_guard: bool
) -> None:
    """With a flag to write the job ends with that, and else with its last step."""
    stopped = Stopped(reason="told to end (SIGTERM)", interrupted=True)
    guards: list[Guard] = []
    monkeypatch.setattr(Guard, "__post_init__", guards.append, raising=False)

    def ended(*_: object) -> str:
        if by_guard:
            for guard in guards:
                guard.stop(stopped)
        raise stopped

    runs.write(more="emit: on_change", flag=flag)
    monkeypatch.setattr(updates, "output_digest", ended)
    code, result = runs.run()
    assert (code, _statuses(runs)) == (0, ["succeeded"]), result
    assert _events(runs) == [MADE]
