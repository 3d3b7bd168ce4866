"""The crontab of the how-to guide does what the guide says, in the environment that cron gives."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.e2e.commands import BIN, ROOT
from tests.e2e.retention_process import Repo

LOG = "/var/log/feedctl/retention.log"


def _crontab() -> tuple[dict[str, str], str]:
    """The variables and the command of the one entry, as cron hands it to the shell."""
    page = ROOT / "docs" / "how-to" / "schedule-actions.md"
    block = re.search(r"```crontab\n(.*?)```", page.read_text(), re.DOTALL)
    assert block is not None
    *settings, entry = block[1].splitlines()
    schedule, command = re.fullmatch(r"((?:\S+ ){5})(.*)", entry).groups()  # type: ignore[union-attr]
    assert len(schedule.split()) == 5
    assert not re.search(r"(?<!\\)%", command), "cron would end the command here"
    return dict(each.split("=", 1) for each in settings), command.replace(r"\%", "%")


def _cron(repo: Repo, java_home: Path) -> subprocess.CompletedProcess[str]:
    """The entry by sh, with nothing in the environment but what cron and the crontab set, and this machine's places."""
    settings, command = _crontab()
    here = {"/srv/feeds": str(repo.path), LOG: str(repo.path.parent / "retention.log")}
    for theirs, ours in here.items():
        assert theirs in command
        command = command.replace(theirs, ours)
    own = {**settings, "PATH": f"{BIN}:{settings['PATH']}", "JAVA_HOME": str(java_home)}
    known = {"HOME": str(repo.path.parent), "LOGNAME": "etl", "SHELL": "/bin/sh", "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(
        ["/bin/sh", "-c", command],
        env={**known, **own},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.make(tmp_path, repo_yaml="name: cron\nenvironments: [prod]\nmax_delete: {instances: 2}\n")
    made.write("environments/prod.yaml", "description: all clusters\n")
    made.fill("2026/03/01", 2)
    return made


@pytest.mark.extended
@pytest.mark.slow
def test_the_crontab_of_the_guide_evicts_in_silence_and_mails_a_refusal(repo: Repo, java_home: Path) -> None:
    log = repo.path.parent / "retention.log"
    first = _cron(repo, java_home)
    assert (first.returncode, first.stdout, first.stderr) == (0, "", "")
    assert not (repo.data / "clicks" / "2026" / "03" / "01").exists()
    assert "status: succeeded" in log.read_text()
    repo.fill("2026/03/02", 3)
    mailed = _cron(repo, java_home)
    assert mailed.stdout.startswith("retention: exit code 3\n")
    assert "max_delete.instances in repo.yaml allows 2" in mailed.stdout
    assert "status: succeeded" in log.read_text(), "the log of earlier runs is kept"
    assert (repo.data / "clicks" / "2026" / "03" / "02" / "00" / "02").exists()


def test_the_nominal_time_of_the_crontab_is_an_instant_of_this_hour() -> None:
    _, command = _crontab()
    expression = re.search(r'--time ("\$\(.*?\)")', command)
    assert expression is not None
    printed = subprocess.run(
        ["/bin/sh", "-c", f"printf %s {expression[1]}"],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:00Z", printed.stdout)
