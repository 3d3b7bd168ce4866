"""Replication on local directories: what is due, copied, kept, refused, and what a reader sees meanwhile."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from entrypoints import replication
from tests.e2e.tiny_repo import make_tiny_repo
from tests.integration.replications import DUE, KEYS, NOMINAL, End, Replication, hour, outcomes
from toolkit.cli.boundary import run_app


def local(path: Path) -> End:
    """A directory on this disk."""
    path.mkdir(exist_ok=True)
    return End(uri=f"file://{path}")


@pytest.fixture
def copying(tmp_path: Path) -> Replication:
    """Three hours of data, none of them copied yet, and one that is not due."""
    found = Replication(
        directory=tmp_path, sources={"primary": local(tmp_path / "from")}, target=local(tmp_path / "to")
    )
    for number in range(DUE + 1):
        found.sources["primary"].fill(hour(number))
    return found


def test_what_is_due_is_copied_once_and_what_is_not_due_is_left(copying: Replication) -> None:
    code, result = copying.run()
    assert code == 0
    assert outcomes(result) == [(key, "done", None) for key in KEYS]
    assert copying.target.files(hidden=True) == {k: v for number in range(DUE) for k, v in hour(number).items()}
    code, result = copying.run()
    assert (code, result["items"], result["instances"][0]["notes"]) == (0, [], ["no instance is due that is not there"])


def test_a_dry_run_touches_nothing_and_shows_what_a_run_does(copying: Replication) -> None:
    code, planned = copying.run("--dry-run")
    assert (code, copying.target.files(hidden=True)) == (0, {})
    assert outcomes(planned) == [(key, "planned", None) for key in KEYS]
    _, done = copying.run()
    assert planned["plan_digest"] == done["plan_digest"]


def test_what_the_source_s_retention_has_removed_is_skipped_once_and_not_waited_for(copying: Replication) -> None:
    keeping = replace(copying, of_source=", retention: {limit: hours(1)}")
    source = keeping.sources["primary"]
    source.system.delete(source.at("clicks/2026-03-01-00"), below=source.root)
    code, planned = keeping.run("--dry-run")
    assert (code, planned["instances"][0]["skipped"]["code"]) == (0, "source_evicted")
    code, result = keeping.run()
    assert (code, outcomes(result)) == (0, [(key, "done", None) for key in KEYS[1:]])
    assert [each["instance"] for each in result["instances"] if each["skipped"]] == [KEYS[0]]
    code, result = keeping.run()
    assert (code, result["instances"][0]["skipped"], len(result["instances"])) == (0, None, 1)
    code, result = keeping.run("--start", KEYS[0])
    assert (code, result["instances"][0]["skipped"]["code"]) == (0, "source_evicted")
    longer = replace(copying, of_source=", retention: {limit: hours(3)}")
    assert longer.run()[0] == 75, "the source keeps it by now, so it may come"


def test_an_old_instance_is_waited_for_while_the_source_may_not_be_mounted_or_still_has_it(
    copying: Replication,
) -> None:
    keeping = replace(copying, of_source=", retention: {limit: hours(1)}")
    source = keeping.sources["primary"]
    source.system.delete(source.at("clicks/2026-03-01-00/_SUCCESS"), below=source.root)
    assert keeping.run()[0] == 75
    Path(source.root.path, "clicks").rename(Path(source.root.path, "elsewhere"))
    assert keeping.run()[0] == 75


def test_what_a_dead_run_had_begun_of_an_instance_that_the_source_removed_is_not_announced(
    copying: Replication,
) -> None:
    keeping = replace(copying, of_source=", retention: {limit: hours(1)}")
    assert keeping.run(time=KEYS[0])[0] == 0
    with sqlite3.connect(keeping.directory / "ledger.db") as ledger:  # as if it had been killed, and announced nothing
        ledger.execute("UPDATE item SET state = 'intended', settled_at = NULL")
        ledger.execute("UPDATE run SET status = 'killed'")
        ledger.execute("DELETE FROM event")
    source = keeping.sources["primary"]
    source.system.delete(source.at("clicks/2026-03-01-00"), below=source.root)
    code, result = keeping.run("--start", KEYS[0])
    assert (code, result["instances"][0]["skipped"]["code"]) == (0, "source_evicted")
    with sqlite3.connect(keeping.directory / "ledger.db") as ledger:
        assert ledger.execute("SELECT count(*) FROM event").fetchone() == (0,)


def test_an_instance_without_its_flag_is_waited_for_and_the_others_go(copying: Replication) -> None:
    source = copying.sources["primary"]
    source.system.delete(source.at("clicks/2026-03-01-01/_SUCCESS"), below=source.root)
    code, result = copying.run()
    assert code == 75
    assert [each["instance"] for each in result["instances"] if each["waiting"]] == [KEYS[1]]
    assert copying.target.files() == hour(0) | hour(2)
    source.fill(hour(1))
    assert copying.run()[0] == 0
    assert copying.target.files() == hour(0) | hour(1) | hour(2)


def test_an_instance_that_has_not_come_within_the_timeout_has_failed(copying: Replication) -> None:
    late = replace(copying, more="availability_flag: _SUCCESS\nproperties: {timeout: minutes(30)}")
    source = late.sources["primary"]
    source.system.delete(source.at("clicks/2026-03-01-01"), below=source.root)
    code, result = late.run()
    assert code == 4
    assert [each["failure"]["code"] for each in result["instances"] if each["failure"]] == ["timed_out"]


def test_the_delay_of_the_source_moves_what_is_due(copying: Replication) -> None:
    delayed = replace(copying, of_source=", delay: hours(1)")
    assert outcomes(delayed.run()[1]) == [(key, "done", None) for key in KEYS[:2]]


def test_late_data_is_copied_with_what_is_there_already_and_swapped_in(copying: Replication) -> None:
    late = replace(copying, more="availability_flag: _SUCCESS\nlate_arrival: {cut_off: hours(2)}")
    assert late.run()[0] == 0
    source, files = late.sources["primary"], hour(2, ["part-0", "more"])
    source.fill(files)
    source.system.delete(source.at("clicks/2026-03-01-02/deep"), below=source.root)
    code, result = late.run()
    assert (code, outcomes(result)) == (0, [(KEYS[2], "done", None)])
    assert result["items"][0]["files"] == 3  # those that are younger, though two of them have the same bytes
    assert late.target.files(hidden=True) == hour(0) | hour(1) | files


def test_what_was_copied_before_is_looked_at_again_by_its_range_alone(copying: Replication) -> None:
    copying.run()
    (copying.directory / "to/clicks/2026-03-01-00/part-0").unlink()
    assert copying.run()[1]["items"] == []
    code, result = copying.run("--start", KEYS[0])
    assert (code, outcomes(result)) == (0, [(KEYS[0], "done", None)])
    assert result["items"][0]["files"] == 1
    assert copying.target.files() == hour(0) | hour(1) | hour(2)


def test_files_that_only_the_target_has_go_or_stay_as_the_feed_says(copying: Replication) -> None:
    copying.run()
    copying.target.fill({"clicks/2026-03-01-00/own": b"x", "clicks/2026-03-01-01/own": b"y"})
    stays = replace(copying, more="availability_flag: _SUCCESS\nproperties: {removeDeletedFiles: false}")
    assert stays.run("--start", KEYS[0])[1]["items"] == []
    (copying.directory / "from/clicks/2026-03-01-00/part-0").write_text("new")
    assert stays.run("--start", KEYS[0])[0] == 0
    assert copying.target.files("clicks/2026-03-01-00") == hour(0) | {
        "clicks/2026-03-01-00/own": b"x",
        "clicks/2026-03-01-00/part-0": b"new",
    }
    goes = replace(copying, more="availability_flag: _SUCCESS")
    code, result = goes.run("--start", KEYS[1])
    assert (code, result["items"][0]["removed"]) == (0, 1)
    assert copying.target.files("clicks/2026-03-01-01") == hour(1)


def test_an_empty_source_never_empties_a_target(copying: Replication) -> None:
    copying.run()
    source = copying.sources["primary"]
    no_flag = replace(copying, more="")
    source.system.delete(source.at("clicks/2026-03-01-00"), below=source.root)
    source.system.mkdirs(source.at("clicks/2026-03-01-00"))
    code, result = no_flag.run("--start", KEYS[0])
    assert (code, result["instances"][0]["failure"]["code"]) == (1, "source_empty")
    assert copying.target.files("clicks/2026-03-01-00") == hour(0)


def test_empty_directories_and_empty_files_arrive(copying: Replication) -> None:
    source = copying.sources["primary"]
    source.system.mkdirs(source.at("clicks/2026-03-01-00/empty/er"))
    assert copying.run()[0] == 0
    assert (copying.directory / "to/clicks/2026-03-01-00/empty/er").is_dir()


def test_a_target_that_keeps_less_is_not_given_what_it_would_evict_at_once(copying: Replication) -> None:
    short = replace(copying, of_target=", retention: {limit: minutes(90)}")
    assert outcomes(short.run()[1]) == [(key, "done", None) for key in KEYS[1:]]


def test_several_sources_make_an_instance_and_the_flag_comes_with_the_last(tmp_path: Path) -> None:
    sources = {name: local(tmp_path / name) for name in ("east", "west")}
    copying = Replication(
        directory=tmp_path,
        sources=sources,
        target=local(tmp_path / "to"),
        more="availability_flag: _SUCCESS\npartitions: [colo]",
        partition=dict.fromkeys(sources, "${cluster.colo}"),
    )
    for name, end in sources.items():
        end.fill(hour(0, [f"{name}/part-0", "neither/part-0"]))
    code, _ = copying.run("--source", "east", time=KEYS[0])
    assert (code, copying.target.files()) == (0, hour(0, ["east/part-0"], flag=False))
    code, _ = copying.run(time=KEYS[0])
    assert (code, copying.target.files()) == (0, hour(0, ["east/part-0", "west/part-0"]))


def test_an_expression_that_nothing_fits_is_a_clear_error(copying: Replication) -> None:
    none = replace(copying, more="availability_flag: _SUCCESS\npartitions: [x]", partition={"primary": "nowhere-*"})
    code, result = none.run()
    assert code == 1
    assert "no directory in file://" in result["instances"][0]["failure"]["message"]
    assert copying.target.files(hidden=True) == {}


@pytest.mark.parametrize(("allowed", "copied"), [("true", ["01"]), ("false", [])])
def test_late_data_is_copied_until_the_cut_off_unless_the_feed_does_not_allow_it(
    copying: Replication, allowed: str, copied: list[str]
) -> None:
    arrival = "availability_flag: _SUCCESS\nlate_arrival: {cut_off: hours(1)}"
    expecting = replace(copying, more=f"{arrival}\nproperties: {{feed.late.allowed: {allowed}}}")
    assert expecting.run()[0] == 0
    for number in (0, 1):  # at the nominal time the cut-off of the first is over, and that of the second has just come
        (copying.directory / f"from/clicks/2026-03-01-0{number}/late").write_text("late")
    assert expecting.run()[0] == 0
    assert [name.split("/")[1][-2:] for name in expecting.target.files() if name.endswith("/late")] == copied


def test_a_limit_refuses_all_and_its_digest_lifts_it_once(copying: Replication) -> None:
    limited = replace(copying, settings="max_copy: {instances: 2}")
    code, result = limited.run()
    assert (code, limited.target.files()) == (3, {})
    assert "max_copy.instances in repo.yaml allows 2" in result["error"]["message"]
    assert limited.run("--approve", result["plan_digest"])[0] == 0
    limited = replace(copying, settings="max_copy: {bytes: 10}")
    (copying.directory / "from/clicks/2026-03-01-00/part-0").write_text("more than ten")
    assert limited.run("--start", KEYS[0])[0] == 3


def test_a_held_feed_gets_nothing_replaced(copying: Replication) -> None:
    (copying.directory / "to/clicks").mkdir()
    (copying.directory / "to/clicks/.feedctl-hold").write_text("audit")
    code, result = copying.run()
    assert {item["code"] for item in result["items"]} == {"held"}
    assert copying.target.files() == {}
    assert code == 0  # as of an eviction: what is on hold was left on purpose


_BUCKET = End(uri="s3a://bucket/copies")
_INCOMPLETE = "availability_flag: _SUCCESS\nproperties: {ignoreErrors: true, publishIncomplete: true}"


@pytest.mark.parametrize(
    ("changes", "arguments", "message"),
    [
        ({}, ["--target", "nowhere"], "nowhere"),
        ({}, ["--target", "primary"], "does not have primary as a target; it has: backup"),
        ({}, ["--source", "backup"], "does not have backup as a source; it has: primary"),
        ({}, ["--end", KEYS[0]], "stands alone; add --start"),
        ({"target": _BUCKET, "more": _INCOMPLETE}, [], "file by file, so that it is never published incomplete"),
        ({"more": "properties: {feed.late.policy: final}"}, [], "looks again until the late cut-off"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_touched(
    copying: Replication,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, object],
    arguments: list[str],
    message: str,
) -> None:
    code, _ = replace(copying, **changes).run(*arguments)  # type: ignore[arg-type]
    assert code == 2
    assert message in capsys.readouterr().err
    assert copying.target.files(hidden=True) == {}


def test_permissions_and_times_are_kept_when_the_feed_asks(copying: Replication) -> None:
    keeps = replace(
        copying, more="availability_flag: _SUCCESS\nproperties: {preservePermission: true, preserveTimes: true}"
    )
    source = copying.directory / "from/clicks/2026-03-01-00/part-0"
    source.chmod(0o640)
    os.utime(source, (1_700_000_000, 1_700_000_000))
    assert keeps.run()[0] == 0
    found = (copying.directory / "to/clicks/2026-03-01-00/part-0").stat()
    assert (found.st_mode & 0o777, found.st_mtime) == (0o640, 1_700_000_000)
    assert keeps.run("--start", KEYS[0])[1]["items"] == []


@pytest.mark.parametrize(
    ("order", "expected"), [("FIFO", KEYS), ("LIFO", KEYS), ("LAST_ONLY", KEYS[-1:])], ids=["fifo", "lifo", "last only"]
)
def test_the_order_of_the_feed_says_which_instances_are_copied(
    copying: Replication, order: str, expected: tuple[str, ...]
) -> None:
    ordered = replace(copying, more=f"availability_flag: _SUCCESS\nproperties: {{order: {order}}}")
    assert outcomes(ordered.run()[1]) == [(key, "done", None) for key in expected]
    if order == "LAST_ONLY":
        assert ordered.run()[1]["items"] == []
    runs = [each["run"]["id"] for each in ordered.run("--start", KEYS[0], "--end", "2026-03-02T00:00Z")[1]["instances"]]
    assert runs == sorted(runs, reverse=order == "LIFO")


def test_counters_are_in_the_result_when_the_feed_asks(copying: Replication) -> None:
    _, result = copying.run("--start", KEYS[0])
    assert "counters" not in result["instances"][0]
    counted = replace(copying, more="availability_flag: _SUCCESS\nproperties: {job.counter: true}")
    _, result = counted.run("--start", KEYS[1])
    counters = result["instances"][0]["counters"]
    assert (counters["COPY"], counters["BYTESCOPIED"]) == (3, sum(map(len, hour(1).values())))
    assert counters["TIMETAKEN"] >= 0


def test_a_repo_without_a_target_is_told_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = make_tiny_repo(tmp_path)
    assert run_app(replication.app, ["--all", "--config-repo", str(repo.path), "--time", NOMINAL]) == 2
    assert "no feed has a cluster with type: target" in capsys.readouterr().err


@pytest.mark.extended
def test_old_instances_that_the_source_never_had_are_not_waited_for_and_are_copied_once_they_are_there(
    copying: Replication,
) -> None:
    two_weeks_later, source = "2026-03-15T00:00Z", copying.sources["primary"]
    code, planned = copying.run("--dry-run", time=two_weeks_later)
    assert (code, {item["instance"] for item in planned["items"]}) == (75, {*KEYS, "2026-03-01T03:00Z"})
    code, result = copying.run(time=two_weeks_later)
    assert (code, [each[:2] for each in outcomes(result)]) == (
        75,
        [(key, "done") for key in (*KEYS, "2026-03-01T03:00Z")],
    )
    (note,) = [each["notes"] for each in result["instances"] if each["notes"]]
    what = "77 instances before 2026-03-04T09:00Z were never copied and are not on primary"
    assert note == [f"{what}: each is copied once it is there"]
    assert sum(each["waiting"] is not None for each in result["instances"]) == 256
    source.fill({f"clicks/2026-03-02-16/{name}": b"x" for name in ("part-0", "_SUCCESS")})
    _, result = copying.run(time=two_weeks_later)
    assert outcomes(result) == [("2026-03-02T16:00Z", "done", None)]
