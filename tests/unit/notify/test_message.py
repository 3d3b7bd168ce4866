"""Texts of a message are printable, bounded and without secrets, and it survives the outbox."""

from __future__ import annotations

import json
import time

import pytest

from toolkit.notify.message import (
    CUT,
    LONGEST_FACT,
    LONGEST_SUBJECT,
    LONGEST_TEXT,
    Message,
    MessageEvent,
    MessageSeverity,
    NotAMessage,
)


def made(*, subject: str = "s", text: str = "t", facts: dict[str, object] | None = None) -> Message:
    """A message of a failed run."""
    return Message(
        message_id="m1",
        event=MessageEvent.RUN_ENDED,
        severity=MessageSeverity.CRITICAL,
        subject=subject,
        text=text,
        time="2026-03-01T06:40Z",
        status="FAILED",
        operation="GENERATE",
        entity="clicks",
        thread="clicks/primary",
        facts=facts or {},
    )


def test_a_subject_is_one_printable_line() -> None:
    message = made(subject="failed\r\nBcc: all@example.com\u202e\x1b[31m\0" + "x" * 1000)
    assert message.subject.startswith("failed Bcc: all@example.com\\u202e\\u001b[31m ")
    assert message.subject.endswith(CUT)
    assert len(message.subject) == LONGEST_SUBJECT


def test_a_text_of_a_megabyte_is_cut_soon() -> None:
    begun = time.monotonic()
    message = made(text="\N{SNOWMAN}\n\x1b[2J" + "a: b=" * 200_000, facts={"path": "\N{SNOWMAN}" * 1_000_000, "n": 3})
    assert time.monotonic() - begun < 30
    assert message.text.startswith("\N{SNOWMAN}\n\\u001b[2J")
    assert len(message.text) == LONGEST_TEXT
    assert len(str(message.facts["path"]).encode()) <= LONGEST_FACT + len(CUT)
    assert message.facts["n"] == 3


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET s3a://me:hunter2@host/a failed", "GET s3a://**********@host/a failed"),
        ("first\npassword: two words\nlast", "first\npassword: *********\nlast"),
        ("jdbc password 'hunter2' is wrong", "jdbc password ********* is wrong"),
        ("no key 'clicks' in this mapping", "no key 'clicks' in this mapping"),
    ],
)
def test_what_looks_like_a_secret_is_masked(text: str, shown: str) -> None:
    message = made(subject=text, text=text, facts={"reason": text})
    assert message.text == message.facts["reason"] == shown
    assert "hunter2" not in message.subject


def test_a_message_survives_the_outbox() -> None:
    message = made(subject="\N{SNOWMAN}", text="a\nb", facts={"runId": "1", "late": 3, "is": True, "no": None})
    assert Message.from_json(message.as_json()) == message


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[" * 100_000,
        "{}",
        '{"schema_version": 2}',
        made().as_json().replace("run_ended", "other"),
        made().as_json().replace('"run_ended"', "[]"),
        made().as_json().replace('"facts": {}', '"facts": []'),
        made().as_json().replace('"subject": "s"', '"subject": 1'),
        json.dumps({**json.loads(made().as_json()), "more": ""}),
    ],
)
def test_a_body_of_another_kind_is_refused(body: str) -> None:
    with pytest.raises(NotAMessage):
        Message.from_json(body)
