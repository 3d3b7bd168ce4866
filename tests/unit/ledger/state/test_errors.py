"""State that stops a start says who set it, when, why, and what ends it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from toolkit.errors import Skipped
from toolkit.ledger.state.start_check import EntityIsSuspended, SafeModeIsOn

NOON = datetime(2026, 3, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(("reason", "reported"), [("upgrade", ": upgrade"), (None, "")])
def test_safe_mode_says_who_switched_it_on_when_and_why(reason: str | None, reported: str) -> None:
    error = SafeModeIsOn(reason=reason, changed_by="root", changed_at=NOON)
    expected = (
        f"safe mode is on, switched on by root at 2026-03-20T12:00:00Z{reported}; `feedctl admin safe-mode off` ends it"
    )
    assert str(error) == expected
    assert isinstance(error, Skipped)


@pytest.mark.parametrize(("cluster", "where"), [("primary", "on primary"), ("", "on every cluster")])
def test_a_suspension_says_where_who_since_when_and_why(cluster: str, where: str) -> None:
    error = EntityIsSuspended(entity="clicks", cluster=cluster, reason="bad data", changed_by="bob", changed_at=NOON)
    assert str(error) == (
        f"clicks is suspended {where} by bob since 2026-03-20T12:00:00Z: bad data; `feedctl entity resume clicks` lets "
        "it run"
    )
    assert isinstance(error, Skipped)
