"""`feedctl instance params` on the config repo of the template."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from tests.unit.cli.running import Feedctl

pytestmark = pytest.mark.usefixtures("repo")

JOB, TIME = "clicks_hourly_job", ("--time", "2026-03-20T03:00Z")


def reported(feedctl: Feedctl, *arguments: str) -> dict[str, str]:
    """The properties on the only cluster that the environment may act on."""
    (instance,) = feedctl("instance", "params", *arguments, "--output", "json").document["instances"]
    found: dict[str, str] = instance["properties"]
    return found


def test_the_paths_and_properties_of_an_instance_are_shown_without_a_ledger(feedctl: Feedctl) -> None:
    found = reported(feedctl, JOB, *TIME)
    root = found["nameNode"].removeprefix("file://")
    wanted = {
        "clicks": f"{root}/data/clicks/2026/03/20/02/*/*",
        "counts": f"{root}/data/clicks_hourly/2026-03-20/.feedctl-staging/02",  # validated before it is published
        "feedInstancePaths": f"{root}/data/clicks_hourly/2026-03-20/.feedctl-staging/02",
        "nominalTime": "2026-03-20T03:00Z",
        "threshold": "10",
    }
    assert wanted.items() <= found.items()


def test_a_person_gets_a_table_and_is_told_what_is_assumed(feedctl: Feedctl) -> None:
    ran = feedctl("instance", "params", "customer_activity_job", "--time", "2026-03-20T04:00Z")
    assert ran.code == 0
    assert "feedNames" in ran.out
    assert "customers counts the instances that are there" in ran.err
    assert feedctl("instance", "params", JOB, *TIME).err == ""


def test_secrets_are_asterisks(feedctl: Feedctl, repo: Path, tmp_path: Path) -> None:
    own = copytree(repo, tmp_path / "repo")
    process = next(own.rglob("clicks_hourly_job.yaml"))
    secret = 'properties: {threshold: "10", crm.password: hunter2, url: "jdbc:x://etl:hunter2@crm/db"}'
    process.write_text(process.read_text().replace('properties: {threshold: "10"}', secret))
    found = reported(feedctl, JOB, *TIME, "--config-repo", str(own))
    assert found["crm.password"] == "*" * len("hunter2")
    assert "hunter2" not in str(found)
    assert "hunter2" not in feedctl("instance", "params", JOB, *TIME, "--config-repo", str(own)).out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((JOB, "--time", "2026-03-20T03:30Z"), "expected an instance of hours(1)"),
        (("clicks", *TIME), "clicks"),
        ((JOB, *TIME, "--cluster", "backup"), "backup"),
        ((JOB,), "Missing option '--time'"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(feedctl: Feedctl, arguments: tuple[str, ...], message: str) -> None:
    ran = feedctl("instance", "params", *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err
