"""Kinds of entities with an SLA, and states of their instances."""

from enum import StrEnum


class SlaSubject(StrEnum):
    """Kind of entity that has an SLA."""

    FEED = "feed"
    """Its instances should be available in time."""
    PROCESS = "process"
    """Its instances should start and end in time."""
    DATASET = "dataset"
    """It should be updated every so often."""


class SlaState(StrEnum):
    """State of an instance that has an SLA."""

    FRESH = "fresh"
    """Available in time; or not available, and not late yet."""
    LATE = "late"
    """Later than the low limit, or available and was too late."""
    MISSING = "missing"
    """Not available, and later than the high limit."""
    EMPTY = "empty"
    """Available, with less data than the SLA asks for."""
    UNKNOWN = "unknown"
    """Its store or metastore cannot be read now."""
    EXEMPT = "exempt"
    """Nothing is expected: suspended, on hold, not valid, or a day that the calendar leaves out."""


class DataPresence(StrEnum):
    """Presence of what an SLA expects, for some time."""

    ABSENT = "absent"
    """It is not there; or a process has not started or ended."""
    SMALL = "small"
    """It is there, with less data than the SLA asks for."""
    PRESENT = "present"
    """It is there."""
    EXEMPT = "exempt"
    """Nothing is expected."""
