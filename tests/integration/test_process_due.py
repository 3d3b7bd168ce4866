"""Due instances: which, in which order, again after a failure, and beside other runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.process_runs import KEYS, Runs, hours

RETRY = "retry: {policy: periodic, delay: minutes(10), attempts: 2}"


@pytest.fixture
def counting(tmp_path: Path) -> Runs:
    """A process that counts hours of clicks, of which four are there."""
    runs = Runs(directory=tmp_path)
    runs.write()
    runs.fill(*KEYS[:4])
    return runs


def ran(runs: Runs) -> list[str]:
    """The hours that ran, in their order."""
    return hours(line.split()[0] for line in runs.output())


def test_all_that_is_due_runs_in_order_and_the_second_time_nothing_is(counting: Runs) -> None:
    code, _ = counting.run("--due", time=KEYS[2])
    assert (code, ran(counting)) == (0, ["00", "01", "02"])
    code, result = counting.run("--due", time=KEYS[2])
    assert (code, ran(counting)) == (0, ["00", "01", "02"])
    assert result["instances"][0]["notes"] == ["no instance is to run"]


def test_what_waits_keeps_nothing_else_from_running(counting: Runs) -> None:
    (counting.at("clicks", KEYS[1]) / "_SUCCESS").unlink()
    code, _ = counting.run("--due", time=KEYS[3])
    assert (code, ran(counting)) == (75, ["00", "02", "03"])
    assert ("01", 1, "waiting") in counting.statuses()


def test_the_newest_runs_first_in_the_order_lifo(counting: Runs) -> None:
    counting.write(more="order: LIFO")
    counting.run("--due", time=KEYS[2])
    assert ran(counting) == ["02", "01", "00"]


def test_only_the_last_one_that_can_run_does_and_older_ones_that_could_are_skipped_for_good(counting: Runs) -> None:
    counting.write(more="order: LAST_ONLY")
    (counting.at("clicks", KEYS[1]) / "_SUCCESS").unlink()
    (counting.at("clicks", KEYS[3]) / "_SUCCESS").unlink()
    code, _ = counting.run("--due", time=KEYS[3])
    assert (code, ran(counting)) == (75, ["02"])
    assert [status for _, _, status in counting.statuses()] == ["skipped", "waiting", "succeeded", "waiting"]
    counting.fill(*KEYS[:4])
    assert counting.run("--due", time=KEYS[3])[0] == 0
    assert ran(counting) == ["02", "03"]
    assert [status for _, _, status in counting.statuses()] == ["skipped", "skipped", "succeeded", "succeeded"]


def test_instances_that_had_not_begun_when_a_script_was_changed_are_left_to_the_next_run(counting: Runs) -> None:
    script = counting.directory / "repo/workflows/count.sh"
    counting.write(scripts={"count": counting.making("old")})
    new = counting.directory / "new.sh"
    new.write_text(script.read_text().replace("old", "new"))
    new.chmod(0o755)
    counting.write(scripts={"count": f"{counting.making('old')}\nmv {new} {script}"})
    code, result = counting.run("--due", time=KEYS[2])
    assert [each["skipped"] and each["skipped"]["code"] for each in result["instances"]] == [
        None,
        *["file_changed"] * 2,
    ]
    assert [status for _, _, status in counting.statuses()] == ["succeeded", "skipped", "skipped"]
    assert (code, counting.run("--due", time=KEYS[2])[0]) == (0, 0)
    assert [line.split()[1] for line in counting.output()] == ["old", "new", "new"]


def test_a_failure_is_tried_again_when_its_time_has_come_and_no_oftener_than_the_policy_says(counting: Runs) -> None:
    counting.write(scripts={"count": counting.saying("count", "exit 3")}, more=RETRY)
    assert counting.run("--due")[0] == 1
    ((at, ended),) = counting.query("SELECT retry_at, ended_at FROM run")
    assert at[11:15] != ended[11:15]
    assert (counting.run("--due")[0], len(ran(counting))) == (0, 1)
    for number in (2, 3):
        counting.change("UPDATE run SET retry_at = '2026-01-01T00:00:00.000000Z' WHERE retry_at IS NOT NULL")
        assert (counting.run("--due")[0], len(ran(counting))) == (1, number)
    assert counting.query("SELECT retry, retry_at FROM run ORDER BY attempt") == [(None, None), (1, None), (2, None)]
    assert (counting.run("--due")[0], len(ran(counting))) == (0, 3)


def test_what_another_try_cannot_help_is_not_tried_again(counting: Runs) -> None:
    counting.write(more=RETRY)
    (counting.directory / "repo/workflows/count.sh").chmod(0o644)
    code, result = counting.run("--due")
    assert (code, result["items"][0]["code"]) == (1, "step_cannot_succeed")
    assert counting.query("SELECT retry_at FROM run") == [(None,)]


def test_nothing_of_a_suspended_process_starts_and_nothing_is_written_for_each_instance(counting: Runs) -> None:
    counting.run("--due", time=KEYS[0])
    counting.change(
        "INSERT INTO entity_state (entity, cluster, is_suspended, changed_by, changed_at)"
        " VALUES ('count', '', 1, 'bob', '2026-03-01T00:00:00.000000Z')"
    )
    code, result = counting.run("--due", time=KEYS[3])
    assert (code, ran(counting), counting.statuses()) == (5, ["00"], [("00", 1, "succeeded")])
    assert "suspended" in result["instances"][0]["skipped"]["message"]


def test_all_processes_of_a_cluster_run(counting: Runs) -> None:
    code, result = counting.run("--all", "--due", time=KEYS[1])
    assert (code, ran(counting)) == (0, ["00", "01"])
    assert {each["process"] for each in result["instances"]} == {"count"}
