"""Message about the end of a run or about an alert, before a channel gives it its form.

Its texts come from data, stores and programs: they are printable here, of bounded length, and without what looks like a
secret, so that no channel has to do that again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from itertools import islice

from toolkit.errors import FeedctlError
from toolkit.linter.secret_values import text_without_secrets
from toolkit.printable import on_one_line, printable

LONGEST_SUBJECT, LONGEST_TEXT, LONGEST_FACT = 200, 16_000, 8_000
"""Characters of a subject and of a text; bytes of a fact, since a broker takes no longer header."""
_LONGEST_READ = 64_000
"""Characters of a text that are searched for secrets: more than are shown, so that the cut leaves no half secret."""
MOST_FACTS = 100
"""The others are left out."""
SCHEMA_VERSION = 1
CUT = " [...]"
"""Stands where a text was cut."""


class MessageEvent(StrEnum):
    """Event that a message is about."""

    RUN_ENDED = "run_ended"
    """A run came to an end."""
    ALERT_OPENED = "alert_opened"
    """Something is wrong."""
    ALERT_ESCALATED = "alert_escalated"
    """It is worse than before."""
    ALERT_REMINDED = "alert_reminded"
    """It still is wrong."""
    ALERT_CLOSED = "alert_closed"
    """It is over."""
    DIGEST = "digest"
    """Alerts that are open, once a day."""


class MessageSeverity(StrEnum):
    """Severity of the event that a message is about."""

    INFO = "info"
    """Nothing is to be done."""
    WARNING = "warning"
    """Somebody should look at it."""
    CRITICAL = "critical"
    """Somebody has to do something."""


class NotAMessage(FeedctlError):  # noqa: N818 - named for what was found
    """A body in the outbox that this feedctl cannot read; another version or a person wrote it."""

    def __init__(self, *, why: str) -> None:
        super().__init__(f"the body is no message of schema version {SCHEMA_VERSION}: {why}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A message, the same for all channels and recipients.

    Attributes:
        message_id: receivers drop a second message with the same id.
        event: what it is about.
        severity: how bad that is.
        subject: one line.
        text: some lines for people: what happened, to what, what to do next.
        time: of the event, in the canonical form.
        status: of the run in Falcon's words (``SUCCEEDED``), or of the alert (``OPEN``, ``CLOSED``).
        operation: in Falcon's words, as ``REPLICATE``; ``ALERT`` for an alert.
        entity: its name; empty: it is about none, or about many.
        entity_type: ``FEED``, ``PROCESS``, ``DATASET``; empty without an entity.
        cluster: empty: nowhere in particular.
        instance_key: empty: about no single instance.
        thread: messages with the same one belong together, for example all about an instance.
        facts: what it says, for programs; flat, with values of JSON.
    """

    message_id: str
    event: MessageEvent
    severity: MessageSeverity
    subject: str
    text: str
    time: str
    status: str
    operation: str
    entity: str = ""
    entity_type: str = ""
    cluster: str = ""
    instance_key: str = ""
    thread: str
    facts: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        subject = _cut(on_one_line(_masked(" ".join(self.subject.split()))), LONGEST_SUBJECT)
        object.__setattr__(self, "subject", subject)
        object.__setattr__(self, "text", _cut(printable(_masked(self.text)), LONGEST_TEXT))
        object.__setattr__(
            self, "facts", dict(islice(((key, _fact(value)) for key, value in self.facts.items()), MOST_FACTS))
        )

    def as_json(self) -> str:
        """Return the message as JSON with its schema version, as the outbox keeps it."""
        return json.dumps({"schema_version": SCHEMA_VERSION, **asdict(self)}, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Message:
        """Read a message that was written by `as_json`.

        Raises:
            NotAMessage: it was not.
        """
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise NotAMessage(why=str(error)) from error
        if not isinstance(found, dict) or found.pop("schema_version", None) != SCHEMA_VERSION:
            raise NotAMessage(why="another schema version")
        try:
            event, severity = MessageEvent(found.pop("event", "")), MessageSeverity(found.pop("severity", ""))
        except (ValueError, TypeError) as error:
            raise NotAMessage(why=str(error)) from error
        facts = found.pop("facts", None)
        if found.keys() != _TEXTS or not all(isinstance(each, str) for each in found.values()):
            raise NotAMessage(why="other keys, or values that are no text")
        if not isinstance(facts, dict):
            raise NotAMessage(why="its facts are no mapping")
        return cls(event=event, severity=severity, facts=facts, **found)


_TEXTS = frozenset(each.name for each in fields(Message)) - {"event", "severity", "facts"}


def _masked(text: str) -> str:
    return text_without_secrets(text[:_LONGEST_READ]).replace("\0", " ")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - len(CUT)] + CUT


def _fact(value: object) -> object:
    if not isinstance(value, str):
        return value if isinstance(value, int | float | bool | None) else _fact(str(value))
    text = _masked(value)
    octets = text.encode(errors="replace")
    return octets.decode() if len(octets) <= LONGEST_FACT else octets[:LONGEST_FACT].decode(errors="ignore") + CUT
