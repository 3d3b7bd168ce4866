"""An ingest of a directory into the fake table, run by the kernel with a ledger in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from tests.unit.actions.fake_action import context, looking, request
from tests.unit.ingest_job.fake_table import FakeTable
from tests.unit.runs.fakes import AuditMemory, HandClock, MemoryRecorder, envelope_of
from toolkit.actions.action import RunContext
from toolkit.actions.runner import ActionRunner, Targets
from toolkit.el import CanonicalPath, Frequency, InstanceSequence, TableUri, parse_instant
from toolkit.ingest.port import TableState
from toolkit.ingest.remote_transaction import FillRows
from toolkit.ingest_job.action import IngestAction
from toolkit.ingest_job.directory import DirectorySource
from toolkit.ingest_job.instances import IngestInstances, PartitionFiller, closed_before
from toolkit.ingest_job.source import IngestSource, Stores
from toolkit.ingest_job.targets import (
    READ,
    CommitLimits,
    IngestDetail,
    IngestItem,
    IngestResult,
    IngestTarget,
    RejectRules,
)
from toolkit.ledger.runs.items import Item
from toolkit.ledger.runs.rows import Origin
from toolkit.ledger.vocabulary import ItemState
from toolkit.runs.lease import Heartbeat
from toolkit.runs.stop import NeverStopped, StopSignal
from toolkit.storage import LocalFileSystem

NOW = parse_instant("2026-03-20T12:00Z")
INSTANCES = IngestInstances(
    feed="clicks",
    cluster="primary",
    sequence=InstanceSequence(parse_instant("2026-03-01T00:00Z"), Frequency.parse("days(1)")),
    table=TableUri.parse("catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY}"),
    event_time="ts",
    cut_off=Frequency.parse("days(2)"),
)


def micros(text: str) -> int:
    """Return the microseconds of an instant."""
    return round(parse_instant(text).timestamp() * 1_000_000)


def line(word: str, at: str | None = "2026-03-02T10:00Z") -> bytes:
    """Return a record."""
    return json.dumps({"ts": None if at is None else micros(at), "word": word}).encode() + b"\n"


@dataclass(kw_only=True)
class IngestScene:
    """A directory, a table, and runs."""

    root: Path
    after: str = "keep"
    limits: CommitLimits = field(default_factory=CommitLimits)
    rejects: bool = False
    most_rejects: int | None = None
    max_seconds: float | None = None
    held: str = ""
    point: Callable[[str], None] = lambda _: None
    now: Callable[[], float] = lambda: 0.0
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    table: FakeTable = field(init=False)
    system: LocalFileSystem = field(default_factory=LocalFileSystem)

    def __post_init__(self) -> None:
        self.inbox.mkdir(exist_ok=True)
        self.table = FakeTable(path=self.root / "table.json", point=self.point)

    @property
    def inbox(self) -> Path:
        return self.root / "inbox"

    @property
    def reject_lines(self) -> list[dict[str, object]]:
        files = sorted((self.root / "rejects").rglob("*.jsonl"))
        return [json.loads(text) for file in files for text in file.read_text().splitlines()]

    def put(self, name: str, *lines: bytes) -> None:
        """Write a file of the source."""
        (self.inbox / name).write_bytes(b"".join(lines))

    def run(self, *, dry_run: bool = False) -> IngestResult:
        """Run the action."""
        action = IngestAction(nominal=NOW, filler=_filler, max_seconds=self.max_seconds, now=self.now)
        runner = ActionRunner(
            action=action,
            process=NeverStopped(),
            look=looking(self._context),
            open_context=self._context,
            origin_of=lambda _: Origin(who="alice"),
        )
        targets: Targets[IngestTarget, IngestItem, IngestDetail] = Targets(to_do=(self._target(),))
        if dry_run:
            return runner.preview(request(dry_run=True), targets)
        with Heartbeat(self.recorder, seconds=3600) as heartbeat:
            envelope = envelope_of(
                self.recorder, heartbeat, audit=AuditMemory(), process=NeverStopped(), clock=HandClock()
            )
            return runner.run(request(), targets, envelope)

    def recovered(self, uri: str) -> list[ItemState]:
        """Return the states of a unit that a killed run had begun, as a run now settles it; none: it stays open."""
        action, work = IngestAction(nominal=NOW, filler=_filler), self._context(NeverStopped(), ())
        left = Item(
            run_id=1,
            position=0,
            kind=READ,
            path=uri,
            instance_key="",
            state=ItemState.INTENDED,
            code=None,
            message=None,
            intended_at=NOW,
            settled_at=None,
        )
        recovery = action.recover(action.plan(self._target(), work), [left], work)
        return [each.item.state for each in recovery.settled]

    def _context(self, run: StopSignal, conditions: object) -> RunContext:
        del conditions
        return replace(context(run), stores=lambda _: self.system)

    def _target(self) -> IngestTarget:
        base = CanonicalPath.parse(f"file://{self.inbox}")
        root = CanonicalPath.parse(f"file://{self.root}")
        rules = RejectRules(directory=root.child("rejects") if self.rejects else None, most=self.most_rejects)
        return IngestTarget(
            entity="clicks",
            cluster="primary",
            instance_key="2026-03-20T12:00Z",
            base=base,
            open_source=partial(self._source, base, root.child("archive")),
            progress_name="clicks.directory",
            table=self.table,
            instances=INSTANCES,
            limits=self.limits,
            rejects=rules,
            after=self.after,
            held=self.held,
        )

    def _source(self, base: CanonicalPath, archive: CanonicalPath, stores: Stores) -> IngestSource:
        return DirectorySource(
            directory=base,
            pattern="*.json",
            settle=timedelta(0),
            now=datetime.now(UTC) + timedelta(hours=1),
            stores=stores,
            after=self.after,
            archive=archive if self.after == "archive" else None,
        )


def _filler(target: IngestTarget, state: TableState | None) -> FillRows:
    return PartitionFiller(instances=target.instances, closed_before=closed_before(state), now=lambda: NOW)
