"""Kinds and levels of alerts."""

from enum import StrEnum


class AlertLevel(StrEnum):
    """Level of an alert."""

    LOW = "low"
    """Recorded; told only where the repo says so."""
    HIGH = "high"
    """Told."""


class AlertKind(StrEnum):
    """Reason of an alert."""

    SLA = "sla"
    """An instance is not available in time, or a dataset is not updated in time."""
    SLA_START = "sla_start"
    """An instance of a process has not started in time."""
    SLA_END = "sla_end"
    """An instance of a process has not ended in time."""
    EMPTY = "empty"
    """An instance is available and has less data than its SLA asks for."""
    UNKNOWN = "unknown"
    """A store cannot be read, so that it is unknown whether instances are there."""
    FAILED = "failed"
    """A run failed after its last retry."""
    LEASE_LOST = "lease_lost"
    """A run was killed since it lost its lease."""
    LIMIT = "limit"
    """A safety limit refused a run."""
    QUALITY = "quality"
    """Data is blocked by its quality checks."""
    REPLICATION_BEHIND = "replication_behind"
    """A target has not got instances that its source has had for long."""
    RETENTION_OVERDUE = "retention_overdue"
    """Retention did not run for several of its periods."""
    LEDGER = "ledger"
    """The ledger cannot be used."""
    DOCTOR = "doctor"
    """A check of the installation found a problem."""
