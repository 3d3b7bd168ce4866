"""Explanation of a trigger for one process instance: what satisfies each entry, what is missing, what was ignored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from toolkit.entities.trigger_vocabulary import Coalesce, GroupBy
from toolkit.planning.triggers import (
    CompiledCondition,
    CompiledEntry,
    Dropped,
    Ignored,
    Pending,
    TriggerDecision,
    TriggerRule,
    Update,
    decide,
)

CONSUMED = "consumed"
"""State of an update that a run has consumed; those of other ignored ones are of `Ignored`."""
COUNTS = "counts"
"""State of an update that counts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsumedUpdate:
    """An update that a run has consumed."""

    update: Update
    run_id: int
    process_key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerFacts:
    """Records of the updates of one consumer in the ledger, each in order of commit.

    Attributes:
        pending: read, and waiting.
        unread: committed since the last decision.
        consumed: by runs.
        dropped: over without a run.
        before_start: committed before the consumer began to read.
        is_paused: the process is suspended.
        is_new: no decision was made for it so far.
        slots: so many runs may be created now (`max_queued`); None: any number.
        open_runs: runs that are not over, by their process instance; one instance has one at a time.
    """

    pending: Sequence[Pending] = ()
    unread: Sequence[Update] = ()
    consumed: Sequence[ConsumedUpdate] = ()
    dropped: Sequence[Dropped] = ()
    before_start: Sequence[Update] = ()
    is_paused: bool = False
    is_new: bool = False
    slots: int | None = None
    open_runs: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExplainedUpdate:
    """An update of an entry's datasets.

    Attributes:
        update: the event.
        state: `COUNTS`, `CONSUMED`, or the `Ignored` reason for which it does not count.
        run_id: of the run that consumed it.
    """

    update: Update
    state: str
    run_id: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ExplainedEntry:
    """An entry of a trigger.

    Attributes:
        name: as the process writes it.
        count: so many different updates count.
        min_count: so many are needed.
        counting: the updates that count, in order of commit.
        ignored: updates that do not, in order of commit.
        expected: the instances that it reads; empty: any.
    """

    name: str
    count: int
    min_count: int
    counting: Sequence[ExplainedUpdate]
    ignored: Sequence[ExplainedUpdate]
    expected: str = ""

    @property
    def is_satisfied(self) -> bool:
        """True if it has as many updates as it needs."""
        return self.count >= self.min_count


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerExplanation:
    """Answer to why a process instance was, or was not, started.

    Attributes:
        process_key: the instance; empty: the process as a whole.
        is_due: the next decision creates a run.
        condition: of the trigger, in words.
        entries: in the order of the process.
        obstacles: to a run, besides missing data.
        runs: those that consumed updates for the instance, oldest first.
    """

    process_key: str
    is_due: bool
    condition: str
    entries: Sequence[ExplainedEntry]
    obstacles: Sequence[str] = ()
    runs: Sequence[int] = ()


def explained_keys(rule: TriggerRule, facts: TriggerFacts, now: datetime) -> list[str]:
    """Return the process instances that updates wait for, rising; else the one that consumed the newest update."""
    waiting = {each.process_key for each in _live(rule, facts, now).pending}
    newest = [each.process_key for each in facts.consumed][-1:]
    return sorted(waiting) or ([""] if rule.by is GroupBy.ANY_UPDATE else newest)


def explain_trigger(
    rule: TriggerRule, facts: TriggerFacts, now: datetime, process_key: str, expected: Sequence[str] = ()
) -> TriggerExplanation:
    """Return the explanation for one process instance, by what a decision would do now.

    Args:
        rule: of the consumer.
        facts: of its updates.
        now: for `valid_for`, `expires`, and the time of the instance.
        process_key: the instance; empty with `by: any_update`.
        expected: what each entry reads at the instance, in the order of the entries.
    """
    live = _live(rule, facts, now)
    known = list(_known(rule, facts, live, process_key))
    entries = rule.entries()
    texts = [*expected, *[""] * len(entries)]
    explained = [_entry(rule, each, known, process_key, text) for each, text in zip(entries, texts, strict=False)]
    obstacles = tuple(_obstacles(rule, facts, now, process_key))
    return TriggerExplanation(
        process_key=process_key,
        is_due=not obstacles and _has_run(_due(rule, facts, now), process_key),
        condition=_words(rule.condition),
        entries=tuple(explained),
        obstacles=obstacles,
        runs=tuple(sorted({each.run_id for each in known if each.run_id is not None})),
    )


