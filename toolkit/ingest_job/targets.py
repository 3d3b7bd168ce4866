"""Targets of an ingest: a feed on a cluster, the units of its source, and its plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.model import TargetPlan
from toolkit.actions.result import ActionResult
from toolkit.ingest_job.source import IngestSource, Progress, SourceUnit, Stores

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.errors import FeedctlError
    from toolkit.ingest_job.instances import IngestInstances
    from toolkit.ingest_job.sink import IngestedTable
    from toolkit.ingest_job.watermark import WatermarkChange

NAME = "ingest"
READ, ARCHIVE, DELETE, WATERMARK = "ingest", "archive", "delete", "watermark"
PUT_AWAY = {"archive": ARCHIVE, "delete": DELETE}


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitLimits:
    """Size of a commit: the first limit that is reached ends it.

    Attributes:
        rows: so many records.
        bytes: so many bytes of them.
        every: so much time after its first record.
    """

    rows: int = 100_000
    bytes: int = 64 << 20
    every: timedelta = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class RejectRules:
    """Rules for records that are no rows of the table.

    Attributes:
        directory: where rejects are written; None: a bad record is an error.
        most: so many of a run are rejected, the next one is an error; None: any number.
    """

    directory: CanonicalPath | None = None
    most: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestItem:
    """A unit that is read, a unit whose records are committed and that is put away, or the table's watermark.

    Attributes:
        kind: `READ`, `ARCHIVE`, `DELETE` or `WATERMARK`.
        unit: of the source; of a watermark it names the table.
    """

    kind: str
    unit: SourceUnit
    instance_key: str = ""

    @property
    def uri(self) -> str:
        """Return the name of the unit."""
        return self.unit.name

    @property
    def bytes(self) -> int | None:
        """Return how much of it is left to read, in bytes or offsets; None: it is unknown."""
        return None if self.unit.end is None else self.unit.end - self.unit.start

    @property
    def identity(self) -> tuple[str, ...]:
        """Return all by which two plans differ."""
        return (self.kind, self.unit.name, str(self.unit.start), str(self.unit.end), self.unit.identity)


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestTarget:
    """A feed on a cluster.

    Attributes:
        entity: the feed.
        cluster: its name.
        instance_key: the nominal time of the run.
        base: a hold file there blocks the run: the directory of the source, else that of the rejects.
        open_source: opens the source, to read it by such stores.
        progress_name: under which the table keeps its progress; empty: it is not kept.
        table: of the feed.
        instances: of the feed.
        limits: of a commit.
        rejects: what becomes of bad records.
        after: what becomes of units that are committed: keep, archive or delete.
        held: why a hold blocks the run; empty: none does.
        watermark: what the source had at this instant is what a look at it finds; None: nobody knows.
        close_after: so long after its end an instance closes.
        is_spread: executors read the units, which are files of a directory.
    """

    entity: str
    cluster: str
    instance_key: str
    base: CanonicalPath
    open_source: Callable[[Stores], IngestSource] = field(compare=False)
    progress_name: str
    table: IngestedTable = field(compare=False)
    instances: IngestInstances
    limits: CommitLimits = field(default_factory=CommitLimits)
    rejects: RejectRules = field(default_factory=RejectRules)
    after: str = "keep"
    held: str = ""
    counterpart: str = ""
    watermark: datetime | None = None
    close_after: timedelta = timedelta()
    is_spread: bool = False


@dataclass(kw_only=True)
class IngestDetail:
    """Further content of a plan; counted while it is applied.

    Attributes:
        source: of the plan; None: nothing is read.
        progress: of the table when the plan was made.
        watermark: to be set once all is read; None: it stays as it is.
        rows: so many were committed.
        commits: so many were made.
        bytes: so many in the records that were committed.
        rejects: so many records were rejected.
        reject_files: where they are.
        offsets: how far each unit was committed.
        is_out_of_time: the run ended before all was read, since its time was over.
    """

    source: IngestSource | None = None
    progress: Progress = field(default_factory=dict)
    watermark: WatermarkChange | None = None
    rows: int = 0
    commits: int = 0
    bytes: int = 0
    rejects: int = 0
    reject_files: list[str] = field(default_factory=list)
    offsets: dict[str, int] = field(default_factory=dict)
    is_out_of_time: bool = False


IngestPlan: TypeAlias = "TargetPlan[IngestTarget, IngestItem, IngestDetail]"
IngestResult: TypeAlias = "ActionResult[IngestTarget, IngestItem, IngestDetail]"


def code_of(error: FeedctlError) -> str:
    """Return the stable code of an error."""
    return str(getattr(error, "code", "failed"))
