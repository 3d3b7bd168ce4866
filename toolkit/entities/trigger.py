"""Data-driven triggers of processes, datasets outside of feedctl, and how they are polled (Airflow AIP-48)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from toolkit.el import Frequency, Unit
from toolkit.entities.trigger_vocabulary import Coalesce, GroupBy, OnPause, PollBy, StartFrom, UpdateKind
from toolkit.entities.values import Properties
from toolkit.entities.vocabulary import Order
from toolkit.entities.yaml_location import Pointer

_FIVE_MINUTES = Frequency(unit=Unit.MINUTES, count=5)
_TWO_MINUTES = Frequency(unit=Unit.MINUTES, count=2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Poll:
    """How data is looked at that others write, to announce its changes as updates.

    Attributes:
        by: what is compared with the last look.
        every: time between two looks.
        settle: the same has to be seen twice, so far apart, before it is announced.
    """

    by: PollBy
    every: Frequency = _FIVE_MINUTES
    settle: Frequency = _TWO_MINUTES


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetSla:
    """Expected rate of updates of a dataset."""

    updated_every: Frequency


@dataclass(frozen=True, kw_only=True, slots=True)
class Dataset:
    """Data that feedctl does not manage (`datasets:` in `repo.yaml`).

    Attributes:
        uri: names the whole series, as written.
        poll: absent: only `feedctl event emit` and outlets announce updates.
        expires: updates older than this satisfy no trigger; absent: they stay valid.
    """

    uri: str
    description: str | None = None
    owner: str | None = None
    poll: Poll | None = None
    sla: DatasetSla | None = None
    expires: Frequency | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerEntry:
    """One condition of a trigger: at least `min_count` updates of one dataset, or of any dataset that matches.

    Exactly one of `name`, `input`, `feed`, `group` and `uri` is set.

    Attributes:
        name: a plain text, which is the name of an input, else of a feed, else of a group, else a URI;
            `toolkit.entities.trigger_names.TriggerNames.resolved` tells which.
        input: name of an input of the process.
        feed: name of a feed.
        group: name of a group of feeds; the update of any of its feeds counts.
        uri: URI of a dataset, or a glob of URIs (`*`, `?`, `[...]`).
        cluster: of the feed; absent: the cluster on which the process runs.
        partition: only updates whose partition has these values, such as ``{"region": "us"}``.
        min_count: so many different updates.
    """

    name: str | None = None
    input: str | None = None
    feed: str | None = None
    group: str | None = None
    uri: str | None = None
    cluster: str | None = None
    partition: Properties = field(default_factory=dict)
    min_count: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerCondition:
    """`all` or `any` of entries and further conditions; exactly one of the two is not empty."""

    all: tuple["TriggerCondition | TriggerEntry", ...] = ()
    any: tuple["TriggerCondition | TriggerEntry", ...] = ()

    @property
    def parts(self) -> tuple["TriggerCondition | TriggerEntry", ...]:
        """The entries and conditions of whichever of the two is not empty."""
        return self.all or self.any

    def entries(self) -> Iterator[TriggerEntry]:
        """Yield the entries, also those of nested conditions, in their order."""
        yield from (entry for _, entry in self.placed())

    def placed(self) -> Iterator[tuple[Pointer, TriggerEntry]]:
        """Yield the entries with their places in this condition, such as ``("all", 0, "any", 1)``."""
        for key, parts in (("all", self.all), ("any", self.any)):
            for index, each in enumerate(parts):
                if isinstance(each, TriggerEntry):
                    yield (key, index), each
                else:
                    yield from (((key, index, *place), entry) for place, entry in each.placed())


@dataclass(frozen=True, kw_only=True, slots=True)
class Trigger:
    """When updates of datasets start a process.

    Attributes:
        condition: over its entries.
        by: `key`: conditions hold for each process instance; `any_update`: for the process as a whole. None: `key`,
            where all entries are feeds, inputs or groups; else `any_update`.
        on: kinds of events that count as an update.
        coalesce: what becomes of several runs that are due at once.
        max_queued: so many of its runs may be ready or running; what is due beyond that stays pending.
        start_from: which events a new consumer begins with.
        on_pause: what becomes of events while the process is suspended.
        valid_for: older events no longer count; absent: no limit.
        max_chain: so many triggered runs may follow one from another.
        allow_cycle: reason for which a cycle of triggers is accepted.
        order: of the runs that are due at once; absent: the order of the process.
    """

    condition: TriggerCondition
    by: GroupBy | None = None
    on: tuple[UpdateKind, ...] = (UpdateKind.AVAILABLE,)
    coalesce: Coalesce = Coalesce.NONE
    max_queued: int | None = None
    start_from: StartFrom = StartFrom.NOW
    on_pause: OnPause = OnPause.KEEP
    valid_for: Frequency | None = None
    max_chain: int = 10
    allow_cycle: str | None = None
    order: Order | None = None
