"""Targets, items and plans of the maintenance of an ingested table."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.model import TargetPlan
from toolkit.actions.result import ActionResult
from toolkit.ingest.port import DataFile, IngestTable, UnreferencedFile

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.ingest_job.instances import IngestInstances

NAME = "compact"
MERGE, CLOSE, EXPIRE, REMOVE = "merge", "close", "expire", "remove"


@dataclass(frozen=True, kw_only=True, slots=True)
class CompactRules:
    """Rules of the maintenance.

    Attributes:
        close_after: so long after its end an instance closes.
        has_source: the feed has a source, which must have been read to its end before an instance closes.
        files: a partition that is open is merged when it has so many small files.
        bytes: about so large are merged files; a file of at least three quarters of it is not small.
    """

    close_after: timedelta = timedelta(minutes=10)
    has_source: bool = True
    files: int = 50
    bytes: int = 128 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class CompactItem:
    """An effect on the table.

    Attributes:
        kind: `MERGE`, `CLOSE`, `EXPIRE` or `REMOVE`.
        uri: the table, one of its partitions, or a file.
        instance_key: of `MERGE` and `CLOSE`.
        files: that are merged into one.
        file: that is removed.
    """

    kind: str
    uri: str
    instance_key: str = ""
    files: tuple[DataFile, ...] = ()
    file: UnreferencedFile | None = None

    @property
    def bytes(self) -> int:
        """Return how much is merged or removed."""
        return sum(each.bytes for each in self.files) if self.file is None else self.file.bytes

    @property
    def identity(self) -> tuple[str, ...]:
        """Return all by which two plans differ."""
        return (self.kind, self.uri, self.instance_key, *(each.uri for each in self.files))


@dataclass(frozen=True, kw_only=True, slots=True)
class CompactTarget:
    """An ingested feed on a cluster.

    Attributes:
        entity: the feed.
        cluster: its name.
        instance_key: the nominal time of the run.
        base: a hold file there blocks the run.
        name: of the table.
        open_table: opens the table; raises `NoSuchIngestTable`.
        instances: of the feed.
        rules: of the feed.
        held: why a hold blocks the run; empty: none does.
    """

    entity: str
    cluster: str
    instance_key: str
    base: CanonicalPath
    name: str
    open_table: Callable[[], AbstractContextManager[IngestTable]] = field(compare=False)
    instances: IngestInstances
    rules: CompactRules = field(default_factory=CompactRules)
    held: str = ""
    counterpart: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CompactDetail:
    """Further content of a plan.

    Attributes:
        closed_before: the instances before it are closed, as the table says; None: none is.
        closes_before: the instances before it are closed after the run; None: none closes.
    """

    closed_before: datetime | None = None
    closes_before: datetime | None = None


CompactPlan: TypeAlias = "TargetPlan[CompactTarget, CompactItem, CompactDetail]"
CompactResult: TypeAlias = "ActionResult[CompactTarget, CompactItem, CompactDetail]"
