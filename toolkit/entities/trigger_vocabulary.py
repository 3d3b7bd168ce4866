"""Closed sets of words of triggers, of outputs that cause them, and of polls."""

from enum import StrEnum


class ScheduleMode(StrEnum):
    """Start of the instances of a process."""

    ONLY = "only"
    """Its frequency."""
    ALSO = "also"
    """Its frequency, or updates of its data."""
    AND = "and"
    """An instance of its frequency whose time has come and whose data was updated."""
    NEVER = "never"
    """Updates of its data alone."""


class GroupBy(StrEnum):
    """Scope for which the condition of a trigger is evaluated."""

    KEY = "key"
    """Each process instance."""
    ANY_UPDATE = "any_update"
    """The process as a whole: a run is of the time of its newest event."""


class UpdateKind(StrEnum):
    """Kinds of events that can satisfy a trigger."""

    AVAILABLE = "available"
    """It is there for the first time."""
    UPDATED = "updated"
    """It was there and is there anew: late data, or another run."""


class Coalesce(StrEnum):
    """Treatment of several runs that are due at once."""

    NONE = "none"
    """Each of them."""
    LATEST = "latest"
    """The newest alone; the events of the others are dropped."""
    ALL = "all"
    """The newest alone, with the events of all."""
    RANGE = "range"
    """One run for each range of consecutive instances: its newest instance, with the events of all of them."""


class StartFrom(StrEnum):
    """First events of a new consumer."""

    NOW = "now"
    """Events that are recorded after its first decision."""
    EARLIEST = "earliest"
    """All events in the ledger."""


class OnPause(StrEnum):
    """Treatment of events while their consumer is suspended."""

    KEEP = "keep"
    """They count after the resume."""
    DROP = "drop"
    """They never count."""


class Emit(StrEnum):
    """When a successful rerun announces its output."""

    ON_CHANGE = "on_change"
    """When its data differs from what was announced before."""
    ALWAYS = "always"
    """Each time."""


class OutputScope(StrEnum):
    """Life time of an output."""

    SERIES = "series"
    """It stays as long as the retention of its feed says."""
    RUN = "run"
    """It is evicted once all consumers of its instance have succeeded (AIP-48, scope of availability)."""


class PollBy(StrEnum):
    """Comparison of a poll."""

    LISTING = "listing"
    """Names, sizes and times of the files."""
    ETAG = "etag"
    """The tags that an object store gives to content."""
    MTIME = "mtime"
    """The newest modification time."""
    DIGEST = "digest"
    """The content, which is read."""
    FLAG = "flag"
    """The availability flag alone."""