def _due(rule: TriggerRule, facts: TriggerFacts, now: datetime) -> TriggerDecision:
    """Return what a pass would decide, if there were any number of slots."""
    return decide(rule, facts.pending, facts.unread, now)


def _has_run(decision: TriggerDecision, process_key: str) -> bool:
    """Return whether a decision has a run for an instance, alone or in a range."""
    return any((run.first_key or run.process_key) <= process_key <= run.process_key for run in decision.runs)


def _live(rule: TriggerRule, facts: TriggerFacts, now: datetime) -> TriggerDecision:
    """Return a decision without slots: all that counts is pending in it."""
    return decide(rule, facts.pending, facts.unread, now, slots=0, is_paused=facts.is_paused)


def _known(
    rule: TriggerRule, facts: TriggerFacts, live: TriggerDecision, process_key: str
) -> Iterator[ExplainedUpdate]:
    for waiting in live.pending:
        if waiting.process_key == process_key:
            yield ExplainedUpdate(update=waiting.update, state=COUNTS)
    for used in facts.consumed:
        is_of_range = rule.coalesce in {Coalesce.ALL, Coalesce.RANGE} and used.process_key >= process_key
        if used.process_key == process_key or is_of_range or rule.by is GroupBy.ANY_UPDATE:
            yield ExplainedUpdate(update=used.update, state=CONSUMED, run_id=used.run_id)
    for each in (*facts.dropped, *live.dropped):
        if each.pending.process_key in {"", process_key}:
            yield ExplainedUpdate(update=each.pending.update, state=each.reason.value)
    for update in facts.before_start:
        yield ExplainedUpdate(update=update, state=Ignored.BEFORE_START.value)


def _entry(
    rule: TriggerRule, entry: CompiledEntry, known: Iterable[ExplainedUpdate], process_key: str, expected: str
) -> ExplainedEntry:
    own = sorted(
        (each for each in known if _is_about(rule, entry, each, process_key)), key=lambda each: each.update.sequence
    )
    counting = [each for each in own if each.state == COUNTS]
    return ExplainedEntry(
        name=entry.name,
        count=len({_identity(each.update) for each in counting}),
        min_count=entry.min_count,
        counting=tuple(counting),
        ignored=tuple(each for each in own if each.state != COUNTS),
        expected=expected,
    )


def _is_about(rule: TriggerRule, entry: CompiledEntry, each: ExplainedUpdate, process_key: str) -> bool:
    """Return whether an update concerns an entry for a process instance; one that none reads concerns each."""
    if not entry.matches(each.update):
        return False
    if rule.by is GroupBy.ANY_UPDATE or each.state in {Ignored.WITHOUT_KEY, Ignored.NO_INSTANCE}:
        return True
    return process_key in entry.keys(each.update)


def _identity(update: Update) -> tuple[str, str]:
    return update.dataset, update.instance_key or f"#{update.sequence}"


def _obstacles(rule: TriggerRule, facts: TriggerFacts, now: datetime, process_key: str) -> Iterator[str]:
    due = _due(rule, facts, now)
    if facts.is_new:
        yield "waits for the first pass of trigger.py: no pass has read its events so far"
    if facts.is_paused:
        yield "waits for `feedctl entity resume`: the process is suspended"
    if not rule.may_run(process_key):
        yield "waits for the time of the instance (`schedule: and`)"
    if any(each.reason is Ignored.COALESCED and each.pending.process_key == process_key for each in due.dropped):
        yield "a run of a newer instance stands for it (`coalesce: latest`)"
    if not _has_run(due, process_key):
        return
    if process_key in facts.open_runs:
        yield f"waits for the end of run {facts.open_runs[process_key]}, which is of the same instance"
    if not _has_run(decide(rule, facts.pending, facts.unread, now, facts.slots), process_key):
        yield "waits for a slot: as many runs are ready or running as `max_queued` allows"


def _words(part: CompiledCondition | CompiledEntry) -> str:
    """Return a condition in words: ``all of (input clicks, any of (feed orders, s3://b/x))``."""
    if isinstance(part, CompiledEntry):
        return part.name if part.min_count == 1 else f"{part.min_count} of {part.name}"
    return f"{'all' if part.is_all else 'any'} of ({', '.join(map(_words, part.parts))})"
