"""The first slice from end to end: `spark-submit entrypoints/retention.py` on local files."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.e2e.in_process import run_here
from tests.e2e.retention_process import ENTRYPOINT, Repo, command, environment, outcomes, submit

pytestmark = pytest.mark.slow


def test_plan_run_and_a_second_run_that_finds_nothing(
    tmp_path: Path, java_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = Repo.make(tmp_path)
    repo.fill("2026/03/01", 3)
    repo.fill("2026/03/19", 2)
    before = repo.tree()
    options = ("--feed", "clicks", "--output", "json")

    assert run_here(repo, *options, "--dry-run") == 0
    plan = capsys.readouterr().out
    assert outcomes(plan) == ["planned"] * 3
    assert repo.tree() == before

    run = submit(java_home, repo, *options, "--result-file", str(tmp_path / "result.json"))
    assert (run.returncode, outcomes(run.stdout)) == (0, ["done"] * 3), run.stderr
    assert json.loads(run.stdout)["plan_digest"] == json.loads(plan)["plan_digest"]
    assert json.loads((tmp_path / "result.json").read_text()) == json.loads(run.stdout)
    assert repo.tree() == [each for each in before if "03/01" not in each]

    assert run_here(repo, *options) == 0
    assert outcomes(capsys.readouterr().out) == []


@pytest.mark.extended
def test_exit_code_and_json_come_through_and_messages_go_to_standard_error(tmp_path: Path, java_home: Path) -> None:
    repo = Repo.make(tmp_path, repo_yaml="name: e2e\nmax_delete: {instances: 2}\n")
    repo.fill("2026/03/01", 3)
    before = repo.tree()
    run = submit(java_home, repo, "--feed", "clicks", "--output", "json")
    assert run.returncode == 3, run.stderr
    result = json.loads(run.stdout)
    assert (result["status"], result["exit_code"]) == ("refused", 3)
    assert "max_delete.instances in repo.yaml allows 2" in run.stderr
    assert repo.tree() == before

    approved = submit(java_home, repo, "--feed", "clicks", "--approve", result["plan_digest"])
    assert approved.returncode == 0, approved.stderr
    assert repo.tree() == ["clicks"]


@pytest.mark.extended
def test_a_log_that_several_write_keeps_every_word(tmp_path: Path, java_home: Path) -> None:
    """`>` gives one open file to the shell, the JVM and what comes after it: each goes on where the last one ended."""
    repo, log = Repo.make(tmp_path), tmp_path / "z.log"
    spark_submit = shlex.join(command(repo, "--feed", "nope"))
    script = f"(echo before >&2; {spark_submit}; echo rc=$? >&2) >{log} 2>&1"
    subprocess.run(["sh", "-c", script], env=environment(java_home), check=True, timeout=60)
    lines = log.read_text().splitlines()
    assert (lines[0], lines[-1]) == ("before", "rc=2")
    assert "feedctl: the config repo has no feed named 'nope'; known: clicks" in lines


@pytest.mark.extended
def test_with_the_shipped_log_settings_a_run_that_goes_well_says_nothing_of_spark(
    tmp_path: Path, java_home: Path
) -> None:
    """Java's line about incubator modules is printed before anything is read that could turn it off."""
    repo = Repo.make(tmp_path)
    program, *rest = command(repo, "--feed", "clicks", "--quiet")
    settings = f"-Dlog4j2.configurationFile={ENTRYPOINT.with_name('log4j2.properties').as_uri()}"
    known = environment(java_home)
    del known["SPARK_LOCAL_IP"]
    done = subprocess.run(
        [program, "--driver-java-options", settings, *rest],
        env=known,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    output = [line for line in done.stderr.splitlines() if not line.startswith("WARNING: Using incubator modules")]
    assert (done.stdout, output) == ("", [])


def test_a_bad_entity_is_one_clear_message_and_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = Repo.make(tmp_path, {"clicks": "{limt: days(10)}"})
    assert run_here(repo, "--feed", "clicks") == 2
    err = capsys.readouterr().err
    assert "feeds/clicks.yaml:10:17: unknown-key" in err
    assert "Traceback" not in err
