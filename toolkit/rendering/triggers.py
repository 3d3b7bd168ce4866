"""Explanations of triggers: as lines, and as JSON documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from toolkit.ledger.errors import moment
from toolkit.planning.trigger_explain import CONSUMED, COUNTS
from toolkit.planning.triggers import Ignored

if TYPE_CHECKING:
    from toolkit.management.trigger_answers import TriggerAnswer
    from toolkit.planning.trigger_explain import ExplainedEntry, ExplainedUpdate, TriggerExplanation

_SHOWN = 5
"""So many events of one kind are shown to people; JSON has all."""

_REASONS = {
    Ignored.EXPIRED: "expired: older than `valid_for`, or than `expires` of the dataset",
    Ignored.BEFORE_START: "before the trigger began to read (`start_from: now`)",
    Ignored.WITHOUT_KEY: "without key: it names no instance",
    Ignored.NO_INSTANCE: "no instance of the process reads it",
    Ignored.NOT_VALID: "the process is not valid at its time",
    Ignored.RETRACTED: "retracted or evicted since",
    Ignored.PAUSED: "paused: the process was suspended (`on_pause: drop`)",
    Ignored.COALESCED: "coalesced: a newer run stands for it",
    Ignored.CHAIN_TOO_LONG: "its run would have exceeded `max_chain`",
    Ignored.KILLED: "its run was killed before it began",
    Ignored.OTHER_KIND: "of a kind that `on` does not name",
}


def answer_document(answer: TriggerAnswer) -> dict[str, object]:
    """Return the explanations as a JSON document."""
    return {
        "process": answer.process,
        "cluster": answer.cluster,
        "explanations": [_document(each) for each in answer.explanations],
    }


def answer_lines(answer: TriggerAnswer) -> Iterator[str]:
    """Yield the explanations for people: of each instance the result first."""
    where = f"{answer.process} on {answer.cluster}"
    if not answer.explanations:
        yield f"{where}: no instance has updates; `--time INSTANT` explains one"
    for each in answer.explanations:
        what = f"{where} {each.process_key}".rstrip()
        yield f"{'due' if each.is_due else 'not due'}: {what}; needs {each.condition}"
        for entry in each.entries:
            yield from _entry_lines(entry)
        yield from (f"  {obstacle}" for obstacle in each.obstacles)
        if each.runs:
            yield f"  runs by earlier updates: {', '.join(map(str, each.runs))}"


def _entry_lines(entry: ExplainedEntry) -> Iterator[str]:
    missing = entry.min_count - entry.count
    state = "satisfied" if entry.is_satisfied else f"missing {missing} {'update' if missing == 1 else 'updates'}"
    yield f"  {entry.name}: {state}" + (f"; reads {entry.expected}" if entry.expected else "")
    yield from _update_lines(entry.counting)
    yield from _update_lines(entry.ignored)


def _update_lines(updates: Sequence[ExplainedUpdate]) -> Iterator[str]:
    if len(updates) > _SHOWN:
        yield f"    {len(updates) - _SHOWN} older ones; --output json has all"
    for each in updates[-_SHOWN:]:
        event = each.update
        what = f"{event.dataset} {event.instance_key}".rstrip()
        why = _why(each)
        yield f"    event {event.sequence} {event.kind} at {moment(event.recorded_at)}: {what}" + (
            f"; {why}" if why else ""
        )


def _why(each: ExplainedUpdate) -> str:
    """Return why an event does not count; empty: it does."""
    if each.state == COUNTS:
        return ""
    return f"consumed by run {each.run_id}" if each.state == CONSUMED else _REASONS[Ignored(each.state)]


def _document(explanation: TriggerExplanation) -> dict[str, object]:
    return {
        "instance": explanation.process_key or None,
        "due": explanation.is_due,
        "condition": explanation.condition,
        "entries": [_entry_document(each) for each in explanation.entries],
        "obstacles": list(explanation.obstacles),
        "runs": list(explanation.runs),
    }


def _entry_document(entry: ExplainedEntry) -> dict[str, object]:
    return {
        "entry": entry.name,
        "satisfied": entry.is_satisfied,
        "count": entry.count,
        "min_count": entry.min_count,
        "reads": entry.expected or None,
        "events": [_update_document(each) for each in (*entry.counting, *entry.ignored)],
    }


def _update_document(each: ExplainedUpdate) -> dict[str, object]:
    update = each.update
    return {
        "event": update.sequence,
        "dataset": update.dataset,
        "instance": update.instance_key or None,
        "kind": update.kind,
        "recorded_at": moment(update.recorded_at),
        "state": each.state,
        "run_id": each.run_id,
        "why": _why(each) or None,
    }
