"""Who runs something."""

from __future__ import annotations

import os
import pwd
import socket

import pytest

from toolkit import __version__
from toolkit.runs.recorder import application_id, current_user, origin_here


def test_the_user_is_the_one_whose_rights_the_process_has() -> None:
    assert current_user() == pwd.getpwuid(os.geteuid()).pw_name


def test_a_process_says_where_it_runs_and_what_it_is_made_of() -> None:
    origin = origin_here({"FEEDCTL_LOG": "/var/log/r.log"}, snapshot="commit abc", digest="sha256:1")
    assert (origin.who, origin.host, origin.pid) == (current_user(), socket.gethostname(), os.getpid())
    assert (origin.snapshot, origin.digest, origin.log_location) == ("commit abc", "sha256:1", "/var/log/r.log")
    assert origin.versions is not None
    assert origin.versions.startswith(f"feedctl {__version__}, Python 3.")
    assert ", tzdata 20" in origin.versions


def test_what_nobody_said_is_not_known() -> None:
    assert (origin_here({}).log_location, origin_here({"FEEDCTL_LOG": ""}).log_location) == (None, None)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"SPARK_APPLICATION_ID": "spark-7"}, "spark-7"),
        ({"CONTAINER_ID": "container_1700000000000_0012_01_000001"}, "application_1700000000000_0012"),
        ({"CONTAINER_ID": "container_e17_1700000000000_0012_02_000001"}, "application_1700000000000_0012"),
        ({"CONTAINER_ID": "something else"}, None),
    ],
)
def test_the_application_is_known_as_far_as_the_environment_says_it(
    environment: dict[str, str], expected: str | None
) -> None:
    assert application_id(environment) == expected
