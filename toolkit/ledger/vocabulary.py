"""The closed sets of the ledger, and the legal changes of a run's status (DESIGN section 6)."""

from __future__ import annotations

from enum import StrEnum

from toolkit import alert_vocabulary
from toolkit.planning import sla_vocabulary

AlertKind = alert_vocabulary.AlertKind
AlertLevel = alert_vocabulary.AlertLevel
SlaState = sla_vocabulary.SlaState
SlaSubject = sla_vocabulary.SlaSubject


class LifeCycle(StrEnum):
    """Life cycle: the kind of a run (Falcon overview, Instance Management; life cycles)."""

    EXECUTION = "execution"
    """A process runs."""
    REPLICATION = "replication"
    """A feed's instance is copied to another cluster."""
    EVICTION = "eviction"
    """A feed's old instances go."""
    IMPORT = "import"
    """A feed's instance is loaded from a datasource."""
    EXPORT = "export"
    """A feed's instance is written to a datasource."""
    REVIEW = "review"
    """A person decides about data of a feed's instance: what was blocked, or what was evicted and comes back."""
    INGEST = "ingest"
    """Records of a source are committed to a feed's table."""
    COMPACTION = "compaction"
    """Instances of a feed that is ingested are closed, and their small files merged."""


class RunStatus(StrEnum):
    """The state of a run. `TRANSITIONS` says which may follow which."""

    WAITING = "waiting"
    """Not started: its time or its inputs are not there yet."""
    READY = "ready"
    """May start; no job has taken it yet."""
    RUNNING = "running"
    """A process works on it."""
    SUCCEEDED = "succeeded"
    """Over, and good."""
    FAILED = "failed"
    """Over, and not good."""
    KILLED = "killed"
    """Ended before its time: by a command, a signal, or the death of its owner."""
    SUSPENDED = "suspended"
    """Paused by a command; goes on after a resume."""
    TIMED_OUT = "timed_out"
    """Its inputs did not come in time."""
    SKIPPED = "skipped"
    """Nothing was done: suspended entity, safe mode, another run held the lease, a newer instance runs in its place,
    the source's retention has removed what was to be copied; or a hold that came meanwhile stopped a mirror."""

    @property
    def is_terminal(self) -> bool:
        """True if the run is over; only a new attempt can follow."""
        return not TRANSITIONS[self]


TRANSITIONS: dict[RunStatus, frozenset[RunStatus]] = {
    RunStatus.WAITING: frozenset(
        {
            RunStatus.READY,
            RunStatus.RUNNING,
            RunStatus.SUSPENDED,
            RunStatus.KILLED,
            RunStatus.TIMED_OUT,
            RunStatus.SKIPPED,
        }
    ),
    RunStatus.READY: frozenset(
        {RunStatus.WAITING, RunStatus.RUNNING, RunStatus.SUSPENDED, RunStatus.KILLED, RunStatus.SKIPPED}
    ),
    RunStatus.RUNNING: frozenset(
        {
            RunStatus.SUCCEEDED,
            RunStatus.FAILED,
            RunStatus.KILLED,
            RunStatus.SUSPENDED,
            RunStatus.TIMED_OUT,
            RunStatus.WAITING,
            RunStatus.SKIPPED,
        }
    ),
    RunStatus.SUSPENDED: frozenset({RunStatus.WAITING, RunStatus.READY, RunStatus.RUNNING, RunStatus.KILLED}),
    RunStatus.SUCCEEDED: frozenset(),
    RunStatus.FAILED: frozenset(),
    RunStatus.KILLED: frozenset(),
    RunStatus.TIMED_OUT: frozenset(),
    RunStatus.SKIPPED: frozenset(),
}
"""The one place that says which status may follow which; everything else is `IllegalTransition`."""


class JobMode(StrEnum):
    """Way in which a job finds its batches (DESIGN section 6, Run metadata)."""

    QUEUE = "queue"
    """BDRE's: unread batches from every upstream, oldest first; one running job per process."""
    INSTANCE = "instance"
    """The process runner's: the batches of the resolved input instances; one running job per instance."""


class BatchKind(StrEnum):
    """Origin of a batch."""

    SEED = "seed"
    """Batch 0, which stands for no data: the source of steps without upstreams."""
    RUN = "run"
    """The result of a job."""
    FILE = "file"
    """Registered or enqueued from outside, without a job."""


