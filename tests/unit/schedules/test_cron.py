from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.schedules.schedules import SETTINGS, scheduled
from toolkit.schedules.cron import crontab_block, marks, with_block
from toolkit.schedules.errors import BrokenBlock, NotSayable

SCHEDULE = scheduled()
BEGIN, END = marks(SCHEDULE)
PRINTABLE = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="\\"), min_size=1)
HOSTILE = st.lists(st.sampled_from(["$(id)", "`id`", "%", "'", '"', ";id", "&", "|", "$HOME", "#", "!", "\u00e9"]))
ARGUMENTS = st.lists(PRINTABLE | HOSTILE.filter(bool).map(" ".join), min_size=1, max_size=4)


def entries(block: str) -> list[tuple[str, str]]:
    """The expression and the command of each entry, as cron hands it to the shell (crontab(5), the percent sign)."""
    found = []
    for line in block.splitlines():
        if not line.startswith("#"):
            *fields, command = line.split(" ", 5)
            assert not re.search(r"(?<!\\)%", command), "cron would end the command there"
            found.append((" ".join(fields), command.replace(r"\%", "%")))
    return found


def test_a_block_has_an_entry_for_each_action_between_its_marks() -> None:
    block = crontab_block(SCHEDULE)
    lines = block.splitlines()
    assert (lines[0], lines[-1], block[-1]) == (BEGIN, END, "\n")
    assert len(entries(block)) == len(SCHEDULE.actions)
    assert "# Made by `feedctl export cron --env prod` from the config repo: change that, and" in lines


def test_the_nominal_time_is_the_minute_in_which_the_line_was_started() -> None:
    command = dict(entries(crontab_block(SCHEDULE)))["0 * * * *"]
    words = shlex.split(subprocess.run(["/bin/sh", "-c", f"echo {command}"], capture_output=True, text=True).stdout)  # noqa: PLW1510
    assert words[-2] == "--time"
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\dZ", words[-1])


def test_the_watchdog_has_no_nominal_time() -> None:
    *_, (_, watchdog) = entries(crontab_block(SCHEDULE))
    assert watchdog == "feedctl status --stale --config-repo /srv/feeds --env prod"


def test_what_cron_cannot_say_and_what_its_clock_has_to_be_stand_in_the_file() -> None:
    block = crontab_block(scheduled(settings=replace(SETTINGS, cron_timezone="Europe/Berlin")))
    assert "# The clock of this machine has to be that of Europe/Berlin (schedules.cron_timezone)." in block
    assert "# It changes for daylight saving time: what is rarer than every hour is started every hour" in block
    assert block.count("# cron cannot say this: it fires more often, and the action finds what is due") == 1


@given(options=ARGUMENTS, place=PRINTABLE)
@settings(max_examples=25, deadline=None)
def test_no_text_becomes_shell(tmp_path_factory: pytest.TempPathFactory, options: list[str], place: str) -> None:
    folder = tmp_path_factory.mktemp("cron")
    stub = folder / "spark submit"
    stub.write_text("#!/bin/sh\nfor each; do printf '%s\\0' \"$each\"; done\n")
    stub.chmod(0o755)
    own = replace(SETTINGS, spark_submit=str(stub), options=tuple(options), config_repo=place, working_directory="/")
    schedule = scheduled(settings=own)
    ran = subprocess.run(
        ["/bin/sh", "-c", entries(crontab_block(schedule))[0][1]],
        capture_output=True,
        check=True,
        env={"PATH": "/usr/bin:/bin"},
    )
    *reported, time, at, end = ran.stdout.decode().split("\0")
    assert (reported, time, end) == (list(schedule.actions[0].command[1:]), "--time", "")
    assert at.endswith("Z")
    assert ran.stderr == b""


@pytest.mark.parametrize(
    ("own", "why"),
    [
        ({"options": ("a\\b",)}, r"'a\\\\b', which has a backslash"),
        ({"options": ("a\nb",)}, r"'a\\nb', which is not printable"),
        ({"working_directory": "/a\\"}, "which has a backslash"),
        ({"log_directory": "/a\\"}, "which has a backslash"),
        ({"config_repo": "x" * 1000}, "a line of more than 990 bytes"),
    ],
)
def test_what_cron_would_change_is_refused(own: dict[str, object], why: str) -> None:
    with pytest.raises(NotSayable, match=f"cron cannot hold .*{why}"):
        crontab_block(scheduled(settings=replace(SETTINGS, **own)))  # type: ignore[arg-type]


def test_a_crontab_that_debians_would_not_take_is_refused() -> None:
    with pytest.raises(
        NotSayable, match=r"cron cannot hold a crontab of 10,0\d\d lines, where Debian's has 10,000 at most"
    ):
        with_block("# mine\n" * 9_999, SCHEDULE, "crontab")


@pytest.mark.parametrize(
    ("code", "mailed"), [(0, ""), (5, ""), (75, ""), (3, "process.clicks_hourly: exit code 3\nsaid\n")]
)
def test_with_a_log_directory_only_failures_are_mailed(tmp_path: Path, code: int, mailed: str) -> None:
    stub = tmp_path / "spark-submit"
    stub.write_text(f"#!/bin/sh\necho said\nexit {code}\n")
    stub.chmod(0o755)
    own = replace(SETTINGS, spark_submit=str(stub), log_directory=str(tmp_path))
    command = entries(crontab_block(scheduled(settings=own)))[0][1]
    ran = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == (mailed, "")
    assert (tmp_path / "primary.process.clicks_hourly.log").read_text() == "said\n"


def test_other_lines_of_a_crontab_stay_byte_for_byte() -> None:
    before, after = "MAILTO=a@b\n0 1 * * * mine\n", "\r\n5 5 * * * also mine"
    once = with_block(before, SCHEDULE, "crontab")
    assert once == before + crontab_block(SCHEDULE)
    assert with_block(once + after, SCHEDULE, "crontab") == once + after
    other = scheduled(settings=replace(SETTINGS, master="yarn"))
    assert with_block(once + after, other, "crontab") == before + crontab_block(other) + after


def test_a_last_line_without_an_end_gets_one() -> None:
    assert with_block("0 1 * * * mine", SCHEDULE, "crontab").startswith(f"0 1 * * * mine\n{BEGIN}\n")


@pytest.mark.parametrize(
    "crontab", [f"{BEGIN}\n", f"{END}\n", f"{END}\n{BEGIN}\n", f"{BEGIN}\n{BEGIN}\n{END}\n", f"{BEGIN}\n{END}\n{END}\n"]
)
def test_marks_out_of_order_are_refused(crontab: str) -> None:
    with pytest.raises(BrokenBlock, match=r"crontab: found . lines .*, expected one of each, in this order"):
        with_block(crontab, SCHEDULE, "crontab")
