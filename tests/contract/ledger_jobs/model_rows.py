"""What the model's lists hold. Batches and runs are numbered by their place in the lists; batch 0 is the seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from toolkit.ledger.vocabulary import BatchState, JobMode, QueueState, RunStatus

ACTIVE = {RunStatus.RUNNING, RunStatus.SUSPENDED}
OUT = "_out"
"""The feed that a process makes is called after it."""


class Refused(Exception):  # noqa: N818 - what the model says
    """A call that the ledger should refuse."""


def refuse(code: str) -> NoReturn:
    """End a call with the code of the error that the ledger should give."""
    raise Refused(code)


@dataclass
class Batch:
    state: BatchState
    producer: str | None
    marking: str | None
    run: int | None = None
    instances: set[tuple[str, str]] = field(default_factory=set)


@dataclass
class Row:
    process: str
    step: str
    source: int
    enqueuer: str | None
    marking: str | None
    target: int | None = None
    state: QueueState = QueueState.NEW


@dataclass(eq=False)
class Run:
    process: str
    key: str
    attempt: int
    mode: JobMode
    status: RunStatus
    target: int | None
    is_forced: bool = False
    marking: str | None = None
    has_begun: bool = True


@dataclass
class StepRun:
    run: int
    step: str
    attempt: int
    status: RunStatus


@dataclass(frozen=True)
class Started:
    """What init_job tells."""

    attempt: int
    is_rerun: bool
    target: int
    marking: str | None
    due: tuple[str, ...]
    sources: dict[str, list[int]]


def rows_of(rows: Sequence[Row]) -> Iterator[tuple[object, ...]]:
    """Rows as they are compared."""
    for row in rows:
        yield (row.process, row.step, row.source, row.target, row.state, row.marking)
