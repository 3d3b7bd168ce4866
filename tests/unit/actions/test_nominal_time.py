"""A run that changes something never acts for the future."""

from __future__ import annotations

import pytest

from toolkit.actions.approval import FutureTime, refuse_future
from toolkit.el import parse_instant

NOW = parse_instant("2026-03-20T12:00Z").replace(second=30)


@pytest.mark.parametrize("time", ["2020-01-01T00:00Z", "2026-03-20T12:00Z", "2026-03-20T12:05Z"])
def test_the_past_and_five_minutes_of_the_future_will_do(time: str) -> None:
    refuse_future(parse_instant(time), NOW)


def test_six_minutes_ahead_are_refused() -> None:
    with pytest.raises(FutureTime, match="--time 2026-03-20T12:06Z is in the future: the clock says 2026-03-20T12:00Z"):
        refuse_future(parse_instant("2026-03-20T12:06Z"), NOW)
