from __future__ import annotations

import pytest

from tests.unit.entities.config_repo import PROCESS, repository


@pytest.mark.parametrize(
    ("frequency", "timeout"),
    [
        ("minutes(1)", "minutes(30)"),
        ("minutes(4)", "minutes(30)"),
        ("minutes(5)", "minutes(30)"),
        ("minutes(6)", "minutes(36)"),
        ("hours(1)", "hours(6)"),
        ("days(1)", "days(6)"),
        ("months(1)", "months(6)"),
    ],
)
def test_a_process_waits_six_times_its_frequency_and_at_least_half_an_hour(frequency: str, timeout: str) -> None:
    """Falcon entity specification, Timeout."""
    repo = repository({"processes/clicks_hourly.yaml": PROCESS.replace("hours(1)", frequency)})
    assert str(repo.process("clicks_hourly").effective_timeout) == timeout


def test_a_timeout_of_its_own_wins_however_short() -> None:
    repo = repository({"processes/clicks_hourly.yaml": PROCESS + "timeout: minutes(1)\n"})
    assert str(repo.process("clicks_hourly").effective_timeout) == "minutes(1)"