class BatchState(StrEnum):
    """Readability of a batch."""

    ALLOCATED = "allocated"
    """Its job has not succeeded yet; no other thread or process may read it."""
    PUBLISHED = "published"
    """Its data is complete."""
    RETRACTED = "retracted"
    """Withdrawn: it must not be read any more."""


class QueueState(StrEnum):
    """State of a batch in a step's queue (BDRE, BATCH_STATUS)."""

    NEW = "new"
    """Enqueued, not taken."""
    ACCESSED = "accessed"
    """Taken by a job that runs."""
    PROCESSED = "processed"
    """The step has read it with success."""
    FAILED = "failed"
    """The step that read it failed, or its job was ended; a rerun takes it again."""


class LeaseMode(StrEnum):
    """Mode in which a resource is held."""

    EXCLUSIVE = "exclusive"
    """By one holder alone."""
    SHARED = "shared"
    """By any number of holders, as long as there is no exclusive one."""


class ItemState(StrEnum):
    """State of one effect of a run."""

    INTENDED = "intended"
    """Written before the effect: it may or may not have happened."""
    DONE = "done"
    """It happened."""
    FAILED = "failed"
    """It was tried and did not happen; the code says why."""
    SKIPPED = "skipped"
    """It was not tried; the code says why."""


class EventKind(StrEnum):
    """Kind of an event of an instance."""

    AVAILABLE = "available"
    """It is there for the first time."""
    UPDATED = "updated"
    """It was there and is there anew."""
    EVICTED = "evicted"
    """Retention removed it."""
    RETRACTED = "retracted"
    """Its producer took it back."""


class LateCheckResult(StrEnum):
    """Result of a check for late data."""

    UNCHANGED = "unchanged"
    """The inputs of the instance have not changed."""
    LATE = "late"
    """Something has changed; the instance has another attempt because of that."""
    GONE = "gone"
    """Nothing is there any more of something that the instance has read; it cannot be run again."""
    NOT_EXPECTED = "not_expected"
    """No late data is expected, or no more of it; it is not checked again."""


class ValidationState(StrEnum):
    """State of validated data."""

    PASSED = "passed"
    """All expectations hold."""
    WARNED = "warned"
    """Something does not, and it is announced all the same: it only warns, or the feed only wants to be told."""
    BLOCKED = "blocked"
    """Something does not: it is not announced."""
    UNKNOWN = "unknown"
    """It could not be validated; it is published only when its feed asks for no more than warnings."""
    RELEASED = "released"
    """A person has let it be announced, whatever was found."""
    REJECTED = "rejected"
    """A person has thrown it away."""


class RequestKind(StrEnum):
    """Kind of a request to the owner of a running instance."""

    SUSPEND = "suspend"
    """Start no further effect until a resume."""
    RESUME = "resume"
    """Go on."""
    KILL = "kill"
    """End, and do not come back."""


class ProcessKind(StrEnum):
    """Kind of a source of batches."""

    PROCESS = "process"
    """A process: it has steps and runs jobs."""
    FEED = "feed"
    """A feed that no process makes: its batches are enqueued from outside."""


class IngestBatchState(StrEnum):
    """State of a batch of transactions of streaming ingest."""

    OPEN = "open"
    """Its transactions may commit while heartbeats come."""
    CLOSED = "closed"
    """Its writer closed it."""
    ABORTED = "aborted"
    """Another aborted it after it had lapsed."""


class IngestTransactionState(StrEnum):
    """State of a transaction of streaming ingest."""

    OPEN = "open"
    """Nothing of it is visible."""
    INTENDED = "intended"
    """Its commit may have happened; the table knows."""
    COMMITTED = "committed"
    """Its rows are in the table."""
    ABORTED = "aborted"
    """Its rows are not in the table, and never will be."""


class LineageDirection(StrEnum):
    """Direction of the data between an instance and a run."""

    INPUT = "input"
    """The run read it."""
    OUTPUT = "output"
    """The run wrote it."""


class LineageNodeType(StrEnum):
    """Type of a node of column lineage (BDRE, LINEAGE_NODE_TYPE)."""

    TABLE = "table"
    """A table as a whole."""
    COLUMN = "column"
    """A column of a table."""
    FUNCTION = "function"
    """An expression between columns."""


class LineageRelationKind(StrEnum):
    """Kind of a dependency between two nodes of column lineage (BDRE, LINEAGE_RELATION)."""

    DIRECT = "direct"
    """The value becomes the other, unchanged or computed row by row."""
    AGGREGATE = "aggregate"
    """The value goes into an aggregate of many rows."""
    CONDITION = "condition"
    """The value decides which rows there are."""
