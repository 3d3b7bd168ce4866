"""End of an action whose ledger does not answer: messages keep it from its end for no longer than receivers may."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from typing import Any

from tests.unit.notify.test_routing import made_repo
from toolkit.bootstrap.messages import END_SECONDS, Messages
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs.rows import RunKey
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.runs.recorder import RecordedRun, RunOutcome

KEY = RunKey(
    entity="clicks_hourly",
    cluster="primary",
    counterpart="",
    instance_key="2026-03-01T00:00Z",
    life_cycle=LifeCycle.EXECUTION,
)


class Noon:
    """A clock that stands still."""

    def now(self) -> datetime:
        return datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_ledger_that_does_not_answer_is_not_waited_for(ledger: Ledger) -> None:
    repository = made_repo(process="notification: {email: [a@example.com]}\n")
    messages: Messages[Any] = Messages(
        repository=repository, ledger=ledger, content=None, targets=(), clock=Noon(), variables={}
    )
    with ledger.transaction():
        messages.ended(RecordedRun(key=KEY), RunOutcome(status=RunStatus.FAILED))
        begun = time.monotonic()
        notes = messages.close()
        took = time.monotonic() - begun
    for thread in [each for each in threading.enumerate() if each.name == "feedctl-messages"]:
        thread.join(60)
    assert notes == ("it is unknown whether all messages were sent: the ledger did not answer in time",)
    assert took < END_SECONDS + 15
