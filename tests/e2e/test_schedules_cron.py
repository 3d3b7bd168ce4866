"""Debian's own crontab takes what `feedctl export cron` writes, and its cron starts what stands in it.

Both run in a mount namespace of their own, so that the crontab of whoever runs the tests is never touched.
"""

from __future__ import annotations

import calendar
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.commands import ROOT
from toolkit.cli.main import main

PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
PAM = "auth required pam_permit.so\naccount required pam_permit.so\nsession required pam_permit.so\n"
PREPARED = """\
set -e
mount -t tmpfs none /var/spool && mkdir -p /var/spool/cron/crontabs
mount -t tmpfs none /run
cp -r /etc/pam.d "$1/pam.d" && cp "$1/pam" "$1/pam.d/cron" && mount --bind "$1/pam.d" /etc/pam.d
crontab "$1/crontab" && crontab -l >"$1/listed"
"""
MOST_SECONDS = 90
HOSTILE = ["a b", "$(id)", "50%", "it's", '"', "`id`", "; id", "é", "--conf", "spark.x=1"]


def _missing() -> str:
    """Return what this machine lacks; empty: nothing."""
    lacking = [name for name in ("cron", "crontab", "unshare") if shutil.which(name, path=PATH) is None]
    if lacking:
        return f"no {', '.join(lacking)} on this machine (Debian: apt-get install cron)"
    may = os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], check=False)
    return "" if may and may.returncode == 0 else "only root may make a mount namespace"


pytestmark = [pytest.mark.extended, pytest.mark.skipif(_missing() != "", reason=_missing())]


def exported(folder: Path, section: str, process: str = "") -> str:
    """The crontab of the template's environment prod with another `schedules`, written into the folder."""
    repo = folder / "repo"
    shutil.copytree(ROOT / "config_repo_template", repo)
    (repo / "environments" / "prod.yaml").write_text(f"clusters: [primary, backup]\nschedules:\n{section}")
    if process:
        (repo / "processes" / "minutely.yaml").write_text(process)
    crontab = folder / "crontab"
    assert main(["export", "cron", "--config-repo", str(repo), "--env", "prod", "--into", str(crontab)]) == 0
    (folder / "pam").write_text(PAM)
    return crontab.read_text()


@contextmanager
def in_namespace(folder: Path, then: str) -> Iterator[subprocess.Popen[str]]:
    """A shell in which the crontab is root's; it ends with the test."""
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", PREPARED + then, "sh", str(folder)]
    with subprocess.Popen(
        command, env={"PATH": PATH}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_crontab_takes_what_is_written_and_keeps_it_as_it_is(tmp_path: Path) -> None:
    options = ", ".join("'" + each.replace("'", "''") + "'" for each in HOSTILE)
    section = f"  entrypoints: /opt/entrypoints\n  config_repo: /srv/feeds\n  options: [{options}]\n"
    text = exported(tmp_path, section + "  log_directory: /var/log/feedctl\n  cron_timezone: Europe/Berlin\n")
    with in_namespace(tmp_path, "true") as process:
        output, _ = process.communicate(timeout=MOST_SECONDS)
    assert (process.returncode, output) == (0, "")
    assert (tmp_path / "listed").read_text() == text


@pytest.mark.slow
def test_cron_starts_an_action_with_its_arguments_and_the_minute_as_nominal_time(tmp_path: Path) -> None:
    stub, reported = tmp_path / "spark-submit", tmp_path / "told"
    stub.write_text(
        f"#!/bin/sh\nfor each; do printf '%s\\n' \"$each\"; done >>{reported}.new && mv {reported}.new {reported}\n"
    )
    stub.chmod(0o755)
    options = ", ".join("'" + each.replace("'", "''") + "'" for each in HOSTILE)
    section = f"  entrypoints: /opt/entrypoints\n  config_repo: /srv/feeds\n  options: [{options}]\n"
    section += f"  spark_submit: {stub}\n  feedctl: /bin/true\n  look_again: days(1)\n"
    minutely = (ROOT / "config_repo_template" / "processes" / "clicks_hourly_job.yaml").read_text()
    process = minutely.replace("clicks_hourly_job", "minutely").replace("hours(1)", "minutes(1)").split("inputs:")[0]
    exported(tmp_path, section, process + "workflow: {engine: command, path: workflows/check_shown.sh}\n")
    with in_namespace(tmp_path, "exec cron -f"):
        for _ in range(MOST_SECONDS):
            if reported.exists():
                break
            time.sleep(1)
    *arguments, option, nominal = reported.read_text().splitlines()
    assert arguments[: len(HOSTILE)] == HOSTILE
    assert arguments[len(HOSTILE) :] == [
        *("/opt/entrypoints/process.py", "--process", "minutely", "--cluster", "primary", "--due"),
        *("--config-repo", "/srv/feeds", "--env", "prod"),
    ]
    assert option == "--time"
    assert abs(time.time() - calendar.timegm(time.strptime(nominal, "%Y-%m-%dT%H:%MZ"))) < 2 * MOST_SECONDS
