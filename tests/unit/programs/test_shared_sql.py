"""Tests of who shares a Spark application, by a program that answers as one does and runs no SQL."""

from __future__ import annotations

import tempfile
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from tests.unit.programs.shared_site import SharedSite, opened_site
from toolkit.entities import Credential, SparkAttributes, SparkSessionUse, Workflow
from toolkit.programs import shared_sql
from toolkit.programs.left_over import processes_of
from toolkit.programs.step_log import noted_session
from toolkit.runs.errors import Stopped


@pytest.fixture
def site(tmp_path: Path) -> Iterator[SharedSite]:
    with opened_site(tmp_path) as found:
        yield found


def workflow(**spark: object) -> Workflow:
    return Workflow(spark=SparkAttributes(**spark))  # type: ignore[arg-type]  # the fields' own names


def test_steps_of_a_process_share_an_application_whatever_their_properties(site: SharedSite) -> None:
    first, second = site.ran(), site.ran(properties={"clicks": "/data"})
    assert first == second
    assert first is not None
    assert site.own.ran == []
    with ThreadPoolExecutor(3) as pool:
        assert set(pool.map(lambda _: site.ran(), range(6))) == {first}


def test_another_process_setting_or_secret_is_another_application(site: SharedSite) -> None:
    (site.directory / "pw").write_text("geheim")
    secret = Workflow(secrets={"PW": Credential(file=str(site.directory / "pw"))})
    found = [
        site.ran(),
        site.ran(process="other"),
        site.ran(workflow=workflow(conf={"spark.executor.cores": 2})),
        site.ran(properties={"queueName": "etl"}),
        site.ran(workflow=secret),
    ]
    (site.directory / "pw").write_text("another")
    assert len({*found, site.ran(workflow=secret)}) == 6


def test_processes_of_a_group_share_an_application_and_each_step_notes_whose_it_is(site: SharedSite) -> None:
    first = site.ran(process="a", session_owner="a")
    assert [site.ran(process=name, session_owner="a") for name in ("b", "c")] == [first, first]
    (ours,) = site.hosts
    call = site.call("hang", process="b", session_owner="a")
    seen: list[Path | None] = []

    def check() -> None:
        if call.log.exists() and "ran hang" in call.log.read_text():
            seen.append(noted_session(call.log))
            raise Stopped(reason="received SIGTERM")

    with pytest.raises(Stopped):
        site.run(call, check)
    assert (seen, ours.parents[3].name) == ([ours], "a")
    assert first not in {site.ran(process="b"), site.ran(process="b", session_owner="c")}


@pytest.mark.parametrize(
    "spark",
    [
        {"session": SparkSessionUse.OWN},
        {"mode": "cluster"},
        {"conf": {"spark.submit.deployMode": "cluster"}},
        {"options": ("--deploy-mode", "cluster")},
    ],
)
def test_a_step_that_wants_its_own_or_runs_on_the_cluster_shares_none(
    site: SharedSite, spark: dict[str, object]
) -> None:
    assert site.ran(workflow=workflow(**spark)) == "own"
    assert site.hosts == []


def test_what_changes_all_sessions_of_a_metastore_runs_alone(site: SharedSite) -> None:
    hive = {**site.call("").environment, "CATALOG": "hive"}
    assert site.ran("CREATE /* x */ GLOBAL TEMPORARY VIEW v AS SELECT 1", environment=hive) == "own"
    assert site.ran("add jar '/x.jar'", environment=hive) == "own"
    assert site.ran("ALTER TABLE t ADD PARTITION (ds = 1)", environment=hive) != "own"
    assert site.ran("CACHE TABLE t") != "own"


def test_what_a_step_says_is_in_its_own_log_without_secrets(site: SharedSite) -> None:
    (site.directory / "pw").write_text("geheim")
    secret = Workflow(secrets={"PW": Credential(file=str(site.directory / "pw"))})
    call = site.call("fail with geheim", workflow=secret)
    end = site.run(call)
    assert (end.message, end.may_retry) == ("failed: fail with ***", None)
    assert call.log.read_text().splitlines()[1:] == ["ran fail with ***"]
    assert str(site.hosts[0]) in call.log.read_text()


