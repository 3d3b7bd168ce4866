"""Bodies of webhooks: feedctl's own, and what Slack, Teams, PagerDuty and Alertmanager take."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from toolkit.entities.monitoring import WebhookFormat
from toolkit.notify.message import Message, MessageEvent, MessageSeverity

_COLOURS = {
    MessageSeverity.INFO: ("#2eb67d", "Good"),
    MessageSeverity.WARNING: ("#ecb22e", "Warning"),
    MessageSeverity.CRITICAL: ("#e01e5a", "Attention"),
}
"""Colours of an attachment of Slack, and of a text of an adaptive card, by severity."""
_LONGEST_CHAT, _LONGEST_SUMMARY = 2_500, 1_024
"""Characters that a section of Slack (3,000, after escapes) and a summary of PagerDuty may have."""
_OPEN = timedelta(days=2)
"""So long Alertmanager holds an alert for open that it hears no more of; reminders come sooner."""
_MINUTE = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z")
_SLACK = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def body_of(message: Message, style: WebhookFormat, secret: str) -> bytes:
    """Return the body of a webhook.

    Args:
        message: what is sent.
        style: who reads it.
        secret: the routing key of PagerDuty; no other body has it.
    """
    made = message.as_json() if style is WebhookFormat.JSON else json.dumps(_MAKERS[style](message, secret))
    return made.encode(errors="replace")


def is_over(message: Message) -> bool:
    """Return whether a message says that something is right again, and that nothing else of its thread is wrong."""
    if message.event is MessageEvent.ALERT_CLOSED:
        return not message.facts.get("openInThread")
    return message.event is MessageEvent.RUN_ENDED and message.severity is MessageSeverity.INFO


def problem_key(message: Message) -> str:
    """Return the key of what is wrong, which is the same from its begin to its end: alerts of a thread are one."""
    what = "run" if message.event is MessageEvent.RUN_ENDED else "alert"
    return f"{what}/{message.thread}"[-255:]


def _second(text: str) -> str:
    """Return a time with seconds, which Alertmanager wants; canonical times have none."""
    return f"{text[:-1]}:00Z" if _MINUTE.fullmatch(text) else text


def _facts(message: Message) -> dict[str, str]:
    """Return the facts of a message that are not empty, as text."""
    return {key: str(value) for key, value in message.facts.items() if value not in {None, ""}}


def _slack(message: Message, _: str) -> Mapping[str, object]:
    text = message.text[:_LONGEST_CHAT].translate(_SLACK)
    attachment = {"color": _COLOURS[message.severity][0], "text": text, "mrkdwn_in": []}
    return {"text": message.subject.translate(_SLACK), "attachments": [attachment]}


def _teams(message: Message, _: str) -> Mapping[str, object]:
    facts = [{"title": key, "value": value[:200]} for key, value in _facts(message).items()]
    title: dict[str, object] = {"type": "TextBlock", "text": message.subject, "weight": "Bolder", "wrap": True}
    title["color"] = _COLOURS[message.severity][1]
    text = {"type": "TextBlock", "text": message.text[:_LONGEST_CHAT], "wrap": True}
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [title, text, {"type": "FactSet", "facts": facts}],
    }
    content = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [content]}


def _pagerduty(message: Message, routing_key: str) -> Mapping[str, object]:
    payload = {
        "summary": message.subject[:_LONGEST_SUMMARY],
        "source": message.cluster or "feedctl",
        "severity": message.severity.value,
        "timestamp": message.time,
        "component": message.entity,
        "class": str(message.facts.get("kind", message.operation)),
        "custom_details": {**_facts(message), "text": message.text},
    }
    action = "resolve" if is_over(message) else "trigger"
    return {
        "routing_key": routing_key,
        "event_action": action,
        "dedup_key": problem_key(message),
        "payload": payload,
        "client": "feedctl",
    }


def _alertmanager(message: Message, _: str) -> list[Mapping[str, object]]:
    """Labels are those that stay the same until it is over; all else is an annotation.

    An alert without an end would be over for Alertmanager after its `resolve_timeout`, long before it is reminded of.
    """
    labels = {"alertname": "feedctl", "problem": problem_key(message), "cluster": message.cluster or "none"}
    annotations = {
        "summary": message.subject,
        "description": message.text,
        "severity": message.severity.value,
        "entity": message.entity,
        "instance": message.instance_key,
        "kind": str(message.facts.get("kind", message.operation)),
    }
    alert: dict[str, object] = {"labels": labels, "annotations": annotations}
    since = message.facts.get("openedAt")
    if isinstance(since, str) and since:
        alert["startsAt"] = _second(since)
    until = _second(message.time)
    if not is_over(message):
        until = f"{datetime.fromisoformat(until) + _OPEN:%Y-%m-%dT%H:%M:%SZ}"
    return [{**alert, "endsAt": until}]


_MAKERS: Mapping[WebhookFormat, Callable[[Message, str], object]] = {
    WebhookFormat.SLACK: _slack,
    WebhookFormat.TEAMS: _teams,
    WebhookFormat.PAGERDUTY: _pagerduty,
    WebhookFormat.ALERTMANAGER: _alertmanager,
}
