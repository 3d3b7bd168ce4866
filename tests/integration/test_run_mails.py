"""Mails about the ends of runs of a process: to whom, when, what they say, and what a bad server costs."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.databases.port import reserved_port
from tests.integration.process_runs import KEYS, Runs
from tests.testbed.smtp import MailServer, mail_server
from toolkit.bootstrap import messages
from toolkit.notify import mail

RETRY = "retry: {policy: periodic, delay: minutes(10), attempts: 1}\n"


@pytest.fixture(autouse=True)
def _time_to_send(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give what is sent at the end of an action more than the two seconds that a busy machine may need."""
    monkeypatch.setattr(messages, "END_SECONDS", 60.0)
    monkeypatch.setattr(messages, "_LOOK_SECONDS", 20.0)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailServer]:
    """A mail server for all tests; each has an address of its own."""
    with mail_server(tmp_path_factory.mktemp("smtp")) as found:
        yield found


@dataclass(frozen=True, kw_only=True)
class Mailed:
    """A process whose ends are mailed."""

    runs: Runs
    to: str

    def write(self, port: int, *, level: str = "instance", fails: bool = False, more: str = "") -> None:
        """Write the repo."""
        scripts = {"count": "echo password=hunter2 >&2; exit 7"} if fails else None
        named = f"notification: {{email: [{self.to}], level: {level}}}\n"
        self.runs.write(scripts=scripts, more=named + more)
        settings = self.runs.directory / "repo/repo.yaml"
        mail = f"  mail: {{host: 127.0.0.1, port: {port}, tls: none, sender: feedctl@example.com}}\n"
        settings.write_text(f"{settings.read_text()}monitoring:\n{mail}")

    def mails(self, server: MailServer) -> list[tuple[str, str]]:
        """Return subject and text of the mails to this test's address."""
        found = [each for each in server.mails if each["To"] == self.to]
        texts = [each.get_body(("plain",)) for each in found]
        return [
            (str(each["Subject"]), "" if text is None else str(text)) for each, text in zip(found, texts, strict=True)
        ]

    @property
    def waiting(self) -> list[tuple[object, ...]]:
        """Return channel and run of what waits."""
        return self.runs.query("SELECT channel, run_id FROM outbox WHERE sent_at IS NULL")


@pytest.fixture
def mailed(tmp_path: Path) -> Mailed:
    """A process with data for its first instance."""
    runs = Runs(directory=tmp_path)
    runs.fill(KEYS[0])
    return Mailed(runs=runs, to=f"{tmp_path.name}@example.com".replace("_", "-"))


def test_a_success_is_mailed_with_what_people_ask_first(
    mailed: Mailed, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEEDCTL_LOG", "http://logs/1")
    mailed.write(server.port)
    code, result = mailed.runs.run()
    assert (code, result["notes"]) == (0, [])
    ((subject, text),) = mailed.mails(server)
    assert subject == f"SUCCEEDED: GENERATE count {KEYS[0]} on primary"
    for line in (f"instance: {KEYS[0]}", "attempt: 1 (run 1)", "log: http://logs/1", "duration: "):
        assert line in text
    assert str(mailed.runs.directory / "data/counts") in "".join(str(each) for each in server.mails).replace("=\n", "")
    assert mailed.waiting == []


@pytest.mark.parametrize(("level", "count"), [("instance", 1), ("attempt", 2)])
def test_a_failure_is_mailed_after_its_last_attempt_or_after_each(
    mailed: Mailed, server: MailServer, level: str, count: int
) -> None:
    mailed.write(server.port, level=level, fails=True, more=RETRY)
    assert mailed.runs.run()[0] == 1
    assert len(mailed.mails(server)) == count - 1
    mailed.runs.change("UPDATE run SET retry_at = '2026-01-01T00:00:00.000000Z' WHERE retry_at IS NOT NULL")
    assert mailed.runs.run("--due")[0] == 1
    found = mailed.mails(server)
    assert len(found) == count
    subject, text = found[-1]
    assert subject == f"FAILED: GENERATE count {KEYS[0]} on primary, attempt 2"
    assert "error: " in text
    assert f"run again: feedctl instance rerun count --time {KEYS[0]} --cluster primary" in text.replace("=\n", "")
    assert "hunter2" not in "".join(str(each) for each in server.mails)


def test_a_server_that_is_down_costs_a_note_and_the_next_run_sends_it(mailed: Mailed, server: MailServer) -> None:
    with reserved_port() as port:
        mailed.write(port.getsockname()[1])
        code, result = mailed.runs.run()
    (note,) = result["notes"]
    assert code == 0
    assert note.startswith("1 messages wait for the channel mail: [Errno 111] Connection refused; the next action")
    assert mailed.waiting == [("mail", 1)]
    mailed.runs.fill(KEYS[1])
    mailed.write(server.port)
    mailed.runs.change("UPDATE outbox_channel SET next_try_at = NULL")
    assert mailed.runs.run(time=KEYS[1])[1]["notes"] == []
    subjects = [subject for subject, _ in mailed.mails(server)]
    assert subjects == [f"SUCCEEDED: GENERATE count {key} on primary" for key in KEYS[:2]]


def test_a_server_that_is_silent_costs_two_seconds(mailed: Mailed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(mail, "WAIT_SECONDS", 120.0)
    mailed.write(1)
    mailed.runs.run()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        mailed.write(silent.getsockname()[1])
        mailed.runs.change("UPDATE outbox_channel SET next_try_at = NULL")
        mailed.runs.fill(KEYS[1])
        begun = time.monotonic()
        code, result = mailed.runs.run(time=KEYS[1])
        took = time.monotonic() - begun
    (note,) = result["notes"]
    assert code == 0
    assert note.startswith("2 messages wait for the channel mail: no answer in time")
    assert took < 60  # 120 if the server were waited for
