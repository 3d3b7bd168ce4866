"""Rows about batches and their files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from toolkit.ledger.batches.errors import BadFile
from toolkit.ledger.vocabulary import BatchKind, BatchState


@dataclass(frozen=True, kw_only=True, slots=True)
class NewFile:
    """A file to register.

    Attributes:
        server: the name of the cluster or datasource that it is on.
        path: on the server.
        size: bytes.
        hash: of the content, in whatever way the caller hashes; None: not hashed.
        modified_at: None: when it is registered.
    """

    server: str
    path: str
    size: int
    hash: str | None = None
    modified_at: datetime | None = None

    def __post_init__(self) -> None:
        if not self.path:
            raise BadFile(path=self.path, found="the path is empty")
        if self.size < 0:
            raise BadFile(path=self.path, found=f"the size is {self.size}")


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchFile:
    """A file of a batch, with the server that it is on; never with a credential (DESIGN section 8).

    Attributes:
        server_kind: ``cluster`` or ``datasource``.
        endpoint: where the server answers.
    """

    file_id: int
    batch_id: int
    server: str
    server_kind: str
    endpoint: str | None
    path: str
    size: int
    hash: str | None
    modified_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """A row of the table `batch`, where the columns are explained."""

    batch_id: int
    kind: BatchKind
    state: BatchState
    process_id: int | None
    source_run_id: int | None
    marking: str | None
    created_at: datetime
    published_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Downstream:
    """A step that a batch waits for.

    Attributes:
        queue_id: its row in the queue.
    """

    queue_id: int
    process: str
    cluster: str
    step: str
