"""Delivery of mails to a real server: senders that are killed, a server that is down for an hour, many mails."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import sqlalchemy as sa

from tests.contract.ledger.test_delivery import put
from tests.databases.ledgers import HandClock, open_ledger
from tests.e2e.commands import ROOT
from tests.integration.delivering import mail_delivery
from tests.testbed.smtp import MailServer, mail_server
from tests.testbed.waiting import becomes_true
from toolkit.ledger import outbox
from toolkit.ledger.database import Ledger
from toolkit.ledger.outbox import OutboxState
from toolkit.notify.delivery import PAUSES

pytestmark = pytest.mark.timeout(0)

_A_ROUND, _LONGEST_SECONDS = 20, 0.15
TO = "a@example.com"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[MailServer]:
    """A mail server of the test's own."""
    with mail_server(tmp_path / "smtp") as found:
        yield found


def arrived(server: MailServer) -> list[int]:
    """Return the numbers of the mails in the order of their arrival."""
    return [int(str(each["Message-ID"]).partition("@")[0].removeprefix("<m")) for each in server.mails]


def killed_rounds(ledger_url: sa.URL, server: MailServer, tmp_path: Path, rounds: int) -> tuple[int, int]:
    """Kill a sender in each round; return how many were killed at work, and how many mails came twice."""
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    chance = Random(seed)  # noqa: S311 - no secret
    ledger, ready = open_ledger(ledger_url), tmp_path / "ready"
    url = ledger_url.render_as_string(hide_password=False)
    command = [sys.executable, "-m", "tests.integration.delivering", url, str(server.port), str(ready)]
    killed = 0
    put(ledger, *range(-_A_ROUND, 0), recipient=TO)
    assert subprocess.run([*command, "7"], cwd=ROOT, check=False).returncode == -signal.SIGKILL
    assert len(arrived(server)) == 7, "the first sender dies in the middle, whatever the chances"
    for number in range(rounds):
        put(ledger, *range(number * _A_ROUND, (number + 1) * _A_ROUND), recipient=TO)
        ready.unlink(missing_ok=True)
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        assert becomes_true(ready.exists, seconds=120)
        time.sleep(chance.random() * _LONGEST_SECONDS)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert mail_delivery(ledger, server.port).run().failures == {}
    ledger.close()
    numbers = arrived(server)
    assert set(numbers) == set(range(-_A_ROUND, rounds * _A_ROUND))
    first = list(dict.fromkeys(numbers))
    assert first == sorted(first), "in their order, doubles left out"
    bodies = Counter((each["Message-ID"], each["Subject"]) for each in server.mails)
    assert len(bodies) == (rounds + 1) * _A_ROUND, "a double has the same id and says the same"
    assert max(bodies.values()) <= 2 + killed
    return killed, len(numbers) - len(first)


@pytest.mark.extended
def test_a_sender_that_is_killed_loses_nothing(sqlite_ledger_url: sa.URL, server: MailServer, tmp_path: Path) -> None:
    killed_rounds(sqlite_ledger_url, server, tmp_path, 5)


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.both_databases
def test_senders_that_are_killed_a_hundred_times_lose_nothing(
    ledger_url: sa.URL, server: MailServer, tmp_path: Path
) -> None:
    killed, doubles = killed_rounds(ledger_url, server, tmp_path, 100)
    print(f"{killed} of 100 killed at work, {doubles} doubles")  # noqa: T201 - for who runs it
    assert killed > 10


def test_mails_of_an_hour_in_which_the_server_is_down_arrive_later_in_their_order(
    sqlite_ledger: Ledger, server: MailServer
) -> None:
    clock = HandClock()
    ledger = replace(sqlite_ledger, clock=clock)
    delivery = replace(mail_delivery(ledger, server.port), pauses=PAUSES)
    server.stop()
    tries = 0
    for minute in range(60):
        put(ledger, 2 * minute, 2 * minute + 1, recipient=TO)
        tries += bool(delivery.run().failures)
        clock.forward(60)
    assert 10 <= tries < 30, "a channel that is down is tried less and less"
    server.start()
    clock.forward(PAUSES[-1])
    report = delivery.run()
    assert (report.sent, report.failures) == (120, {})
    assert arrived(server) == list(range(120))


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.extended)])
def test_many_mails_go_over_one_connection(sqlite_ledger: Ledger, server: MailServer, count: int) -> None:
    put(sqlite_ledger, *range(count), recipient=TO)
    begun = time.monotonic()
    assert mail_delivery(sqlite_ledger, server.port).run().sent == count
    print(f"{count:,} mails in {time.monotonic() - begun:.2f} s")  # noqa: T201 - a figure for people
    assert len({each["peer"] for each in server.envelopes}) == 1
    assert arrived(server) == list(range(count))
    assert sqlite_ledger.read(lambda tx: outbox.listed(tx, [OutboxState.WAITING])) == []
