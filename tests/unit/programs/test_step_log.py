"""Places of the logs of steps, and how they are read while they grow."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.programs.step_log import (
    NoLogName,
    NoPlaceForLogs,
    StepLog,
    StepRunName,
    last_line,
    log_directory,
    mark_of,
    step_log,
)

RUN = StepRunName(
    ledger="5" * 32,
    process="clicks_hourly_job",
    cluster="primary",
    instance_key="2026-03-01T06:40Z",
    run_id=2,
    step="count",
)


def test_each_step_of_a_run_has_a_log_of_its_own() -> None:
    base = Path("/var/log/feedctl")
    own = f"{'5' * 32}/clicks_hourly_job/primary/2026-03-01T06:40Z/2/count.log"
    assert step_log(base, RUN) == base / own
    assert mark_of(step_log(base, RUN)) == own


@pytest.mark.parametrize("name", ["", "..", ".", "a/b", "/etc", "a\0b"])
@pytest.mark.parametrize("part", ["process", "cluster", "instance_key", "step", "ledger"])
def test_no_part_of_its_path_leads_elsewhere(part: str, name: str) -> None:
    with pytest.raises(NoLogName, match="expected a name without a slash"):
        step_log(Path("/var/log/feedctl"), StepRunName(**{**RUN._asdict(), part: name}))


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"FEEDCTL_LOG_DIR": "/logs", "HOME": "/home/etl"}, "/logs"),
        ({"XDG_STATE_HOME": "/state", "HOME": "/home/etl"}, "/state/feedctl/logs"),
        ({"HOME": "/home/etl"}, "/home/etl/.local/state/feedctl/logs"),
    ],
)
def test_logs_are_where_the_environment_says(environment: dict[str, str], place: str) -> None:
    assert log_directory(environment) == Path(place)


def test_without_a_place_for_logs_the_variable_is_named() -> None:
    with pytest.raises(NoPlaceForLogs, match="FEEDCTL_LOG_DIR"):
        log_directory({})


def test_a_growing_log_is_read_on_through_its_pieces(tmp_path: Path) -> None:
    path = tmp_path / "count.log"
    log = StepLog(path)
    assert list(log.new_text()) == [], "it has not begun"

    path.write_bytes("one ü".encode()[:-1])
    first = "".join(log.new_text())
    path.write_bytes("one ü\n".encode())
    second = "".join(log.new_text())
    (tmp_path / "count.log.1").write_text("two\n")
    (tmp_path / "count.log.10").write_text("three\n")
    third = "".join(log.new_text())

    assert (first + second, third) == ("one ü\n", "two\n\nfeedctl: 8 pieces of the log were dropped here\nthree\n")
    assert list(log.new_text()) == []


def test_the_last_line_is_that_of_the_newest_piece(tmp_path: Path) -> None:
    path = tmp_path / "count.log"
    assert last_line(path) == ""
    path.write_text("one\n")
    (tmp_path / "count.log.2").write_text("x" * 10_000 + "\nthree\n \n")
    (tmp_path / "count.log.properties.json").write_text("{}")

    assert last_line(path) == "three"