def test_a_stopped_step_is_cancelled_and_the_application_stays(site: SharedSite) -> None:
    application, call = site.ran(), site.call("hang")

    def check() -> None:
        if call.log.exists() and "ran hang" in call.log.read_text():
            assert noted_session(call.log) == site.hosts[0]
            raise Stopped(reason="received SIGTERM")

    with pytest.raises(Stopped):
        site.run(call, check)
    assert noted_session(call.log) is None
    assert site.ran() == application


def test_an_application_that_ends_fails_its_steps_and_their_next_try_is_alone(site: SharedSite) -> None:
    first, beside = site.ran(), site.call("hang")
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(site.run, beside)
        while not (beside.log.exists() and "ran hang" in beside.log.read_text()):
            time.sleep(0.01)
        end = site.run(site.call("die"))
        lost = other.result()
    for each in (end, lost):
        assert (each.succeeded, each.may_retry, each.application) == (False, None, first)
        assert "its shared Spark application ended with exit code 7" in each.message
    assert not any(processes_of(each) for each in site.hosts)
    again = replace(beside, log=beside.log.parent.parent / "2" / "count.log")
    assert site.run(again).application == "own"
    assert site.ran() not in {first, "own"}


def test_an_application_that_has_to_go_takes_no_further_step(site: SharedSite) -> None:
    first = site.ran("retire")
    assert site.ran() != first


def test_applications_without_a_step_do_not_pile_up(site: SharedSite) -> None:
    for number in range(5):
        site.ran(process=f"p{number}")
    deadline = time.monotonic() + 120
    while sum(bool(processes_of(each)) for each in site.hosts) > 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_an_application_that_does_not_start_fails_the_step_and_names_its_log(site: SharedSite) -> None:
    call = site.call("one")
    end = site.run(replace(call, environment={**call.environment, "NO_START": "1"}))
    assert end.exit_code == 3
    assert "its shared Spark application did not start: ended with exit code 3" in end.message
    assert str(site.hosts[0]) in end.message


def test_an_application_that_reads_nothing_any_more_is_ended_with_the_step(
    site: SharedSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_sql, "_LOOK_SECONDS", 0.001)
    monkeypatch.setattr(shared_sql, "_DEAF_SECONDS", 0.5)
    end = site.run(site.call("freeze"))
    assert (end.succeeded, end.may_retry) == (False, None)
    assert "its shared Spark application did not answer and was ended" in end.message
    assert not processes_of(site.hosts[0])


def test_the_path_of_the_socket_is_short_where_that_of_temporary_files_is_long(
    site: SharedSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = site.directory / ("x" * 100)
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    assert site.ran() not in {None, "own"}


def test_a_step_runs_alone_where_there_is_no_place_for_a_socket(
    site: SharedSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A short path: a long one is not used at all, whether it exists or not.
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    assert site.ran() == "own"


def test_an_application_starts_where_feedctl_is_a_zip_file(site: SharedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = site.directory / "feedctl.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        for name in ("session_host.py", "sql_runner.py"):
            opened.writestr(f"programs/{name}", (files("toolkit.programs") / name).read_bytes())
    monkeypatch.setattr(shared_sql, "files", lambda _package: zipfile.Path(archive, "programs/"))
    assert site.ran() not in {None, "own"}


def test_a_script_that_runs_a_program_or_sets_a_store_runs_alone(site: SharedSite) -> None:
    assert site.ran("SELECT TRANSFORM(a) USING /* b */ 'cat' FROM t") == "own"
    assert site.ran("SET fs.s3a.endpoint = x") == "own"
    assert site.ran("SELECT fs.a FROM t AS fs JOIN u USING (a) WHERE b = 'c'") != "own"


def test_a_script_that_cannot_be_read_or_filled_fails_before_anything_starts(site: SharedSite) -> None:
    end = site.run(site.call("SELECT '${unknown}'"))
    assert (end.exit_code, end.may_retry) == (None, False)
    assert site.hosts == []
