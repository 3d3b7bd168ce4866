"""Terms of data-driven triggers: updates, conditions, and what is decided about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from toolkit.entities.trigger_vocabulary import Coalesce, GroupBy, OnPause, UpdateKind
from toolkit.entities.vocabulary import Order


class Ignored(StrEnum):
    """Reason for which an event starts no run."""

    EXPIRED = "expired"
    """It is older than `valid_for` or the dataset's `expires`."""
    BEFORE_START = "before_start"
    """The consumer was new, and starts from now."""
    WITHOUT_KEY = "without_key"
    """It names no instance, and the trigger holds for each instance."""
    NO_INSTANCE = "no_instance"
    """No instance of the process reads it."""
    NOT_VALID = "not_valid"
    """The process is not valid at its time, and the trigger holds for the process as a whole."""
    RETRACTED = "retracted"
    """The same data was retracted or evicted after it."""
    PAUSED = "paused"
    """The process was suspended, with `on_pause: drop`."""
    COALESCED = "coalesced"
    """A newer run stands for it."""
    CHAIN_TOO_LONG = "chain_too_long"
    """Its run would have been one more than `max_chain` triggered runs in a row."""
    KILLED = "killed"
    """A person killed the process instance before it began."""
    OTHER_KIND = "other_kind"
    """`on` does not name its kind."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Update:
    """An event as a trigger sees it.

    Attributes:
        sequence: its place in the order of commit.
        dataset: canonical URI of the series.
        feed: name of the feed; empty for other data.
        instance_key: empty: it names none.
        kind: `available`, `updated`, `evicted` or `retracted`.
        recorded_at: when it was recorded, by the clock of its writer.
        partition: partition values that its emitter named.
        chain: number of triggered runs that led to it.
    """

    sequence: int
    dataset: str
    feed: str
    instance_key: str
    kind: str
    recorded_at: datetime
    partition: Mapping[str, str] = field(default_factory=dict)
    chain: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class CompiledEntry:
    """One condition, compiled.

    Attributes:
        name: as the process writes it, for `explain`.
        matches: whether an update is one of this entry's datasets and partition (its kind is not looked at).
        keys: the process instances that read the updated instance, by its key; empty: none does.
        min_count: so many updates of different instances; updates that name no instance count each.
        datasets: canonical URIs of all datasets that can match; None: any, so that each update is compared.
        input: the input of the process that it is; empty: it is none.
    """

    name: str
    matches: Callable[[Update], bool]
    keys: Callable[[Update], Sequence[str]]
    min_count: int = 1
    datasets: frozenset[str] | None = None
    input: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CompiledCondition:
    """`all` or `any` of its parts."""

    is_all: bool
    parts: Sequence[CompiledCondition | CompiledEntry]


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerRule:
    """A process's trigger, compiled; the fields are those of `toolkit.entities.trigger.Trigger`.

    Attributes:
        is_valid_at: whether the process is valid at the time of an update; asked with `by: any_update`.
        may_run: whether the time of a process instance has come (`schedule: and`); always true otherwise.
        follows: whether the second key is the instance directly after the first (`coalesce: range`).
        expires: age after which updates of a dataset no longer count, by its URI; others follow `valid_for` alone.
    """

    condition: CompiledCondition
    by: GroupBy
    on: frozenset[UpdateKind]
    coalesce: Coalesce
    order: Order
    valid_for: timedelta | None = None
    may_run: Callable[[str], bool]
    follows: Callable[[str, str], bool]
    is_valid_at: Callable[[datetime], bool]
    on_pause: OnPause = OnPause.KEEP
    expires: Mapping[str, timedelta] = field(default_factory=dict)

    def entries(self) -> Sequence[CompiledEntry]:
        """Return the entries of the condition, in the order of the process."""
        return tuple(_entries(self.condition))

    def limit(self, dataset: str) -> timedelta | None:
        """Return the age after which updates of a dataset no longer count; None: no limit."""
        given = [each for each in (self.valid_for, self.expires.get(dataset)) if each is not None]
        return min(given, default=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pending:
    """An update that waits, for a process instance; `process_key` is empty with `by: any_update`."""

    update: Update
    process_key: str = ""

    @property
    def place(self) -> tuple[int, str]:
        """The number of its event and the process instance, which no two of a consumer share."""
        return self.update.sequence, self.process_key


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggeredRun:
    """A run that is due.

    Attributes:
        process_key: its instance; empty: with `by: any_update` the caller gives it the time of its newest event.
        causes: the events that it consumes, in order of commit.
        pending: the same as they wait, each for its process instance.
        replaced: what waits for older runs that it stands for, dropped once it is created (`coalesce: latest`).
        first_key: of the range that it stands for; empty: it stands for itself.
        chain: number of triggered runs in a row, this one among them.
    """

    process_key: str
    causes: Sequence[Update]
    pending: Sequence[Pending]
    replaced: Sequence[Pending] = ()
    first_key: str = ""
    chain: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Dropped:
    """An update that starts nothing, and why."""

    pending: Pending
    reason: Ignored


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerDecision:
    """Consequences of the updates of one consumer.

    Attributes:
        runs: in the order in which they are to start.
        dropped: updates that are over without a run.
        pending: updates that go on waiting, in order of commit.
        clock_skew: by so much the clocks of the events' writers, or that of this decision, differ at least; zero
            when nothing expires, or the difference is within `CLOCK_TOLERANCE`. An event that was written early and
            committed late counts as such a difference. Only the age of events, thus
            `valid_for` and `expires`, depends on clocks.
    """

    runs: Sequence[TriggeredRun] = ()
    dropped: Sequence[Dropped] = ()
    pending: Sequence[Pending] = ()
    clock_skew: timedelta = timedelta()


def _entries(part: CompiledCondition | CompiledEntry) -> Iterator[CompiledEntry]:
    if isinstance(part, CompiledEntry):
        yield part
    else:
        for each in part.parts:
            yield from _entries(each)
